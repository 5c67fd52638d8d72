/** Brings folders from the engine into the tree, and keeps them in step with the disk. */
import type { JsonValue } from "../../protocol";
import { type FileNotice, fileNotices } from "../../shared/file-notices";
import { keep } from "../../shared/kept";
import { runtime } from "../../shared/runtime";
import { watchFolders } from "../../shared/watching";
import { refreshGit } from "../workspace";
import { changed, emptyFileTree, fileTreeStore, forgetTree, parentPath, tree } from "./store";
import { ROOT } from "./tree";

/** A folder is shown with this many entries at first, and with this many at most. */
export const FIRST_ENTRIES = 2_000;
export const MOST_ENTRIES = 50_000;

/** How much of a folder was asked for; a refresh asks for as much again. */
const portions = new Map<string, number>();
let generation = 0;

/** Lists a folder anew. Folders that hold one folder are followed down, since they are drawn as one row. */
export async function load(path: string, max = portions.get(path) ?? FIRST_ENTRIES): Promise<void> {
  const asked = generation;
  portions.set(path, max);
  let listing;
  try {
    listing = await runtime().request("files/list", { path, max });
  } catch {
    // Gone or unreadable: the folder above is listed again by the notice that says so.
    const id = asked === generation ? tree().find(path) : null;
    if (id !== null && !tree().isLoaded(id)) tree().setChildren(id, { names: [], kinds: [], ignored: [], omitted: 0 });
    changed();
    return;
  }
  const id = asked === generation ? tree().find(path) : null;
  if (id === null) return;
  tree().setChildren(id, listing);
  changed();
  watch();
  const inner = tree().tail(id);
  if (id !== ROOT && inner !== id && !tree().isLoaded(inner)) await load(tree().path(inner));
}

export async function expand(path: string): Promise<void> {
  const id = tree().find(path);
  if (id === null || !tree().isFolder(id)) return;
  tree().expand(id);
  changed();
  remember();
  const tail = tree().tail(id);
  if (!tree().isLoaded(tail)) await load(tree().path(tail));
  else watch();
}

export function collapse(path: string): void {
  const id = tree().find(path);
  if (id === null) return;
  tree().collapse(id);
  changed();
  remember();
  watch();
}

/** Opens every folder above a path. */
export async function expandTo(path: string): Promise<void> {
  const parts = parentPath(path) === "." ? [] : parentPath(path).split("/");
  let at = "";
  for (const part of parts) {
    at = at === "" ? part : `${at}/${part}`;
    const id = tree().find(at);
    if (id === null) return;
    // oxlint-disable-next-line no-await-in-loop -- Each folder is known only from the one above.
    if (!tree().isExpanded(id) || !tree().isLoaded(id)) await expand(at);
  }
}

export async function refresh(): Promise<void> {
  const open = tree().openFolders().map((id) => tree().path(id));
  await Promise.all(open.map((path) => load(path)));
}

function watch(): void {
  watchFolders("tree", tree().openFolders().map((id) => tree().path(id)));
}

export function remember(): void {
  const { pinned, recent, folded } = fileTreeStore.getState();
  const expanded = tree()
    .openFolders()
    .filter((id) => id !== ROOT)
    .map((id) => tree().path(id))
    .slice(0, 500);
  keep("tree", { expanded, pinned: [...pinned], recent: [...recent], folded: [...folded] });
}

function strings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === "string") : [];
}

/** Begins with a workspace: lists its root and opens what was open. */
export async function openTree(stored: JsonValue | undefined): Promise<void> {
  closeTree();
  const value = typeof stored === "object" && stored !== null && !Array.isArray(stored) ? stored : {};
  fileTreeStore.setState({ pinned: strings(value["pinned"]), recent: strings(value["recent"]), folded: strings(value["folded"]) });
  await load(".");
  // Parents come before what lies in them.
  for (const path of strings(value["expanded"]).sort()) {
    // oxlint-disable-next-line no-await-in-loop -- Each folder is known only from the one above.
    await expand(path);
  }
}

export function closeTree(): void {
  generation += 1;
  portions.clear();
  forgetTree();
  fileTreeStore.setState((state) => ({ ...emptyFileTree, version: state.version + 1 }));
}

/** A burst of changes asks git once, when it is over. */
const GIT_AFTER_MS = 600;
let gitTimer: ReturnType<typeof setTimeout> | null = null;

function receive(notice: FileNotice): void {
  // The letters of edited files; the repository's own notices tell of commits and the index alone.
  if (!notice.git) {
    if (gitTimer !== null) clearTimeout(gitTimer);
    gitTimer = setTimeout(() => void refreshGit(), GIT_AFTER_MS);
  }
  for (const path of notice.folders) {
    const id = tree().find(path === "" ? "." : path);
    if (id !== null && tree().isLoaded(id)) void load(path === "" ? "." : path);
  }
}

fileNotices.listen(receive);
