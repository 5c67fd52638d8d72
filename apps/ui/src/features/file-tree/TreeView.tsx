/** The tree's window: only the rows on screen exist. One tab stop; the active row is told by `aria-activedescendant`. */
import { type KeyboardEvent, type MouseEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { chordLabel, command, isMac, run } from "../../shared/commands";
import { useStore } from "../../shared/store";
import { ContextMenu, type MenuEntry } from "../../shared/ui";
import { workspaceStore } from "../workspace";
import { filter, open, select, toggle, togglePinned } from "./commands";
import { beginDrag } from "./drag";
import { load, MOST_ENTRIES } from "./loading";
import { fileTreeStore, gitMarks, shownTree, tree, treeFor } from "./store";
import type { Tree } from "./tree";
import { TreeRow, type RowView } from "./TreeRow";
import styles from "./TreeView.module.css";

export const ROW = 24;
/** Rows drawn beyond what is seen, so that a quick scroll shows no gap. */
const BEYOND = 8;

/** What the rows show, as plain values; `version` says that the tree behind them is a new one. */
function rowViews(_version: number, shown: Tree, first: number, last: number): RowView[] {
  const views: RowView[] = [];
  for (let index = first; index < last; index += 1) {
    const row = shown.row(index);
    if (!row) break;
    if (row.what !== "node") {
      const path = shown.path(row.folder);
      views.push({ what: row.what, key: `${row.what} ${path}`, index, level: row.level, path, omitted: shown.omittedOf(row.folder), total: shown.omittedOf(row.folder) + shown.childrenOf(row.folder).length });
      continue;
    }
    const tail = shown.tail(row.id);
    const siblings = shown.childrenOf(shown.parent(row.id));
    views.push({
      what: "node",
      key: shown.path(row.id),
      index,
      level: row.level,
      path: shown.path(tail),
      label: shown.label(row.id),
      kind: shown.kind(tail),
      expanded: shown.isFolder(tail) ? shown.isExpanded(tail) : null,
      ignored: shown.isIgnored(row.id),
      position: siblings.indexOf(row.id) + 1,
      of: siblings.length,
    });
  }
  return views;
}

export function TreeView() {
  const version = useStore(fileTreeStore, (state) => state.version);
  const query = useStore(fileTreeStore, (state) => state.query);
  const found = useStore(fileTreeStore, (state) => state.found);
  const active = useStore(fileTreeStore, (state) => state.active);
  const selected = useStore(fileTreeStore, (state) => state.selected);
  const cut = useStore(fileTreeStore, (state) => state.cut);
  const pinned = useStore(fileTreeStore, (state) => state.pinned);
  const naming = useStore(fileTreeStore, (state) => state.naming);
  const dropInto = useStore(fileTreeStore, (state) => state.dropInto);
  const git = useStore(workspaceStore, (state) => state.git);
  const [place, setPlace] = useState({ top: 0, height: 600 });
  const scroller = useRef<HTMLDivElement>(null);

  const shown = treeFor(version, query, found);
  const count = rowCount(version, shown);
  const first = Math.max(0, Math.floor(place.top / ROW) - BEYOND);
  const last = Math.min(count, Math.ceil((place.top + place.height) / ROW) + BEYOND);
  const rows = rowViews(version, shown, first, last);
  const marks = gitMarks(git);
  const filtering = query !== "" && found !== null;

  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () => setPlace({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);

  // Sections above come and go; the rows stay where the eye and the pointer are.
  const top = useRef<number | null>(null);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const now = element.offsetTop;
    if (top.current !== null && top.current !== now) element.scrollTop += now - top.current;
    top.current = now;
  });

  // Leaving the filter goes back to where the tree was.
  const before = useRef(0);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    if (filtering) {
      before.current = element.scrollTop;
      element.scrollTop = 0;
    } else {
      element.scrollTop = before.current;
    }
  }, [filtering]);

  useLayoutEffect(() => {
    const element = scroller.current;
    const at = active === null ? -1 : rowAt(active);
    if (!element || at < 0) return;
    if (at * ROW < element.scrollTop) element.scrollTop = at * ROW;
    else if ((at + 1) * ROW > element.scrollTop + element.clientHeight) element.scrollTop = (at + 1) * ROW - element.clientHeight;
  }, [active, naming]);

  const activeRow = rows.find((row) => row.what === "node" && row.path === active);
  return (
    <ContextMenu
      entries={menuEntries(active, pinned, cut.length > 0)}
      trigger={
        <div
          ref={scroller}
          id="file-tree"
          className={styles.scroller}
          role="tree"
          aria-label="Files"
          aria-multiselectable="true"
          aria-activedescendant={activeRow ? `file-${activeRow.index}` : undefined}
          tabIndex={0}
          data-keys="tree"
          onKeyDown={key}
          onFocus={() => {
            if (fileTreeStore.getState().active === null) move(0);
          }}
          onContextMenu={aimMenu}
        >
          <div className={styles.height} style={{ height: count * ROW }} role="presentation">
            <div className={styles.rows} style={{ transform: `translateY(${first * ROW}px)` }} role="presentation">
              {rows.map((row) => (
                <TreeRow
                  key={row.key}
                  row={row}
                  active={row.path === active && row.what === "node"}
                  selected={row.what === "node" && selected.includes(row.path)}
                  cut={cut.includes(row.path)}
                  naming={row.what === "node" && naming?.what === "rename" && naming.path === row.path}
                  target={dropInto === row.path && row.what === "node"}
                  letter={marks.files.get(row.path) ?? null}
                  inside={row.what === "node" && row.expanded !== null ? (marks.folders.get(row.path) ?? null) : null}
                  onPress={press}
                  onMore={(path) => void load(path, MOST_ENTRIES)}
                />
              ))}
            </div>
          </div>
          {filtering && count === 0 && (
            <p className={styles.empty}>
              Nothing matches “{query}”.{" "}
              <button type="button" className={styles.link} onClick={() => void filter("")}>
                Clear
              </button>
            </p>
          )}
          {!filtering && count === 0 && (
            <p className={styles.empty}>
              This folder is empty.{" "}
              <button type="button" className={styles.link} onClick={() => run("files.newFile")}>
                New file
              </button>
            </p>
          )}
        </div>
      }
    />
  );
}

function rowCount(_version: number, shown: Tree): number {
  return shown.rowCount;
}

function rowAt(path: string): number {
  const shown = shownTree();
  const id = shown.find(path);
  return id === null ? -1 : shown.rowOf(id);
}

/** The path that a row stands for; `null` for rows that are no entry. */
function pathAt(index: number): string | null {
  const shown = shownTree();
  const row = shown.row(index);
  return row?.what === "node" ? shown.path(shown.tail(row.id)) : null;
}

function move(index: number, extend: boolean = false): void {
  const count = shownTree().rowCount;
  const forward = index >= rowAt(fileTreeStore.getState().active ?? "");
  for (let at = Math.min(count - 1, Math.max(0, index)); at >= 0 && at < count; at += forward ? 1 : -1) {
    const path = pathAt(at);
    if (path !== null) {
      select(path, extend ? "range" : "one");
      return;
    }
  }
}

let typed = "";
let typedAt = 0;
/** A pause this long begins a new word of type-ahead. */
const WORD_MS = 700;

function typeAhead(letter: string): void {
  const now = performance.now();
  typed = now - typedAt > WORD_MS ? letter : typed + letter;
  typedAt = now;
  const shown = shownTree();
  const count = shown.rowCount;
  const from = Math.max(0, rowAt(fileTreeStore.getState().active ?? "")) + (typed.length === 1 ? 1 : 0);
  for (let step = 0; step < count; step += 1) {
    const row = shown.row((from + step) % count);
    if (row?.what === "node" && shown.label(row.id).toLowerCase().startsWith(typed.toLowerCase())) {
      move((from + step) % count);
      return;
    }
  }
}

function key(event: KeyboardEvent<HTMLElement>): void {
  const { active } = fileTreeStore.getState();
  const shown = shownTree();
  const at = active === null ? -1 : rowAt(active);
  const id = active === null ? null : shown.find(active);
  const folder = id !== null && shown.isFolder(id);
  const page = Math.max(1, Math.floor(event.currentTarget.clientHeight / ROW) - 1);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  switch (event.key) {
    case "ArrowDown":
      move(at + 1, event.shiftKey);
      break;
    case "ArrowUp":
      move(at - 1, event.shiftKey);
      break;
    case "PageDown":
      move(at + page, event.shiftKey);
      break;
    case "PageUp":
      move(at - page, event.shiftKey);
      break;
    case "Home":
      move(0, event.shiftKey);
      break;
    case "End":
      move(shown.rowCount - 1, event.shiftKey);
      break;
    case "ArrowRight":
      if (!folder || active === null) return;
      if (shown.isExpanded(id)) move(at + 1);
      else toggle(active);
      break;
    case "ArrowLeft":
      if (id === null || active === null) return;
      if (folder && shown.isExpanded(id)) toggle(active);
      else move(shown.rowOf(shown.parent(shown.head(id))));
      break;
    case "Enter":
      if (active === null) return;
      if (folder) toggle(active);
      else open(active, "keep");
      break;
    case " ":
      if (active === null) return;
      if (folder) toggle(active);
      else open(active, "preview");
      break;
    case "Escape":
      if (fileTreeStore.getState().query !== "") void filter("");
      else fileTreeStore.setState({ cut: [], selected: active === null ? [] : [active] });
      break;
    case "F10":
      if (!event.shiftKey) return;
      openMenu(event.currentTarget);
      break;
    case "ContextMenu":
      openMenu(event.currentTarget);
      break;
    default:
      if (event.key.length !== 1) return;
      typeAhead(event.key);
  }
  event.preventDefault();
}

/** The menu of the keyboard opens at the active row. */
function openMenu(scroller: HTMLElement): void {
  const row = scroller.querySelector("[data-active]") ?? scroller;
  const { left, bottom } = row.getBoundingClientRect();
  row.dispatchEvent(new window.MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX: left + 24, clientY: bottom }));
}

function aimMenu(event: MouseEvent): void {
  const path = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-path]")?.dataset["path"] : undefined;
  if (path && !fileTreeStore.getState().selected.includes(path)) select(path);
  else if (path) fileTreeStore.setState({ active: path });
}

/** The second press of a double click means the row of the first, whatever has come under the pointer since. */
const DOUBLE_MS = 400;
let pressed = { path: "", at: 0, x: 0, y: 0 };

function press(event: React.PointerEvent, row: RowView): void {
  if (event.button !== 0 || row.what !== "node") return;
  const { timeStamp: at, clientX: x, clientY: y } = event;
  const second = at - pressed.at < DOUBLE_MS && Math.hypot(x - pressed.x, y - pressed.y) < 4;
  const first = pressed.path;
  pressed = { path: row.expanded === null ? row.path : "", at, x, y };
  if (second && first !== "") {
    pressed.at = 0;
    open(first, "keep");
    return;
  }
  if (event.shiftKey) select(row.path, "range");
  else if (event.ctrlKey || event.metaKey) select(row.path, "toggle");
  else {
    // A press on one of several chosen rows may begin a drag of them all; a plain click narrows to one at its end.
    const several = fileTreeStore.getState().selected.includes(row.path);
    if (!several) select(row.path);
    beginDrag(event, row.path, () => {
      select(row.path);
      if (row.expanded !== null) toggle(row.path);
      else open(row.path, "preview");
    });
  }
}

function menuEntries(active: string | null, pinned: readonly string[], pastes: boolean): MenuEntry[] {
  const id = active === null ? null : tree().find(active);
  const folder = id !== null && tree().isFolder(id);
  const entry = (label: string, id_: string, more: Partial<MenuEntry> = {}): MenuEntry => {
    const keys = command(id_)?.keys?.[0];
    return { label, keys: keys ? chordLabel(keys, isMac) : null, onSelect: () => run(id_, active ?? undefined), ...more };
  };
  if (active === null) return [entry("New file…", "files.newFile"), entry("New folder…", "files.newFolder")];
  return [
    ...(folder ? [] : [entry("Open beside", "files.openBeside")]),
    entry("Add to chat", "files.addToChat"),
    ...(folder ? [] : [{ label: pinned.includes(active) ? "Unpin" : "Pin", onSelect: () => togglePinned(active) }]),
    entry("New file…", "files.newFile", { separated: true }),
    entry("New folder…", "files.newFolder"),
    entry("Rename…", "files.rename", { separated: true }),
    entry("Cut", "files.cut"),
    entry("Paste", "files.paste", { disabled: !pastes }),
    entry("Copy path", "files.copyPath"),
    entry("Delete", "files.delete", { danger: true, separated: true }),
  ];
}
