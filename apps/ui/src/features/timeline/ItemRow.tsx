/** One row of the timeline: finds its item and draws it by its kind. */
import { type ReactNode, useState } from "react";
import type { TimelineItem } from "../../protocol";
import { count as counted, duration } from "../../shared/format";
import { useShallow, useStore } from "../../shared/store";
import { ChangeCard, DiffHunks } from "../changes";
import { providerName } from "../providers";
import { Approval } from "./items/Approval";
import { Answer, Question, Thinking } from "./items/Message";
import { CommandCard } from "./items/CommandCard";
import { Condensed } from "./items/Condensed";
import { ErrorStrip } from "./items/ErrorStrip";
import { Plan } from "./items/Plan";
import { Summary } from "./items/Summary";
import { ToolLine } from "./items/ToolLine";
import { Verification } from "./items/Verification";
import { Line } from "./items/Card";
import { type Mark, foldSummary, turnEnd } from "./rows";
import { timelineStore } from "./store";
import styles from "./ItemRow.module.css";

interface Place {
  position: number;
  count: number;
}

export function ItemRow({ id, index, position, count }: Place & { id: string; index: number }) {
  const item = useStore(timelineStore, (state) => {
    const found = state.items[index];
    return found?.id === id ? found : undefined;
  });
  if (!item) return null;
  return (
    <Article item={item} position={position} count={count}>
      {item.type === "summary" ? <SummaryRow item={item} index={index} /> : <Item item={item} />}
    </Article>
  );
}

function SummaryRow({ item, index }: { item: Extract<TimelineItem, { type: "summary" }>; index: number }) {
  const end = useStore(timelineStore, (state) => turnEnd(state.items, index));
  return <Summary item={item} end={end} />;
}

const NAMES: Record<TimelineItem["type"], string> = {
  user_message: "You",
  assistant_message: "Answer",
  thinking: "Thinking",
  plan: "Plan",
  tool_call: "Step",
  command: "Command",
  change_set: "Changes",
  diff: "Difference",
  verification: "Check",
  error: "Error",
  approval: "Needs your OK",
  summary: "Summary",
  condensed: "Note",
};

function Article({ item, position, count, children }: Place & { item: TimelineItem; children: ReactNode }) {
  return (
    <article
      className={styles.row}
      data-row={position}
      data-kind={item.type}
      data-item={item.id}
      tabIndex={-1}
      aria-label={NAMES[item.type]}
      aria-posinset={position + 1}
      aria-setsize={count}
    >
      {children}
    </article>
  );
}

function Item({ item }: { item: TimelineItem }) {
  switch (item.type) {
    case "user_message":
      return <Question item={item} />;
    case "assistant_message":
      return <Answer item={item} />;
    case "thinking":
      return <Thinking item={item} />;
    case "plan":
      return <Plan item={item} />;
    case "tool_call":
      return <ToolLine item={item} />;
    case "command":
      return <CommandCard item={item} />;
    case "change_set":
      return <ChangeCard id={item.changeSetId} title={item.title} />;
    case "diff":
      return <DiffHunks path={item.path} hunks={item.hunks} decide={null} />;
    case "verification":
      return <Verification item={item} />;
    case "error":
      return <ErrorStrip error={item.error} />;
    case "approval":
      return <Approval item={item} place="timeline" />;
    case "summary":
      return <Summary item={item} end="finished" />;
    case "condensed":
      return <Condensed item={item} />;
  }
}

/** A hairline with words between what was and what follows. */
export function MarkerRow({ mark, position, count }: Place & { mark: Mark }) {
  return (
    <article
      className={`${styles.row} ${styles.marker}`}
      data-row={position}
      data-kind="marker"
      tabIndex={-1}
      aria-label="Note"
      aria-posinset={position + 1}
      aria-setsize={count}
    >
      {markWords(mark)}
    </article>
  );
}

function markWords(mark: Mark): string {
  switch (mark.what) {
    case "interrupted":
      return "Interrupted when Vibe Coder ended";
    case "later":
      return `Continued ${pauseWords(mark.ms)} later`;
    case "model":
      return `Model: ${[providerName(mark.provider), mark.model].filter((word) => word !== "" && word !== mark.provider).join(" · ")}`;
  }
}

function pauseWords(ms: number): string {
  const hours = Math.round(ms / 3_600_000);
  return hours < 48 ? counted(hours, "hour") : counted(Math.round(hours / 24), "day");
}

/** Three or more quiet lines in one; opens in place. */
export function FoldRow({ indexes, position, count }: Place & { indexes: readonly number[] }) {
  const [open, setOpen] = useState(false);
  const items = useStore(
    timelineStore,
    useShallow((state) => indexes.flatMap((index) => state.items[index] ?? [])),
  );
  const spent = items.reduce((sum, item) => sum + (item.type === "tool_call" ? (item.durationMs ?? 0) : 0), 0);
  return (
    <article
      className={styles.row}
      data-row={position}
      data-kind="tool_call"
      tabIndex={-1}
      aria-label="Steps"
      aria-posinset={position + 1}
      aria-setsize={count}
    >
      <Line
        state="done"
        verb={foldSummary(items)}
        target=""
        facts={duration(spent)}
        open={open}
        onToggle={() => setOpen(!open)}
      />
      {open && (
        <div className={styles.inner}>
          {items.map((item) => item.type === "tool_call" && <ToolLine key={item.id} item={item} />)}
        </div>
      )}
    </article>
  );
}
