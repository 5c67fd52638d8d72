/** Brings the editor into the window once, after what the user types into first. Everything else gets it from here. */
import { editorStore } from "../store";

export type EditorParts = Pick<typeof import("./setup"), "monaco" | "setHunks">;
export type Monaco = EditorParts["monaco"];

let loading: Promise<EditorParts> | null = null;

export async function loadMonaco(): Promise<Monaco> {
  return (await loadEditor()).monaco;
}

/** With what reviews need beside the editor. */
export function loadEditor(): Promise<EditorParts> {
  loading ??= import("./setup").then(
    (parts) => {
      editorStore.setState({ editor: "ready" });
      return parts;
    },
    (thrown: unknown) => {
      // The next one who asks tries again: a reload of the page is not the only way out.
      loading = null;
      editorStore.setState({ editor: "failed" });
      throw thrown;
    },
  );
  return loading;
}

/** When nothing else is to be done; at the latest after this long. */
const IDLE_MS = 3_000;

export function loadWhenIdle(): void {
  const begin = () => void loadEditor().catch(() => undefined);
  if ("requestIdleCallback" in window) window.requestIdleCallback(begin, { timeout: IDLE_MS });
  else setTimeout(begin, 500);
}
