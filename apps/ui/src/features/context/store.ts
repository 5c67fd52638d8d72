/** What the model would be shown of the workspace for a request, and why: the last answer of the engine. */
import type { ContextExplainResult } from "../../protocol";
import { createStore } from "../../shared/store";

export interface ContextState {
  open: boolean;
  /** The request that is explained. */
  request: string;
  loading: boolean;
  explained: ContextExplainResult | null;
  /** Why there is no answer, in words. */
  problem: string | null;
}

export const emptyContext: ContextState = {
  open: false,
  request: "",
  loading: false,
  explained: null,
  problem: null,
};

export const contextStore = createStore<ContextState>(() => emptyContext);
