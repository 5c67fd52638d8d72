/** Commands of the files column: looking, naming, moving, deleting. */
import type { FileOperation } from "../../protocol";
import { declareCommands, run } from "../../shared/commands";
import { asShownError } from "../../shared/failure";
import { count, fileName } from "../../shared/format";
import { runtime } from "../../shared/runtime";
import { activeFile, editorStore } from "../code";
import { showError, toast } from "../notifications";
import { collapse, expand, expandTo, load, refresh, remember } from "./loading";
import { changed, fileTreeStore, joinPath, nameProblem, parentPath, shownTree, tree } from "./store";
import { ROOT } from "./tree";

export function select(path: string, how: "one" | "toggle" | "range" = "one"): void {
  fileTreeStore.setState((state) => {
    if (how === "toggle") {
      const selected = state.selected.includes(path) ? state.selected.filter((other) => other !== path) : [...state.selected, path];
      return { selected, active: path, anchor: path };
    }
    if (how === "range") return { selected: range(state.anchor ?? path, path), active: path };
    return { selected: [path], active: path, anchor: path };
  });
}

function range(from: string, to: string): string[] {
  const shown = shownTree();
  const ends = [from, to].map((path) => {
    const id = shown.find(path);
    return id === null ? -1 : shown.rowOf(id);
  });
  if (ends.includes(-1)) return [to];
  const [first, last] = [Math.min(...ends), Math.max(...ends)];
  const paths: string[] = [];
  for (let index = first; index <= last; index += 1) {
    const row = shown.row(index);
    if (row?.what === "node") paths.push(shown.path(shown.tail(row.id)));
  }
  return paths;
}

export function toggle(path: string): void {
  const shown = shownTree();
  const id = shown.find(path);
  if (id === null) return;
  if (shown !== tree()) {
    if (shown.isExpanded(shown.tail(id))) shown.collapse(id);
    else shown.expand(id);
    changed();
  } else if (shown.isExpanded(shown.tail(id))) collapse(path);
  else void expand(path);
}

export type OpenHow = "preview" | "keep" | "beside";

/** A link is opened as what it leads to; one that leads to a folder says so in the code column. */
export function open(path: string, how: OpenHow): void {
  run("code.openFile", { path, preview: how === "preview", beside: how === "beside", stay: how === "preview" });
  fileTreeStore.setState(({ recent }) => ({ recent: [path, ...recent.filter((other) => other !== path)].slice(0, 8) }));
  remember();
}

export async function reveal(path: string): Promise<void> {
  await expandTo(path);
  select(path);
}

/** The folder that a new entry or a paste goes to: the active one, or the one of the active file. */
function folderOf(path: string | null): string {
  if (path === null) return ".";
  const id = tree().find(path);
  if (id === null) return ".";
  return tree().isFolder(id) ? path : parentPath(path);
}

const openPath = () => activeFile(editorStore.getState());
const active = () => fileTreeStore.getState().active;

async function beginCreate(what: "createFile" | "createFolder", folder: string): Promise<void> {
  fileTreeStore.setState({ query: "", found: null });
  if (folder !== ".") {
    await expandTo(folder);
    await expand(folder);
  }
  const id = tree().find(folder);
  tree().setDraft(id);
  fileTreeStore.setState(({ version }) => ({ naming: { what, folder }, namingProblem: null, version: version + 1 }));
}

function beginRename(path: string | null): void {
  if (path) fileTreeStore.setState({ naming: { what: "rename", path }, namingProblem: null });
}

export function endNaming(): void {
  if (tree().draft !== null) tree().setDraft(null);
  fileTreeStore.setState(({ version }) => ({ naming: null, namingProblem: null, version: version + 1 }));
  requestAnimationFrame(() => document.getElementById("file-tree")?.focus());
}

function siblingsOf(folder: string, except: string | null): Set<string> {
  const id = tree().find(folder) ?? ROOT;
  return new Set(tree().childrenOf(id).map((child) => tree().name(child)).filter((name) => name !== except));
}

/** Says at once what is wrong with a name, while it is written. */
export function checkName(name: string): string | null {
  const { naming } = fileTreeStore.getState();
  if (!naming) return null;
  const folder = naming.what === "rename" ? parentPath(naming.path) : naming.folder;
  const problem = nameProblem(name, siblingsOf(folder, naming.what === "rename" ? fileName(naming.path) : null));
  fileTreeStore.setState({ namingProblem: name === "" ? null : problem });
  return problem;
}

export async function finishNaming(written: string): Promise<void> {
  const { naming } = fileTreeStore.getState();
  if (!naming) return;
  const name = written.trim();
  if (checkName(name) !== null) {
    if (name === "") endNaming();
    return;
  }
  if (naming.what === "rename") {
    const to = joinPath(parentPath(naming.path), name);
    endNaming();
    if (to !== naming.path) await move([[naming.path, to]]);
    return;
  }
  const path = joinPath(naming.folder, name);
  endNaming();
  if (!(await change({ what: naming.what, path }, `Created ${fileName(path)}.`))) return;
  await reveal(path);
  if (naming.what === "createFile") open(path, "keep");
}

/** What taking back a rename renames; open tabs follow it as they followed the rename. */
const renames = new Map<string, { from: string; to: string }>();

/** One step on disk, with its undo in a toast. */
async function change(operation: FileOperation, words: string): Promise<boolean> {
  try {
    const done = await runtime().request("files/change", { operation });
    toast({
      text: [words, ...done.notes].join(" "),
      action: { label: "Undo", command: "files.undo", argument: done.undo },
    });
    if (operation.what === "rename") renames.set(done.undo, { from: operation.to, to: operation.from });
    await reloadAround(done.paths);
    return true;
  } catch (thrown) {
    showError(asShownError(thrown));
    return false;
  }
}

/** The watcher tells it too, but a moment later and not where it is off. */
async function reloadAround(paths: readonly string[]): Promise<void> {
  const folders = new Set(paths.map(parentPath));
  await Promise.all(
    [...folders].map(async (folder) => {
      const id = tree().find(folder);
      if (id !== null && tree().isLoaded(id)) await load(folder);
    }),
  );
}

async function undo(step: unknown): Promise<void> {
  try {
    const done = await runtime().request("files/undo", { undo: String(step) });
    toast({ text: ["Taken back.", ...done.notes].join(" "), action: { label: "Redo", command: "files.undo", argument: done.undo } });
    const back = renames.get(String(step));
    if (back) {
      renames.set(done.undo, { from: back.to, to: back.from });
      run("code.pathMoved", back);
    }
    await reloadAround(done.paths);
  } catch (thrown) {
    showError(asShownError(thrown));
  }
}

async function move(pairs: readonly (readonly [from: string, to: string])[]): Promise<void> {
  for (const [from, to] of pairs) {
    const same = parentPath(from) === parentPath(to);
    const words = same ? `Renamed to ${fileName(to)}.` : `Moved ${fileName(from)} to ${parentPath(to)}.`;
    // oxlint-disable-next-line no-await-in-loop -- Each step has its own undo and may fail by itself.
    if (await change({ what: "rename", from, to }, words)) {
      run("code.pathMoved", { from, to });
      fileTreeStore.setState((state) => ({
        selected: state.selected.map((path) => (path === from ? to : path)),
        active: state.active === from ? to : state.active,
        pinned: state.pinned.map((path) => (path === from ? to : path)),
        recent: state.recent.map((path) => (path === from ? to : path)),
      }));
    }
  }
}

/** Whether `folder` may take `paths`: not into itself, and not where they are already. */
export function takes(folder: string, paths: readonly string[]): boolean {
  return paths.length > 0 && paths.every((path) => folder !== path && !folder.startsWith(`${path}/`) && parentPath(path) !== folder);
}

/** Without what lies in another of them: it moves along. */
function outermost(paths: readonly string[]): string[] {
  return paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
}

export async function moveInto(folder: string, paths: readonly string[]): Promise<void> {
  const moved = outermost(paths);
  if (!takes(folder, moved)) return;
  await move(moved.map((path) => [path, joinPath(folder, fileName(path))] as const));
}

async function remove(paths: readonly string[]): Promise<void> {
  const gone = outermost(paths);
  if (gone.length === 0) return;
  const words = gone.length === 1 ? `Deleted ${fileName(gone[0]!)}.` : `Deleted ${count(gone.length, "entry", "entries")}.`;
  if (!(await change({ what: "delete", paths: gone }, words))) return;
  fileTreeStore.setState({ selected: [], anchor: null });
}

async function paste(folder: string): Promise<void> {
  const { cut } = fileTreeStore.getState();
  fileTreeStore.setState({ cut: [] });
  await moveInto(folder, cut);
}

export function togglePinned(path: string): void {
  fileTreeStore.setState(({ pinned }) => ({
    pinned: pinned.includes(path) ? pinned.filter((other) => other !== path) : [...pinned, path],
  }));
  remember();
}

let asked = 0;

/** Looks over the whole index, not only what is open. */
export async function filter(query: string): Promise<void> {
  const number = ++asked;
  fileTreeStore.setState({ query });
  if (query.trim() === "") {
    fileTreeStore.setState(({ version }) => ({ found: null, version: version + 1 }));
    return;
  }
  try {
    const { found } = await runtime().request("files/find", { query, max: 200 });
    if (number !== asked) return;
    fileTreeStore.setState(({ version }) => ({ found, version: version + 1, active: found[0]?.path ?? null }));
  } catch (thrown) {
    if (number === asked) showError(asShownError(thrown));
  }
}

const given = (argument: unknown): string | null => (typeof argument === "string" ? argument : active());
const selection = (argument: unknown): string[] => {
  const { selected } = fileTreeStore.getState();
  const path = given(argument);
  return path === null ? [...selected] : selected.includes(path) ? [...selected] : [path];
};

export function declareFileTreeCommands(): void {
  declareCommands([
    { id: "files.reveal", title: "Reveal in the tree", group: "Files", internal: true, run: revealGiven },
    {
      id: "files.revealActive",
      title: "Reveal the open file in the tree",
      group: "Files",
      unavailable: () => (openPath() ? null : "No file is open."),
      run: () => revealGiven(openPath()),
    },
    { id: "files.newFile", title: "New file…", group: "Files", place: "tree", keys: ["Insert", "Mod+N"], run: (path) => beginCreate("createFile", folderOf(given(path))) },
    { id: "files.newFolder", title: "New folder…", group: "Files", run: (path) => beginCreate("createFolder", folderOf(given(path))) },
    { id: "files.rename", title: "Rename…", group: "Files", place: "tree", keys: ["F2"], internal: true, run: (path) => beginRename(given(path)) },
    { id: "files.delete", title: "Delete", group: "Files", place: "tree", keys: ["Delete"], internal: true, run: (path) => remove(selection(path)) },
    { id: "files.cut", title: "Cut", group: "Files", place: "tree", keys: ["Mod+X"], internal: true, run: (path) => fileTreeStore.setState({ cut: selection(path) }) },
    { id: "files.paste", title: "Paste", group: "Files", place: "tree", keys: ["Mod+V"], internal: true, run: (path) => paste(folderOf(given(path))) },
    { id: "files.copyPath", title: "Copy path", group: "Files", place: "tree", keys: ["Mod+C"], internal: true, run: (path) => runtime().copy(selection(path).join("\n")) },
    { id: "files.openBeside", title: "Open beside", group: "Files", place: "tree", keys: ["Mod+Enter"], internal: true, run: (path) => openBeside(given(path)) },
    { id: "files.addToChat", title: "Add to chat", group: "Files", place: "tree", keys: ["Alt+L"], internal: true, run: (path) => run("composer.insert", selection(path).map((each) => `@${each}`).join(" ")) },
    { id: "files.filter", title: "Filter files", group: "Files", place: "tree", keys: ["Mod+F"], run: () => document.getElementById("file-filter")?.focus() },
    { id: "files.collapseAll", title: "Collapse all folders", group: "Files", run: collapseAll },
    { id: "files.refresh", title: "Refresh files", group: "Files", run: refresh },
    { id: "files.undo", title: "Undo a step in the tree", group: "Files", internal: true, run: undo },
  ]);
}

function openBeside(path: string | null): void {
  if (path) open(path, "beside");
}

async function revealGiven(argument: unknown): Promise<void> {
  run("focus.files");
  if (typeof argument === "string") await reveal(argument);
}

function collapseAll(): void {
  tree().collapseAll();
  changed();
  remember();
}
