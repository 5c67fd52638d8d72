/** A proposed change set: its files, their differences, and a decision about all, a file or a hunk. */
import { ChevronRight, MoreHorizontal, Undo2 } from "lucide-react";
import { useState } from "react";
import type { ChangeSet, ChangeSetFile } from "../../protocol";
import { run } from "../../shared/commands";
import { count } from "../../shared/format";
import { useStore } from "../../shared/store";
import { Button, Menu, StateGlyph, type GlyphState } from "../../shared/ui";
import { shellStore } from "../shell";
import { ALL, accept, reject } from "./commands";
import { DiffHunks } from "./DiffHunks";
import { changesStore, isOpen, newestOpen, statusWords } from "./store";
import styles from "./ChangeCard.module.css";

/** Above this many changed lines a row offers the full diff before its compact one. */
const MANY_LINES = 400;

export function ChangeCard({ id, title }: { id: string; title: string }) {
  const set = useStore(changesStore, (state) => state.sets[id]);
  // Buttons stay as they are meanwhile: a second press is ignored, and nothing flickers or loses the focus.
  const deciding = useStore(changesStore, (state) => state.deciding.includes(id));
  // One primary at a time: the newest set that waits, unless its review is open and has its own.
  const newest = useStore(changesStore, (state) => newestOpen(state.sets, null)?.id === id);
  const reviewing = useStore(shellStore, (state) => state.preset === "review");
  if (!set) {
    return (
      <section className={styles.card} aria-label="Changes">
        <div className={styles.head}>
          <StateGlyph state="skipped" />
          <span className={styles.title}>{title}</span>
        </div>
      </section>
    );
  }
  const open = isOpen(set.status);
  const decidable = open && set.status !== "draft";
  const [added, deleted] = lineCounts(set);
  return (
    <section
      className={styles.card}
      data-conflict={set.status === "conflicted" || undefined}
      aria-label="Changes"
      aria-busy={deciding}
    >
      <div className={styles.head}>
        <StateGlyph state={glyphOf(set)} />
        <span className={styles.title}>{set.title || title}</span>
        <span className={styles.facts}>{count(set.files.length, "file")}</span>
        <Counts added={added} deleted={deleted} />
        <span className={styles.status}>{statusWords(set)}</span>
      </div>
      <div className={styles.files}>
        {set.files.map((file) => (
          <FileRow key={file.path} set={set} file={file} decidable={decidable} only={set.files.length === 1} />
        ))}
      </div>
      {decidable && (
        <div className={styles.foot}>
          <Button look={newest && !reviewing ? "primary" : "outlined"} commandId="changes.review" onClick={() => run("code.openReview", { changeSetId: id })}>
            Review
          </Button>
          <Button onClick={() => void accept({ id, selection: ALL })}>
            Accept all
          </Button>
          <Button look="danger" onClick={() => void reject({ id, selection: ALL })}>
            Reject all
          </Button>
        </div>
      )}
      {!open && set.status === "accepted" && (
        <div className={styles.foot}>
          <Button look="quiet" onClick={() => run("changes.undo", id)}>
            <Undo2 size={14} /> Undo
          </Button>
        </div>
      )}
    </section>
  );
}

function glyphOf(set: ChangeSet): GlyphState {
  switch (set.status) {
    case "draft":
      return "running";
    case "accepted":
      return "done";
    case "conflicted":
      return "failed";
    case "rejected":
    case "restored":
      return "stopped";
    default:
      return "waiting";
  }
}

function lineCounts(set: ChangeSet): [number, number] {
  let added = 0;
  let deleted = 0;
  for (const file of set.files) {
    if (file.status === "rejected") continue;
    added += file.added;
    deleted += file.deleted;
  }
  return [added, deleted];
}

function Counts({ added, deleted }: { added: number; deleted: number }) {
  return (
    <span className={styles.counts}>
      {added > 0 && <span data-kind="added">+{added.toLocaleString("en-US")}</span>}
      {deleted > 0 && <span data-kind="deleted">−{deleted.toLocaleString("en-US")}</span>}
    </span>
  );
}

const LETTERS = { create: "A", modify: "M", delete: "D", rename: "R" } as const;
const LETTER_WORDS = { create: "Added", modify: "Modified", delete: "Deleted", rename: "Renamed" } as const;
const STATE_WORDS = { pending: "", accepted: "Accepted", rejected: "Rejected", conflicted: "Conflict" } as const;

interface FileRowProps {
  set: ChangeSet;
  file: ChangeSetFile;
  decidable: boolean;
  /** The one file of its set is open from the start. */
  only: boolean;
}

function FileRow({ set, file, decidable, only }: FileRowProps) {
  const changed = file.added + file.deleted;
  const [open, setOpen] = useState(only && changed <= 60);
  const waits = file.status === "pending" || file.status === "conflicted";
  const selection = { what: "file", path: file.path } as const;
  return (
    <div className={styles.file} data-status={file.status}>
      <div className={styles.row}>
        <button type="button" className={styles.open} aria-expanded={open} onClick={() => setOpen(!open)}>
          <ChevronRight size={14} className={styles.chevron} data-open={open || undefined} />
          <span className={styles.letter} data-kind={file.changeType} title={LETTER_WORDS[file.changeType]}>
            {LETTERS[file.changeType]}
          </span>
          <span className={styles.path} title={file.path}>
            {file.oldPath && file.oldPath !== file.path ? `${file.oldPath} → ` : ""}
            {file.path}
          </span>
        </button>
        <Counts added={file.added} deleted={file.deleted} />
        {STATE_WORDS[file.status] && (
          <span className={styles.state} data-status={file.status}>
            {STATE_WORDS[file.status]}
          </span>
        )}
        {decidable && waits && (
          <span className={styles.actions}>
            <Button
              size="small"
              look="quiet"
              disabled={file.status === "conflicted"}
              hint={file.conflict ?? "Write this file"}
              onClick={() => void accept({ id: set.id, selection })}
            >
              Accept
            </Button>
            <Button size="small" look="quiet" onClick={() => void reject({ id: set.id, selection })}>
              Reject
            </Button>
          </span>
        )}
        {decidable && waits && (
          <span className={styles.folded}>
            <Menu
              align="end"
              trigger={
                <button type="button" className={styles.more} aria-label={`Decide about ${file.path}`}>
                  <MoreHorizontal size={14} />
                </button>
              }
              entries={[
                {
                  label: "Accept",
                  note: file.conflict ?? "",
                  disabled: file.status === "conflicted",
                  onSelect: () => void accept({ id: set.id, selection }),
                },
                { label: "Reject", onSelect: () => void reject({ id: set.id, selection }) },
              ]}
            />
          </span>
        )}
      </div>
      {file.conflict && <p className={styles.conflict}>{file.conflict}</p>}
      {file.byCommand && <p className={styles.note}>Changed by {file.byCommand}</p>}
      {open && <FileBody set={set} file={file} decidable={decidable} />}
    </div>
  );
}

function FileBody({ set, file, decidable }: Omit<FileRowProps, "only">) {
  const changed = file.added + file.deleted;
  const [shown, setShown] = useState(changed <= MANY_LINES);
  if (file.binary) return <p className={styles.note}>Binary content: accept or reject the whole file.</p>;
  if (file.hunks.length === 0) {
    return <p className={styles.note}>{file.changeType === "rename" ? "The content stays the same." : "Nothing is left to decide here."}</p>;
  }
  if (!shown) {
    return (
      <div className={styles.many}>
        <Button size="small" onClick={() => run("code.openReview", { changeSetId: set.id, path: file.path })}>
          Open full diff
        </Button>
        <Button size="small" look="quiet" onClick={() => setShown(true)}>
          Show {count(changed, "line")} here
        </Button>
      </div>
    );
  }
  const hunkDecisions = decidable && file.status === "pending" && file.changeType !== "delete";
  return (
    <DiffHunks
      path={file.path}
      hunks={file.hunks}
      decide={
        hunkDecisions
          ? (number, verb) => {
              const selection = { what: "hunk", path: file.path, number } as const;
              void (verb === "accept" ? accept : reject)({ id: set.id, selection });
            }
          : null
      }
    />
  );
}
