export { type FileTreeState, fileTreeStore } from "./store";
export { declareFileTreeCommands } from "./commands";
export { closeTree, openTree, refresh as refreshTree } from "./loading";
export { FilesColumn } from "./View";
