/** The code column: groups of tabs beside or below one another, and the hints of an empty one. */
import { chordLabel, isMac } from "../../shared/commands";
import { fileName } from "../../shared/format";
import { useStore } from "../../shared/store";
import { Button, Dialog } from "../../shared/ui";
import { answerClosing } from "./commands";
import { GroupView } from "./GroupView";
import { editorStore } from "./store";
import styles from "./View.module.css";

const HINTS = [
  ["Go to file", "Mod+P"],
  ["Commands", "Mod+Shift+P"],
  ["Write a message", "Mod+L"],
] as const;

export function CodeColumn() {
  const groups = useStore(editorStore, (state) => state.groups);
  const activeGroup = useStore(editorStore, (state) => state.activeGroup);
  const direction = useStore(editorStore, (state) => state.direction);
  const empty = groups.every((group) => group.tabs.length === 0);
  return (
    <>
      {empty ? (
        <div className={styles.empty}>
          <dl className={styles.hints}>
            {HINTS.map(([what, keys]) => (
              <div key={what}>
                <dt>{what}</dt>
                <dd>
                  <kbd>{chordLabel(keys, isMac)}</kbd>
                </dd>
              </div>
            ))}
          </dl>
        </div>
      ) : (
        <div className={styles.groups} data-direction={direction} data-keys="editor">
          {groups.map((group, index) => (
            <GroupView key={group.id} group={group} index={index} active={index === activeGroup} only={groups.length === 1} />
          ))}
        </div>
      )}
      <ClosingDialog />
    </>
  );
}

/** Text that is nowhere else is never dropped without a word. */
function ClosingDialog() {
  const closing = useStore(editorStore, (state) => state.closing);
  const name = closing ? fileName(closing.path) : "";
  return (
    <Dialog title="Save before closing?" open={closing !== null} onClose={() => void answerClosing("stay")} width={440}>
      <div className={styles.closing}>
        <p>
          {name} has changes that are not saved.
        </p>
        <div className={styles.answers}>
          <Button look="quiet" onClick={() => void answerClosing("stay")}>
            Keep open
          </Button>
          <Button look="danger" onClick={() => void answerClosing("discard")}>
            Discard changes
          </Button>
          <Button look="primary" onClick={() => void answerClosing("save")}>
            Save and close
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
