/** The palette: commands, files by a few letters, text in files. One list, one input; the prefix says which. */
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { allCommands, chordLabel, isMac } from "../../shared/commands";
import { fileName } from "../../shared/format";
import { runtime } from "../../shared/runtime";
import { useStore } from "../../shared/store";
import { Dialog } from "../../shared/ui";
import { openFile } from "../code";
import { modeOf, paletteStore, score } from "./store";
import styles from "./View.module.css";

interface Entry {
  key: string;
  label: string;
  note: string;
  keys: string | null;
  /** Why it cannot be run now. */
  unavailable: string | null;
  run(): void;
}

const MOST_SHOWN = 60;

function close(): void {
  paletteStore.setState({ open: false, query: "" });
}

export function Palette() {
  const open = useStore(paletteStore, (state) => state.open);
  const query = useStore(paletteStore, (state) => state.query);
  const input = useRef<HTMLInputElement>(null);
  return (
    <Dialog title="Command palette" titleShown={false} open={open} onClose={close} width={600} position="top" initialFocus={input}>
      <PaletteBody query={query} input={input} />
    </Dialog>
  );
}

function PaletteBody({ query, input }: { query: string; input: React.RefObject<HTMLInputElement | null> }) {
  const { mode, words } = modeOf(query);
  const [at, setAt] = useState(0);
  const asked = useAsked(mode === "commands" ? null : mode, words);
  const entries = mode === "commands" ? commandEntries(words) : asked.entries;
  const current = Math.min(at, Math.max(0, entries.length - 1));
  const list = useRef<HTMLDivElement>(null);
  /** The words for which Enter was pressed before their answer was there. */
  const wanted = useRef<string | null>(null);

  useEffect(() => {
    list.current?.querySelector(`[data-at="${current}"]`)?.scrollIntoView({ block: "nearest" });
  }, [current]);

  const choose = (entry: Entry | undefined) => {
    if (!entry || entry.unavailable) return;
    close();
    // The dialog gives the focus back first; the command may want it elsewhere.
    requestAnimationFrame(() => entry.run());
  };
  // What stands in the list belongs to other letters until the answer to these comes.
  useEffect(() => {
    if (wanted.current !== query || asked.searching) return;
    wanted.current = null;
    choose(entries[0]);
  });
  const key = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "ArrowDown") setAt(Math.min(entries.length - 1, current + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, current - 1));
    else if (event.key === "Enter" && asked.searching) wanted.current = query;
    else if (event.key === "Enter") choose(entries[current]);
    else return;
    event.preventDefault();
  };

  return (
    <>
      <input
        ref={input}
        className={styles.input}
        value={query}
        placeholder="Go to file. > for commands, # for text in files"
        aria-label="Search"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={entries[current] ? `palette-${current}` : undefined}
        onChange={(event) => {
          setAt(0);
          paletteStore.setState({ query: event.target.value });
        }}
        onKeyDown={key}
      />
      <div ref={list} id="palette-list" className={styles.list} role="listbox" aria-label="Results">
        {entries.map((entry, index) => (
          <div
            key={entry.key}
            id={`palette-${index}`}
            data-at={index}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            aria-disabled={entry.unavailable !== null}
            className={styles.entry}
            onClick={() => choose(entry)}
            onKeyDown={key}
          >
            <span className={styles.label}>{entry.label}</span>
            <span className={styles.note}>{entry.unavailable ?? entry.note}</span>
            {entry.keys && <kbd className={styles.keys}>{entry.keys}</kbd>}
          </div>
        ))}
      </div>
      {entries.length === 0 && (
        <p className={styles.none}>{asked.searching ? "Searching…" : words ? `Nothing matches “${words}”.` : HINTS[mode]}</p>
      )}
      {asked.note && <p className={styles.none}>{asked.note}</p>}
    </>
  );
}

const HINTS = { commands: "No commands.", files: "Type a few letters of a file's name.", text: "Type the text to look for." };

function commandEntries(words: string): Entry[] {
  const found = allCommands()
    .filter((command) => !command.internal)
    .map((command) => ({ command, score: score(`${command.group} ${command.title}`, words) }))
    .filter((entry): entry is typeof entry & { score: number } => entry.score !== null);
  if (words !== "") found.sort((one, other) => other.score - one.score);
  return found.map(({ command }) => ({
    key: command.id,
    label: command.title,
    note: command.group,
    keys: command.keys?.[0] ? chordLabel(command.keys[0], isMac) : null,
    unavailable: command.unavailable?.() ?? null,
    run: () => void command.run(),
  }));
}

const SEARCH_AFTER_MS = { files: 30, text: 180 };

/** Files and text come from the engine, which ranks them. */
function useAsked(mode: "files" | "text" | null, words: string): { entries: Entry[]; searching: boolean; note: string | null } {
  const [answer, setAnswer] = useState<{ mode: string; words: string; entries: Entry[]; note: string | null } | null>(null);
  useEffect(() => {
    if (!mode || (mode === "text" && words.length < 2)) return;
    let wanted = true;
    const timer = setTimeout(() => {
      const asking = mode === "files" ? findFiles(words) : findText(words);
      asking
        .then((found) => {
          if (wanted) setAnswer({ mode, words, ...found });
        })
        .catch((thrown: unknown) => {
          const note = thrown instanceof Error ? thrown.message : String(thrown);
          if (wanted) setAnswer({ mode, words, entries: [], note });
        });
    }, SEARCH_AFTER_MS[mode]);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [mode, words]);
  const current = answer && answer.mode === mode ? answer : null;
  const due = mode !== null && !(mode === "text" && words.length < 2);
  return { entries: current?.entries ?? [], searching: due && current?.words !== words, note: current?.note ?? null };
}

async function findFiles(words: string): Promise<{ entries: Entry[]; note: string | null }> {
  // "app.ts:12" goes to a line of the file.
  const place = /^(.*?):(\d+)?$/.exec(words);
  const query = place ? place[1]! : words;
  const line = place?.[2] ? Number(place[2]) : null;
  const { found } = await runtime().request("files/find", { query, max: MOST_SHOWN });
  const entries = found.map(({ path }) => ({
    key: path,
    label: fileName(path),
    note: path.slice(0, Math.max(0, path.length - fileName(path).length - 1)),
    keys: null,
    unavailable: null,
    run: () => openFile(path, line),
  }));
  return { entries, note: null };
}

async function findText(words: string): Promise<{ entries: Entry[]; note: string | null }> {
  const { hits, notes } = await runtime().request("files/search", {
    pattern: words,
    literal: true,
    ignoreCase: words === words.toLowerCase(),
    globs: [],
  });
  const entries = hits.slice(0, MOST_SHOWN).map((hit) => ({
    key: `${hit.path}:${hit.line}:${hit.column}`,
    label: hit.text.trim().slice(0, 120),
    note: `${hit.path}:${hit.line}`,
    keys: null,
    unavailable: null,
    run: () => openFile(hit.path, hit.line),
  }));
  return { entries, note: notes.join(" ") || null };
}
