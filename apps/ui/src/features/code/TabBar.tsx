/** Tabs of a group. Arrow keys walk, Delete closes, a drag moves a tab along or into another group. */
import { Columns2, MoreHorizontal, X } from "lucide-react";
import { type KeyboardEvent, type PointerEvent, useEffect, useRef } from "react";
import { run } from "../../shared/commands";
import { fileName } from "../../shared/format";
import { useStore } from "../../shared/store";
import { FileIcon, IconButton, Menu, keyOf } from "../../shared/ui";
import { close, step } from "./commands";
import { editorStore, isDirty } from "./store";
import { type Group, type Tab, activate, keepTab, moveTab, tabFolder } from "./tabs";
import styles from "./TabBar.module.css";

export function TabBar({ group, index }: { group: Group; index: number }) {
  const buffers = useStore(editorStore, (state) => state.buffers);
  const list = useRef<HTMLDivElement>(null);

  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [group.active]);

  const key = (event: KeyboardEvent, tab: Tab) => {
    const at = group.tabs.indexOf(tab);
    const to = event.key === "ArrowRight" ? at + 1 : event.key === "ArrowLeft" ? at - 1 : null;
    if (to !== null) {
      const next = group.tabs[(to + group.tabs.length) % group.tabs.length]!;
      step((state) => activate(state, index, next.id));
      requestAnimationFrame(() => document.getElementById(`tab-${group.id}-${next.id}`)?.focus());
    } else if (event.key === "Delete") close(index, tab.id);
    else return;
    event.preventDefault();
  };

  return (
    <div className={styles.bar}>
      <div ref={list} className={styles.tabs} role="tablist" aria-label="Open files" data-group={index}>
        {group.tabs.map((tab) => {
          const shown = tab.id === group.active;
          const dirty = tab.kind === "file" && isDirty(buffers[tab.path]);
          const folder = tabFolder(tab.path, group.tabs);
          return (
            <div key={tab.id} className={styles.tab} data-shown={shown || undefined} data-dirty={dirty || undefined} data-tab={tab.id}>
              <button
                type="button"
                id={`tab-${group.id}-${tab.id}`}
                role="tab"
                aria-selected={shown}
                aria-controls={`code-panel-${group.id}`}
                aria-keyshortcuts="Delete"
                tabIndex={shown ? 0 : -1}
                className={styles.open}
                data-preview={tab.preview || undefined}
                title={tab.path}
                onPointerDown={(event) => drag(event, tab, index)}
                onClick={() => step((state) => activate(state, index, tab.id))}
                onDoubleClick={() => step((state) => keepTab(state, tab.id))}
                onAuxClick={(event) => event.button === 1 && close(index, tab.id)}
                onKeyDown={(event) => key(event, tab)}
              >
                <span className={styles.icon}>{tab.kind === "file" ? <FileIcon path={tab.path} /> : <span aria-hidden="true">±</span>}</span>
                <span className={styles.name}>{nameOf(tab)}</span>
                {folder && <span className={styles.folder}>{folder}</span>}
                {dirty && <span className="vc-hidden">Not saved</span>}
              </button>
              {/* For the pointer alone: a list of tabs may hold nothing else, and Delete closes the one in front. */}
              <button type="button" className={styles.close} tabIndex={-1} aria-hidden="true" title={`Close ${nameOf(tab)}`} onClick={() => close(index, tab.id)}>
                {dirty && <span className={styles.dot} aria-hidden="true" />}
                <X size={14} className={styles.cross} aria-hidden="true" />
              </button>
            </div>
          );
        })}
      </div>
      <IconButton label="Split to the right" commandId="code.splitRight" onClick={() => run("code.splitRight")}>
        <Columns2 size={14} />
      </IconButton>
      <Menu
        align="end"
        trigger={
          <button type="button" className={styles.more} aria-label="More about this group">
            <MoreHorizontal size={14} />
          </button>
        }
        entries={[
          { label: "Save", keys: keyOf("code.save"), onSelect: () => run("code.save") },
          { label: "Keep open", onSelect: () => run("code.keep") },
          { label: "Compare with saved", onSelect: () => run("code.compare") },
          { label: "Split down", separated: true, onSelect: () => run("code.splitDown") },
          { label: "Move to the other group", onSelect: () => run("code.moveToOther") },
          { label: "Reveal in the tree", separated: true, onSelect: () => run("files.revealActive") },
          { label: "Close", keys: keyOf("code.close"), onSelect: () => run("code.close") },
        ]}
      />
    </div>
  );
}

function nameOf(tab: Tab): string {
  if (tab.kind === "review") return `Review ${fileName(tab.path)}`;
  return tab.kind === "compare" ? `${fileName(tab.path)} and disk` : fileName(tab.path);
}

/** Less than this is a click with an unsteady hand. */
const BEGINS_AFTER_PX = 6;

function drag(event: PointerEvent, tab: Tab, from: number): void {
  if (event.button !== 0) return;
  const { clientX, pointerId } = event;
  let moving = false;
  const moved = (at: globalThis.PointerEvent) => {
    if (at.pointerId !== pointerId) return;
    moving ||= Math.abs(at.clientX - clientX) > BEGINS_AFTER_PX;
    if (moving) document.documentElement.style.cursor = "grabbing";
  };
  const up = (at: globalThis.PointerEvent) => {
    window.removeEventListener("pointermove", moved);
    window.removeEventListener("pointerup", up);
    window.removeEventListener("pointercancel", up);
    document.documentElement.style.cursor = "";
    if (!moving || at.type === "pointercancel") return;
    const bar = document.elementFromPoint(at.clientX, at.clientY)?.closest<HTMLElement>("[data-group]");
    if (!bar) return;
    const tabs = [...bar.querySelectorAll<HTMLElement>("[data-tab]")];
    const before = tabs.findIndex((each) => {
      const box = each.getBoundingClientRect();
      return at.clientX < box.left + box.width / 2;
    });
    step((state) => moveTab(state, tab.id, from, Number(bar.dataset["group"]), before < 0 ? tabs.length : before));
  };
  window.addEventListener("pointermove", moved);
  window.addEventListener("pointerup", up);
  window.addEventListener("pointercancel", up);
}
