export { declareContextCommands } from "./commands";
export { ContextView } from "./View";
