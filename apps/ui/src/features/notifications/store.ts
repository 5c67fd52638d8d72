/** Toasts and banners: what happened and what can be done about it. */
import type { ShownError } from "../../shared/failure";
import { createStore } from "../../shared/store";

export interface Toast {
  id: number;
  text: string;
  tone: "plain" | "bad";
  /** A command and its argument: a store holds no functions. */
  action: { label: string; command: string; argument?: unknown } | null;
  detail: string | null;
}

export const notificationStore = createStore<{ toasts: Toast[] }>(() => ({ toasts: [] }));

let nextId = 1;
/** Long enough to read and reach the button; a bad one stays until it is closed. */
const SHOWN_MS = 8_000;
const MOST_SHOWN = 4;

export function toast(options: { text: string; tone?: Toast["tone"]; action?: Toast["action"]; detail?: string | null }): void {
  const entry: Toast = {
    id: nextId++,
    text: options.text,
    tone: options.tone ?? "plain",
    action: options.action ?? null,
    detail: options.detail ?? null,
  };
  notificationStore.setState(({ toasts }) => ({ toasts: [...toasts, entry].slice(-MOST_SHOWN) }));
  if (entry.tone !== "bad") setTimeout(() => dismiss(entry.id), SHOWN_MS);
}

export function dismiss(id: number): void {
  notificationStore.setState(({ toasts }) => ({ toasts: toasts.filter((entry) => entry.id !== id) }));
}

/** An error outside the timeline: what failed, then the way out. */
export function showError(error: ShownError): void {
  const way = error.userAction ? ` ${error.userAction}` : "";
  toast({ text: `${error.message}${way}`, tone: "bad", detail: error.detail ?? null });
}
