/** Opening, saving, closing, splitting: what the code column does on request. */
import { declareCommands, run } from "../../shared/commands";
import { fileName } from "../../shared/format";
import { keep } from "../../shared/kept";
import type { JsonValue } from "../../protocol";
import { changesStore } from "../changes";
import { toast } from "../notifications";
import { setPreset, unfold } from "../shell";
import { workspaceStore } from "../workspace";
import { dropBuffer, forgetTexts, keepAll, openBuffer, renameBuffers, restoreTexts, save } from "./buffers";
import { loadMonaco, loadWhenIdle } from "./monaco";
import { declareReviewCommands } from "./review/commands";
import { type OpenFile, type OpenReview, activeFile, editorStore, emptyEditor, isDirty, openTabs, readGroups, storedGroups } from "./store";
import {
  type Groups,
  activate,
  activeTab,
  closeEverywhere,
  closeTab,
  compareTab,
  fileTab,
  keepTab,
  moveTab,
  openBeside,
  openIn,
  renamePath,
  reviewTab,
  split,
} from "./tabs";

/** Applies a step on the tabs and keeps the outcome. Files that no tab shows any more are forgotten. */
export function step(change: (state: Groups) => Groups): void {
  const before = editorStore.getState();
  const { groups, activeGroup } = change(before);
  editorStore.setState({ groups, activeGroup });
  const shown = new Set(openTabs(groups).map((tab) => tab.path));
  for (const path of Object.keys(before.buffers)) if (!shown.has(path) && !isDirty(before.buffers[path])) dropBuffer(path);
  keep("tabs", storedGroups(editorStore.getState()));
}

let goals = 0;

export function openFile(path: string, line: number | null = null): void {
  run("code.openFile", { path, line } satisfies OpenFile);
}

export function openReview(changeSetId: string, path: string | null = null): void {
  run("code.openReview", { changeSetId, path } satisfies OpenReview);
}

function open({ path: given, line = null, beside = false, preview = false, stay = false }: OpenFile): void {
  const path = relative(given);
  unfold("code");
  const tab = fileTab(path, preview);
  step((state) => (beside ? openBeside(state, tab) : openIn(state, state.activeGroup, tab)));
  editorStore.setState({ goal: { number: ++goals, path, line, focus: !stay } });
  void openBuffer(path);
}

/** Messages name files in several ways; all of them mean a path in the workspace. */
function relative(path: string): string {
  const root = workspaceStore.getState().path;
  const inside = root !== "" && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  return inside.replace(/^\.\//, "");
}

function review({ changeSetId, path = null }: OpenReview): void {
  const set = changesStore.getState().sets[changeSetId];
  if (!set) return;
  const waiting = set.files.find((file) => file.status === "pending" || file.status === "conflicted");
  const shown = path ?? waiting?.path ?? set.files[0]?.path;
  if (shown === undefined) return;
  unfold("code");
  if (window.innerWidth >= 1_100) setPreset("review");
  step((state) => openIn(state, state.activeGroup, reviewTab(changeSetId, shown)));
  editorStore.setState({ goal: { number: ++goals, path: shown, line: null, focus: true } });
}

/** Closes a tab; unsaved text is asked about by a toast that can bring it back by saving. */
export function close(group: number, id: string): void {
  const state = editorStore.getState();
  const tab = state.groups[group]?.tabs.find((other) => other.id === id);
  if (!tab) return;
  const elsewhere = state.groups.some((other, at) => at !== group && other.tabs.some((each) => each.id === id));
  if (tab.kind === "file" && !elsewhere && isDirty(state.buffers[tab.path])) {
    editorStore.setState({ closing: { group, id, path: tab.path } });
    return;
  }
  step((groups) => closeTab(groups, group, id));
}

/** The answer to "save before closing?". */
export async function answerClosing(answer: "save" | "discard" | "stay"): Promise<void> {
  const { closing } = editorStore.getState();
  editorStore.setState({ closing: null });
  if (!closing || answer === "stay") return;
  if (answer === "save" && !(await save(closing.path))) return;
  const { path, id } = closing;
  step((groups) => closeEverywhere(groups, id));
  if (answer === "discard") dropBuffer(path);
}

function closePath(argument: unknown): void {
  const state = editorStore.getState();
  if (typeof argument !== "string") {
    const tab = activeTab(state);
    if (tab) close(state.activeGroup, tab.id);
    return;
  }
  const id = fileTab(argument, false).id;
  const group = state.groups.findIndex((each) => each.tabs.some((tab) => tab.id === id));
  if (group >= 0) close(group, id);
}

function splitTo(direction: "right" | "down"): void {
  editorStore.setState({ direction });
  step(split);
}

function cycle(by: 1 | -1): void {
  const { groups, activeGroup } = editorStore.getState();
  const group = groups[activeGroup];
  if (!group || group.tabs.length === 0) return;
  const at = group.tabs.findIndex((tab) => tab.id === group.active);
  const next = group.tabs[(at + by + group.tabs.length) % group.tabs.length]!;
  step((state) => activate(state, activeGroup, next.id));
}

function moveToOther(): void {
  const { groups, activeGroup } = editorStore.getState();
  const tab = activeTab(editorStore.getState());
  if (!tab) return;
  if (groups.length === 1) step(split);
  else step((state) => moveTab(state, tab.id, activeGroup, (activeGroup + 1) % groups.length, 0));
}

export function compareWithDisk(path: string): void {
  step((state) => openIn(state, state.activeGroup, compareTab(path)));
}

async function saveAll(): Promise<void> {
  const { buffers } = editorStore.getState();
  const dirty = Object.keys(buffers).filter((path) => isDirty(buffers[path]));
  const saved = await Promise.all(dirty.map((path) => save(path)));
  if (saved.every(Boolean) && dirty.length > 1) toast({ text: `Saved ${dirty.length} files.` });
}

const editing = () => {
  const state = editorStore.getState();
  const tab = activeTab(state);
  return tab?.kind === "file" && state.buffers[tab.path]?.status === "text" ? tab : null;
};
const noFile = () => (editing() ? null : "No file is open for editing.");
const noTab = () => (activeTab(editorStore.getState()) ? null : "Nothing is open.");

/** The reference that the composer understands: "@src/app.ts:10-20". */
function selectionReference(): string | null {
  const { selection } = editorStore.getState();
  const path = editing()?.path;
  if (selection && selection.path === path) {
    const lines = selection.from === selection.to ? `${selection.from}` : `${selection.from}-${selection.to}`;
    return `@${selection.path}:${lines}`;
  }
  return path ? `@${path}` : null;
}

export function declareCodeCommands(): void {
  declareReviewCommands();
  declareCommands([
    { id: "code.openFile", title: "Open a file", group: "Files", internal: true, run: (given) => open(given as OpenFile) },
    { id: "code.openReview", title: "Open a review", group: "Changes", internal: true, run: (given) => review(given as OpenReview) },
    { id: "code.pathMoved", title: "Follow a renamed file", group: "Files", internal: true, run: (given) => follow(given as { from: string; to: string }) },
    { id: "code.save", title: "Save the file", group: "Files", keys: ["Mod+S"], unavailable: noFile, run: saveActive },
    { id: "code.saveAll", title: "Save all files", group: "Files", keys: ["Mod+Shift+S"], run: saveAll },
    { id: "code.close", title: "Close the tab", group: "Files", place: "editor", keys: ["Alt+W"], unavailable: noTab, run: closePath },
    { id: "code.keep", title: "Keep the previewed tab open", group: "Files", unavailable: noTab, run: keepActive },
    { id: "code.nextTab", title: "Next tab", group: "View", place: "editor", keys: ["Mod+PageDown"], unavailable: noTab, run: () => cycle(1) },
    { id: "code.previousTab", title: "Previous tab", group: "View", place: "editor", keys: ["Mod+PageUp"], unavailable: noTab, run: () => cycle(-1) },
    { id: "code.splitRight", title: "Split the editor to the right", group: "View", place: "editor", keys: ["Mod+\\"], unavailable: noTab, run: () => splitTo("right") },
    { id: "code.splitDown", title: "Split the editor downwards", group: "View", unavailable: noTab, run: () => splitTo("down") },
    { id: "code.moveToOther", title: "Move the tab to the other group", group: "View", unavailable: noTab, run: moveToOther },
    { id: "code.compare", title: "Compare with what is saved", group: "Files", unavailable: noFile, run: compareActive },
    { id: "code.addSelection", title: "Add the selection to the message", group: "Chat", place: "editor", keys: ["Alt+L"], unavailable: noFile, run: addSelection },
  ]);
}

async function saveActive(): Promise<void> {
  const tab = editing();
  if (tab) await save(tab.path);
}

function keepActive(): void {
  const tab = activeTab(editorStore.getState());
  if (tab) step((state) => keepTab(state, tab.id));
}

function compareActive(): void {
  const tab = editing();
  if (tab) compareWithDisk(tab.path);
}

function addSelection(): void {
  const reference = selectionReference();
  if (reference) run("composer.insert", reference);
}

async function follow({ from, to }: { from: string; to: string }): Promise<void> {
  editorStore.setState((state) => renamePath(state, from, to));
  keep("tabs", storedGroups(editorStore.getState()));
  await renameBuffers(from, to);
}

/** Begins with a workspace: tabs and unsaved texts as they were left. */
export function openCode(entries: ReadonlyMap<string, JsonValue>): void {
  closeCode();
  const unsaved = restoreTexts(entries);
  let next: Groups & { direction: "right" | "down" } = readGroups(entries.get("tabs"));
  const shown = new Set(openTabs(next.groups).map((tab) => tab.path));
  // Unsaved text whose tab was lost comes back in a tab of its own.
  for (const path of unsaved) if (!shown.has(path)) next = { ...next, ...openIn(next, next.activeGroup, fileTab(path, false)) };
  editorStore.setState(next);
  for (const path of unsaved) void openBuffer(path);
  const active = activeFile(editorStore.getState());
  if (active) void loadMonaco().catch(() => undefined);
  else loadWhenIdle();
  if (unsaved.length > 0) {
    const names = unsaved.length === 1 ? fileName(unsaved[0]!) : `${unsaved.length} files`;
    toast({ text: `Your unsaved text of ${names} is back.` });
  }
}

export function closeCode(): void {
  forgetTexts();
  const { editor } = editorStore.getState();
  editorStore.setState({ ...emptyEditor, editor });
}

window.addEventListener("beforeunload", keepAll);
