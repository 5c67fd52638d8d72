export { StatusBar } from "./View";
export { ConnectionBanner } from "./Banner";
