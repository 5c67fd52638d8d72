/** One step of the assistant: what it did, to what, with what outcome. Words come from the engine. */
import { useState } from "react";
import type { TimelineItem } from "../../../protocol";
import { duration } from "../../../shared/format";
import { openFile } from "../../code";
import { Line } from "./Card";
import { glyphOf } from "./glyph";
import styles from "./ToolLine.module.css";

type ToolCall = Extract<TimelineItem, { type: "tool_call" }>;

/** A target that is one file: with a folder or an ending, and nothing that a pattern has. */
const FILE = /^[^\s*?{}()|<>"']+\.[A-Za-z0-9]+$/;
const HEAD_LINES = 20;

export function ToolLine({ item }: { item: ToolCall }) {
  const [open, setOpen] = useState(false);
  const isFile = FILE.test(item.target);
  const facts = [outcome(item), item.durationMs == null ? "" : duration(item.durationMs)].filter(Boolean).join(" · ");
  return (
    <div>
      <Line
        state={glyphOf(item.status)}
        verb={item.verb || item.name}
        target={item.target}
        facts={facts}
        onTarget={isFile ? () => openFile(item.target) : null}
        open={open}
        onToggle={() => setOpen(!open)}
      />
      {item.error && <p className={styles.error}>{item.error.message}</p>}
      {open && <Details item={item} />}
    </div>
  );
}

/** The engine's summary begins with verb and target, which the line already says. */
function outcome(item: ToolCall): string {
  // The line below says what went wrong.
  if (item.error) return "";
  let rest = item.summary;
  for (const said of [item.verb, item.target]) {
    if (said && rest.startsWith(said)) rest = rest.slice(said.length).trimStart();
  }
  return rest.replace(/^[·:,.]\s*/, "");
}

function Details({ item }: { item: ToolCall }) {
  const preview = item.preview ?? "";
  const lines = preview.split("\n");
  const cut = lines.length - HEAD_LINES;
  return (
    <div className={styles.details}>
      {preview && (
        <pre className={styles.preview} tabIndex={0} aria-label="Result">
          {lines.slice(0, HEAD_LINES).join("\n")}
        </pre>
      )}
      {cut > 0 && <p className={styles.note}>{cut.toLocaleString("en-US")} more lines were given to the model.</p>}
      {item.error?.detail && <p className={styles.note}>{item.error.detail}</p>}
      <details>
        <summary className={styles.summary}>Details</summary>
        <pre className={styles.preview} tabIndex={0} aria-label="Request">
          {JSON.stringify({ tool: item.name, arguments: item.arguments }, null, 2)}
        </pre>
      </details>
    </div>
  );
}
