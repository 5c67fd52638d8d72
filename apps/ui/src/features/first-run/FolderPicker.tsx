/** Walks the folders of this machine, as the host names them, or takes a typed path. */
import { CornerLeftUp, Folder } from "lucide-react";
import { useEffect, useState } from "react";
import type { HostMethods } from "../../shared/host";
import { asShownError } from "../../shared/failure";
import { runtime } from "../../shared/runtime";
import { Button, Dialog } from "../../shared/ui";
import styles from "./View.module.css";

type Listing = HostMethods["host/folders"]["result"];

export function FolderPicker(props: { open: boolean; onClose(): void; onPick(path: string): void }) {
  return (
    <Dialog title="Open a folder" open={props.open} onClose={props.onClose} width={560}>
      <PickerBody onPick={props.onPick} />
    </Dialog>
  );
}

function PickerBody({ onPick }: { onPick(path: string): void }) {
  const [wanted, setWanted] = useState("");
  const [typed, setTyped] = useState("");
  const [listing, setListing] = useState<Listing | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    runtime()
      .host("host/folders", { path: wanted })
      .then((answer) => {
        if (!current) return;
        setListing(answer);
        setTyped(answer.path);
        setProblem(null);
      })
      .catch((thrown: unknown) => {
        if (current) setProblem(asShownError(thrown).message);
      });
    return () => {
      current = false;
    };
  }, [wanted]);
  const child = (name: string) => `${listing?.path === "/" ? "" : (listing?.path ?? "")}/${name}`;
  const parent = listing?.parent ?? null;
  return (
    <div className={styles.picker}>
      <form
        className={styles.path}
        onSubmit={(event) => {
          event.preventDefault();
          setWanted(typed);
        }}
      >
        <input
          className={styles.input}
          aria-label="Path"
          value={typed}
          spellCheck={false}
          onChange={(event) => setTyped(event.target.value)}
        />
      </form>
      {problem && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
      <ul className={styles.folders} aria-label="Folders">
        {parent !== null && (
          <li>
            <button type="button" className={styles.folder} onClick={() => setWanted(parent)}>
              <CornerLeftUp size={14} /> Parent folder
            </button>
          </li>
        )}
        {listing?.folders.map((name) => (
          <li key={name}>
            <button type="button" className={styles.folder} onClick={() => setWanted(child(name))}>
              <Folder size={14} /> {name}
            </button>
          </li>
        ))}
        {listing && listing.folders.length === 0 && <li className={styles.note}>No folders in here.</li>}
      </ul>
      <div className={styles.pickerFoot}>
        <Button look="primary" disabled={typed === ""} onClick={() => onPick(typed)}>
          Open this folder
        </Button>
      </div>
    </div>
  );
}
