/** What can be done with items of the timeline: answer, stop, copy, read a whole log, move about. */
import type { AnswerScope, ApprovalDecision, ApprovalItem, ArtifactRef, CommandItem, TimelineItem } from "../../protocol";
import { declareCommands, run } from "../../shared/commands";
import { asShownError } from "../../shared/failure";
import { runtime } from "../../shared/runtime";
import { showError } from "../notifications";
import { timelineStore } from "./store";

export type WaitingApproval = TimelineItem & { type: "approval" } & ApprovalItem;

/** Approvals that nobody has answered, oldest first: the first one is the one shown. */
export function waitingApprovals(items: readonly TimelineItem[]): WaitingApproval[] {
  return items.filter(
    (item): item is WaitingApproval =>
      item.type === "approval" && !item.decision && (item.status === "running" || item.status === "pending"),
  );
}

const answering = new Set<string>();

export async function answerApproval(approvalId: string, decision: ApprovalDecision, scope: AnswerScope = "once"): Promise<void> {
  // A second press of the same key would answer the next request unread.
  if (answering.has(approvalId)) return;
  answering.add(approvalId);
  try {
    await runtime().request("approval/answer", { approvalId, decision, scope });
  } catch (thrown) {
    answering.delete(approvalId);
    showError(asShownError(thrown));
  }
}

export async function stopCommand(commandId: string): Promise<void> {
  try {
    await runtime().request("command/stop", { commandId });
  } catch (thrown) {
    showError(asShownError(thrown));
  }
}

/** Sends again, from the next message on, what the model was no longer sent. */
export async function restoreCondensed(sessionId: string, itemId: string): Promise<void> {
  try {
    await runtime().request("session/restore", { sessionId, itemId });
  } catch (thrown) {
    showError(asShownError(thrown));
  }
}

/** Runs a command once more, as the user's own; what it changes joins the session's draft. */
export async function runAgain({ command, cwd }: Pick<CommandItem, "command" | "cwd">): Promise<void> {
  const { sessionId } = timelineStore.getState();
  if (!sessionId) return;
  try {
    await runtime().request("command/run", { sessionId, command, cwd });
  } catch (thrown) {
    showError(asShownError(thrown));
  }
}

const CHUNK = 1024 * 1024;
/** A download in a browser is held in memory; beyond this the end of the log is what is saved. */
const MOST_SAVED = 256 * 1024 * 1024;

export async function saveLog(artifact: ArtifactRef, name: string): Promise<void> {
  const parts: string[] = [];
  let offset = Math.max(0, artifact.sizeBytes - MOST_SAVED);
  try {
    for (;;) {
      const page = await runtime().request("artifact/read", { id: artifact.id, offset, maxBytes: CHUNK });
      parts.push(page.text);
      if (page.nextOffset >= page.size || page.nextOffset === offset) break;
      offset = page.nextOffset;
    }
    runtime().saveAs(name, parts.join(""));
  } catch (thrown) {
    showError(asShownError(thrown));
  }
}

function answerShown(decision: ApprovalDecision, scope: AnswerScope = "once"): () => Promise<void> {
  return async () => {
    // The id is on the strip itself: the keys act on what is shown, and only once it is armed.
    const armed = document.querySelector<HTMLElement>("[data-approval-armed]");
    const id = armed?.dataset["approvalArmed"];
    // What cannot be answered for longer is not answered at all: the key promised more.
    const standing = waitingApprovals(timelineStore.getState().items).find((item) => item.approvalId === id)?.patterns?.length;
    if (id && (scope === "once" || standing)) await answerApproval(id, decision, scope);
  };
}

export function declareTimelineCommands(): void {
  declareCommands([
    {
      id: "approval.allow",
      title: "Allow the command once",
      group: "Chat",
      keys: ["Alt+Y"],
      place: "approval",
      unavailable: () => (waitingApprovals(timelineStore.getState().items).length > 0 ? null : "Nothing waits for your OK."),
      run: answerShown("allow"),
    },
    {
      id: "approval.allowInSession",
      title: "Allow such commands in this session",
      group: "Chat",
      keys: ["Alt+Shift+Y"],
      place: "approval",
      unavailable: () => (waitingApprovals(timelineStore.getState().items).length > 0 ? null : "Nothing waits for your OK."),
      run: answerShown("allow", "session"),
    },
    {
      id: "approval.deny",
      title: "Deny the command",
      group: "Chat",
      keys: ["Alt+X"],
      place: "approval",
      unavailable: () => (waitingApprovals(timelineStore.getState().items).length > 0 ? null : "Nothing waits for your OK."),
      run: answerShown("deny"),
    },
    {
      id: "approval.denyAndSay",
      title: "Deny the command and say why",
      group: "Chat",
      keys: ["Alt+E"],
      place: "approval",
      unavailable: () => (waitingApprovals(timelineStore.getState().items).length > 0 ? null : "Nothing waits for your OK."),
      run: async () => {
        await answerShown("deny")();
        run("composer.focus");
      },
    },
    {
      id: "timeline.end",
      title: "Go to the end of the conversation",
      group: "Chat",
      run: () => timelineStore.setState({ following: true }),
    },
    {
      id: "timeline.askAgain",
      title: "Ask about this output",
      group: "Chat",
      internal: true,
      run: (words) => run("composer.insert", words),
    },
  ]);
}
