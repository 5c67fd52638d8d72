/** The status bar: branch, reviews and trust; what the task is doing; tokens, cost, caret. */
import { GitBranch } from "lucide-react";
import { run } from "../../shared/commands";
import { count, dollars, elapsed, tokens } from "../../shared/format";
import { useStore } from "../../shared/store";
import { useNow } from "../../shared/ui";
import { changesStore, filesToReview } from "../changes";
import { activeFile, editorStore } from "../code";
import { type SessionsState, isActive, sessionsStore, stateWords } from "../sessions";
import { TRUST_WORDS, settingsStore } from "../settings";
import { workspaceStore } from "../workspace";
import styles from "./View.module.css";

export function StatusBar() {
  return (
    <div className={styles.bar}>
      <div className={styles.side}>
        <Branch />
        <Review />
        <Trust />
      </div>
      <Task />
      <div className={styles.side} data-end>
        <Spending />
        <Cursor />
        <Link />
      </div>
    </div>
  );
}

function Branch() {
  const git = useStore(workspaceStore, (state) => state.git);
  if (!git?.repository) return null;
  return (
    <button type="button" className={styles.item} title="Refresh git status" onClick={() => run("workspace.refreshGit")}>
      <GitBranch size={12} aria-hidden="true" />
      {git.branch ?? "no branch"}
      {git.entries.length > 0 && ` ±${git.entries.length}`}
      {git.ahead > 0 && ` ↑${git.ahead}`}
      {git.behind > 0 && ` ↓${git.behind}`}
    </button>
  );
}

function Review() {
  const files = useStore(changesStore, (state) => filesToReview(state.sets));
  if (files === 0) return null;
  return (
    <button type="button" className={styles.item} data-tone="warn" onClick={() => run("changes.review")}>
      {count(files, "file")} to review
    </button>
  );
}

function Trust() {
  const trust = useStore(settingsStore, (state) => state.preferences.trust);
  return (
    <button type="button" className={styles.item} title={TRUST_WORDS[trust].note} onClick={() => run("settings.open", "trust")}>
      {TRUST_WORDS[trust].name}
    </button>
  );
}

function currentSession(state: SessionsState) {
  return state.sessions.find((session) => session.id === state.selected);
}

function Task() {
  const session = useStore(sessionsStore, currentSession);
  const turn = useStore(sessionsStore, (state) => (state.selected ? state.runs[state.selected] : undefined));
  const ended = useStore(workspaceStore, (state) => state.engine === "failed" || state.engine === "stopped");
  // What the session last said is not true any more when nobody works on it.
  const { words, tone } = ended ? { words: "Engine stopped", tone: "bad" } : stateWords(session?.state ?? "idle");
  return (
    <button type="button" className={styles.task} data-tone={tone} onClick={() => run("focus.chat")}>
      <span className={styles.dot} data-tone={tone} data-running={turn ? true : undefined} aria-hidden="true" />
      {words}
      {turn && !ended && session && isActive(session.state) && <Elapsed from={turn.startedAt} />}
    </button>
  );
}

function Elapsed({ from }: { from: number }) {
  const now = useNow();
  return <span className={styles.elapsed}>{elapsed(Math.max(0, now - from))}</span>;
}

function Spending() {
  const spent = useStore(sessionsStore, (state) => (state.selected ? state.spent[state.selected] : undefined));
  if (!spent) return null;
  const { usage, cost, today } = spent;
  const title = `Tokens read ${usage.input.toLocaleString("en-US")}, of them cached ${usage.cacheRead.toLocaleString("en-US")}; written ${usage.output.toLocaleString("en-US")}${today > 0 ? `. Today, all workspaces: ${dollars(today)}` : ""}`;
  return (
    <span className={styles.quiet} title={title}>
      {tokens(usage.input + usage.output)} tokens
      {cost !== null && ` · ≈ ${dollars(cost)}`}
    </span>
  );
}

/** Caret, language, line ending and encoding of the file in front. */
function Cursor() {
  const cursor = useStore(editorStore, (state) => state.cursor);
  const language = useStore(editorStore, (state) => state.language);
  const buffer = useStore(editorStore, (state) => state.buffers[activeFile(state) ?? ""]);
  if (!cursor) return null;
  return (
    <>
      <span className={styles.quiet}>
        Ln {cursor.line}, Col {cursor.column}
      </span>
      {buffer?.status === "text" && (
        <>
          {language && <span className={styles.quiet}>{language}</span>}
          <span className={styles.quiet} title="Line ending, kept on save">
            {ENDINGS[buffer.endings] ?? buffer.endings}
          </span>
          <span className={styles.quiet} title="Encoding, kept on save">
            {buffer.encoding.toUpperCase()}
          </span>
          {buffer.readOnly && <span className={styles.quiet}>Read only</span>}
        </>
      )}
    </>
  );
}

const ENDINGS: Record<string, string> = { lf: "LF", crlf: "CRLF", mixed: "Mixed line endings", none: "No line ending" };

function Link() {
  const connection = useStore(workspaceStore, (state) => state.connection);
  const engine = useStore(workspaceStore, (state) => state.engine);
  const connected = connection.kind === "open" && engine === "ready";
  const words = connection.kind !== "open" ? "Reconnecting…" : engine === "ready" ? "Connected" : `Engine ${engine}`;
  return (
    <span className={styles.quiet} data-tone={connected ? undefined : "warn"}>
      {words}
    </span>
  );
}
