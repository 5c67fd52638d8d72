export { type EditorState, type EditorTab, type OpenFile, type OpenReview, editorStore } from "./store";
export { declareCodeCommands, openFile, openReview } from "./commands";
export { CodeColumn } from "./View";
