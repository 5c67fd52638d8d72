/**
 * Folds events into timeline items exactly as the engine does (crates/engine/src/events/fold.rs); both are tested with
 * the same fixtures. Pure: an array comes in, another goes out, and items that did not change stay the same objects.
 */
import type { EventEnvelope, ItemDelta, TimelineItem } from "../../protocol";

/** Bytes of a running command's output that the timeline holds; older text gives way and is counted. */
export const RUNNING_OUTPUT_LIMIT = 64 * 1024;

export type Items = readonly TimelineItem[];

export function foldEvent(items: Items, event: EventEnvelope): Items {
  switch (event.body.type) {
    case "itemStarted":
    case "itemCompleted":
      return put(items, event.body.item);
    case "itemDelta":
      return foldDelta(items, event.body.itemId, event.body.delta, event.at);
    default:
      return items;
  }
}

export function foldEvents(events: readonly EventEnvelope[]): Items {
  return events.reduce(foldEvent, [] as Items);
}

/** Items keep the place where they started; one that never started is added at the end. */
function put(items: Items, item: TimelineItem): Items {
  const index = find(items, item.id);
  return index < 0 ? [...items, item] : items.with(index, item);
}

export function foldDelta(items: Items, itemId: string, delta: ItemDelta, at: number): Items {
  const index = find(items, itemId);
  const item = items[index];
  if (!item) return items;
  return items.with(index, { ...applyDelta(item, delta), updatedAt: at });
}

function applyDelta(item: TimelineItem, delta: ItemDelta): TimelineItem {
  switch (item.type) {
    case "assistant_message":
    case "thinking":
      return delta.kind === "text" ? { ...item, text: item.text + delta.text } : item;
    case "command":
      if (delta.kind === "command") return { ...item, state: delta.state };
      if (delta.kind === "notes") return { ...item, notes: delta.notes };
      if (delta.kind === "output") {
        const { kept, cut } = keepTail((item.output ?? "") + delta.text, RUNNING_OUTPUT_LIMIT);
        return { ...item, output: kept, omittedBytes: item.omittedBytes + cut };
      }
      return item;
    default:
      return item;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The longest end of a text that starts at a character and is at most `limit` bytes of UTF-8. */
function keepTail(text: string, limit: number): { kept: string; cut: number } {
  // A UTF-16 unit is at most three bytes, so most texts need no counting.
  if (text.length * 3 <= limit) return { kept: text, cut: 0 };
  const bytes = encoder.encode(text);
  if (bytes.length <= limit) return { kept: text, cut: 0 };
  let cut = bytes.length - limit;
  while (cut < bytes.length && (bytes[cut]! & 0xc0) === 0x80) cut += 1;
  return { kept: decoder.decode(bytes.subarray(cut)), cut };
}

/** From the end: what changes is nearly always there. */
function find(items: Items, id: string): number {
  return items.findLastIndex((item) => item.id === id);
}
