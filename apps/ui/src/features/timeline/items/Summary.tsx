/** Closes a turn: what changed, what ran, how long, what it cost. */
import type { TimelineItem, VerifiedState } from "../../../protocol";
import { count, dollars, duration, tokens } from "../../../shared/format";
import { openFile } from "../../code";
import type { GlyphState } from "../../../shared/ui";
import type { TurnEnd } from "../rows";
import { Card } from "./Card";
import styles from "./Facts.module.css";

type SummaryOf = Extract<TimelineItem, { type: "summary" }>;

const ENDS: Record<TurnEnd, { words: string; state: GlyphState }> = {
  finished: { words: "Finished", state: "done" },
  failed: { words: "Ended with an error", state: "failed" },
  stopped: { words: "Stopped", state: "stopped" },
};

/** Written by the engine from results that held when the turn ended; the cards say whether they still do. */
const VERIFIED: Record<VerifiedState, string> = {
  passed: "Verified",
  failed: "Checks fail",
  not_verified: "Not verified",
};

export function Summary({ item, end }: { item: SummaryOf; end: TurnEnd }) {
  const { usage } = item;
  const notes = item.notes ?? [];
  const { verified } = item;
  const cost = item.cost == null ? "" : ` · ≈ ${dollars(item.cost)}`;
  const facts = [
    item.filesChanged.length > 0 ? `${count(item.filesChanged.length, "file")} changed` : "",
    item.commandsRun > 0 ? count(item.commandsRun, "command") : "",
    duration(item.durationMs),
    `${tokens(usage.input)} in, ${tokens(usage.output)} out${cost}`,
  ];
  return (
    <Card
      label="Summary"
      state={ENDS[end].state}
      verb={ENDS[end].words}
      target=""
      facts={facts.filter(Boolean).join(" · ")}
    >
      {(verified || item.filesChanged.length > 0 || notes.length > 0) && (
        <dl className={styles.facts}>
          {verified && (
            <>
              <dt>{VERIFIED[verified.state]}</dt>
              <dd>{verified.text}</dd>
            </>
          )}
          {item.filesChanged.length > 0 && (
            <>
              <dt>Changed</dt>
              <dd>
                {item.filesChanged.map((path) => (
                  <button key={path} type="button" className={styles.link} onClick={() => openFile(path)}>
                    {path}
                  </button>
                ))}
              </dd>
            </>
          )}
          {notes.length > 0 && (
            <>
              <dt>Note</dt>
              <dd>{notes.join(" ")}</dd>
            </>
          )}
        </dl>
      )}
    </Card>
  );
}
