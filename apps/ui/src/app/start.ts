/** Brings the window to life: the connection, the runtime that features reach, and which workspace is shown. */
import type { EventEnvelope, Methods } from "../protocol";
import { type Draft, composerStore, emptyComposer, readDraft, restoreDrafts } from "../features/composer";
import { changesStore } from "../features/changes";
import { closeCode, keepAll, lookAtAll, openCode } from "../features/code";
import { closeTree, openTree, refreshTree } from "../features/file-tree";
import { showError, toast } from "../features/notifications";
import { loadProviders, providersStore } from "../features/providers";
import { emptySessions, onOpenSession, refreshSessions, sessionsStore, showSession } from "../features/sessions";
import { loadPreferences } from "../features/settings";
import { readShell, shellStore } from "../features/shell";
import { refreshGit, workspaceStore } from "../features/workspace";
import { asShownError } from "../shared/failure";
import type { Frame, HostEvent, HostMethods } from "../shared/host";
import { dropPending, kept, write } from "../shared/kept";
import { installRuntime } from "../shared/runtime";
import { renewWatch } from "../shared/watching";
import { copyText, notify, saveAs, socketUrl } from "../platform/browser";
import { type Socket, openSocket } from "../platform/socket";
import { type Subscription, follow } from "../platform/subscription";
import { forgetAll, loadSession, receiveEvent, receiveNotice } from "./adapter";
import { declareAll } from "./declare";

let socket: Socket;
let subscription: Subscription | null = null;
/** How far the shown workspace has come; what failed half way is begun anew when its engine is ready again. */
let loading: "loading" | "loaded" | "failed" = "failed";
/** Counts the workspaces entered, so that a slow answer for one that was left changes nothing. */
let entered = 0;
/** Events that arrive before the subscription knows where to begin. */
let early: EventEnvelope[] = [];

export function start(): void {
  declareAll();
  onOpenSession(loadSession);
  socket = openSocket({
    url: socketUrl(),
    onFrame: receive,
    onState: (connection) => {
      workspaceStore.setState({ connection });
      if (connection.kind === "open") void connected();
    },
    onMalformed: (text) => toast({ text: "The engine sent something this window does not understand.", tone: "bad", detail: text.slice(0, 200) }),
  });
  installRuntime({
    request: <M extends keyof Methods>(method: M, params: Methods[M]["params"]) =>
      socket.request(method, params, workspaceStore.getState().context) as Promise<Methods[M]["result"]>,
    host: <M extends keyof HostMethods>(method: M, params: HostMethods[M]["params"]) =>
      socket.request(method, params, null) as Promise<HostMethods[M]["result"]>,
    enter,
    reconnect: () => socket.reconnect(),
    copy: copyText,
    saveAs,
    notify,
  });
  window.addEventListener("pagehide", () => void write());
}

/** After each connection: a window that shows a workspace goes on with it, a new one looks for its own. */
async function connected(): Promise<void> {
  try {
    const hello = await host("host/hello", {});
    workspaceStore.setState({ contexts: hello.contexts });
    const { context } = workspaceStore.getState();
    if (context && subscription && loading === "loaded" && hello.contexts.some((known) => known.context === context)) {
      const own = hello.contexts.find((known) => known.context === context)!;
      workspaceStore.setState({ engine: own.state, known: true });
      subscription.renew();
      renewFiles();
      return;
    }
    const wanted = contextOfAddress() ?? hello.contexts.at(-1)?.context ?? null;
    const found = hello.contexts.find((known) => known.context === wanted);
    if (found) {
      await enter(found.context);
      return;
    }
    // A host that was started anew knows no contexts; this window knows which folder it showed.
    const { path } = workspaceStore.getState();
    if (context && path) {
      await enter((await host("host/open", { path })).context);
      return;
    }
    const { recent } = await host("host/recent", {});
    workspaceStore.setState({ recent, known: true });
  } catch (thrown) {
    workspaceStore.setState({ known: true, engineReason: asShownError(thrown).message });
  }
}

function host<M extends keyof HostMethods>(method: M, params: HostMethods[M]["params"]): Promise<HostMethods[M]["result"]> {
  return socket.request(method, params, null) as Promise<HostMethods[M]["result"]>;
}

function contextOfAddress(): string | null {
  const found = /[#?&](?:c\/|context=)([0-9a-zA-Z_-]+)/.exec(location.hash || location.search);
  return found?.[1] ?? null;
}

/** Makes a context the one this window shows. All domain stores start anew. */
async function enter(context: string): Promise<void> {
  const number = ++entered;
  keepAll();
  await write();
  if (number !== entered) return;
  // The same workspace again, after a host or engine was lost: what this window holds is newer than what was kept.
  const again = context === workspaceStore.getState().context;
  if (!again) dropPending();
  subscription = null;
  loading = "loading";
  early = [];
  forgetAll();
  closeTree();
  closeCode();
  sessionsStore.setState(({ selected }) => ({ ...emptySessions, selected: again ? selected : null }));
  composerStore.setState(again ? { restored: false } : emptyComposer);
  const known = workspaceStore.getState().contexts.find((entry) => entry.context === context);
  workspaceStore.setState({
    context,
    known: true,
    path: known?.path ?? "",
    name: known?.name ?? "",
    engine: "starting",
    engineReason: null,
    git: null,
    watchProblem: null,
  });
  history.replaceState(null, "", `#c/${context}`);
  try {
    await load(context, again ? "window" : "engine", () => number === entered);
  } catch (thrown) {
    if (number !== entered) return;
    loading = "failed";
    const error = asShownError(thrown);
    workspaceStore.setState({ engine: "failed", engineReason: error.message });
  }
}

/** `newest` says who has the newer drafts. */
async function load(context: string, newest: "window" | "engine", current: () => boolean): Promise<void> {
  const ask = <M extends keyof Methods>(method: M, params: Methods[M]["params"]) =>
    socket.request(method, params, context) as Promise<Methods[M]["result"]>;
  const hello = await ask("engine/hello", {});
  if (!current()) return;
  const name = hello.workspace.split("/").findLast((part) => part !== "") ?? hello.workspace;
  workspaceStore.setState({ path: hello.workspace, name, engine: "ready", engineVersion: hello.version });
  for (const note of hello.recovered) toast({ text: note });
  subscription = follow({
    fromSeq: hello.lastSeq,
    subscribe: (fromSeq) => ask("events/subscribe", { fromSeq }),
    onEvent: receiveEvent,
  });
  for (const event of early) subscription.receive(event);
  early = [];
  subscription.renew();
  // What draws the window comes first; each of these shows itself when it is there.
  const restored = restore();
  await Promise.all([refreshSessions(), loadPreferences(), restored]);
  const { session, drafts } = await restored;
  if (!current()) return;
  const exists = sessionsStore.getState().sessions.some((entry) => entry.id === session);
  await showSession(exists ? session : null);
  if (!current()) return;
  restoreDrafts(drafts, newest);
  void loadProviders();
  void refreshGit();
  const { changeSets } = await ask("changes/list", { sessionId: null });
  if (!current()) return;
  changesStore.setState(({ sets }) => ({
    sets: { ...Object.fromEntries(changeSets.map((set) => [set.id, set])), ...sets },
  }));
  loading = "loaded";
}

interface Restored {
  /** The session that was shown. */
  session: string | null;
  drafts: Readonly<Record<string, Draft>>;
}

/** What was kept: layout and choices are put back, the rest is given. */
async function restore(): Promise<Restored> {
  let entries: Awaited<ReturnType<typeof kept>>;
  try {
    entries = await kept("");
  } catch (thrown) {
    // The window works without what it remembers; what it cannot remember it must not hide.
    const error = asShownError(thrown);
    // A lost connection has its banner, and everything is loaded anew when it is back.
    if (error.code !== "connection.lost") showError(error);
    return { session: null, drafts: {} };
  }
  shellStore.setState(readShell(entries.get("layout"), window.innerWidth));
  const drafts = [...entries]
    .filter(([key]) => key.startsWith("draft/"))
    .map(([key, value]) => [key.slice("draft/".length), readDraft(value)] as const);
  const chosen = entries.get("model");
  if (typeof chosen === "object" && chosen !== null && !Array.isArray(chosen) && typeof chosen["provider"] === "string") {
    const model = chosen["model"];
    providersStore.setState({ chosen: { provider: chosen["provider"], model: typeof model === "string" ? model : null } });
  }
  openCode(entries);
  void openTree(entries.get("tree"));
  const session = entries.get("session");
  return { session: typeof session === "string" ? session : null, drafts: Object.fromEntries(drafts) };
}

function receive(frame: Exclude<Frame, { kind: "reply" }>): void {
  if (frame.kind === "host") {
    contextChanged(frame.event);
    return;
  }
  if (frame.context !== workspaceStore.getState().context) return;
  if (frame.kind === "notice") receiveNotice(frame.notice);
  else if (subscription) subscription.receive(frame.event);
  else early.push(frame.event);
}

/** A new connection or engine watches nothing yet, and what changed meanwhile was not told. */
function renewFiles(): void {
  renewWatch();
  void refreshTree();
  lookAtAll();
  void refreshGit();
}

function contextChanged(event: HostEvent): void {
  workspaceStore.setState(({ contexts }) => ({
    contexts: contexts.map((known) => (known.context === event.context ? { ...known, state: event.to } : known)),
  }));
  if (event.context !== workspaceStore.getState().context) return;
  workspaceStore.setState({ engine: event.to, engineReason: event.reason ?? null });
  // A new engine process knows no subscription. What was running is marked as interrupted in its list.
  if (event.to === "ready") {
    if (loading === "failed") void enter(event.context);
    if (loading !== "loaded") return;
    subscription?.renew();
    renewFiles();
    sessionsStore.setState({ runs: {} });
    void refreshSessions();
    void loadProviders();
  }
}
