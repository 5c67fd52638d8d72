export { shellStore, readShell } from "./store";
export { REGIONS, declareShellCommands, focusRegion, setPreset, unfold } from "./commands";
export { Shell } from "./View";
