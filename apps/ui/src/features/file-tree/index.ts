export { type FileTreeState, fileTreeStore } from "./store";
export { declareFileTreeCommands } from "./commands";
export { FilesColumn } from "./View";
