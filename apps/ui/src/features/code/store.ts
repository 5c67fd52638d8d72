/** What the code column shows: open tabs, which is in front, and which change set is under review. */
import { createStore } from "../../shared/store";

export interface OpenFile {
  path: string;
  line?: number | null;
  /** Beside what is open instead of in its place. */
  beside?: boolean;
}

export interface OpenReview {
  changeSetId: string;
  path?: string | null;
}

export interface EditorTab {
  path: string;
  kind: "file" | "review";
  changeSetId: string | null;
  /** Replaced by the next preview; in italics. */
  preview: boolean;
  dirty: boolean;
}

export interface EditorState {
  tabs: readonly EditorTab[];
  /** Index into `tabs`; -1 when none is open. */
  active: number;
  /** Where the caret is, for the status bar. */
  cursor: { line: number; column: number } | null;
}

export const editorStore = createStore<EditorState>(() => ({ tabs: [], active: -1, cursor: null }));
