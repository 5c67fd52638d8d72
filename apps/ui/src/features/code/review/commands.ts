/** Walking through a review and deciding: each asks the engine through the changes feature. */
import type { ChangeSet, ChangeSetFile, Selection } from "../../../protocol";
import { type Command, declareCommands } from "../../../shared/commands";
import { ALL, accept, changesStore, isOpen, reject } from "../../changes";
import { setPreset } from "../../shell";
import { editorStore } from "../store";
import { type Tab, activeTab, closeEverywhere, openIn, reviewTab } from "../tabs";
import { decidesHunks, nextWaiting, reviewStore, waits } from "./store";

interface Place {
  tab: Tab;
  set: ChangeSet;
  file: ChangeSetFile;
}

function here(): Place | null {
  const tab = activeTab(editorStore.getState());
  if (tab?.kind !== "review" || !tab.changeSetId) return null;
  const set = changesStore.getState().sets[tab.changeSetId];
  const file = set?.files.find((other) => other.path === tab.path);
  return set && file ? { tab, set, file } : null;
}

export function showFile(changeSetId: string, path: string): void {
  reviewStore.setState(({ shown }) => ({ current: 0, shown: shown + 1 }));
  editorStore.setState((state) => openIn(state, state.activeGroup, reviewTab(changeSetId, path)));
}

export function showHunk(index: number): void {
  reviewStore.setState(({ shown }) => ({ current: index, shown: shown + 1 }));
}

/** Past the last hunk the walk goes on in the next file that waits. */
function walkHunks(by: 1 | -1): void {
  const place = here();
  if (!place) return;
  const next = reviewStore.getState().current + by;
  if (next >= 0 && next < place.file.hunks.length) showHunk(next);
  else walkFiles(by);
}

function walkFiles(by: 1 | -1): void {
  const place = here();
  if (!place) return;
  const { files } = place.set;
  const at = files.indexOf(place.file);
  for (let step = 1; step <= files.length; step += 1) {
    const file = files[(at + by * step + files.length * step) % files.length]!;
    if (waits(file) || step === files.length) {
      showFile(place.set.id, file.path);
      return;
    }
  }
}

export async function decide(verb: "accept" | "reject", set: ChangeSet, selection: Selection): Promise<void> {
  await (verb === "accept" ? accept : reject)({ id: set.id, selection });
  const now = changesStore.getState().sets[set.id];
  if (!now || selection.what === "all") return;
  const file = now.files.find((other) => other.path === selection.path);
  const { current } = reviewStore.getState();
  if (file && waits(file) && file.hunks.length > 0) {
    showHunk(Math.min(current, file.hunks.length - 1));
    return;
  }
  const next = nextWaiting(now, selection.path);
  if (next !== null && next !== selection.path) showFile(set.id, next);
}

function decideHunk(verb: "accept" | "reject"): void | Promise<void> {
  const place = here();
  if (!place || !open(place.set)) return;
  const hunk = place.file.hunks[reviewStore.getState().current];
  if (decidesHunks(place.file) && hunk) {
    return decide(verb, place.set, { what: "hunk", path: place.file.path, number: hunk.number });
  }
  return decideFile(verb);
}

function decideFile(verb: "accept" | "reject"): void | Promise<void> {
  const place = here();
  if (!place || !open(place.set) || !waits(place.file)) return;
  if (verb === "accept" && place.file.status === "conflicted") return;
  return decide(verb, place.set, { what: "file", path: place.file.path });
}

export function open(set: ChangeSet): boolean {
  return isOpen(set.status) && set.status !== "draft";
}

/** Leaves the review; what is open stays open, and the status bar counts it. */
export function finish(changeSetId: string): void {
  editorStore.setState((state) => closeEverywhere(state, reviewTab(changeSetId, "").id));
  setPreset("balanced");
}

export function declareReviewCommands(): void {
  const none = () => (here() ? null : "No review is open.");
  const command = (id: string, title: string, keys: string, run: Command["run"]): Command => ({
    id,
    title,
    group: "Changes",
    place: "review",
    keys: [keys],
    unavailable: none,
    run,
  });
  declareCommands([
    command("review.nextHunk", "Next hunk", "F7", () => walkHunks(1)),
    command("review.previousHunk", "Previous hunk", "Shift+F7", () => walkHunks(-1)),
    command("review.nextFile", "Next file of the review", "Alt+]", () => walkFiles(1)),
    command("review.previousFile", "Previous file of the review", "Alt+[", () => walkFiles(-1)),
    command("review.acceptHunk", "Accept the hunk", "Alt+A", () => decideHunk("accept")),
    command("review.rejectHunk", "Reject the hunk", "Alt+R", () => decideHunk("reject")),
    command("review.acceptFile", "Accept the file", "Alt+Shift+A", () => decideFile("accept")),
    command("review.rejectFile", "Reject the file", "Alt+Shift+R", () => decideFile("reject")),
    command("review.finish", "Leave the review", "Alt+Enter", () => {
      const place = here();
      if (place) finish(place.set.id);
    }),
    {
      id: "review.acceptRest",
      title: "Accept the rest of the review",
      group: "Changes",
      unavailable: none,
      run: async () => {
        const place = here();
        if (place) await decide("accept", place.set, ALL);
      },
    },
  ]);
}
