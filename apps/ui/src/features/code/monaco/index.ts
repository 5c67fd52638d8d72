export { type EditorParts, type Monaco, loadEditor, loadMonaco, loadWhenIdle } from "./load";
export { editorOptions } from "./options";
