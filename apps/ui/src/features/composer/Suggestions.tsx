/** The list over the composer: `@` finds files, folders and the selection, `/` at the start runs a command. */
import { type KeyboardEvent, useEffect, useState } from "react";
import type { FoundPath } from "../../protocol";
import { fileName } from "../../shared/format";
import { runtime } from "../../shared/runtime";
import { useStore } from "../../shared/store";
import { type EditorState, editorStore, openTabs } from "../code";
import { SLASH_COMMANDS, type SlashCommand } from "./slash";
import styles from "./Suggestions.module.css";

export interface Suggestion {
  key: string;
  section: string;
  name: string;
  note: string;
  /** What stands in the text after it was picked; a command leaves nothing. */
  word: string | null;
  command: SlashCommand | null;
}

export interface Suggestions {
  open: boolean;
  entries: readonly Suggestion[];
  at: number;
  setAt(at: number): void;
  /** Whether the list used the key. */
  key(event: KeyboardEvent, pick: (suggestion: Suggestion) => void): boolean;
}

/** What is being written at the caret: a reference at the start of a word, or a command at the start of the text. */
export function triggerAt(text: string, caret: number): { kind: "@" | "/"; start: number; query: string } | null {
  const before = text.slice(0, caret);
  const command = /^\/([a-z]*)$/.exec(before);
  if (command) return { kind: "/", start: 0, query: command[1]! };
  const found = /(^|\s)@([^\s@]*)$/.exec(before);
  return found ? { kind: "@", start: caret - found[2]!.length - 1, query: found[2]! } : null;
}

const MOST_SHOWN = 12;
const MOST_FOLDERS = 4;
const SEARCH_AFTER_MS = 40;

export function useSuggestions(text: string, caret: number): Suggestions {
  const trigger = triggerAt(text, caret);
  const query = trigger?.kind === "@" ? trigger.query : null;
  const [answer, setAnswer] = useState<{ query: string; found: readonly FoundPath[] } | null>(null);
  const [at, setAt] = useState(0);
  const [closedAt, setClosedAt] = useState<string | null>(null);
  const selection = useStore(editorStore, (state) => state.selection);
  const groups = useStore(editorStore, (state) => state.groups);

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

  const place = trigger ? `${trigger.kind}${trigger.start}` : null;
  // An answer to other letters is drawn until the right one comes, so that the list does not blink; nothing can be
  // picked from it.
  const current = trigger?.kind === "/" || answer?.query === query;
  const entries = !trigger ? [] : trigger.kind === "/" ? commandsFor(trigger.query) : referencesFor(query ?? "", answer?.found ?? [], selection, groups);
  // A file's whole path needs no list any more; a folder's may be the way to what lies in it.
  const complete = current && trigger?.kind === "@" && !trigger.query.endsWith("/") && entries.some((entry) => entry.word === `@${query}`);
  const open = trigger !== null && closedAt !== place && !complete && (!current || entries.length > 0);
  const shown = Math.min(at, Math.max(0, entries.length - 1));

  return {
    open,
    entries,
    at: shown,
    setAt,
    key(event, pick) {
      const entry = entries[shown];
      if (event.key === "Escape") {
        setClosedAt(place);
      } else if (event.key === "ArrowDown") {
        setAt((shown + 1) % Math.max(1, entries.length));
      } else if (event.key === "ArrowUp") {
        setAt((shown + entries.length - 1) % Math.max(1, entries.length));
      } else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && current && entry) {
        pick(entry);
      } else {
        return false;
      }
      event.preventDefault();
      return true;
    },
  };
}

function commandsFor(query: string): Suggestion[] {
  return SLASH_COMMANDS.filter((command) => command.name.startsWith(query)).map((command) => ({
    key: command.name,
    section: "Commands",
    name: `/${command.name}`,
    note: command.note,
    word: null,
    command,
  }));
}

function referencesFor(
  query: string,
  found: readonly FoundPath[],
  selection: EditorState["selection"],
  groups: EditorState["groups"],
): Suggestion[] {
  const reference = (section: string, word: string, name: string, note: string): Suggestion => ({
    key: `${section} ${word}`,
    section,
    name,
    note,
    word: `@${word}`,
    command: null,
  });
  const entries: Suggestion[] = [];
  if (selection && "selection".startsWith(query.toLowerCase())) {
    const lines = selection.from === selection.to ? `${selection.from}` : `${selection.from}-${selection.to}`;
    entries.push(reference("Selection", `${selection.path}:${lines}`, `${fileName(selection.path)}:${lines}`, "Selected in the editor"));
  }
  const files = found.map(({ path }) => path);
  const open = query === "" ? [...new Set(openTabs(groups).map((tab) => tab.path))] : [];
  for (const path of open) entries.push(fileEntry("Open", path));
  for (const path of files) if (!open.includes(path)) entries.push(fileEntry("Files", path));
  for (const folder of foldersOf(files, query)) entries.push(reference("Folders", folder, folder, ""));
  return entries;

  function fileEntry(section: string, path: string): Suggestion {
    const name = fileName(path);
    return reference(section, path, name, path.slice(0, -name.length));
  }
}

/** Folders above what was found whose path has the letters, shortest first; each ends in a slash. */
function foldersOf(files: readonly string[], query: string): string[] {
  const folders = new Set<string>();
  for (const path of files) {
    for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) folders.add(path.slice(0, end + 1));
  }
  const words = query.toLowerCase();
  return [...folders]
    .filter((folder) => folder.toLowerCase().includes(words))
    .sort((one, other) => one.length - other.length)
    .slice(0, MOST_FOLDERS);
}

export function SuggestionList({ suggestions, onPick }: { suggestions: Suggestions; onPick(suggestion: Suggestion): void }) {
  const { entries, at, setAt } = suggestions;
  return (
    <div className={styles.list}>
      <div id="suggestion-list" role="listbox" aria-label="Suggestions">
        {entries.map((entry, index) => (
          <div key={entry.key} role="presentation">
            {entries[index - 1]?.section !== entry.section && (
              <div className={styles.heading} role="presentation">
                {entry.section}
              </div>
            )}
            <div
              id={`suggestion-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              className={styles.entry}
              onPointerMove={() => setAt(index)}
              onPointerDown={(event) => {
                // The text box keeps the focus and its caret.
                event.preventDefault();
                onPick(entry);
              }}
            >
              <span className={styles.name}>{entry.name}</span>
              <span className={styles.folder}>{entry.note}</span>
            </div>
          </div>
        ))}
      </div>
      {entries.length === 0 && <div className={styles.quiet}>Searching…</div>}
    </div>
  );
}
