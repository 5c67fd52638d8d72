/** The timeline of the session that is shown. Only the event adapter and opening a session write it. */
import type { ArtifactRef } from "../../protocol";
import { createStore } from "../../shared/store";
import type { Items } from "./fold";

export interface TimelineState {
  sessionId: string | null;
  items: Items;
  /** Grows when items are added or change their kind of row; not when a text grows. Rows are made anew then. */
  structure: number;
  loading: boolean;
  /** Records that were damaged and left out, in words. */
  notes: readonly string[];
  /** A command's whole log, while it is shown. */
  log: { artifact: ArtifactRef; command: string } | null;
  /** Whether the reader is at the end and is taken along as it grows. */
  following: boolean;
}

export const emptyTimeline: TimelineState = {
  sessionId: null,
  items: [],
  structure: 0,
  loading: false,
  notes: [],
  log: null,
  following: true,
};

export const timelineStore = createStore<TimelineState>(() => emptyTimeline);

export function setItems(items: Items): void {
  timelineStore.setState((state) => {
    if (items === state.items) return state;
    return { items, structure: state.structure + (sameStructure(state.items, items) ? 0 : 1) };
  });
}

function sameStructure(before: Items, after: Items): boolean {
  if (before.length !== after.length) return false;
  for (let index = after.length - 1; index >= 0; index -= 1) {
    const old = before[index]!;
    const item = after[index]!;
    if (old === item) continue;
    if (old.status !== item.status || old.visible !== item.visible || old.type !== item.type) return false;
  }
  return true;
}
