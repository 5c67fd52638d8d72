/** Sessions of the workspace, which one is shown, and what each one's turn is doing. */
import type { Mode, SessionHit, SessionState, SessionSummary, Usage } from "../../protocol";
import { createStore } from "../../shared/store";

export interface Run {
  turnId: string;
  mode: Mode;
  provider: string;
  model: string;
  startedAt: number;
}

export interface Spent {
  usage: Usage;
  /** US dollars of the whole session; absent until a price is known. */
  cost: number | null;
  /** US dollars of the whole day (UTC), over all workspaces. */
  today: number;
  /** Tokens of the newest request: how full the model's window was. */
  lastInput: number;
}

export interface SessionsState {
  sessions: readonly SessionSummary[];
  loaded: boolean;
  /** `null` is the empty session that begins with the first message. */
  selected: string | null;
  /** By session, while a turn is under way. */
  runs: Readonly<Record<string, Run>>;
  /** By session, since this window knows it. */
  spent: Readonly<Record<string, Spent>>;
  /** Interrupted sessions whose banner was closed. */
  leftAlone: readonly string[];
  switcherOpen: boolean;
  query: string;
  hits: readonly SessionHit[];
}

export const emptySessions: SessionsState = {
  sessions: [],
  loaded: false,
  selected: null,
  runs: {},
  spent: {},
  leftAlone: [],
  switcherOpen: false,
  query: "",
  hits: [],
};

export const sessionsStore = createStore<SessionsState>(() => emptySessions);

const ACTIVE: ReadonlySet<SessionState> = new Set<SessionState>([
  "preparing_context",
  "planning",
  "awaiting_plan_approval",
  "executing",
  "awaiting_tool_approval",
  "applying_changes",
  "verifying",
  "repairing",
  "cancelling",
  "retrying",
]);

/** Whether a turn is under way, as crates/protocol says it. */
export function isActive(state: SessionState): boolean {
  return ACTIVE.has(state);
}

export type StateTone = "muted" | "ok" | "info" | "warn" | "bad";

/** The words of the status bar and the colour of the dot (blueprint, section 12). */
export function stateWords(state: SessionState): { words: string; tone: StateTone } {
  switch (state) {
    case "idle":
      return { words: "Ready", tone: "muted" };
    case "complete":
      return { words: "Done", tone: "ok" };
    case "accepted":
      return { words: "Changes accepted", tone: "ok" };
    case "rejected":
      return { words: "Changes rejected", tone: "muted" };
    case "preparing_context":
      return { words: "Reading the project", tone: "info" };
    case "planning":
      return { words: "Planning", tone: "info" };
    case "executing":
      return { words: "Working", tone: "info" };
    case "applying_changes":
      return { words: "Writing proposal", tone: "info" };
    case "verifying":
      return { words: "Checking", tone: "info" };
    case "repairing":
      return { words: "Repairing", tone: "info" };
    case "awaiting_plan_approval":
      return { words: "Plan to approve", tone: "warn" };
    case "awaiting_tool_approval":
      return { words: "Needs your OK", tone: "warn" };
    case "awaiting_diff_review":
      return { words: "Changes to review", tone: "warn" };
    case "cancelling":
      return { words: "Stopping…", tone: "muted" };
    case "cancelled":
      return { words: "Stopped", tone: "muted" };
    case "failed":
      return { words: "Failed", tone: "bad" };
    case "retrying":
      return { words: "Retrying", tone: "warn" };
  }
}

/** The groups of the switcher, in the order in which they ask for attention. */
export function groupSessions(sessions: readonly SessionSummary[], now: number): [string, SessionSummary[]][] {
  const groups: [string, SessionSummary[]][] = [
    ["Needs you", []],
    ["Running", []],
    ["To review", []],
    ["Today", []],
    ["Earlier", []],
  ];
  const today = new Date(now).setHours(0, 0, 0, 0);
  for (const session of [...sessions].sort((one, other) => other.updatedAt - one.updatedAt)) {
    groups[groupOf(session, today)]![1].push(session);
  }
  return groups.filter(([, members]) => members.length > 0);
}

function groupOf(session: SessionSummary, today: number): number {
  if (session.interrupted || session.state === "awaiting_tool_approval" || session.state === "awaiting_plan_approval") {
    return 0;
  }
  if (isActive(session.state)) return 1;
  if (session.state === "awaiting_diff_review") return 2;
  return session.updatedAt >= today ? 3 : 4;
}
