/**
 * What the files column knows beside the tree itself: selection, the name being written, the filter, pinned and recent.
 * The tree's columns live in `tree.ts`; `version` counts its changes.
 */
import type { FoundPath, GitLetter, GitStatusResult } from "../../protocol";
import { createStore } from "../../shared/store";
import { Tree, treeOfPaths } from "./tree";

export type Naming =
  | { what: "rename"; path: string }
  | { what: "createFile"; folder: string }
  | { what: "createFolder"; folder: string };

export interface FileTreeState {
  version: number;
  selected: readonly string[];
  /** The row that arrows move; it is also where the keyboard is. */
  active: string | null;
  /** Where a range of rows began. */
  anchor: string | null;
  naming: Naming | null;
  /** Why the name that is being written cannot be taken. */
  namingProblem: string | null;
  /** Waiting to be pasted elsewhere. */
  cut: readonly string[];
  /** The folder that a drag would drop into. */
  dropInto: string | null;
  query: string;
  found: readonly FoundPath[] | null;
  pinned: readonly string[];
  recent: readonly string[];
  /** Sections of the column that are folded. */
  folded: readonly string[];
}

export const emptyFileTree: FileTreeState = {
  version: 0,
  selected: [],
  active: null,
  anchor: null,
  naming: null,
  namingProblem: null,
  cut: [],
  dropInto: null,
  query: "",
  found: null,
  pinned: [],
  recent: [],
  folded: [],
};

export const fileTreeStore = createStore<FileTreeState>(() => emptyFileTree);

let whole = new Tree();
let filtered: { of: readonly FoundPath[]; tree: Tree } | null = null;

export function tree(): Tree {
  return whole;
}

/** The tree that is drawn: the whole one, or the one of what the filter found. */
export function shownTree(): Tree {
  const { version, query, found } = fileTreeStore.getState();
  return treeFor(version, query, found);
}

/** For drawing: everything that the answer hangs on is an argument. */
export function treeFor(_version: number, query: string, found: readonly FoundPath[] | null): Tree {
  if (query === "" || !found) return whole;
  if (filtered?.of !== found) filtered = { of: found, tree: treeOfPaths(found.map((entry) => entry.path)) };
  return filtered.tree;
}

export function forgetTree(): void {
  whole = new Tree();
  filtered = null;
}

export function changed(): void {
  fileTreeStore.setState(({ version }) => ({ version: version + 1 }));
}

export function parentPath(path: string): string {
  const at = path.lastIndexOf("/");
  return at < 0 ? "." : path.slice(0, at);
}

export function joinPath(folder: string, name: string): string {
  return folder === "." || folder === "" ? name : `${folder}/${name}`;
}

export interface GitMarks {
  files: ReadonlyMap<string, GitLetter>;
  /** The worst state inside, for every folder above a changed file. */
  folders: ReadonlyMap<string, GitLetter>;
}

const RANK: Record<GitLetter, number> = { conflicted: 5, deleted: 4, modified: 3, renamed: 2, added: 1, untracked: 0 };

let marksOf: { git: GitStatusResult | null; marks: GitMarks } | null = null;

export function gitMarks(git: GitStatusResult | null): GitMarks {
  if (marksOf?.git === git) return marksOf.marks;
  const files = new Map<string, GitLetter>();
  const folders = new Map<string, GitLetter>();
  const worse = (map: Map<string, GitLetter>, path: string, letter: GitLetter) => {
    const known = map.get(path);
    if (known === undefined || RANK[letter] > RANK[known]) map.set(path, letter);
  };
  for (const entry of git?.entries ?? []) {
    const path = entry.path.replace(/\/$/, "");
    worse(files, path, entry.letter);
    for (let at = parentPath(path); at !== "."; at = parentPath(at)) worse(folders, at, entry.letter);
  }
  marksOf = { git, marks: { files, folders } };
  return marksOf.marks;
}

/** Why a name cannot be given to a new entry; `null` when it can. */
export function nameProblem(name: string, siblings: ReadonlySet<string>): string | null {
  const trimmed = name.trim();
  if (trimmed === "") return "Write a name.";
  if (trimmed.includes("\0")) return "A name cannot contain this character.";
  const parts = trimmed.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return "Write a name, or names with / between them.";
  if (parts.length === 1 && siblings.has(trimmed)) return "A file or folder with this name exists.";
  return null;
}
