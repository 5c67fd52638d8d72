export { type Draft, NEW, composerStore, draftOf, emptyComposer, readDraft } from "./store";
export { type TurnEnd, declareComposerCommands, insert, isRunning, restoreDrafts, stop, turnEnded } from "./commands";
export { Composer } from "./View";
