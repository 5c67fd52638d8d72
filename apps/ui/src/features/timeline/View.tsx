/**
 * The timeline: rows of the session in a virtual list that opens at its end and follows it, until the reader scrolls
 * up. Text that grows draws its own row only.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { type KeyboardEvent, type RefObject, type UIEvent, useEffect, useMemo, useRef } from "react";
import { useStore } from "../../shared/store";
import { Button } from "../../shared/ui";
import { EmptySession } from "./EmptySession";
import { FoldRow, ItemRow, MarkerRow } from "./ItemRow";
import { type Row, rowsOf } from "./rows";
import { timelineStore } from "./store";
import styles from "./View.module.css";

/** Pixels from the end within which the reader counts as being there. */
const END_ZONE = 48;

/** Rows that a screen can hold, with those drawn ahead. */
const MOST_DRAWN = 40;

/** A guess per kind of row; measuring corrects it. Near guesses keep the scroll bar still. */
function estimate(row: Row): number {
  return row.kind === "item" ? 72 : 30;
}

export function TimelineView() {
  const sessionId = useStore(timelineStore, (state) => state.sessionId);
  const loading = useStore(timelineStore, (state) => state.loading);
  const structure = useStore(timelineStore, (state) => state.structure);
  // Rows depend on which items there are, not on how long their texts have grown.
  const rows = useMemo(() => (structure >= 0 ? rowsOf(timelineStore.getState().items) : []), [structure]);

  if (loading && rows.length === 0) return <div className={styles.timeline} aria-busy="true" id="region-chat" tabIndex={-1} />;
  if (rows.length === 0) {
    return (
      <div className={styles.timeline} id="region-chat" tabIndex={-1}>
        <EmptySession />
      </div>
    );
  }
  return <Rows key={sessionId ?? "new"} rows={rows} />;
}

function Rows({ rows }: { rows: readonly Row[] }) {
  "use no memo"; // The virtualizer is one mutable object; the compiler would keep its first answers.
  const scroller = useRef<HTMLDivElement>(null);
  const following = useStore(timelineStore, (state) => state.following);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => estimate(rows[index]!),
    getItemKey: (index) => rows[index]!.key,
    overscan: 6,
    paddingStart: 16,
    paddingEnd: 24,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: END_ZONE,
    initialRect: { width: 720, height: 900 },
  });
  const scrolled = useFollowing(scroller);
  const shown = virtual.getVirtualItems();
  const question = stickyQuestion(rows, shown[0]?.index ?? 0, scroller.current?.scrollTop ?? 0, (index) => {
    const measured = shown.find((item) => item.index === index);
    return measured?.end ?? Number.POSITIVE_INFINITY;
  });

  const key = (event: KeyboardEvent<HTMLDivElement>) => {
    const at = Number((event.target as HTMLElement).closest<HTMLElement>("[data-row]")?.dataset["row"] ?? -1);
    const own = event.target === event.currentTarget || (event.target as HTMLElement).matches("[data-row]");
    if (!own) return;
    const next = nextRow(event, at, rows);
    if (next === null) return;
    event.preventDefault();
    virtual.scrollToIndex(next, { align: "auto" });
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-row="${next}"]`)?.focus());
  };

  return (
    <div className={styles.frame}>
      {question && (
        <button
          type="button"
          className={styles.question}
          onClick={() => {
            timelineStore.setState({ following: false });
            virtual.scrollToIndex(question.index, { align: "start" });
          }}
        >
          {question.text}
        </button>
      )}
      <div
        ref={scroller}
        id="region-chat"
        className={styles.timeline}
        role="feed"
        aria-label="Conversation"
        data-keys="timeline"
        tabIndex={0}
        onKeyDown={key}
        onScroll={scrolled}
      >
        <div className={styles.sizer} style={{ height: virtual.getTotalSize() }}>
          {shown.map((item) => {
            const row = rows[item.index]!;
            return (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                className={styles.slot}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <div className={styles.measure}>
                  {row.kind === "item" ? (
                    <ItemRow id={row.id} index={row.index} position={item.index} count={rows.length} />
                  ) : row.kind === "marker" ? (
                    <MarkerRow mark={row.mark} position={item.index} count={rows.length} />
                  ) : (
                    <FoldRow indexes={row.indexes} position={item.index} count={rows.length} />
                  )}
                </div>
              </div>
            );
          })}
        </div>
      </div>
      {!following && (
        <div className={styles.jump}>
          <Button size="small" onClick={() => toEnd(scroller.current)}>
            <ArrowDown size={14} /> To the end
          </Button>
        </div>
      )}
    </div>
  );
}

function toEnd(element: HTMLElement | null): void {
  if (!element) return;
  timelineStore.setState({ following: true });
  element.scrollTop = element.scrollHeight;
}

/** What a reader scrolls by; a scroll goes on for a moment after it. */
const ACTIONS = ["wheel", "touchmove", "keydown", "pointerdown", "pointermove"] as const;
const SCROLLS_FOR_MS = 600;

/**
 * Keeps the end in sight whatever grows: a text, a card, the strip above the composer. Only the reader ends it, by
 * scrolling up; coming back to the end begins it again.
 */
function useFollowing(scroller: RefObject<HTMLDivElement | null>): (event: UIEvent<HTMLDivElement>) => void {
  const before = useRef({ top: 0, height: 0 });
  /** When the reader last did something that scrolls. */
  const reader = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const element = scroller.current;
    const content = element?.firstElementChild;
    if (!element || !content) return;
    const acts = (event: Event) => {
      const idle = event instanceof PointerEvent && event.type === "pointermove" && event.buttons === 0;
      if (!idle) reader.current = performance.now();
    };
    for (const name of ACTIONS) element.addEventListener(name, acts, { passive: true });
    toEnd(element);
    const observer = new ResizeObserver(() => {
      if (timelineStore.getState().following) element.scrollTop = element.scrollHeight;
    });
    observer.observe(element);
    observer.observe(content);
    return () => {
      observer.disconnect();
      for (const name of ACTIONS) element.removeEventListener(name, acts);
    };
  }, [scroller]);
  return (event) => {
    const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
    const atEnd = scrollHeight - scrollTop - clientHeight < END_ZONE;
    // Rows that are measured move the scroll position without anybody having scrolled.
    const byReader = performance.now() - reader.current < SCROLLS_FOR_MS;
    const up = byReader && scrollTop < before.current.top - 1 && scrollHeight >= before.current.height;
    before.current = { top: scrollTop, height: scrollHeight };
    const { following } = timelineStore.getState();
    const next = atEnd || (following && !up);
    if (next !== following) timelineStore.setState({ following: next });
    if (next && !atEnd) event.currentTarget.scrollTop = scrollHeight;
  };
}

/** The newest message of the user above the first row on screen. */
function stickyQuestion(
  rows: readonly Row[],
  first: number,
  offset: number,
  endOf: (index: number) => number,
): { index: number; text: string } | null {
  const { items } = timelineStore.getState();
  let candidate: { index: number; text: string } | null = null;
  // Rows above the first one drawn are above the screen; of those drawn, their end says it.
  for (let index = Math.min(rows.length - 1, first + MOST_DRAWN); index >= 0; index -= 1) {
    const row = rows[index]!;
    if (row.kind !== "item") continue;
    const item = items[row.index];
    if (item?.type !== "user_message") continue;
    if (index >= first && endOf(index) > offset) continue;
    candidate = { index, text: item.text };
    break;
  }
  return candidate;
}

function nextRow(event: KeyboardEvent, at: number, rows: readonly Row[]): number | null {
  const { items } = timelineStore.getState();
  const isQuestion = (index: number) => {
    const row = rows[index];
    return row?.kind === "item" && items[row.index]?.type === "user_message";
  };
  const last = rows.length - 1;
  switch (event.key) {
    case "ArrowDown":
    case "ArrowUp": {
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (!event.altKey) return Math.min(last, Math.max(0, at < 0 ? last : at + step));
      for (let index = at + step; index >= 0 && index <= last; index += step) if (isQuestion(index)) return index;
      return null;
    }
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}
