/** Asks why files are in the context or not, and pins or excludes them. */
import type { ContextMark } from "../../protocol";
import { declareCommands } from "../../shared/commands";
import { asShownError } from "../../shared/failure";
import { runtime } from "../../shared/runtime";
import { activeFile, editorStore, openTabs } from "../code";
import { showError } from "../notifications";
import { workspaceStore } from "../workspace";
import { contextStore } from "./store";

/** Counts the questions, so that a slow answer to an old one changes nothing. */
let asked = 0;

export async function explain(request: string): Promise<void> {
  const own = (asked += 1);
  contextStore.setState({ open: true, request, problem: null });
  if (request.trim() === "") {
    contextStore.setState({ explained: null, loading: false });
    return;
  }
  contextStore.setState({ loading: true });
  const editor = editorStore.getState();
  try {
    const explained = await runtime().request("context/explain", {
      request,
      activeFile: activeFile(editor),
      openFiles: openTabs(editor.groups).map((tab) => tab.path),
    });
    if (own === asked) contextStore.setState({ explained, loading: false });
  } catch (thrown) {
    if (own === asked) contextStore.setState({ explained: null, loading: false, problem: asShownError(thrown).message });
  }
}

export async function markFile(path: string, mark: ContextMark): Promise<void> {
  try {
    await runtime().request("context/mark", { path, mark });
    await explain(contextStore.getState().request);
  } catch (thrown) {
    showError(asShownError(thrown));
  }
}

export function closeContext(): void {
  contextStore.setState({ open: false });
}

export function declareContextCommands(): void {
  declareCommands([
    {
      id: "context.explain",
      title: "Show what the model would see",
      group: "Chat",
      unavailable: () => (workspaceStore.getState().context ? null : "Open a folder first."),
      run: (request) => explain(typeof request === "string" ? request : contextStore.getState().request),
    },
  ]);
}
