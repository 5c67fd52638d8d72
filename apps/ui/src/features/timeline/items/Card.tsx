/** The skeleton that lines and cards share: glyph, verb, target, facts, actions, chevron (blueprint, section 4). */
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { StateGlyph, type GlyphState } from "../../../shared/ui";
import styles from "./Card.module.css";

interface HeadProps {
  state: GlyphState;
  verb: string;
  target: string;
  facts?: ReactNode;
  /** What the whole target is, for a reader who needs it. */
  targetTitle?: string;
  onTarget?: (() => void) | null;
  actions?: ReactNode;
  open?: boolean;
  onToggle?: (() => void) | null;
}

/** 28 pixels, no border: what the reader need not act on. */
export function Line(props: HeadProps) {
  return <Head {...props} look="line" />;
}

interface CardProps extends HeadProps {
  tone?: "plain" | "warn" | "bad";
  children?: ReactNode;
  label: string;
}

/** A bordered card; with a tone it is a strip that asks for something. */
export function Card({ tone = "plain", children, label, ...head }: CardProps) {
  return (
    <section className={styles.card} data-tone={tone} data-live={head.state === "running" || undefined} aria-label={label}>
      <Head {...head} look="card" />
      {children}
    </section>
  );
}

function Head(props: HeadProps & { look: "line" | "card" }) {
  const { state, verb, target, facts, targetTitle, onTarget, actions, open, onToggle, look } = props;
  const words = (
    <>
      <StateGlyph state={state} />
      <span className={styles.verb}>{verb}</span>
      {target && !onTarget && (
        <span className={styles.target} title={targetTitle ?? target}>
          {target}
        </span>
      )}
    </>
  );
  return (
    <div className={styles.head} data-look={look}>
      {onToggle ? (
        <button type="button" className={styles.toggle} aria-expanded={open ?? false} onClick={onToggle}>
          {words}
        </button>
      ) : (
        <div className={styles.toggle}>{words}</div>
      )}
      {target && onTarget && (
        <button type="button" className={styles.target} data-link title={targetTitle ?? target} onClick={onTarget}>
          {target}
        </button>
      )}
      {facts && <span className={styles.facts}>{facts}</span>}
      <span className={styles.space} />
      {actions && <span className={styles.actions}>{actions}</span>}
      {onToggle && (
        <button
          type="button"
          className={styles.chevron}
          data-open={open || undefined}
          aria-label={open ? "Hide details" : "Show details"}
          aria-expanded={open ?? false}
          onClick={onToggle}
        >
          <ChevronRight size={14} />
        </button>
      )}
    </div>
  );
}
