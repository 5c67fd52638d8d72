/** What the user is writing, per session: text, caret, mode, and the messages that wait for the running turn. */
import type { JsonValue, Mode } from "../../protocol";
import type { Attachment } from "../../shared/attachments";
import { createStore } from "../../shared/store";

export interface Queued {
  id: string;
  text: string;
  mode: Mode;
}

export interface Draft {
  text: string;
  caret: number;
  mode: Mode;
  /** Texts that go with the message and are shown as chips. */
  attachments: readonly Attachment[];
  queue: readonly Queued[];
  /** Why the queue waits, after a failure or a stop. */
  paused: string | null;
}

export interface ComposerState {
  /** By session id; `NEW` before there is one. */
  drafts: Readonly<Record<string, Draft>>;
  /** Sent texts, newest last, for ↑ in an empty box. */
  sent: readonly string[];
  sending: boolean;
  /** False until what was kept is back and the session that is shown is known: nothing can be sent before. */
  restored: boolean;
}

export const NEW = "new";
export const freshDraft: Draft = { text: "", caret: 0, mode: "agent", attachments: [], queue: [], paused: null };
export const emptyComposer: ComposerState = { drafts: {}, sent: [], sending: false, restored: false };

export const composerStore = createStore<ComposerState>(() => emptyComposer);

export function draftOf(state: ComposerState, session: string | null): Draft {
  return state.drafts[session ?? NEW] ?? freshDraft;
}

export const MODES: readonly { mode: Mode; name: string; note: string; placeholder: string }[] = [
  { mode: "ask", name: "Ask", note: "Answers only; reads, and read-only commands", placeholder: "Ask about this code" },
  { mode: "edit", name: "Edit", note: "Proposes edits for your review", placeholder: "Describe the change" },
  {
    mode: "agent",
    name: "Agent",
    note: "Plans, edits, runs commands and checks",
    placeholder: "Describe the outcome; I will plan, edit and check",
  },
];

export function nextMode(mode: Mode): Mode {
  const at = MODES.findIndex((entry) => entry.mode === mode);
  return MODES[(at + 1) % MODES.length]!.mode;
}

export function readDraft(value: JsonValue): Draft {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return freshDraft;
  const text = typeof value["text"] === "string" ? value["text"] : "";
  const queue = Array.isArray(value["queue"]) ? value["queue"] : [];
  return {
    text,
    caret: typeof value["caret"] === "number" ? value["caret"] : text.length,
    mode: readMode(value["mode"]),
    attachments: (Array.isArray(value["attachments"]) ? value["attachments"] : []).flatMap((entry): Attachment[] => {
      if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return [];
      const { name, text: attached } = entry;
      return typeof name === "string" && typeof attached === "string" ? [{ name, text: attached }] : [];
    }),
    queue: queue.flatMap((entry): Queued[] => {
      if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return [];
      const { id, text: queued, mode } = entry;
      return typeof id === "string" && typeof queued === "string" ? [{ id, text: queued, mode: readMode(mode) }] : [];
    }),
    // What waited when the window closed waits on: nothing is sent that the user does not see being sent.
    paused: queue.length > 0 ? "The window was closed." : null,
  };
}

function readMode(value: JsonValue | undefined): Mode {
  return value === "ask" || value === "edit" ? value : "agent";
}
