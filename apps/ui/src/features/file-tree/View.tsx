/** The files column: filter and buttons, the sections above, the tree. */
import { ChevronRight, ChevronsDownUp, FilePlus, FolderPlus, LocateFixed, RefreshCw, X } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useRef } from "react";
import { run } from "../../shared/commands";
import { fileName } from "../../shared/format";
import { useStore } from "../../shared/store";
import { FileIcon, IconButton } from "../../shared/ui";
import { changesStore, waitingFiles } from "../changes";
import { activeFile, editorStore, isDirty, openReview, openTabs } from "../code";
import { workspaceStore } from "../workspace";
import { filter, open, togglePinned } from "./commands";
import { remember } from "./loading";
import { fileTreeStore, parentPath } from "./store";
import { TreeView } from "./TreeView";
import styles from "./View.module.css";

export function FilesColumn() {
  const name = useStore(workspaceStore, (state) => state.name);
  return (
    <div className={styles.column}>
      <div className={styles.head}>
        <h2 className={styles.name}>{name || "Files"}</h2>
        <IconButton label="New file" commandId="files.newFile" onClick={() => run("files.newFile")}>
          <FilePlus size={14} />
        </IconButton>
        <IconButton label="New folder" onClick={() => run("files.newFolder")}>
          <FolderPlus size={14} />
        </IconButton>
        <IconButton label="Reveal the open file" onClick={() => run("files.revealActive")}>
          <LocateFixed size={14} />
        </IconButton>
        <IconButton label="Refresh" onClick={() => run("files.refresh")}>
          <RefreshCw size={14} />
        </IconButton>
        <IconButton label="Collapse all" onClick={() => run("files.collapseAll")}>
          <ChevronsDownUp size={14} />
        </IconButton>
      </div>
      <FilterBox />
      <ToReview />
      <OpenEditors />
      <PathSection name="Pinned" pick={(state) => state.pinned} onRemove={togglePinned} />
      <PathSection name="Recent" pick={(state) => state.recent} onRemove={null} />
      <TreeView />
    </div>
  );
}

function FilterBox() {
  const query = useStore(fileTreeStore, (state) => state.query);
  const input = useRef<HTMLInputElement>(null);
  const key = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const { found } = fileTreeStore.getState();
    if (event.key === "Escape" && query !== "") void filter("");
    else if (event.key === "Enter" && found?.[0]) open(found[0].path, "keep");
    else if (event.key === "ArrowDown") document.getElementById("file-tree")?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className={styles.filter}>
      <input
        ref={input}
        id="file-filter"
        className={styles.filterInput}
        value={query}
        placeholder="Filter files"
        aria-label="Filter files"
        spellCheck={false}
        onChange={(event) => void filter(event.target.value)}
        onKeyDown={key}
      />
      {query !== "" && (
        <button type="button" className={styles.clear} aria-label="Clear the filter" onClick={() => void filter("")}>
          <X size={14} />
        </button>
      )}
    </div>
  );
}

function Section({ name, children }: { name: string; children: ReactNode }) {
  const folded = useStore(fileTreeStore, (state) => state.folded.includes(name));
  const toggle = () => {
    fileTreeStore.setState((state) => ({
      folded: folded ? state.folded.filter((other) => other !== name) : [...state.folded, name],
    }));
    remember();
  };
  return (
    <section className={styles.section} aria-label={name}>
      <button type="button" className={styles.sectionHead} aria-expanded={!folded} onClick={toggle}>
        <ChevronRight size={12} className={styles.chevron} data-open={!folded || undefined} aria-hidden="true" />
        {name}
      </button>
      {!folded && <div className={styles.sectionRows}>{children}</div>}
    </section>
  );
}

function OpenEditors() {
  const groups = useStore(editorStore, (state) => state.groups);
  const buffers = useStore(editorStore, (state) => state.buffers);
  const active = useStore(editorStore, activeFile);
  const tabs = openTabs(groups);
  if (tabs.length === 0) return null;
  return (
    <Section name="Open editors">
      {tabs.map((tab) => (
        <PathRow
          key={tab.path}
          path={tab.path}
          current={tab.path === active}
          dirty={isDirty(buffers[tab.path])}
          onRemove={() => run("code.close", tab.path)}
          removeWords="Close"
        />
      ))}
    </Section>
  );
}

/** Files that want a decision; each leads to its difference. */
function ToReview() {
  const sets = useStore(changesStore, (state) => state.sets);
  const waiting = waitingFiles(sets);
  if (waiting.length === 0) return null;
  return (
    <Section name="To review">
      {waiting.map(({ set, file }) => (
        <div key={`${set.id} ${file.path}`} className={styles.pathRow}>
          <button type="button" className={styles.pathOpen} title={file.path} onClick={() => openReview(set.id, file.path)}>
            <span className={styles.icon}>
              <FileIcon path={file.path} />
            </span>
            <span className={styles.label}>{fileName(file.path)}</span>
            {parentPath(file.path) !== "." && <span className={styles.folder}>{parentPath(file.path)}</span>}
            <span className={styles.counts}>
              {file.status === "conflicted"
                ? "Conflict"
                : [file.added > 0 && `+${file.added}`, file.deleted > 0 && `−${file.deleted}`].filter(Boolean).join(" ")}
            </span>
          </button>
        </div>
      ))}
    </Section>
  );
}

interface PathSectionProps {
  name: "Pinned" | "Recent";
  pick(state: { pinned: readonly string[]; recent: readonly string[] }): readonly string[];
  onRemove: ((path: string) => void) | null;
}

/** What is open already is not repeated under Recent. */
function PathSection({ name, pick, onRemove }: PathSectionProps) {
  const paths = useStore(fileTreeStore, pick);
  const groups = useStore(editorStore, (state) => state.groups);
  const openPaths = new Set(openTabs(groups).map((tab) => tab.path));
  const shown = name === "Recent" ? paths.filter((path) => !openPaths.has(path)).slice(0, 5) : paths;
  if (shown.length === 0) return null;
  return (
    <Section name={name}>
      {shown.map((path) => (
        <PathRow key={path} path={path} current={false} dirty={false} onRemove={onRemove} removeWords="Unpin" />
      ))}
    </Section>
  );
}

interface PathRowProps {
  path: string;
  current: boolean;
  dirty: boolean;
  onRemove: ((path: string) => void) | null;
  removeWords: string;
}

function PathRow({ path, current, dirty, onRemove, removeWords }: PathRowProps) {
  const folder = parentPath(path);
  return (
    <div className={styles.pathRow} data-current={current || undefined}>
      <button type="button" className={styles.pathOpen} title={path} aria-current={current || undefined} onClick={() => open(path, "keep")}>
        <span className={styles.icon}>
          <FileIcon path={path} />
        </span>
        <span className={styles.label}>{fileName(path)}</span>
        {folder !== "." && <span className={styles.folder}>{folder}</span>}
        {dirty && <span className={styles.dirty} aria-label="Not saved" />}
      </button>
      {onRemove && (
        <button type="button" className={styles.remove} aria-label={`${removeWords} ${path}`} onClick={() => onRemove(path)}>
          <X size={12} />
        </button>
      )}
    </div>
  );
}
