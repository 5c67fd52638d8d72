/**
 * Groups items into the rows that are drawn: three or more finished tool lines in a row fold to one, and a hairline
 * with words marks where a conversation was broken off, taken up later or given to another model. Pure.
 */
import type { TimelineItem } from "../../protocol";
import type { Items } from "./fold";

export type Row =
  | { kind: "item"; key: string; index: number; id: string }
  | { kind: "fold"; key: string; indexes: readonly number[]; ids: readonly string[] }
  | { kind: "marker"; key: string; mark: Mark };

export type Mark =
  | { what: "interrupted" }
  | { what: "later"; ms: number }
  | { what: "model"; provider: string; model: string };

/** A pause from which on the next message says how long it was. */
const LATER_MS = 60 * 60 * 1_000;

const FOLD_FROM = 3;

export type TurnEnd = "finished" | "failed" | "stopped";

/** How the turn ended that the summary at `index` closes: its own items say it. */
export function turnEnd(items: Items, index: number): TurnEnd {
  const turn = items[index]?.correlationId;
  for (let at = index - 1; at >= 0 && items[at]!.correlationId === turn; at -= 1) {
    const item = items[at]!;
    if (item.type === "error") return "failed";
    if (item.status === "cancelled") return "stopped";
  }
  return "finished";
}

/** A quiet line: done, went well, and nothing in it asks to be read. */
function folds(item: TimelineItem): boolean {
  return item.type === "tool_call" && item.status === "succeeded" && !item.error;
}

/** An open question is asked by the strip above the composer; the timeline tells what was answered. */
function waits(item: TimelineItem): boolean {
  return item.type === "approval" && !item.decision && (item.status === "running" || item.status === "pending");
}

/** What is to be said before an item, as seen from the items before it. */
class Marks {
  private last: TimelineItem | null = null;
  /** The turn whose end has not been told. */
  private open: string | null = null;
  private model: string | null = null;

  before(item: TimelineItem): Mark[] {
    const marks: Mark[] = [];
    const { last } = this;
    if (item.type === "user_message" && last) {
      if (this.open !== null && this.open !== item.correlationId) marks.push({ what: "interrupted" });
      const pause = item.createdAt - (last.updatedAt ?? last.createdAt);
      if (pause >= LATER_MS) marks.push({ what: "later", ms: pause });
    }
    if (item.type === "assistant_message") {
      const model = `${item.provider} ${item.model}`;
      if (this.model !== null && this.model !== model) marks.push({ what: "model", provider: item.provider, model: item.model });
      this.model = model;
    }
    // Every turn that came to an end says so itself.
    if (item.type === "user_message") this.open = item.correlationId;
    if (item.type === "summary" && item.correlationId === this.open) this.open = null;
    this.last = item;
    return marks;
  }
}

export function rowsOf(items: Items): Row[] {
  const rows: Row[] = [];
  const marks = new Marks();
  let run: number[] = [];
  const endRun = () => {
    if (run.length >= FOLD_FROM) {
      const ids = run.map((index) => items[index]!.id);
      rows.push({ kind: "fold", key: `fold-${ids[0]}`, indexes: run, ids });
    } else {
      for (const index of run) rows.push(itemRow(items, index));
    }
    run = [];
  };
  items.forEach((item, index) => {
    const said = marks.before(item);
    if (said.length > 0) {
      endRun();
      for (const mark of said) rows.push({ kind: "marker", key: `${mark.what}-${item.id}`, mark });
    }
    if (!item.visible || waits(item)) return;
    if (folds(item)) {
      run.push(index);
      return;
    }
    // An empty answer between two calls is no break for the reader.
    if (item.type === "assistant_message" && item.status === "succeeded" && item.text.trim() === "") return;
    endRun();
    rows.push(itemRow(items, index));
  });
  endRun();
  return rows;
}

function itemRow(items: Items, index: number): Row {
  const id = items[index]!.id;
  return { kind: "item", key: id, index, id };
}

/** "Read 7 files, searched 2 times": verbs in the order of their first use. */
export function foldSummary(items: readonly TimelineItem[]): string {
  const verbs = new Map<string, number>();
  for (const item of items) {
    if (item.type !== "tool_call") continue;
    verbs.set(item.verb, (verbs.get(item.verb) ?? 0) + 1);
  }
  const parts = [...verbs].map(([verb, times], index) => {
    const word = index === 0 ? verb : verb.charAt(0).toLowerCase() + verb.slice(1);
    return times === 1 ? `${word} once` : times === 2 ? `${word} twice` : `${word} ${times} times`;
  });
  return parts.join(", ");
}
