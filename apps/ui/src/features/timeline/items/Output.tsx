/**
 * Lines of output in a window of fixed rows: only what is on screen is drawn. Follows its end while the command runs,
 * until the reader scrolls up.
 */
import { type UIEvent, useEffect, useRef, useState } from "react";
import { AnsiLine, type AnsiScreen } from "../../../shared/ansi";
import styles from "./Output.module.css";

const LINE = 18;
const MOST_HEIGHT = 320;
const PADDING = 8;
/** Wrapped rows have no fixed height, so all are drawn; more than this stay unwrapped. */
const MOST_WRAPPED = 2_000;

interface OutputProps {
  screen: AnsiScreen;
  /** Changes when the screen's lines do. */
  revision: string;
  from: number;
  count: number;
  live: boolean;
  wrap: boolean;
  finding: boolean;
  omitted: string | null;
}

export function Output({ screen, revision, from, count, live, wrap, finding, omitted }: OutputProps) {
  const box = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const [top, setTop] = useState(0);
  const [query, setQuery] = useState("");
  const wrapped = wrap && count <= MOST_WRAPPED;
  const height = Math.min(MOST_HEIGHT, count * LINE + PADDING * 2);

  useEffect(() => {
    const element = box.current;
    if (element && live && following.current) element.scrollTop = element.scrollHeight;
  }, [revision, live, count]);

  const scroll = (event: UIEvent<HTMLDivElement>) => {
    const element = event.currentTarget;
    following.current = element.scrollTop + element.clientHeight >= element.scrollHeight - LINE;
    setTop(element.scrollTop);
  };

  const first = wrapped ? 0 : Math.max(0, Math.floor((top - PADDING) / LINE) - 4);
  const last = wrapped ? count : Math.min(count, Math.ceil((top + height) / LINE) + 4);
  const rows: number[] = [];
  for (let row = first; row < last; row += 1) rows.push(row);

  const find = (step: 1 | -1) => {
    const found = findLine(screen, query, from, count, Math.round(top / LINE), step);
    if (found !== null) box.current?.scrollTo({ top: found * LINE });
  };

  return (
    <>
      {finding && (
        <div className={styles.find}>
          <input
            className={styles.input}
            aria-label="Find in the output"
            placeholder="Find in the output"
            value={query}
            autoFocus
            onChange={(event) => setQuery(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter") find(event.shiftKey ? -1 : 1);
            }}
          />
        </div>
      )}
      {omitted && <p className={styles.divider}>Showing the newest output · {omitted}</p>}
      <div
        ref={box}
        className={styles.box}
        style={{ height }}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Output"
        onScroll={scroll}
      >
        <div className={styles.lines} data-wrap={wrapped || undefined} style={wrapped ? undefined : { height: count * LINE }}>
          {rows.map((row) => (
            <div
              key={row}
              className={styles.line}
              data-hit={(query !== "" && matchesQuery(screen, from + row, query)) || undefined}
              style={wrapped ? undefined : { top: row * LINE }}
            >
              <AnsiLine spans={screen.line(from + row)} />
            </div>
          ))}
        </div>
      </div>
    </>
  );
}

function matchesQuery(screen: AnsiScreen, line: number, query: string): boolean {
  return screen.plainLine(line).toLowerCase().includes(query.toLowerCase());
}

/** The next matching line after (or before) one, going round. */
function findLine(
  screen: AnsiScreen,
  query: string,
  from: number,
  count: number,
  at: number,
  step: 1 | -1,
): number | null {
  if (query === "") return null;
  for (let moved = 1; moved <= count; moved += 1) {
    const line = (at + moved * step + count * 2) % count;
    if (matchesQuery(screen, from + line, query)) return line;
  }
  return null;
}

/** Words that tools of many languages put on the line where the trouble begins. */
const FAILURE = /\b(error|failed|failure|panicked|exception|fatal|traceback)\b|^\s*(✕|✗|FAIL)\b/i;
/** "0 failed", "no errors": the same words in a good report. */
const NO_FAILURE = /\b(0|no)\s+(errors?|failed|failures?)\b/i;

export function firstFailure(screen: AnsiScreen, lines: number): number | null {
  for (let line = 0; line < lines; line += 1) {
    const text = screen.plainLine(line);
    if (FAILURE.test(text) && !NO_FAILURE.test(text)) return line;
  }
  return null;
}
