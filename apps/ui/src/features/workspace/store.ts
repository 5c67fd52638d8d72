/** The open workspace and how the screen is connected to it. */
import type { ContextState, ContextSummary, RecentWorkspace } from "../../shared/host";
import type { GitStatusResult } from "../../protocol";
import { createStore } from "../../shared/store";

export type Connection =
  | { kind: "connecting" }
  | { kind: "open" }
  | { kind: "waiting"; attempt: number; retryAt: number };

export interface WorkspaceState {
  connection: Connection;
  /** False until the first answer of the host: nothing is known before, so nothing is claimed. */
  known: boolean;
  /** Key of the context that this window shows. */
  context: string | null;
  path: string;
  name: string;
  engine: ContextState;
  engineReason: string | null;
  engineVersion: string;
  contexts: ContextSummary[];
  recent: RecentWorkspace[];
  git: GitStatusResult | null;
  /** Why changes on disk are not seen as they happen, when they are not. */
  watchProblem: string | null;
}

const initial: WorkspaceState = {
  connection: { kind: "connecting" },
  known: false,
  context: null,
  path: "",
  name: "",
  engine: "stopped",
  engineReason: null,
  engineVersion: "",
  contexts: [],
  recent: [],
  git: null,
  watchProblem: null,
};

export const workspaceStore = createStore<WorkspaceState>(() => initial);
