export { type Items, foldDelta, foldEvent, foldEvents } from "./fold";
export { type TimelineState, emptyTimeline, setItems, timelineStore } from "./store";
export { answerApproval, declareTimelineCommands } from "./commands";
export { TimelineView } from "./View";
export { AttentionStrip } from "./AttentionStrip";
export { CommandLog } from "./CommandLog";
