/**
 * Which folders the engine watches for this window. Each feature names its own; the engine gets the union, since a
 * connection has one list. Knows nothing of what a notice means.
 */
import { runtime } from "./runtime";

/** Opening a deep path names many folders at once; the engine hears of the last list. */
const GATHER_MS = 80;

const wanted = new Map<string, readonly string[]>();
let told = "";
let timer: ReturnType<typeof setTimeout> | null = null;

/** Replaces what `owner` wants watched. */
export function watchFolders(owner: string, folders: readonly string[]): void {
  wanted.set(owner, folders);
  timer ??= setTimeout(tell, GATHER_MS);
}

/** After a new connection or a new engine, which know of no list. */
export function renewWatch(): void {
  told = "";
  timer ??= setTimeout(tell, GATHER_MS);
}

function tell(): void {
  timer = null;
  const folders = [...new Set([...wanted.values()].flat())].sort();
  const list = folders.join("\n");
  if (list === told) return;
  told = list;
  runtime()
    .request("files/watch", { folders })
    .catch(() => {
      // Without a connection there is nothing to watch; the next one is told anew.
      told = "";
    });
}
