export { type ChangesState, changesStore, emptyChanges, filesToReview, isOpen, newestOpen, putChangeSet, statusWords, waitingFiles } from "./store";
export { ALL, type Decision, accept, declareChangesCommands, reject } from "./commands";
export { ChangeCard } from "./ChangeCard";
export { DiffHunks } from "./DiffHunks";
