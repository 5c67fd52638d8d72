export { type EditorState, type OpenFile, type OpenReview, activeFile, editorStore, isDirty, openTabs } from "./store";
export { closeCode, declareCodeCommands, openCode, openFile, openReview } from "./commands";
export { keepAll, lookAtAll } from "./buffers";
export { CodeColumn } from "./View";
