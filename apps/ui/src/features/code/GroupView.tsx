/** One group: its tabs, the path of what is in front, and that itself. */
import { ChevronRight } from "lucide-react";
import { run } from "../../shared/commands";
import { useStore } from "../../shared/store";
import { Button } from "../../shared/ui";
import { compareWithDisk, step } from "./commands";
import { keepMine, loadTheirs, saveAgain } from "./buffers";
import { CompareView } from "./CompareView";
import { EditorHost } from "./EditorHost";
import { Placeholder } from "./Placeholder";
import { ReviewPane } from "./review/ReviewPane";
import { type Buffer, editorStore } from "./store";
import { TabBar } from "./TabBar";
import { type Group, closeTab } from "./tabs";
import styles from "./View.module.css";

interface GroupViewProps {
  group: Group;
  index: number;
  active: boolean;
  only: boolean;
}

export function GroupView({ group, index, active, only }: GroupViewProps) {
  const tab = group.tabs.find((other) => other.id === group.active) ?? null;
  const buffer = useStore(editorStore, (state) => (tab ? state.buffers[tab.path] : undefined));
  const use = () => {
    if (editorStore.getState().activeGroup !== index) editorStore.setState({ activeGroup: index });
  };
  return (
    <div className={styles.group} data-active={(active && !only) || undefined} onFocusCapture={use} onPointerDownCapture={use}>
      <TabBar group={group} index={index} />
      {tab && tab.kind !== "review" && <Breadcrumbs path={tab.path} />}
      {tab?.kind === "file" && buffer?.status === "text" && buffer.moved && <MovedBar path={tab.path} buffer={buffer} />}
      <div id={`code-panel-${group.id}`} className={styles.body} role="tabpanel" aria-label={tab ? tab.path : "No file"}>
        {/* The editor stays, so that going back to a file is at once and undo is kept. */}
        <EditorHost group={group.id} path={tab?.kind === "file" && buffer?.status === "text" ? tab.path : null} active={active} />
        {tab?.kind === "file" && buffer && buffer.status !== "text" && <Placeholder path={tab.path} buffer={buffer} onClose={() => step((state) => closeTab(state, index, tab.id))} />}
        {tab?.kind === "file" && !buffer && <Placeholder path={tab.path} buffer={{ status: "loading" }} onClose={() => run("code.close", tab.path)} />}
        {tab?.kind === "compare" && <CompareView key={tab.path} path={tab.path} />}
        {tab?.kind === "review" && <ReviewPane key={tab.id} tab={tab} />}
      </div>
    </div>
  );
}

function Breadcrumbs({ path }: { path: string }) {
  const parts = path.split("/");
  return (
    <nav className={styles.crumbs} aria-label="Path">
      {parts.map((part, index) => (
        <span key={`${index}`} className={styles.crumb}>
          {index > 0 && <ChevronRight size={12} aria-hidden="true" />}
          <button
            type="button"
            title="Show in the tree"
            aria-current={index === parts.length - 1 || undefined}
            onClick={() => run("files.reveal", parts.slice(0, index + 1).join("/"))}
          >
            {part}
          </button>
        </span>
      ))}
    </nav>
  );
}

/** The disk has something else than what is being edited: asks, and writes nothing by itself. */
function MovedBar({ path, buffer }: { path: string; buffer: Extract<Buffer, { status: "text" }> }) {
  const deleted = buffer.moved === "deleted";
  return (
    <div className={styles.moved} role="status">
      <span className={styles.movedWords}>
        {deleted ? "This file is no longer on disk. Its text is kept here." : "This file changed on disk while you edited it."}
      </span>
      {deleted ? (
        <Button size="small" onClick={() => void saveAgain(path)}>
          Save again
        </Button>
      ) : (
        <>
          <Button size="small" onClick={() => compareWithDisk(path)}>
            Compare
          </Button>
          <Button size="small" hint="Writes your text over what is on disk" onClick={() => void keepMine(path)}>
            Keep mine
          </Button>
          <Button size="small" hint="Your text stays in the undo history" onClick={() => void loadTheirs(path)}>
            Load theirs
          </Button>
        </>
      )}
    </div>
  );
}
