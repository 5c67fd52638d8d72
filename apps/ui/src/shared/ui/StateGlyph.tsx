/** The state of a piece of work: a glyph, its colour and a hidden word. */
import styles from "./StateGlyph.module.css";

export type GlyphState = "todo" | "running" | "done" | "failed" | "waiting" | "stopped" | "skipped";

const WORDS: Record<GlyphState, string> = {
  todo: "To do",
  running: "Running",
  done: "Done",
  failed: "Failed",
  waiting: "Waiting for you",
  stopped: "Stopped",
  skipped: "Skipped",
};

const SIGNS: Record<GlyphState, string> = {
  todo: "○",
  running: "",
  done: "✓",
  failed: "✕",
  waiting: "●",
  stopped: "■",
  skipped: "–",
};

export function StateGlyph({ state }: { state: GlyphState }) {
  return (
    <span className={styles.glyph} data-state={state}>
      {state === "running" ? <span className={styles.ring} aria-hidden="true" /> : <span aria-hidden="true">{SIGNS[state]}</span>}
      <span className="vc-hidden">{WORDS[state]}</span>
    </span>
  );
}
