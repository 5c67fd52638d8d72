/** The session switcher: groups in the order in which they ask for attention, and a search over what was said. */
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { ago } from "../../shared/format";
import { useStore } from "../../shared/store";
import { useNow } from "../../shared/ui";
import { openSession, search } from "./commands";
import { groupSessions, sessionsStore, stateWords } from "./store";
import styles from "./Switcher.module.css";

interface Entry {
  key: string;
  id: string;
  title: string;
  note: string;
  tone: string;
}

export function Switcher() {
  const sessions = useStore(sessionsStore, (state) => state.sessions);
  const selected = useStore(sessionsStore, (state) => state.selected);
  const query = useStore(sessionsStore, (state) => state.query);
  const hits = useStore(sessionsStore, (state) => state.hits);
  const now = useNow();
  const panel = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const close = () => sessionsStore.setState({ switcherOpen: false, query: "", hits: [] });

  useEffect(() => {
    const outside = (event: PointerEvent) => {
      if (event.target instanceof Node && !panel.current?.contains(event.target)) close();
    };
    // The press that opened it is over by the next frame.
    const frame = requestAnimationFrame(() => window.addEventListener("pointerdown", outside));
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener("pointerdown", outside);
    };
  }, []);

  const words = query.trim().toLowerCase();
  const matching = words === "" ? sessions : sessions.filter((session) => session.title.toLowerCase().includes(words));
  const groups: [string, Entry[]][] = groupSessions(matching, now).map(([name, members]) => [
    name,
    members.map((session) => {
      const state = stateWords(session.state);
      const what = session.interrupted ? "Interrupted" : state.words;
      return {
        key: session.id,
        id: session.id,
        title: session.title,
        note: `${what} · ${ago(session.updatedAt, now)}`,
        tone: session.interrupted ? "warn" : state.tone,
      };
    }),
  ]);
  if (hits.length > 0) {
    const found = hits.map((hit) => ({
      key: `${hit.sessionId}-${hit.seq}`,
      id: hit.sessionId,
      title: hit.title,
      note: hit.snippet.replace(/[[\]]/g, ""),
      tone: "muted",
    }));
    groups.push(["In the conversation", found]);
  }
  const flat = groups.flatMap(([, entries]) => entries);
  const current = Math.min(at, Math.max(0, flat.length - 1));

  const key = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown") setAt(Math.min(flat.length - 1, current + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, current - 1));
    else if (event.key === "Enter" && flat[current]) void openSession(flat[current].id);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div ref={panel} className={styles.panel} role="dialog" aria-label="Sessions" onKeyDown={key}>
      <input
        className={styles.search}
        placeholder="Search sessions"
        aria-label="Search sessions"
        role="combobox"
        aria-expanded="true"
        aria-controls="session-list"
        aria-activedescendant={flat[current] ? `session-${flat[current].key}` : undefined}
        value={query}
        autoFocus
        onChange={(event) => {
          setAt(0);
          void search(event.target.value);
        }}
      />
      <div id="session-list" className={styles.list} role="listbox" aria-label="Sessions">
        {groups.map(([name, entries]) => (
          <div key={name} role="group" aria-label={name}>
            <div className={styles.group}>{name}</div>
            {entries.map((entry) => (
              <button
                key={entry.key}
                id={`session-${entry.key}`}
                type="button"
                role="option"
                tabIndex={-1}
                aria-selected={flat[current] === entry}
                data-shown={entry.id === selected || undefined}
                className={styles.entry}
                onClick={() => void openSession(entry.id)}
              >
                <span className={styles.dot} data-tone={entry.tone} aria-hidden="true" />
                <span className={styles.words}>
                  <span className={styles.name}>{entry.title}</span>
                  <span className={styles.note}>{entry.note}</span>
                </span>
              </button>
            ))}
          </div>
        ))}
        {flat.length === 0 && (
          <p className={styles.none}>{words === "" ? "No sessions yet." : `Nothing matches “${query.trim()}”.`}</p>
        )}
      </div>
    </div>
  );
}
