/** Writing, sending, queueing and stopping. */
import type { Mode } from "../../protocol";
import { type Attachment, splitAttachments, withAttachments } from "../../shared/attachments";
import { declareCommands, run } from "../../shared/commands";
import { asShownError } from "../../shared/failure";
import { keep } from "../../shared/kept";
import { runtime } from "../../shared/runtime";
import { showError } from "../notifications";
import { providersStore } from "../providers";
import { isActive, openSession, sessionsStore } from "../sessions";
import { approvalsOf, settingsStore } from "../settings";
import { MOST_ATTACHED, readFiles } from "./attach";
import { type Draft, NEW, composerStore, draftOf, freshDraft, nextMode } from "./store";

function update(session: string | null, change: Partial<Draft>): void {
  const key = session ?? NEW;
  const draft = { ...draftOf(composerStore.getState(), session), ...change };
  composerStore.setState(({ drafts }) => ({ drafts: { ...drafts, [key]: draft } }));
  keep(`draft/${key}`, {
    ...draft,
    attachments: draft.attachments.map((entry) => ({ ...entry })),
    queue: draft.queue.map((entry) => ({ ...entry })),
  });
}

const selected = () => sessionsStore.getState().selected;

export function write(text: string, caret: number): void {
  update(selected(), { text, caret });
}

export function setMode(mode: Mode): void {
  update(selected(), { mode });
}

export function attach(added: readonly Attachment[]): void {
  const { attachments } = draftOf(composerStore.getState(), selected());
  update(selected(), { attachments: [...attachments, ...added] });
}

export async function attachFiles(files: readonly File[]): Promise<void> {
  const session = selected();
  const used = draftOf(composerStore.getState(), session).attachments.reduce((sum, { text }) => sum + text.length, 0);
  const added = await readFiles(files, MOST_ATTACHED - used);
  // Another session may be shown by now; the files belong to the one they were dropped on.
  const { attachments } = draftOf(composerStore.getState(), session);
  update(session, { attachments: [...attachments, ...added] });
}

export function detach(index: number): void {
  const { attachments } = draftOf(composerStore.getState(), selected());
  update(selected(), { attachments: attachments.filter((_, at) => at !== index) });
}

/** Puts words at the end of the text, for "add to chat". */
export function insert(words: string): void {
  const { text } = draftOf(composerStore.getState(), selected());
  const joined = text === "" || text.endsWith(" ") || text.endsWith("\n") ? text + words : `${text} ${words}`;
  update(selected(), { text: `${joined} `, caret: joined.length + 1 });
  run("composer.focus");
}

export function isRunning(session: string | null): boolean {
  if (!session) return false;
  const known = sessionsStore.getState().sessions.find((entry) => entry.id === session);
  return session in sessionsStore.getState().runs || (known ? isActive(known.state) : false);
}

/**
 * Puts back what was kept, once the session to show is known. What was typed before that belongs to it; a window that
 * shows its workspace again has the newer drafts itself.
 */
export function restoreDrafts(kept: Readonly<Record<string, Draft>>, newest: "window" | "engine"): void {
  composerStore.setState(({ drafts: own }) => {
    if (newest === "window") return { drafts: { ...kept, ...own }, restored: true };
    const shown = selected() ?? NEW;
    const early = own[NEW];
    if (!early || (early.text === "" && early.attachments.length === 0)) return { drafts: kept, restored: true };
    const before = kept[shown] ?? freshDraft;
    const text = before.text === "" ? early.text : `${before.text}\n${early.text}`;
    const attachments = [...before.attachments, ...early.attachments];
    return { drafts: { ...kept, [shown]: { ...before, text, attachments, caret: text.length } }, restored: true };
  });
}

function untilRestored(): Promise<void> {
  if (composerStore.getState().restored) return Promise.resolve();
  return new Promise((done) => {
    const stopListening = composerStore.subscribe(({ restored }) => {
      if (!restored) return;
      stopListening();
      done();
    });
  });
}

/** Enter: sends, or queues while a turn is running. */
export async function submit(): Promise<void> {
  await untilRestored();
  const session = selected();
  const draft = draftOf(composerStore.getState(), session);
  const text = withAttachments(draft.text.trim(), draft.attachments);
  if (text === "" || composerStore.getState().sending) return;
  const written = draft.text.trim();
  if (written !== "") composerStore.setState(({ sent }) => ({ sent: [...sent.filter((entry) => entry !== written), written].slice(-50) }));
  if (isRunning(session)) {
    update(session, { text: "", caret: 0, attachments: [] });
    enqueue(session, text, draft.mode);
    return;
  }
  update(session, { text: "", caret: 0, attachments: [] });
  const sent = await send(session, text, draft.mode);
  // What could not be sent goes back, in front of what was written meanwhile.
  if (!sent) {
    const { text: since, attachments } = draftOf(composerStore.getState(), session);
    const back = since === "" ? written : `${written}\n${since}`;
    update(session, { text: back, caret: back.length, attachments: [...draft.attachments, ...attachments] });
  }
}

/** Sends a message that is not in the box, which keeps what is being written; waits while a turn is running. */
export async function ask(text: string): Promise<void> {
  const session = selected();
  const { mode } = draftOf(composerStore.getState(), session);
  if (isRunning(session)) enqueue(session, text, mode);
  else if (!(await send(session, text, mode))) insert(text);
}

function enqueue(session: string | null, text: string, mode: Mode): void {
  const { queue } = draftOf(composerStore.getState(), session);
  update(session, { queue: [...queue, { id: crypto.randomUUID(), text, mode }] });
}

async function send(session: string | null, text: string, mode: Mode): Promise<boolean> {
  composerStore.setState({ sending: true });
  try {
    let id = session;
    if (!id) {
      id = (await runtime().request("session/start", { title: null })).sessionId;
      // What was typed while it was being made is the next message of this conversation.
      update(id, { ...draftOf(composerStore.getState(), null), mode });
      update(null, freshDraft);
      if (selected() === null) await openSession(id);
    }
    const { chosen } = providersStore.getState();
    await runtime().request("turn/send", {
      sessionId: id,
      text,
      mode,
      provider: chosen?.provider ?? null,
      model: chosen?.model ?? null,
      approvals: approvalsOf(settingsStore.getState().preferences.trust),
      timeoutMs: null,
    });
    return true;
  } catch (thrown) {
    showError(asShownError(thrown));
    return false;
  } finally {
    composerStore.setState({ sending: false });
  }
}

export type TurnEnd = "completed" | "failed" | "cancelled" | "interrupted";

/** The next queued message goes out when a turn ended well; otherwise the queue waits and says why. */
export function turnEnded(session: string, end: TurnEnd): void {
  const { queue } = draftOf(composerStore.getState(), session);
  if (queue.length === 0) return;
  if (end === "completed") {
    void sendQueued(session, queue[0]!.id);
    return;
  }
  const reasons = { failed: "The last turn failed.", cancelled: "You stopped the last turn.", interrupted: "The last turn was interrupted." };
  update(session, { paused: reasons[end] });
}

export async function sendQueued(session: string, id: string): Promise<void> {
  const { queue } = draftOf(composerStore.getState(), session);
  const entry = queue.find((queued) => queued.id === id);
  if (!entry || isRunning(session)) return;
  update(session, { queue: queue.filter((queued) => queued !== entry), paused: null });
  if (await send(session, entry.text, entry.mode)) return;
  const now = draftOf(composerStore.getState(), session);
  update(session, { queue: [entry, ...now.queue], paused: "The message could not be sent." });
}

export function removeQueued(session: string, id: string): void {
  const { queue } = draftOf(composerStore.getState(), session);
  update(session, { queue: queue.filter((entry) => entry.id !== id) });
}

/** Takes a queued message back into the box. */
export function editQueued(session: string, id: string): void {
  const draft = draftOf(composerStore.getState(), session);
  const entry = draft.queue.find((queued) => queued.id === id);
  if (!entry) return;
  const taken = splitAttachments(entry.text);
  const text = draft.text.trim() === "" ? taken.text : `${taken.text}\n${draft.text}`;
  const attachments = [...taken.attachments, ...draft.attachments];
  update(session, { text, attachments, caret: text.length, mode: entry.mode, queue: draft.queue.filter((queued) => queued !== entry) });
  run("composer.focus");
}

export function moveQueued(session: string, id: string, step: 1 | -1): void {
  const queue = [...draftOf(composerStore.getState(), session).queue];
  const at = queue.findIndex((entry) => entry.id === id);
  const to = at + step;
  if (at < 0 || to < 0 || to >= queue.length) return;
  const [entry] = queue.splice(at, 1);
  queue.splice(to, 0, entry!);
  update(session, { queue });
}

export async function stop(): Promise<void> {
  const session = selected();
  if (!session) return;
  try {
    await runtime().request("turn/cancel", { sessionId: session });
  } catch (thrown) {
    showError(asShownError(thrown));
  }
}

export function declareComposerCommands(): void {
  declareCommands([
    {
      id: "composer.focus",
      title: "Write a message",
      group: "Chat",
      keys: ["Mod+L"],
      run: () => requestAnimationFrame(() => document.getElementById("composer-text")?.focus()),
    },
    {
      id: "composer.mode",
      title: "Next mode: ask, edit, agent",
      group: "Chat",
      keys: ["Alt+M"],
      run: () => setMode(nextMode(draftOf(composerStore.getState(), selected()).mode)),
    },
    {
      id: "composer.stop",
      title: "Stop the running turn",
      group: "Chat",
      keys: ["Mod+Shift+Backspace"],
      unavailable: () => (isRunning(selected()) ? null : "Nothing is running."),
      run: stop,
    },
    {
      id: "composer.setMode",
      title: "Change the mode",
      group: "Chat",
      internal: true,
      run: (mode) => setMode(mode as Mode),
    },
    {
      id: "composer.ask",
      title: "Ask at once",
      group: "Chat",
      internal: true,
      run: (words) => ask(String(words)),
    },
    {
      id: "composer.insert",
      title: "Add to the message",
      group: "Chat",
      internal: true,
      run: (words) => insert(String(words)),
    },
  ]);
}
