/** The list that `@` opens: files of the workspace, found by a few letters. */
import { type KeyboardEvent, useEffect, useState } from "react";
import type { FoundPath } from "../../protocol";
import { fileName } from "../../shared/format";
import { runtime } from "../../shared/runtime";
import styles from "./Mentions.module.css";

export interface Mentions {
  open: boolean;
  query: string;
  found: readonly FoundPath[];
  searching: boolean;
  at: number;
  setAt(at: number): void;
  /** Whether the list used the key. */
  key(event: KeyboardEvent, pick: (path: string) => void): boolean;
}

/** The reference being written at the caret: begins with @ at the start of a word. */
export function mentionAt(text: string, caret: number): { start: number; query: string } | null {
  const found = /(^|\s)@([^\s@]*)$/.exec(text.slice(0, caret));
  return found ? { start: caret - found[2]!.length - 1, query: found[2]! } : null;
}

const MOST_SHOWN = 12;
const SEARCH_AFTER_MS = 40;

export function useMentions(text: string, caret: number): Mentions {
  const mention = mentionAt(text, caret);
  const query = mention?.query ?? null;
  const [answer, setAnswer] = useState<{ query: string; found: readonly FoundPath[] } | null>(null);
  const [at, setAt] = useState(0);
  const [closedAt, setClosedAt] = useState<string | null>(null);

  useEffect(() => {
    if (query === null) return;
    let wanted = true;
    const timer = setTimeout(() => {
      runtime()
        .request("files/find", { query, max: MOST_SHOWN })
        .then(({ found }) => {
          if (!wanted) return;
          setAnswer({ query, found });
          setAt(0);
        })
        .catch(() => {
          if (wanted) setAnswer({ query, found: [] });
        });
    }, SEARCH_AFTER_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [query]);

  const place = mention ? `${mention.start}` : null;
  // An answer to other letters is drawn until the right one comes, so that the list does not blink; nothing can be
  // picked from it.
  const current = answer?.query === query;
  const found = answer?.found ?? [];
  const complete = current && found.some((entry) => entry.path === query);
  const open = mention !== null && closedAt !== place && !complete && (!current || found.length > 0);

  return {
    open,
    query: query ?? "",
    found,
    searching: !current,
    at,
    setAt,
    key(event, pick) {
      if (event.key === "Escape") {
        setClosedAt(place);
      } else if (event.key === "ArrowDown") {
        setAt((at + 1) % Math.max(1, found.length));
      } else if (event.key === "ArrowUp") {
        setAt((at + found.length - 1) % Math.max(1, found.length));
      } else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && current && found[at]) {
        pick(found[at].path);
      } else {
        return false;
      }
      event.preventDefault();
      return true;
    },
  };
}

export function MentionList({ mentions, onPick }: { mentions: Mentions; onPick(path: string): void }) {
  return (
    <div className={styles.list}>
      <div className={styles.heading}>Files</div>
      <div id="mention-list" role="listbox" aria-label="Files">
        {mentions.found.map((entry, index) => (
          <div
            key={entry.path}
            id={`mention-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === mentions.at}
            className={styles.entry}
            onPointerMove={() => mentions.setAt(index)}
            onPointerDown={(event) => {
              // The text box keeps the focus and its caret.
              event.preventDefault();
              onPick(entry.path);
            }}
          >
            <span className={styles.name}>{fileName(entry.path)}</span>
            <span className={styles.folder}>{entry.path.slice(0, -fileName(entry.path).length)}</span>
          </div>
        ))}
      </div>
      {mentions.found.length === 0 && <div className={styles.quiet}>Searching…</div>}
    </div>
  );
}
