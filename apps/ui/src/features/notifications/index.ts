export { type Toast, dismiss, notificationStore, showError, toast } from "./store";
export { Toasts } from "./View";
