/** Decisions about proposed changes: each asks the engine, and the answer is what is shown. */
import type { ChangesResult, Selection } from "../../protocol";
import { declareCommands, run } from "../../shared/commands";
import { asShownError } from "../../shared/failure";
import { count } from "../../shared/format";
import { runtime } from "../../shared/runtime";
import { showError, toast } from "../notifications";
import { sessionsStore } from "../sessions";
import { changesStore, newestOpen, putChangeSet } from "./store";

export interface Decision {
  id: string;
  selection: Selection;
}

export const ALL: Selection = { what: "all" };

async function decide(id: string, ask: () => Promise<ChangesResult>): Promise<ChangesResult | null> {
  if (changesStore.getState().deciding.includes(id)) return null;
  changesStore.setState(({ deciding }) => ({ deciding: [...deciding, id] }));
  try {
    const result = await ask();
    putChangeSet(result.changeSet);
    return result;
  } catch (thrown) {
    showError(asShownError(thrown));
    return null;
  } finally {
    changesStore.setState(({ deciding }) => ({ deciding: deciding.filter((other) => other !== id) }));
  }
}

export async function accept({ id, selection }: Decision): Promise<void> {
  const result = await decide(id, () => runtime().request("changes/accept", { id, selection }));
  if (!result) return;
  const written = result.filesWritten.length;
  const notes = result.notes.length > 0 ? ` ${result.notes.join(" ")}` : "";
  toast({
    text: written > 0 ? `Accepted: ${count(written, "file")} written.${notes}` : `Accepted.${notes}`,
    action: written > 0 ? { label: "Undo", command: "changes.undo", argument: id } : null,
  });
}

export async function reject({ id, selection }: Decision): Promise<void> {
  const result = await decide(id, () => runtime().request("changes/reject", { id, selection }));
  if (result) toast({ text: "Rejected. Nothing was written." });
}

async function undo(id: string | null): Promise<void> {
  const result = await decide(id ?? "", () => runtime().request("changes/undo", { id }));
  if (!result) return;
  toast({
    text: `Taken back: ${count(result.filesWritten.length, "file")} restored.`,
    action: { label: "Redo", command: "changes.redo", argument: result.changeSet.id },
  });
}

async function redo(id: string | null): Promise<void> {
  const result = await decide(id ?? "", () => runtime().request("changes/redo", { id }));
  if (result) toast({ text: `Written again: ${count(result.filesWritten.length, "file")}.` });
}

function current(): string | null {
  return newestOpen(changesStore.getState().sets, sessionsStore.getState().selected)?.id ?? null;
}

const nothingToReview = () => (current() ? null : "All changes are decided.");
const idOf = (argument: unknown) => (typeof argument === "string" ? argument : null);

export function declareChangesCommands(): void {
  declareCommands([
    {
      id: "changes.review",
      title: "Review the proposed changes",
      group: "Changes",
      keys: ["Alt+Enter"],
      unavailable: nothingToReview,
      run: () => {
        const id = current();
        if (id) run("code.openReview", { changeSetId: id });
      },
    },
    {
      id: "changes.acceptAll",
      title: "Accept all proposed changes",
      group: "Changes",
      unavailable: nothingToReview,
      run: async () => {
        const id = current();
        if (id) await accept({ id, selection: ALL });
      },
    },
    {
      id: "changes.rejectAll",
      title: "Reject all proposed changes",
      group: "Changes",
      unavailable: nothingToReview,
      run: async () => {
        const id = current();
        if (id) await reject({ id, selection: ALL });
      },
    },
    {
      id: "changes.undo",
      title: "Undo the last accept",
      group: "Changes",
      run: (argument) => undo(idOf(argument)),
    },
    {
      id: "changes.redo",
      title: "Redo the accept that was undone",
      group: "Changes",
      run: (argument) => redo(idOf(argument)),
    },
  ]);
}
