export { type Connection, type WorkspaceState, workspaceStore } from "./store";
export { declareWorkspaceCommands, openFolder, openSample, refreshGit } from "./commands";
