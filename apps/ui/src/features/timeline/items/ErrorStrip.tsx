/** A failure answered in five lines, always in this order: what, why, what to do, files, retry. */
import { useState } from "react";
import type { FilesChanged } from "../../../protocol";
import { run } from "../../../shared/commands";
import type { ShownError } from "../../../shared/failure";
import { count } from "../../../shared/format";
import { runtime } from "../../../shared/runtime";
import { Button } from "../../../shared/ui";
import { openFile } from "../../code";
import { Card } from "./Card";
import styles from "./Facts.module.css";

export function ErrorStrip({ error }: { error: ShownError }) {
  const [open, setOpen] = useState(false);
  return (
    <Card label="Error" tone="bad" state="failed" verb="Failed" target="" open={open} onToggle={() => setOpen(!open)}>
      <dl className={styles.facts}>
        <dt>What failed</dt>
        <dd>{error.message}</dd>
        <dt>Likely why</dt>
        <dd>{error.detail || "Not known."}</dd>
        <dt>What you can do</dt>
        <dd className={styles.way}>
          <span>{error.userAction || (error.retryable ? "Try again." : "Nothing is needed.")}</span>
          <WayOut error={error} />
        </dd>
        <dt>Files changed</dt>
        <dd>
          <Files changed={error.filesChanged} />
        </dd>
        <dt>Retry</dt>
        <dd>{error.retryable ? "Yes, it may work." : "No, the same would happen again."}</dd>
      </dl>
      {open && (
        <div className={styles.details}>
          <span>Code: {error.code}</span>
          <Button size="small" look="quiet" onClick={() => void runtime().copy(JSON.stringify(error, null, 2))}>
            Copy
          </Button>
        </div>
      )}
    </Card>
  );
}

/** The button that belongs to a kind of failure; the code decides, never the words. */
function WayOut({ error }: { error: ShownError }) {
  if (error.code.startsWith("provider.")) {
    return (
      <Button size="small" onClick={() => run("settings.open", "models")}>
        Open model settings
      </Button>
    );
  }
  if (error.code.startsWith("changes.")) {
    return (
      <Button size="small" onClick={() => run("changes.review")}>
        Review changes
      </Button>
    );
  }
  if (error.code === "connection.lost") {
    return (
      <Button size="small" onClick={() => runtime().reconnect()}>
        Reconnect
      </Button>
    );
  }
  return null;
}

function Files({ changed }: { changed: FilesChanged }) {
  if (changed.state === "none") return <>None</>;
  if (changed.state === "unknown") return <>Not known: look at git status before you go on.</>;
  return (
    <>
      {count(changed.paths.length, "file")}:{" "}
      {changed.paths.map((path) => (
        <button key={path} type="button" className={styles.link} onClick={() => openFile(path)}>
          {path}
        </button>
      ))}
    </>
  );
}
