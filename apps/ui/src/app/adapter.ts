/**
 * The event adapter: the only writer of what events change. One frame in, the domain stores out. Nothing is asked of
 * anybody here except what an event says is out of date.
 */
import type { EventEnvelope, Methods, Notice } from "../protocol";
import { changesStore, emptyChanges, putChangeSet } from "../features/changes";
import { type TurnEnd, turnEnded } from "../features/composer";
import { toast } from "../features/notifications";
import { loadProviders } from "../features/providers";
import { refreshSessions, sessionsStore } from "../features/sessions";
import { loadPreferences } from "../features/settings";
import { type Items, emptyTimeline, foldDelta, foldEvent, setItems, timelineStore } from "../features/timeline";
import { refreshGit, workspaceStore } from "../features/workspace";
import { announce } from "../shared/announce";
import { asShownError } from "../shared/failure";
import { showError } from "../features/notifications";
import { runtime } from "../shared/runtime";
import { DeltaBuffer } from "./buffer";
import { fileNotices } from "../shared/file-notices";

const buffer = new DeltaBuffer((itemId, delta, at) => commitSoon(foldDelta(newest(), itemId, delta, at)));

/** What is folded and not shown yet: a burst of events is drawn once a frame, not once an event. */
let folded: Items | null = null;
let commitTimer: ReturnType<typeof setTimeout> | null = null;
let committedAt = Number.NEGATIVE_INFINITY;
const FRAME_MS = 16;

function newest(): Items {
  return folded ?? timelineStore.getState().items;
}

function commitSoon(items: Items): void {
  folded = items;
  commitTimer ??= setTimeout(commit, Math.max(0, committedAt + FRAME_MS - performance.now()));
}

function commit(): void {
  commitTimer = null;
  committedAt = performance.now();
  if (folded) setItems(folded);
  folded = null;
}

function dropFolded(): void {
  if (commitTimer !== null) clearTimeout(commitTimer);
  commitTimer = null;
  committedAt = Number.NEGATIVE_INFINITY;
  folded = null;
}

/** The newest event that the shown timeline contains; events of its session up to it are not folded again. */
let contained = 0;
/** Events of the session that is being loaded, kept until its timeline is there. */
let waiting: EventEnvelope[] = [];
let loadNumber = 0;

/** Items of sessions shown before, latest last: they are there at once, and brought up to date a moment later. */
const earlier = new Map<string, Items>();
const MOST_EARLIER = 4;

function rememberShown(): void {
  const { sessionId } = timelineStore.getState();
  const items = newest();
  if (sessionId === null || items.length === 0) return;
  earlier.delete(sessionId);
  earlier.set(sessionId, items);
  for (const id of earlier.keys()) if (earlier.size > MOST_EARLIER) earlier.delete(id);
}

/** Shows a session: its timeline as the engine folded it, then the events that came since. */
export async function loadSession(id: string | null): Promise<void> {
  const number = ++loadNumber;
  buffer.flushAll();
  rememberShown();
  buffer.clear();
  dropFolded();
  waiting = [];
  contained = 0;
  const items = (id !== null && earlier.get(id)) || [];
  timelineStore.setState((state) => ({ ...emptyTimeline, items, structure: state.structure + 1, sessionId: id, loading: id !== null }));
  if (id === null) return;
  let shown: Methods["session/show"]["result"];
  try {
    shown = await runtime().request("session/show", { sessionId: id });
  } catch (thrown) {
    if (number !== loadNumber) return;
    timelineStore.setState({ loading: false });
    showError(asShownError(thrown));
    return;
  }
  // Another session was opened meanwhile.
  if (number !== loadNumber) return;
  contained = shown.lastSeq;
  for (const set of shown.changeSets) putChangeSet(set);
  let current: Items = shown.timeline;
  for (const event of waiting) if (event.seq > contained) current = foldEvent(current, event);
  waiting = [];
  timelineStore.setState((state) => ({ items: current, structure: state.structure + 1, loading: false, notes: shown.notes }));
}

export function forgetAll(): void {
  loadNumber += 1;
  buffer.clear();
  dropFolded();
  earlier.clear();
  waiting = [];
  contained = 0;
  timelineStore.setState(emptyTimeline);
  changesStore.setState(emptyChanges);
}

export function receiveEvent(event: EventEnvelope): void {
  toTimeline(event);
  toDomains(event);
}

function toTimeline(event: EventEnvelope): void {
  const { sessionId, loading } = timelineStore.getState();
  if (!event.sessionId || event.sessionId !== sessionId) return;
  if (loading) {
    waiting.push(event);
    return;
  }
  if (event.seq <= contained) return;
  const { body } = event;
  if (body.type === "itemDelta") {
    buffer.add(body.itemId, body.delta, event.at);
    return;
  }
  if (body.type === "itemStarted" || body.type === "itemCompleted") buffer.flushItem(body.item.id);
  else buffer.flushAll();
  const before = newest();
  const items = foldEvent(before, event);
  if (items !== before) commitSoon(items);
}

function toDomains(event: EventEnvelope): void {
  const { body, sessionId } = event;
  switch (body.type) {
    case "sessionCreated":
    case "recovered":
      listSoon();
      break;
    case "sessionStateChanged":
      sessionsStore.setState(({ sessions }) => ({
        sessions: sessions.map((session) =>
          session.id === sessionId ? { ...session, state: body.to, updatedAt: event.at } : session,
        ),
      }));
      break;
    case "sessionRenamed":
      listSoon();
      break;
    case "turnStarted":
      if (sessionId) {
        const run = { turnId: body.turnId, mode: body.mode, provider: body.provider, model: body.model, startedAt: event.at };
        sessionsStore.setState(({ runs }) => ({ runs: { ...runs, [sessionId]: run } }));
      }
      // The first message names the session.
      listSoon();
      announce("Started", "polite");
      break;
    case "turnCompleted":
      if (sessionId) endTurn(sessionId, body);
      listSoon();
      break;
    case "changeSetUpdated":
      putChangeSet(body.changeSet);
      break;
    case "usageUpdated":
      if (sessionId) addUsage(sessionId, body);
      break;
    case "itemStarted":
      if (body.item.type === "approval" && !body.item.decision) needsYou(body.item.request);
      break;
    case "itemDelta":
    case "itemCompleted":
      break;
  }
}

type TurnCompleted = Extract<EventEnvelope["body"], { type: "turnCompleted" }>;

function endTurn(sessionId: string, body: TurnCompleted): void {
  sessionsStore.setState(({ runs }) => {
    const { [sessionId]: ended, ...rest } = runs;
    void ended;
    return { runs: rest };
  });
  const end: TurnEnd = body.outcome.result;
  const words: Record<TurnEnd, string> = {
    completed: "Finished",
    failed: body.outcome.result === "failed" ? `Failed: ${body.outcome.error.message}` : "Failed",
    cancelled: "Stopped",
    interrupted: "Interrupted",
  };
  announce(words[end], "polite");
  if (end !== "cancelled") runtime().notify("Vibe Coder", words[end]);
  turnEnded(sessionId, end);
}

function addUsage(sessionId: string, body: Extract<EventEnvelope["body"], { type: "usageUpdated" }>): void {
  const { usage, session, today } = body;
  sessionsStore.setState(({ spent }) => {
    const before = spent[sessionId];
    const sum = before
      ? {
          input: before.usage.input + usage.input,
          output: before.usage.output + usage.output,
          cacheRead: before.usage.cacheRead + usage.cacheRead,
          cacheWrite: before.usage.cacheWrite + usage.cacheWrite,
          reasoning: before.usage.reasoning + usage.reasoning,
        }
      : usage;
    const cost = session && session.dollars > 0 ? session.dollars : (before?.cost ?? null);
    return { spent: { ...spent, [sessionId]: { usage: sum, cost, today: today?.dollars ?? 0, lastInput: usage.input } } };
  });
}

function needsYou(request: string): void {
  announce(`Needs your OK: ${request}`, "assertive");
  runtime().notify("Vibe Coder needs your OK", request);
}

/** Several events of one moment ask for one list. */
const LIST_AFTER_MS = 60;
let listTimer: ReturnType<typeof setTimeout> | null = null;

function listSoon(): void {
  listTimer ??= setTimeout(() => {
    listTimer = null;
    void refreshSessions();
  }, LIST_AFTER_MS);
}

export function receiveNotice(notice: Notice): void {
  switch (notice.type) {
    case "filesChanged":
      fileNotices.publish({ folders: notice.folders, files: notice.files });
      break;
    case "gitChanged":
      void refreshGit();
      fileNotices.publish({ folders: [], files: [], git: true });
      break;
    case "watching":
      workspaceStore.setState({ watchProblem: notice.live ? null : (notice.reason ?? "Changes on disk are not seen as they happen.") });
      if (!notice.live && notice.reason) toast({ text: notice.reason });
      break;
    case "settingsChanged":
      void loadPreferences();
      void loadProviders();
      break;
  }
}
