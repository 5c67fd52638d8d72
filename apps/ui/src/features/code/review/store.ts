/** Which hunk of the shown file a review is at. What waits for a decision is the change set's own state. */
import type { ChangeSet, ChangeSetFile } from "../../../protocol";
import { createStore } from "../../../shared/store";

export interface ReviewState {
  /** Index into the pending hunks of the shown file. */
  current: number;
  /** Counts the requests to bring the current hunk into view. */
  shown: number;
}

export const reviewStore = createStore<ReviewState>(() => ({ current: 0, shown: 0 }));

export function waits(file: ChangeSetFile): boolean {
  return file.status === "pending" || file.status === "conflicted";
}

/** Hunks of one file may be decided one by one; a file that comes, goes or is not text is decided whole. */
export function decidesHunks(file: ChangeSetFile): boolean {
  return file.status === "pending" && !file.binary && file.changeType !== "delete" && file.hunks.length > 0;
}

/** The next file that waits, after the given one and around; `null` when all are decided. */
export function nextWaiting(set: ChangeSet, path: string): string | null {
  const at = set.files.findIndex((file) => file.path === path);
  const order = [...set.files.slice(at + 1), ...set.files.slice(0, at + 1)];
  return order.find(waits)?.path ?? null;
}
