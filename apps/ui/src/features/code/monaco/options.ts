/** How every editor of the window behaves. */
import type { Preferences } from "../../settings";
import type { Monaco } from "./load";

type LightbulbMode = import("monaco-editor/editor").editor.ShowLightbulbIconMode;
type EditorOptions = Parameters<Monaco["editor"]["create"]>[1] & object;

export function editorOptions({ editorSize, ligatures }: Pick<Preferences, "editorSize" | "ligatures">): EditorOptions {
  return {
    automaticLayout: true,
    fixedOverflowWidgets: true,
    fontFamily: '"JetBrains Mono Variable", ui-monospace, monospace',
    fontLigatures: ligatures,
    fontSize: editorSize,
    lineHeight: Math.round(editorSize * 1.54),
    guides: { indentation: true, bracketPairs: false },
    minimap: { enabled: false },
    stickyScroll: { enabled: true },
    scrollBeyondLastLine: false,
    renderLineHighlight: "line",
    bracketPairColorization: { enabled: false },
    occurrencesHighlight: "singleFile",
    overviewRulerBorder: false,
    // Dimmed, the number of a last empty line could hardly be read.
    renderFinalNewline: "on",
    padding: { top: 4, bottom: 4 },
    // The engine keeps such characters; a question about them on every opening helps nobody.
    unusualLineTerminators: "off",
    // No server answers; words of the open text are a poor guess.
    wordBasedSuggestions: "off",
    quickSuggestions: false,
    // There is nothing it could offer yet.
    lightbulb: { enabled: "off" as LightbulbMode },
  };
}
