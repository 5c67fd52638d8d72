/** One row of the tree. Draws what it is given. */
import { ChevronRight, Folder, FolderOpen, Link2 } from "lucide-react";
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react";
import type { GitLetter } from "../../protocol";
import { fileName } from "../../shared/format";
import { useStore } from "../../shared/store";
import { FileIcon } from "../../shared/ui";
import { checkName, endNaming, finishNaming } from "./commands";
import { fileTreeStore } from "./store";
import type { NodeKind } from "./tree";
import styles from "./TreeView.module.css";

interface RowPlace {
  key: string;
  index: number;
  level: number;
  path: string;
}

export type RowView =
  | (RowPlace & {
      what: "node";
      label: string;
      kind: NodeKind;
      /** `null` for what has nothing inside. */
      expanded: boolean | null;
      ignored: boolean;
      position: number;
      of: number;
    })
  | (RowPlace & { what: "loading" | "more" | "draft"; omitted: number; total: number });

interface TreeRowProps {
  row: RowView;
  active: boolean;
  selected: boolean;
  cut: boolean;
  naming: boolean;
  /** A drag would drop here. */
  target: boolean;
  letter: GitLetter | null;
  /** The worst state inside a folder. */
  inside: GitLetter | null;
  onPress(event: PointerEvent, row: RowView): void;
  onMore(path: string): void;
}

const LETTERS: Record<GitLetter, string> = { modified: "M", added: "A", deleted: "D", renamed: "R", untracked: "U", conflicted: "!" };
const WORDS: Record<GitLetter, string> = {
  modified: "Modified",
  added: "Added",
  deleted: "Deleted",
  renamed: "Renamed",
  untracked: "Not in git yet",
  conflicted: "Conflict",
};

export function TreeRow(props: TreeRowProps) {
  const { row, active, selected, letter, inside } = props;
  const indent = { paddingLeft: 4 + (row.level - 1) * 12 };
  if (row.what !== "node") return <PseudoRow row={row} indent={indent} onMore={props.onMore} />;
  const folder = row.expanded !== null;
  return (
    <div
      id={`file-${row.index}`}
      className={styles.row}
      style={indent}
      role="treeitem"
      aria-level={row.level}
      aria-setsize={row.of}
      aria-posinset={row.position}
      aria-selected={selected}
      aria-expanded={row.expanded ?? undefined}
      data-path={row.path}
      data-folder={folder || undefined}
      data-active={active || undefined}
      data-ignored={row.ignored || undefined}
      data-cut={props.cut || undefined}
      data-target={props.target || undefined}
      title={row.path}
      onPointerDown={(event) => props.onPress(event, row)}
    >
      <Guides level={row.level} />
      <span className={styles.twist}>
        {folder && <ChevronRight size={14} className={styles.chevron} data-open={row.expanded || undefined} aria-hidden="true" />}
      </span>
      <span className={styles.icon}>
        <KindIcon kind={row.kind} path={row.path} expanded={row.expanded === true} />
      </span>
      {props.naming ? (
        <NameInput initial={fileName(row.path)} label={`New name of ${row.path}`} />
      ) : (
        <span className={styles.label} data-letter={letter ?? undefined}>
          {row.label}
        </span>
      )}
      {letter && !folder && (
        <span className={styles.letter} data-letter={letter} title={WORDS[letter]}>
          <span aria-hidden="true">{LETTERS[letter]}</span>
          <span className="vc-hidden">{WORDS[letter]}</span>
        </span>
      )}
      {(inside || (letter && folder)) && (
        <span className={styles.dot} data-letter={inside ?? letter} title={`Inside: ${WORDS[(inside ?? letter)!]}`}>
          <span className="vc-hidden">{`Inside: ${WORDS[(inside ?? letter)!]}`}</span>
        </span>
      )}
    </div>
  );
}

interface PseudoRowProps {
  row: Exclude<RowView, { what: "node" }>;
  indent: { paddingLeft: number };
  onMore(path: string): void;
}

function PseudoRow({ row, indent, onMore }: PseudoRowProps) {
  if (row.what === "loading") return <LoadingRow indent={indent} />;
  if (row.what === "draft") return <DraftRow indent={indent} />;
  return (
    <div className={styles.row} style={indent} role="treeitem" aria-level={row.level} aria-selected={false}>
      <button type="button" className={styles.link} onClick={() => onMore(row.path)}>
        Show all {row.total.toLocaleString("en-US")}
      </button>
    </div>
  );
}

function Guides({ level }: { level: number }) {
  return Array.from({ length: level - 1 }, (_, index) => (
    <span key={index} className={styles.guide} style={{ left: 11 + index * 12 }} aria-hidden="true" />
  ));
}

function KindIcon({ kind, path, expanded }: { kind: NodeKind; path: string; expanded: boolean }) {
  if (kind === "folder") return expanded ? <FolderOpen size={14} aria-hidden="true" /> : <Folder size={14} aria-hidden="true" />;
  if (kind === "link") return <Link2 size={14} aria-hidden="true" />;
  return <FileIcon path={path} />;
}

/** A folder that is there at once shows no word about it. */
const SAID_AFTER_MS = 150;

function LoadingRow({ indent }: { indent: { paddingLeft: number } }) {
  const [said, setSaid] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSaid(true), SAID_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className={styles.row} style={indent} role="presentation">
      {said && <span className={styles.quiet}>Loading…</span>}
    </div>
  );
}

function DraftRow({ indent }: { indent: { paddingLeft: number } }) {
  const naming = useStore(fileTreeStore, (state) => state.naming);
  const folder = naming?.what === "createFolder";
  return (
    <div className={styles.row} style={indent} role="presentation">
      <span className={styles.twist} />
      <span className={styles.icon}>{folder ? <Folder size={14} aria-hidden="true" /> : <FileIcon path="" />}</span>
      <NameInput initial="" label={folder ? "Name of the new folder" : "Name of the new file"} />
    </div>
  );
}

function NameInput({ initial, label }: { initial: string; label: string }) {
  const problem = useStore(fileTreeStore, (state) => state.namingProblem);
  const [name, setName] = useState(initial);
  const input = useRef<HTMLInputElement>(null);
  /** Enter and Escape end it themselves; the blur that follows is not another answer. */
  const ended = useRef(false);

  useEffect(() => {
    const element = input.current;
    if (!element) return;
    element.focus();
    const dot = initial.lastIndexOf(".");
    element.setSelectionRange(0, dot > 0 ? dot : initial.length);
  }, [initial]);

  const finish = () => {
    if (ended.current || checkName(name) !== null) return false;
    ended.current = true;
    void finishNaming(name);
    return true;
  };
  const key = (event: KeyboardEvent) => {
    // The tree's own keys do not reach into a text field.
    event.stopPropagation();
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") finish();
    else if (event.key === "Escape") {
      ended.current = true;
      endNaming();
    } else return;
    event.preventDefault();
  };
  return (
    <span className={styles.naming}>
      <input
        ref={input}
        className={styles.nameInput}
        value={name}
        aria-label={label}
        aria-invalid={problem !== null}
        aria-describedby={problem ? "name-problem" : undefined}
        spellCheck={false}
        onChange={(event) => {
          setName(event.target.value);
          checkName(event.target.value);
        }}
        onKeyDown={key}
        onPointerDown={(event) => event.stopPropagation()}
        onBlur={() => {
          if (!ended.current && !finish()) endNaming();
        }}
      />
      {problem && (
        <span id="name-problem" className={styles.problem} role="alert">
          {problem}
        </span>
      )}
    </span>
  );
}
