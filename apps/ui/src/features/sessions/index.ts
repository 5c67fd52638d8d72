export {
  type Run,
  type SessionsState,
  type Spent,
  emptySessions,
  groupSessions,
  isActive,
  sessionsStore,
  stateWords,
} from "./store";
export { declareSessionCommands, newSession, onOpenSession, openSession, showSession, refreshSessions } from "./commands";
export { SessionHeader } from "./SessionHeader";
export { InterruptedBanners } from "./Banners";
