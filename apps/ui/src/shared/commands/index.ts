export { type Command, type KeyPlace, allCommands, command, commandForKey, conflicts, declareCommands, run } from "./registry";
export { chordLabel } from "./keys";

export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
