/** A command: what ran, where, why it was allowed, its output as a person would have seen it, how it ended. */
import { Copy, Download, FileText, MessageSquare, RotateCw, Search, Square, WrapText } from "lucide-react";
import { useMemo, useState } from "react";
import type { CommandState, TimelineItem } from "../../../protocol";
import { AnsiScreen } from "../../../shared/ansi";
import { run } from "../../../shared/commands";
import { bytes, count, duration, elapsed } from "../../../shared/format";
import { runtime } from "../../../shared/runtime";
import { IconButton, type GlyphState, useNow } from "../../../shared/ui";
import { runAgain, saveLog, stopCommand } from "../commands";
import { timelineStore } from "../store";
import { Card } from "./Card";
import { Output, firstFailure } from "./Output";
import styles from "./CommandCard.module.css";

type Command = Extract<TimelineItem, { type: "command" }>;

const FOLD_LINES = 12;
const EXCERPT_LINES = 6;

const GLYPHS: Record<CommandState, GlyphState> = {
  queued: "todo",
  awaiting_approval: "waiting",
  starting: "running",
  running: "running",
  stopping: "running",
  stopped: "stopped",
  succeeded: "done",
  failed: "failed",
  timed_out: "failed",
  cancelled: "stopped",
};

export function CommandCard({ item }: { item: Command }) {
  const running = GLYPHS[item.state] === "running";
  const output = item.output ?? "";
  const screen = useMemo(() => {
    const fresh = new AnsiScreen();
    fresh.write(output);
    return fresh;
  }, [output]);
  const lines = screen.lineCount();
  const [chosen, setChosen] = useState<boolean | null>(null);
  const [wrap, setWrap] = useState(false);
  const [finding, setFinding] = useState(false);
  const folds = !running && lines > FOLD_LINES;
  const open = chosen ?? !folds;
  const from = open ? 0 : excerptStart(screen, lines, item.state);

  return (
    <Card
      label={`Command ${item.command}`}
      state={GLYPHS[item.state]}
      verb={`${item.byUser ? "You: " : ""}${verbOf(item.state)}`}
      target={firstLine(item.command)}
      targetTitle={item.command}
      facts={running ? <Clock from={item.createdAt} state={item.state} /> : null}
      open={open}
      onToggle={lines > 0 ? () => setChosen(!open) : null}
      actions={
        <Actions item={item} screen={screen} wrap={wrap} onWrap={() => setWrap(!wrap)} onFind={() => setFinding(!finding)} />
      }
    >
      {item.command.includes("\n") && open && <pre className={styles.command}>{item.command}</pre>}
      <p className={styles.place}>
        {[item.cwd === "." ? "in the workspace" : `in ${item.cwd}`, item.policyReason, item.isolation]
          .filter(Boolean)
          .join(" · ")}
      </p>
      {lines > 0 && (
        <Output
          screen={screen}
          revision={output}
          from={from}
          count={open ? lines : Math.min(EXCERPT_LINES, lines - from)}
          live={running}
          wrap={wrap}
          finding={finding}
          omitted={item.omittedBytes > 0 ? `${bytes(item.omittedBytes)} more in the log` : null}
        />
      )}
      {!open && (
        <button type="button" className={styles.more} onClick={() => setChosen(true)}>
          Show {count(lines, "line")}
        </button>
      )}
      {!running && <End item={item} />}
      {(item.notes ?? []).map((note) => (
        <p key={note} className={styles.note}>
          {note}
        </p>
      ))}
    </Card>
  );
}

function verbOf(state: CommandState): string {
  switch (state) {
    case "queued":
    case "awaiting_approval":
      return "Wants to run";
    case "starting":
    case "running":
    case "stopping":
      return "Running";
    default:
      return "Ran";
  }
}

function Clock({ from, state }: { from: number; state: CommandState }) {
  const now = useNow();
  return (
    <>
      {state === "stopping" ? "Stopping… " : ""}
      {elapsed(Math.max(0, now - from))}
    </>
  );
}

function Actions(props: { item: Command; screen: AnsiScreen; wrap: boolean; onWrap(): void; onFind(): void }) {
  const { item, screen, wrap, onWrap, onFind } = props;
  const running = GLYPHS[item.state] === "running";
  const { log } = item;
  return (
    <>
      <IconButton label="Find in the output" onClick={onFind}>
        <Search size={14} />
      </IconButton>
      <IconButton label="Wrap long lines" pressed={wrap} onClick={onWrap}>
        <WrapText size={14} />
      </IconButton>
      <IconButton label="Copy output" onClick={() => void runtime().copy(screen.plainText())}>
        <Copy size={14} />
      </IconButton>
      {log && (
        <>
          <IconButton
            label={`Show the whole log, ${bytes(log.sizeBytes)}`}
            onClick={() => timelineStore.setState({ log: { artifact: log, command: item.command } })}
          >
            <FileText size={14} />
          </IconButton>
          <IconButton label="Save the whole log" onClick={() => void saveLog(log, "command.log")}>
            <Download size={14} />
          </IconButton>
        </>
      )}
      {running ? (
        <IconButton label="Stop this command" onClick={() => void stopCommand(item.commandId)}>
          <Square size={13} />
        </IconButton>
      ) : (
        <IconButton label="Run again" onClick={() => void runAgain(item)}>
          <RotateCw size={14} />
        </IconButton>
      )}
      {!running && (
        <IconButton
          label="Ask about this"
          onClick={() => run("composer.insert", `About \`${firstLine(item.command)}\`:`)}
        >
          <MessageSquare size={14} />
        </IconButton>
      )}
    </>
  );
}

function End({ item }: { item: Command }) {
  const spent = item.durationMs == null ? "" : ` · ${duration(item.durationMs)}`;
  const [words, tone] = endWords(item);
  if (!words) return null;
  return (
    <p className={styles.end} data-tone={tone}>
      {words}
      {spent}
    </p>
  );
}

function endWords(item: Command): [string, "ok" | "bad" | "muted"] {
  switch (item.state) {
    case "succeeded":
      return [`Exit ${item.exitCode ?? 0}`, "ok"];
    case "failed":
      if (item.signal != null) return [`Ended by signal ${item.signal}`, "bad"];
      return [item.exitCode == null ? "Did not run" : `Exit ${item.exitCode}`, "bad"];
    case "timed_out":
      return ["Timed out", "bad"];
    case "stopped":
      return ["Stopped by you", "muted"];
    case "cancelled":
      return ["Cancelled", "muted"];
    default:
      return ["", "muted"];
  }
}

function firstLine(command: string): string {
  const end = command.indexOf("\n");
  return end < 0 ? command : `${command.slice(0, end)} …`;
}

/** Where the excerpt of a folded card begins: the first failure, else the last lines. */
function excerptStart(screen: AnsiScreen, lines: number, state: CommandState): number {
  const last = Math.max(0, lines - EXCERPT_LINES);
  if (state !== "failed") return last;
  const failure = firstFailure(screen, lines);
  return failure === null ? last : Math.min(failure, last);
}
