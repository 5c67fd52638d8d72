/** Change sets and which decisions are on their way. The sets themselves come from the engine alone. */
import type { ChangeSet, ChangeSetFile, ChangeSetStatus } from "../../protocol";
import { createStore } from "../../shared/store";

export interface ChangesState {
  sets: Readonly<Record<string, ChangeSet>>;
  /** Change sets with a decision under way, so that a second press does nothing. */
  deciding: readonly string[];
}

export const emptyChanges: ChangesState = { sets: {}, deciding: [] };

export const changesStore = createStore<ChangesState>(() => emptyChanges);

/** A list may be older than an event that came before it; the newer one of the two stays. */
export function putChangeSet(set: ChangeSet): void {
  changesStore.setState(({ sets }) => {
    const known = sets[set.id];
    return known && known.updatedAt > set.updatedAt ? { sets } : { sets: { ...sets, [set.id]: set } };
  });
}

const OPEN: ReadonlySet<ChangeSetStatus> = new Set<ChangeSetStatus>([
  "draft",
  "proposed",
  "pending_review",
  "partially_accepted",
  "conflicted",
]);

/** Whether a user's decision is still wanted. */
export function isOpen(status: ChangeSetStatus): boolean {
  return OPEN.has(status);
}

export function statusWords(set: ChangeSet): string {
  switch (set.status) {
    case "draft":
      return "Being written";
    case "proposed":
    case "pending_review":
      return "Proposed";
    case "partially_accepted":
      return "Partly accepted";
    case "accepted":
      return "Accepted";
    case "rejected":
      return "Rejected";
    case "conflicted":
      return "Conflict";
    case "restored":
      return "Restored";
  }
}

/** Files that still want a decision, over all open sets, newest set first. */
export function waitingFiles(sets: Readonly<Record<string, ChangeSet>>): { set: ChangeSet; file: ChangeSetFile }[] {
  return Object.values(sets)
    .filter((set) => isOpen(set.status) && set.status !== "draft")
    .sort((one, other) => other.updatedAt - one.updatedAt)
    .flatMap((set) =>
      set.files.filter((file) => file.status === "pending" || file.status === "conflicted").map((file) => ({ set, file })),
    );
}

export function filesToReview(sets: Readonly<Record<string, ChangeSet>>): number {
  return waitingFiles(sets).length;
}

/** The newest set that waits for a decision. */
export function newestOpen(sets: Readonly<Record<string, ChangeSet>>, sessionId: string | null): ChangeSet | null {
  let newest: ChangeSet | null = null;
  for (const set of Object.values(sets)) {
    if (!isOpen(set.status) || set.status === "draft" || (sessionId && set.sessionId !== sessionId)) continue;
    if (!newest || set.updatedAt > newest.updatedAt) newest = set;
  }
  return newest;
}
