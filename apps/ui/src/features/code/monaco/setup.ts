/**
 * The editor's own module, in its own chunk: what it is made of, its workers, its theme.
 * The order of the imports matters: parts announce their services, then services are settled, then something uses them.
 */
// oxlint-disable-next-line import/default -- The bundler makes the default export.
import EditorWorker from "monaco-editor/editor/editor.worker?worker";
import * as monaco from "monaco-editor/editor";
import "monaco-editor/features/register.all";
import "./services";
import "./languages";
import { setHunks } from "./diff-provider";
import { defineThemes } from "./theme";

self.MonacoEnvironment = { getWorker: () => new EditorWorker() };

defineThemes(monaco.editor);

// Widths are measured once per font; a font that comes later would leave the caret beside the letters.
void document.fonts.load('13px "JetBrains Mono Variable"').then(() => monaco.editor.remeasureFonts());

export { monaco, setHunks };
