/** Before a workspace is open: a folder, a recent one, or the sample. Ends with the caret in the composer. */
import { FolderOpen, FlaskConical } from "lucide-react";
import { useState } from "react";
import { asShownError } from "../../shared/failure";
import { ago } from "../../shared/format";
import { runtime } from "../../shared/runtime";
import { useStore } from "../../shared/store";
import { Button, useNow } from "../../shared/ui";
import { openFolder, openSample, workspaceStore } from "../workspace";
import { FolderPicker } from "./FolderPicker";
import styles from "./View.module.css";

export function FirstRun() {
  const recent = useStore(workspaceStore, (state) => state.recent);
  const contexts = useStore(workspaceStore, (state) => state.contexts);
  const connected = useStore(workspaceStore, (state) => state.connection.kind === "open");
  const [picking, setPicking] = useState(false);
  const [preparing, setPreparing] = useState(false);
  const now = useNow();
  const sample = async () => {
    setPreparing(true);
    try {
      await openSample();
    } finally {
      setPreparing(false);
    }
  };
  return (
    <main className={styles.page}>
      <div className={styles.column}>
        <h2 className={styles.title}>Open a folder to start</h2>
        <p className={styles.lead}>Nothing in it is changed before you accept a change.</p>
        {!connected && <p className={styles.lead} role="status">Connecting to Vibe Coder…</p>}
        <div className={styles.actions}>
          <Button look="primary" disabled={!connected} onClick={() => setPicking(true)}>
            <FolderOpen size={16} /> Open a folder
          </Button>
          <Button disabled={!connected || preparing} onClick={() => void sample()}>
            <FlaskConical size={16} /> {preparing ? "Preparing the sample…" : "Try the sample project"}
          </Button>
        </div>
        <p className={styles.note}>The sample needs no key: a practice model finds a failing test and fixes it.</p>
        {contexts.length > 0 && (
          <List
            name="Open"
            entries={contexts.map((context) => ({
              key: context.context,
              name: context.name,
              path: context.path,
              note: "",
              open: () => void enter(context.context),
            }))}
          />
        )}
        {recent.length > 0 && (
          <List
            name="Recent"
            entries={recent
              .filter((entry) => entry.exists)
              .map((entry) => ({
                key: entry.path,
                name: entry.name,
                path: entry.path,
                note: ago(entry.openedAt, now),
                open: () => void openFolder(entry.path),
              }))}
          />
        )}
      </div>
      <FolderPicker
        open={picking}
        onClose={() => setPicking(false)}
        onPick={(path) => {
          setPicking(false);
          void openFolder(path);
        }}
      />
    </main>
  );
}

async function enter(context: string): Promise<void> {
  try {
    await runtime().enter(context);
  } catch (thrown) {
    workspaceStore.setState({ engineReason: asShownError(thrown).message });
  }
}

interface ListEntry {
  key: string;
  name: string;
  path: string;
  note: string;
  open(): void;
}

function List({ name, entries }: { name: string; entries: readonly ListEntry[] }) {
  return (
    <section aria-label={name}>
      <h3 className={styles.group}>{name}</h3>
      <ul className={styles.list}>
        {entries.map((entry) => (
          <li key={entry.key}>
            <button type="button" className={styles.entry} onClick={entry.open}>
              <span className={styles.entryName}>{entry.name}</span>
              <span className={styles.entryPath}>{entry.path}</span>
              <span className={styles.entryNote}>{entry.note}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
