/** What the files column knows: folders as the engine lists them, what is open, what is selected. */
import { createStore } from "../../shared/store";

export interface FileTreeState {
  /** Open folders, by path relative to the workspace. */
  expanded: readonly string[];
  selected: readonly string[];
  pinned: readonly string[];
  recent: readonly string[];
}

export const fileTreeStore = createStore<FileTreeState>(() => ({ expanded: [], selected: [], pinned: [], recent: [] }));
