/** What the code column shows: groups of tabs, what is known of each open file, and where the caret is. */
import type { JsonValue } from "../../protocol";
import { createStore } from "../../shared/store";
import { type Group, type Groups, type Tab, activeTab, noGroups } from "./tabs";

export interface OpenFile {
  path: string;
  line?: number | null;
  /** Beside what is open instead of in its place. */
  beside?: boolean;
  /** In a tab that the next preview replaces. */
  preview?: boolean;
  /** Leaves the keyboard where it is. */
  stay?: boolean;
}

export interface OpenReview {
  changeSetId: string;
  path?: string | null;
}

export type Buffer =
  | { status: "loading" }
  | {
      status: "text";
      encoding: string;
      endings: string;
      /** What the text was loaded or saved as; `null` for a file that is not on disk. */
      hash: string | null;
      dirty: boolean;
      readOnly: boolean;
      saving: boolean;
      /** The disk has something else than what the text began with. */
      moved: { hash: string } | "deleted" | null;
    }
  | { status: "large"; head: string; tail: string; omittedBytes: number; size: number }
  | { status: "binary"; what: string; size: number }
  | { status: "missing" }
  | { status: "failed"; message: string };

/** Where an editor should go once it shows the file. */
export interface Goal {
  number: number;
  path: string;
  line: number | null;
  focus: boolean;
}

export interface EditorState extends Groups {
  /** How the groups lie. */
  direction: "right" | "down";
  buffers: Readonly<Record<string, Buffer>>;
  cursor: { line: number; column: number } | null;
  /** Lines of the active editor's selection; `null` when nothing is selected. */
  selection: { path: string; from: number; to: number } | null;
  language: string | null;
  goal: Goal | null;
  /** A tab with unsaved text that is about to be closed. */
  closing: { group: number; id: string; path: string } | null;
  /** Whether the editor itself is there; it comes after the rest of the window. */
  editor: "waiting" | "ready" | "failed";
}

export const emptyEditor: EditorState = {
  ...noGroups,
  direction: "right",
  buffers: {},
  cursor: null,
  selection: null,
  language: null,
  goal: null,
  closing: null,
  editor: "waiting",
};

export const editorStore = createStore<EditorState>(() => emptyEditor);

/** The file in front, whatever shows it. */
export function activeFile(state: EditorState): string | null {
  return activeTab(state)?.path ?? null;
}

/** Files that are open for editing, each once. */
export function openTabs(groups: readonly Group[]): Tab[] {
  const byPath = new Map<string, Tab>();
  for (const group of groups) for (const tab of group.tabs) if (tab.kind === "file" && !byPath.has(tab.path)) byPath.set(tab.path, tab);
  return [...byPath.values()];
}

export function isDirty(buffer: Buffer | undefined): boolean {
  return buffer?.status === "text" && buffer.dirty;
}

export function putBuffer(path: string, buffer: Buffer | null): void {
  editorStore.setState(({ buffers }) => {
    const { [path]: before, ...rest } = buffers;
    void before;
    return { buffers: buffer ? { ...rest, [path]: buffer } : rest };
  });
}

/** Changes what is known of a text; nothing happens to other kinds. */
export function patchText(path: string, change: Partial<Extract<Buffer, { status: "text" }>>): void {
  const buffer = editorStore.getState().buffers[path];
  if (buffer?.status !== "text") return;
  const same = Object.entries(change).every(([key, value]) => buffer[key as keyof typeof buffer] === value);
  if (!same) putBuffer(path, { ...buffer, ...change });
}

export function storedGroups({ groups, activeGroup, direction }: EditorState): JsonValue {
  return {
    activeGroup,
    direction,
    groups: groups.map((group) => ({ id: group.id, active: group.active, tabs: group.tabs.filter((tab) => tab.kind !== "compare").map((tab) => ({ ...tab })) })),
  };
}

/** Tabs that were kept; whatever is not understood is left out. */
export function readGroups(value: JsonValue | undefined): Pick<EditorState, "groups" | "activeGroup" | "direction"> {
  const fresh = { ...noGroups, direction: "right" as const };
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Array.isArray(value["groups"])) return fresh;
  const groups = value["groups"].flatMap((entry, index): Group[] => {
    if (typeof entry !== "object" || entry === null || Array.isArray(entry) || !Array.isArray(entry["tabs"])) return [];
    const tabs = entry["tabs"].flatMap(readTab);
    const active = tabs.find((tab) => tab.id === entry["active"]) ?? tabs[0];
    return tabs.length > 0 ? [{ id: index + 1, tabs, active: active?.id ?? null }] : [];
  });
  if (groups.length === 0) return fresh;
  const at = typeof value["activeGroup"] === "number" ? value["activeGroup"] : 0;
  return {
    groups,
    activeGroup: Math.min(groups.length - 1, Math.max(0, Math.trunc(at))),
    direction: value["direction"] === "down" ? "down" : "right",
  };
}

function readTab(value: JsonValue): Tab[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const { id, kind, path, changeSetId, preview } = value;
  if (typeof id !== "string" || typeof path !== "string" || (kind !== "file" && kind !== "review")) return [];
  if (kind === "review" && typeof changeSetId !== "string") return [];
  return [{ id, kind, path, changeSetId: typeof changeSetId === "string" ? changeSetId : null, preview: preview === true }];
}
