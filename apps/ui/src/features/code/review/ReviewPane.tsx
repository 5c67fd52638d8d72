/** A change set under review: the file's difference with a bar above each hunk, and the bar that decides about files. */
import { Check, ChevronDown, ChevronLeft, ChevronRight, X } from "lucide-react";
import type { ChangeSet, ChangeSetFile } from "../../../protocol";
import { run } from "../../../shared/commands";
import { count } from "../../../shared/format";
import { useStore } from "../../../shared/store";
import { Button, IconButton, Menu } from "../../../shared/ui";
import { ALL, changesStore, statusWords } from "../../changes";
import type { Tab } from "../tabs";
import { decide, finish, open, showFile } from "./commands";
import { DiffView } from "./DiffView";
import { decidesHunks, reviewStore, waits } from "./store";
import styles from "./Review.module.css";

export function ReviewPane({ tab }: { tab: Tab }) {
  const set = useStore(changesStore, (state) => state.sets[tab.changeSetId ?? ""]);
  const file = set?.files.find((other) => other.path === tab.path);
  if (!set || !file) return <p className={styles.note}>These changes are not there any more.</p>;
  return (
    // A press beside the text, on a bar or a deleted line, leaves the review's keys where they are.
    <div className={styles.pane} data-keys="review" tabIndex={-1}>
      <Head set={set} file={file} />
      {file.conflict && waits(file) && <Conflict set={set} file={file} />}
      {file.binary ? (
        <p className={styles.note}>Binary content. Accept or reject the whole file.</p>
      ) : (
        <DiffView set={set} file={file} />
      )}
      <Foot set={set} file={file} />
    </div>
  );
}

const STATES: Record<ChangeSetFile["status"], string> = { pending: "", accepted: "Accepted", rejected: "Rejected", conflicted: "Conflict" };
const KINDS: Record<ChangeSetFile["changeType"], string> = { create: "New file", modify: "Modified", delete: "Deleted", rename: "Renamed" };

function Head({ set, file }: { set: ChangeSet; file: ChangeSetFile }) {
  const at = set.files.indexOf(file);
  return (
    <div className={styles.head}>
      <Menu
        trigger={
          <button type="button" className={styles.picker} title={file.path}>
            <span className={styles.path}>{file.oldPath && file.oldPath !== file.path ? `${file.oldPath} → ${file.path}` : file.path}</span>
            <ChevronDown size={14} aria-hidden="true" />
          </button>
        }
        entries={set.files.map((other) => ({
          label: other.path,
          note: [KINDS[other.changeType], STATES[other.status]].filter(Boolean).join(" · "),
          checked: other === file,
          onSelect: () => showFile(set.id, other.path),
        }))}
      />
      <span className={styles.facts}>
        {KINDS[file.changeType]} · {at + 1} of {set.files.length}
      </span>
      {STATES[file.status] && (
        <span className={styles.state} data-status={file.status}>
          {STATES[file.status]}
        </span>
      )}
    </div>
  );
}

function Conflict({ set, file }: { set: ChangeSet; file: ChangeSetFile }) {
  return (
    <div className={styles.conflict} role="status">
      <span className={styles.words}>{file.conflict}</span>
      <Button size="small" onClick={() => run("composer.insert", `The file @${file.path} changed since your proposal. Propose the change again.`)}>
        Propose again
      </Button>
      <Button size="small" onClick={() => run("code.openFile", { path: file.path, beside: true })}>
        Open the file
      </Button>
      <Button size="small" look="danger" onClick={() => void decide("reject", set, { what: "file", path: file.path })}>
        Drop this file
      </Button>
    </div>
  );
}

function Foot({ set, file }: { set: ChangeSet; file: ChangeSetFile }) {
  const current = useStore(reviewStore, (state) => state.current);
  const deciding = useStore(changesStore, (state) => state.deciding.includes(set.id));
  const left = set.files.filter(waits).length;
  const decidable = open(set) && !deciding;
  const hunks = decidesHunks(file) ? file.hunks.length : 0;
  const selection = { what: "file", path: file.path } as const;
  if (!open(set) || left === 0) {
    return (
      <div className={styles.foot}>
        <span className={styles.words}>{set.status === "draft" ? "The proposal is still being written." : `All changes are decided. ${statusWords(set)}.`}</span>
        <Button look="primary" onClick={() => finish(set.id)}>
          Back to chat
        </Button>
      </div>
    );
  }
  return (
    <div className={styles.foot}>
      <span className={styles.steps}>
        <IconButton label="Previous hunk" commandId="review.previousHunk" onClick={() => run("review.previousHunk")}>
          <ChevronLeft size={16} />
        </IconButton>
        <span className={styles.words}>
          {hunks > 0 ? `Hunk ${Math.min(current + 1, hunks)} of ${hunks}` : KINDS[file.changeType]} · {count(left, "file")} left
        </span>
        <IconButton label="Next hunk" commandId="review.nextHunk" onClick={() => run("review.nextHunk")}>
          <ChevronRight size={16} />
        </IconButton>
      </span>
      {hunks > 0 && (
        <span className={styles.steps}>
          <IconButton label="Accept the hunk" commandId="review.acceptHunk" disabled={!decidable} onClick={() => run("review.acceptHunk")}>
            <Check size={16} />
          </IconButton>
          <IconButton label="Reject the hunk" commandId="review.rejectHunk" disabled={!decidable} onClick={() => run("review.rejectHunk")}>
            <X size={16} />
          </IconButton>
        </span>
      )}
      <span className={styles.space} />
      {waits(file) && (
        <>
          <Button
            commandId="review.acceptFile"
            hint={file.conflict ?? "Write this file"}
            disabled={!decidable || file.status === "conflicted"}
            onClick={() => void decide("accept", set, selection)}
          >
            Accept file
          </Button>
          <Button look="danger" commandId="review.rejectFile" disabled={!decidable} onClick={() => void decide("reject", set, selection)}>
            Reject file
          </Button>
        </>
      )}
      <Button look="primary" disabled={!decidable} onClick={() => void decide("accept", set, ALL)}>
        {left === 1 && set.files.length === 1 ? "Accept all" : "Accept rest"}
      </Button>
      <Button look="quiet" commandId="review.finish" onClick={() => finish(set.id)}>
        Done
      </Button>
    </div>
  );
}
