/** The top bar: workspace and branch, the search field that opens the palette, model and settings. */
import { ChevronDown, GitBranch, PanelLeft, PanelRight, Search, Settings } from "lucide-react";
import { run } from "../../shared/commands";
import { runtime } from "../../shared/runtime";
import { useStore } from "../../shared/store";
import { IconButton, Menu, type MenuEntry, keyOf } from "../../shared/ui";
import { choiceLabel, effective, providersStore } from "../providers";
import { openFolder, workspaceStore } from "../workspace";
import styles from "./View.module.css";

export function TopBar() {
  return (
    <div className={styles.bar}>
      <div className={styles.side}>
        <IconButton label="Show or hide files" commandId="layout.toggleFiles" onClick={() => run("layout.toggleFiles")}>
          <PanelLeft size={16} />
        </IconButton>
        <WorkspaceMenu />
        <Branch />
      </div>
      <button type="button" className={styles.search} onClick={() => run("palette.commands")}>
        <Search size={14} />
        <span className={styles.searchWords}>Search or run a command</span>
        <kbd className={styles.keys}>{keyOf("palette.commands")}</kbd>
      </button>
      <div className={styles.side} data-end>
        <ModelHealth />
        <IconButton label="Show or hide code" commandId="layout.toggleCode" onClick={() => run("layout.toggleCode")}>
          <PanelRight size={16} />
        </IconButton>
        <IconButton label="Settings" commandId="settings.open" onClick={() => run("settings.open")}>
          <Settings size={16} />
        </IconButton>
      </div>
    </div>
  );
}

function WorkspaceMenu() {
  const name = useStore(workspaceStore, (state) => state.name);
  const path = useStore(workspaceStore, (state) => state.path);
  const contexts = useStore(workspaceStore, (state) => state.contexts);
  const current = useStore(workspaceStore, (state) => state.context);
  const recent = useStore(workspaceStore, (state) => state.recent);
  const open: MenuEntry[] = contexts.map((context) => ({
    label: context.name,
    note: context.path,
    checked: context.context === current,
    onSelect: () => void runtime().enter(context.context),
  }));
  const earlier: MenuEntry[] = recent
    .filter((entry) => entry.exists && !contexts.some((context) => context.path === entry.path))
    .slice(0, 5)
    .map((entry) => ({ label: entry.name, note: entry.path, onSelect: () => void openFolder(entry.path) }));
  return (
    <Menu
      trigger={
        <button type="button" className={styles.workspace} title={path}>
          <span className={styles.name}>{name || "No workspace"}</span>
          <ChevronDown size={14} />
        </button>
      }
      entries={[
        ...open,
        ...earlier,
        { label: "Open a folder…", separated: true, onSelect: () => run("workspace.open") },
        { label: "Open the sample project", onSelect: () => run("workspace.sample") },
      ]}
    />
  );
}

function Branch() {
  const git = useStore(workspaceStore, (state) => state.git);
  if (!git?.repository || !git.branch) return null;
  return (
    <span className={styles.branch}>
      <GitBranch size={14} aria-label="Branch" />
      <span className={styles.name}>{git.branch}</span>
    </span>
  );
}

function ModelHealth() {
  const state = useStore(providersStore, (providers) => providers);
  const provider = effective(state);
  const ready = provider?.ready ?? false;
  return (
    <button type="button" className={styles.health} onClick={() => run("settings.open", "models")}>
      <span className={styles.dot} data-ready={ready || undefined} aria-hidden="true" />
      <span className={styles.name}>{choiceLabel(state)}</span>
      <span className="vc-hidden">{ready ? "ready" : "not ready"}</span>
    </button>
  );
}
