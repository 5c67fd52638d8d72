/**
 * Gathers deltas of running items, so that a fast stream draws a few times a second: text every 50 ms at word edges,
 * output at once after a pause and then every 80 ms. Knows nothing of stores; whoever owns it says what a flush does.
 */
import type { ItemDelta } from "../protocol";

export const TEXT_FLUSH_MS = 50;
export const OUTPUT_FLUSH_MS = 80;

interface Gathered {
  kind: "text" | "output";
  text: string;
  at: number;
  timer: ReturnType<typeof setTimeout>;
}

export type Flush = (itemId: string, delta: ItemDelta, at: number) => void;

export class DeltaBuffer {
  private readonly gathered = new Map<string, Gathered>();
  /** When an item's output was last drawn: what comes after a pause is drawn at once. */
  private readonly drawnAt = new Map<string, number>();

  constructor(private readonly flush: Flush) {}

  add(itemId: string, delta: ItemDelta, at: number): void {
    if (delta.kind === "command" || delta.kind === "notes") {
      this.flushItem(itemId);
      this.flush(itemId, delta, at);
      return;
    }
    const known = this.gathered.get(itemId);
    if (known) {
      known.text += delta.text;
      known.at = at;
      return;
    }
    const since = performance.now() - (this.drawnAt.get(itemId) ?? Number.NEGATIVE_INFINITY);
    const wait = delta.kind === "text" ? TEXT_FLUSH_MS : Math.max(0, OUTPUT_FLUSH_MS - since);
    const timer = setTimeout(() => this.flushWords(itemId), wait);
    this.gathered.set(itemId, { kind: delta.kind, text: delta.text, at, timer });
  }

  /** Everything of one item, before an event that replaces it. */
  flushItem(itemId: string): void {
    this.drawnAt.delete(itemId);
    const known = this.take(itemId);
    if (known) this.flush(itemId, { kind: known.kind, text: known.text }, known.at);
  }

  flushAll(): void {
    for (const itemId of [...this.gathered.keys()]) this.flushItem(itemId);
  }

  clear(): void {
    this.drawnAt.clear();
    for (const itemId of [...this.gathered.keys()]) this.take(itemId);
  }

  private take(itemId: string): Gathered | null {
    const known = this.gathered.get(itemId);
    if (!known) return null;
    clearTimeout(known.timer);
    this.gathered.delete(itemId);
    return known;
  }

  /** Holds back an unfinished word once; a word longer than that is shown as it comes. */
  private flushWords(itemId: string): void {
    const known = this.take(itemId);
    if (!known) return;
    if (known.kind === "output") this.drawnAt.set(itemId, performance.now());
    const edge = known.kind === "text" ? known.text.search(/\S+$/) : -1;
    if (edge <= 0) {
      this.flush(itemId, { kind: known.kind, text: known.text }, known.at);
      return;
    }
    this.flush(itemId, { kind: known.kind, text: known.text.slice(0, edge) }, known.at);
    this.add(itemId, { kind: known.kind, text: known.text.slice(edge) }, known.at);
  }
}
