/** The time, once a second, for as long as somebody shows it. One timer for the whole screen. */
import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | null = null;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
  };
}

/** Milliseconds since the epoch, renewed each second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => (timer === null ? (now = roundedNow()) : now));
}

/** Before the timer runs, reads within one second must agree. */
function roundedNow(): number {
  const current = Date.now();
  return current - now < 1_000 ? now : current;
}
