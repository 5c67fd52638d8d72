/**
 * What the screen wants back after a crash, kept by the engine under a key: composer text, layout, choices.
 * Writes are gathered for a moment and the newest value wins; a lost connection tries again until it is kept.
 */
import type { JsonValue } from "../protocol";
import { runtime } from "./runtime";

/** Short enough that a crash costs at most the last words. */
const GATHER_MS = 250;
const RETRY_MS = 2_000;

const pending = new Map<string, JsonValue>();
let timer: ReturnType<typeof setTimeout> | null = null;

/** `null` forgets the key. */
export function keep(key: string, value: JsonValue): void {
  pending.set(key, value);
  timer ??= setTimeout(() => void write(), GATHER_MS);
}

/** The write that is under way. */
let writing: Promise<void> = Promise.resolve();

/** Writes what waits now: before the window closes. Done when an earlier write is done, too. */
export function write(): Promise<void> {
  writing = writing.then(writeNow);
  return writing;
}

async function writeNow(): Promise<void> {
  if (timer !== null) clearTimeout(timer);
  timer = null;
  const entries = [...pending];
  pending.clear();
  for (const [key, value] of entries) {
    try {
      await runtime().request("ui/save", { key, value });
    } catch {
      if (!pending.has(key)) pending.set(key, value);
      timer ??= setTimeout(() => void write(), RETRY_MS);
    }
  }
}

/** Everything kept under a prefix, by its key. */
export async function kept(prefix: string): Promise<Map<string, JsonValue>> {
  const { entries } = await runtime().request("ui/load", { prefix });
  return new Map(entries.map((entry) => [entry.key, entry.value]));
}

/** Forgets what waits: it belongs to a workspace that is being left. */
export function dropPending(): void {
  pending.clear();
}
