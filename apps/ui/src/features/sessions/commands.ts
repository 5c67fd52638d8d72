/** Opening, starting, renaming, resuming and finding sessions. */
import { declareCommands, run } from "../../shared/commands";
import { asShownError } from "../../shared/failure";
import { keep } from "../../shared/kept";
import { runtime } from "../../shared/runtime";
import { showError } from "../notifications";
import { sessionsStore } from "./store";

/** Set by the event adapter, which owns what a session's items are. */
let load: (id: string | null) => Promise<void> = () => Promise.resolve();

export function onOpenSession(loader: (id: string | null) => Promise<void>): void {
  load = loader;
}

export async function refreshSessions(): Promise<void> {
  try {
    const { sessions } = await runtime().request("session/list", {});
    sessionsStore.setState({ sessions, loaded: true });
  } catch {
    // The list is asked for again with the next event that concerns it.
  }
}

/** Shows a session; a switcher that is open meanwhile stays open. */
export async function showSession(id: string | null): Promise<void> {
  sessionsStore.setState({ selected: id });
  keep("session", id);
  await load(id);
}

export async function openSession(id: string | null): Promise<void> {
  sessionsStore.setState({ switcherOpen: false, query: "", hits: [] });
  await showSession(id);
}

export async function newSession(): Promise<void> {
  await openSession(null);
  run("composer.focus");
}

export async function renameSession(id: string, title: string): Promise<void> {
  try {
    await runtime().request("session/rename", { sessionId: id, title });
    await refreshSessions();
  } catch (thrown) {
    showError(asShownError(thrown));
  }
}

/** Marks what a crash interrupted, so that the session can go on. */
export async function resumeSession(id: string): Promise<void> {
  try {
    await runtime().request("session/resume", { sessionId: id });
    await refreshSessions();
    await openSession(id);
    run("composer.focus");
  } catch (thrown) {
    showError(asShownError(thrown));
  }
}

export function leaveInterrupted(id: string): void {
  sessionsStore.setState(({ leftAlone }) => ({ leftAlone: [...leftAlone, id] }));
}

export async function search(query: string): Promise<void> {
  sessionsStore.setState({ query });
  if (query.trim() === "") {
    sessionsStore.setState({ hits: [] });
    return;
  }
  try {
    const { hits } = await runtime().request("session/search", { query, limit: 30 });
    // A slower answer to an earlier word is not shown.
    if (sessionsStore.getState().query === query) sessionsStore.setState({ hits });
  } catch {
    if (sessionsStore.getState().query === query) sessionsStore.setState({ hits: [] });
  }
}

export async function exportSession(id: string): Promise<void> {
  try {
    const { records } = await runtime().request("session/export", { sessionId: id });
    const title = sessionsStore.getState().sessions.find((session) => session.id === id)?.title ?? "session";
    const name = title.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60);
    runtime().saveAs(`${name}.jsonl`, records.map((record) => JSON.stringify(record)).join("\n"));
  } catch (thrown) {
    showError(asShownError(thrown));
  }
}

export function declareSessionCommands(): void {
  declareCommands([
    { id: "session.new", title: "New session", group: "Chat", keys: ["Alt+N"], run: newSession },
    {
      id: "session.switch",
      title: "Switch session…",
      group: "Chat",
      keys: ["Alt+S"],
      run: () => sessionsStore.setState(({ switcherOpen }) => ({ switcherOpen: !switcherOpen })),
    },
    {
      id: "session.export",
      title: "Export this session",
      group: "Chat",
      unavailable: () => (sessionsStore.getState().selected ? null : "No session is open."),
      run: async () => {
        const { selected } = sessionsStore.getState();
        if (selected) await exportSession(selected);
      },
    },
  ]);
}
