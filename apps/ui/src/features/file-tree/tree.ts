/**
 * The tree as columns: one number per node, typed arrays for what a node is, and the visible rows as one array of
 * numbers. Expanding and collapsing copies blocks of rows and touches nothing else. Knows names, not the wire.
 */

export type NodeKind = "folder" | "file" | "link" | "special";

export interface Listing {
  names: readonly string[];
  kinds: readonly NodeKind[];
  ignored: readonly boolean[];
  /** Entries that the folder has beyond these. */
  omitted: number;
}

export const ROOT = 0;

const KINDS: readonly NodeKind[] = ["folder", "file", "link", "special"];
const KIND = 0b11;
const IGNORED = 0b100;
const EXPANDED = 0b1000;
const NONE: readonly number[] = [];
/** Folders with more children than this get a table of names when somebody looks for one. */
const SCANNED = 16;

export type Row =
  | { what: "node"; id: number; level: number }
  /** A folder whose content is not there yet. */
  | { what: "loading"; folder: number; level: number }
  /** The rest of a huge folder. */
  | { what: "more"; folder: number; level: number }
  /** The name of a new entry is being written here. */
  | { what: "draft"; folder: number; level: number };

const PSEUDO = ["loading", "more", "draft"] as const;

const pseudo = (folder: number, what: (typeof PSEUDO)[number]) => -(folder * PSEUDO.length + PSEUDO.indexOf(what)) - 1;

export class Tree {
  private names: string[] = [""];
  private parents = new Int32Array(256);
  private flags = new Uint8Array(256);
  /** `undefined` where a folder was not loaded. */
  private children: (readonly number[] | undefined)[] = [undefined];
  private readonly omitted = new Map<number, number>();
  private readonly byName = new Map<number, Map<string, number>>();
  private rows = new Int32Array(1024);
  private levels = new Uint16Array(1024);
  private length = 0;
  private draftFolder: number | null = null;

  constructor() {
    this.parents[ROOT] = -1;
    this.flags[ROOT] = EXPANDED;
    this.rebuild();
  }

  get rowCount(): number {
    return this.length;
  }

  row(index: number): Row | null {
    if (index < 0 || index >= this.length) return null;
    const value = this.rows[index]!;
    const level = this.levels[index]!;
    if (value >= 0) return { what: "node", id: value, level };
    const code = -value - 1;
    return { what: PSEUDO[code % PSEUDO.length]!, folder: Math.floor(code / PSEUDO.length), level };
  }

  name(id: number): string {
    return this.names[id] ?? "";
  }

  kind(id: number): NodeKind {
    return KINDS[this.flags[id]! & KIND]!;
  }

  isFolder(id: number): boolean {
    return (this.flags[id]! & KIND) === 0;
  }

  isIgnored(id: number): boolean {
    return (this.flags[id]! & IGNORED) !== 0;
  }

  isExpanded(id: number): boolean {
    return (this.flags[id]! & EXPANDED) !== 0;
  }

  isLoaded(id: number): boolean {
    return this.children[id] !== undefined;
  }

  parent(id: number): number {
    return this.parents[id]!;
  }

  childrenOf(id: number): readonly number[] {
    return this.children[id] ?? NONE;
  }

  omittedOf(id: number): number {
    return this.omitted.get(id) ?? 0;
  }

  /** Relative to the workspace; "." for the root. */
  path(id: number): string {
    if (id === ROOT) return ".";
    const parts: string[] = [];
    for (let at = id; at !== ROOT; at = this.parents[at]!) parts.push(this.names[at]!);
    return parts.reverse().join("/");
  }

  /** The node of a path, as far as it is loaded. */
  find(path: string): number | null {
    if (path === "." || path === "") return ROOT;
    let at = ROOT;
    for (const part of path.split("/")) {
      const next = this.child(at, part);
      if (next === null) return null;
      at = next;
    }
    return at;
  }

  /** The deepest folder of the joined row that begins here: "src/main/java". */
  tail(id: number): number {
    let at = id;
    for (;;) {
      const only = this.onlyFolder(at);
      if (only === null) return at;
      at = only;
    }
  }

  /** The node whose row shows this one: itself, or the first of the folders it is joined with. */
  head(id: number): number {
    let at = id;
    while (at !== ROOT) {
      const parent = this.parents[at]!;
      if (parent === ROOT || this.onlyFolder(parent) !== at) return at;
      at = parent;
    }
    return at;
  }

  /** What a row shows: "main/java" of "src/main/java" joined from `head`. */
  label(head: number): string {
    let label = this.names[head]!;
    for (let at = head, next = this.onlyFolder(at); next !== null; at = next, next = this.onlyFolder(at)) {
      label += `/${this.names[next]!}`;
    }
    return label;
  }

  /** Index of the row that shows the node; -1 when it is inside a closed folder. */
  rowOf(id: number): number {
    return this.rows.subarray(0, this.length).indexOf(this.head(id));
  }

  /** Opens the row's folders. What is not loaded shows "Loading…" until `setChildren`. */
  expand(id: number): void {
    const tail = this.tail(id);
    for (let at = tail; ; at = this.parents[at]!) {
      this.flags[at]! |= EXPANDED;
      if (at === id || at === ROOT) break;
    }
    this.refresh(this.head(id));
  }

  collapse(id: number): void {
    const head = this.head(id);
    for (let at = this.tail(id); at !== ROOT; at = this.parents[at]!) {
      this.flags[at]! &= ~EXPANDED;
      if (at === head) break;
    }
    this.refresh(head);
  }

  collapseAll(): void {
    for (let id = 1; id < this.names.length; id += 1) this.flags[id]! &= ~EXPANDED;
    this.rebuild();
  }

  /** Takes a folder as listed. Nodes with the same name and kind stay, with everything below them. */
  setChildren(folder: number, listing: Listing): void {
    const known = new Map<string, number>();
    for (const id of this.childrenOf(folder)) known.set(this.names[id]!, id);
    const before = this.head(folder);
    const children: number[] = [];
    for (let index = 0; index < listing.names.length; index += 1) {
      const name = listing.names[index]!;
      const kind = KINDS.indexOf(listing.kinds[index]!);
      const ignored = listing.ignored[index] ? IGNORED : 0;
      const old = known.get(name);
      if (old !== undefined && (this.flags[old]! & KIND) === kind) {
        this.flags[old] = (this.flags[old]! & ~IGNORED) | ignored;
        children.push(old);
        known.delete(name);
      } else {
        children.push(this.add(folder, name, kind | ignored));
      }
    }
    for (const gone of known.values()) this.forget(gone);
    this.children[folder] = children;
    this.byName.delete(folder);
    if (listing.omitted > 0) this.omitted.set(folder, listing.omitted);
    else this.omitted.delete(folder);
    // An open folder that turns out to hold one folder is joined with it, and the joined row stays open.
    const only = this.onlyFolder(folder);
    if (folder !== ROOT && only !== null && this.isExpanded(folder)) this.flags[only]! |= EXPANDED;
    // A join that breaks up here was one row before: its block holds everything that changes.
    this.refresh(before);
  }

  /** Shows the row in which a new entry is named; `null` takes it away. */
  setDraft(folder: number | null): void {
    this.draftFolder = folder;
    this.rebuild();
  }

  get draft(): number | null {
    return this.draftFolder;
  }

  /** Every loaded folder that is open all the way up, with the root: what a watcher needs to look at. */
  openFolders(): number[] {
    const open: number[] = [];
    const visit = (id: number): void => {
      open.push(id);
      for (const child of this.childrenOf(id)) {
        if (!this.isFolder(child)) break;
        if (this.isExpanded(child)) visit(child);
      }
    };
    visit(ROOT);
    return open;
  }

  private child(folder: number, name: string): number | null {
    const children = this.childrenOf(folder);
    if (children.length <= SCANNED) return children.find((id) => this.names[id] === name) ?? null;
    let table = this.byName.get(folder);
    if (!table) {
      table = new Map(children.map((id) => [this.names[id]!, id]));
      this.byName.set(folder, table);
    }
    return table.get(name) ?? null;
  }

  private onlyFolder(id: number): number | null {
    const children = this.children[id];
    if (id === ROOT || children?.length !== 1 || this.omitted.has(id) || this.draftFolder === id) return null;
    const only = children[0]!;
    return this.isFolder(only) ? only : null;
  }

  private add(parent: number, name: string, flags: number): number {
    const id = this.names.length;
    if (id === this.parents.length) {
      this.parents = grown(this.parents, id * 2, Int32Array);
      this.flags = grown(this.flags, id * 2, Uint8Array);
    }
    this.names.push(name);
    this.children.push(undefined);
    this.parents[id] = parent;
    this.flags[id] = flags;
    return id;
  }

  /** Numbers are not used again: a row drawn from an old one shows an old name, never another file's. */
  private forget(id: number): void {
    for (const child of this.childrenOf(id)) this.forget(child);
    this.children[id] = undefined;
    this.byName.delete(id);
    this.omitted.delete(id);
    if (this.draftFolder === id) this.draftFolder = null;
  }

  private rebuild(): void {
    const block = new Block();
    this.emitInside(ROOT, 1, block);
    this.replace(0, this.length, block);
  }

  /** Emits the block of one row again and puts it where the old one was. */
  private refresh(head: number): void {
    if (head === ROOT) {
      this.rebuild();
      return;
    }
    const at = this.rows.subarray(0, this.length).indexOf(head);
    if (at < 0) return;
    const level = this.levels[at]!;
    let end = at + 1;
    while (end < this.length && this.levels[end]! > level) end += 1;
    const block = new Block();
    this.emit(head, level, block);
    this.replace(at, end, block);
  }

  private emit(head: number, level: number, block: Block): void {
    block.push(head, level);
    if (!this.isFolder(head)) return;
    const tail = this.tail(head);
    if (this.isExpanded(tail)) this.emitInside(tail, level + 1, block);
  }

  private emitInside(folder: number, level: number, block: Block): void {
    if (this.draftFolder === folder) block.push(pseudo(folder, "draft"), level);
    const children = this.children[folder];
    if (!children) {
      block.push(pseudo(folder, "loading"), level);
      return;
    }
    for (const child of children) this.emit(child, level, block);
    if (this.omitted.has(folder)) block.push(pseudo(folder, "more"), level);
  }

  private replace(from: number, to: number, block: Block): void {
    const length = this.length - (to - from) + block.length;
    if (length > this.rows.length) {
      this.rows = grown(this.rows, length * 2, Int32Array);
      this.levels = grown(this.levels, length * 2, Uint16Array);
    }
    this.rows.copyWithin(from + block.length, to, this.length);
    this.levels.copyWithin(from + block.length, to, this.length);
    this.rows.set(block.rows.subarray(0, block.length), from);
    this.levels.set(block.levels.subarray(0, block.length), from);
    this.length = length;
  }
}

/** Rows on their way into the tree. */
class Block {
  rows = new Int32Array(256);
  levels = new Uint16Array(256);
  length = 0;

  push(row: number, level: number): void {
    if (this.length === this.rows.length) {
      this.rows = grown(this.rows, this.length * 2, Int32Array);
      this.levels = grown(this.levels, this.length * 2, Uint16Array);
    }
    this.rows[this.length] = row;
    this.levels[this.length] = level;
    this.length += 1;
  }
}

function grown<A extends { set(from: A): void }>(array: A, length: number, make: new (length: number) => A): A {
  const larger = new make(length);
  larger.set(array);
  return larger;
}

/** A tree with everything open that holds exactly these files and the folders above them. */
export function treeOfPaths(paths: readonly string[]): Tree {
  const folders = new Map<string, { folders: Set<string>; files: Set<string> }>();
  const entry = (path: string) => {
    let known = folders.get(path);
    if (!known) folders.set(path, (known = { folders: new Set(), files: new Set() }));
    return known;
  };
  entry("");
  for (const path of paths) {
    const parts = path.split("/");
    let above = "";
    for (const part of parts.slice(0, -1)) {
      entry(above).folders.add(part);
      above = above === "" ? part : `${above}/${part}`;
    }
    entry(above).files.add(parts.at(-1)!);
  }
  const tree = new Tree();
  const fill = (id: number, path: string): void => {
    const { folders: below, files } = entry(path);
    const names = [...[...below].sort(), ...[...files].sort()];
    const kinds = names.map((_, index): NodeKind => (index < below.size ? "folder" : "file"));
    tree.setChildren(id, { names, kinds, ignored: names.map(() => false), omitted: 0 });
    for (const child of tree.childrenOf(id)) {
      if (!tree.isFolder(child)) break;
      fill(child, path === "" ? tree.name(child) : `${path}/${tree.name(child)}`);
      tree.expand(child);
    }
  };
  fill(ROOT, "");
  return tree;
}
