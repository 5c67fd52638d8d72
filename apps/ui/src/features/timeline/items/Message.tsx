/** What was said: the user's block, the assistant's text, and its thinking. */
import { Copy, ChevronRight } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { TimelineItem } from "../../../protocol";
import { linesShown, splitAttachments } from "../../../shared/attachments";
import { count, elapsed } from "../../../shared/format";
import { Markdown } from "../../../shared/markdown";
import { runtime } from "../../../shared/runtime";
import { IconButton, StateGlyph, useNow } from "../../../shared/ui";
import { openFile } from "../../code";
import { providerName } from "../../providers";
import styles from "./Message.module.css";

type Of<T extends TimelineItem["type"]> = Extract<TimelineItem, { type: T }>;

const FOLD_LINES = 8;

export function Question({ item }: { item: Of<"user_message"> }) {
  const [open, setOpen] = useState(false);
  const { text, attachments } = splitAttachments(item.text);
  const lines = text.split("\n");
  const long = lines.length > FOLD_LINES || text.length > 1_200;
  const shown = !long || open ? text : lines.slice(0, FOLD_LINES).join("\n").slice(0, 1_200);
  return (
    <div className={styles.question}>
      <div className={styles.block}>
        {attachments.length > 0 && (
          <ul className={styles.attached} aria-label="Attached">
            {attachments.map(({ name, text: attached }, index) => (
              <li key={`${index}`} title={attached.slice(0, 400)}>
                {name} · {count(linesShown(attached), "line")}
              </li>
            ))}
          </ul>
        )}
        <div className={styles.text}>{shown}</div>
        {long && (
          <button type="button" className={styles.more} onClick={() => setOpen(!open)}>
            {open ? "Show less" : "Show all"}
          </button>
        )}
      </div>
      <div className={styles.foot} data-side="right">
        <IconButton label="Copy" onClick={() => void runtime().copy(item.text)}>
          <Copy size={14} />
        </IconButton>
      </div>
    </div>
  );
}

export function Answer({ item }: { item: Of<"assistant_message"> }) {
  const streaming = item.status === "running" || item.status === "pending";
  return (
    <div className={styles.answer}>
      <Markdown text={item.text} streaming={streaming} onOpenPath={openFile} />
      {!streaming && (
        <div className={styles.foot}>
          <IconButton label="Copy" onClick={() => void runtime().copy(item.text)}>
            <Copy size={14} />
          </IconButton>
          <span className={styles.model}>
            {providerName(item.provider)}
            {item.model && item.model !== item.provider ? ` · ${item.model}` : ""}
          </span>
          {item.status === "cancelled" && <span className={styles.model}>Stopped by you</span>}
          {item.status === "failed" && <span className={styles.model}>Ended early</span>}
        </div>
      )}
    </div>
  );
}

export function Thinking({ item }: { item: Of<"thinking"> }) {
  const [open, setOpen] = useState(false);
  const running = item.status === "running" || item.status === "pending";
  const body = useRef<HTMLDivElement>(null);
  const text = item.text;
  useEffect(() => {
    if (open && running && body.current) body.current.scrollTop = body.current.scrollHeight;
  }, [open, running, text]);
  return (
    <div>
      <button type="button" className={styles.thinking} aria-expanded={open} onClick={() => setOpen(!open)}>
        {running ? <StateGlyph state="running" /> : <ChevronRight size={14} data-open={open || undefined} />}
        {running ? <ThinkingClock from={item.createdAt} /> : thoughtFor(item)}
      </button>
      {open && (
        <div ref={body} className={styles.thoughts} tabIndex={0} role="region" aria-label="Thinking">
          {text}
        </div>
      )}
    </div>
  );
}

function ThinkingClock({ from }: { from: number }) {
  const now = useNow();
  return <span>Thinking {elapsed(Math.max(0, now - from))}</span>;
}

function thoughtFor(item: Of<"thinking">): string {
  const spent = (item.updatedAt ?? item.createdAt) - item.createdAt;
  return spent < 1_000 ? "Thought for a moment" : `Thought for ${elapsed(spent)}`;
}
