/** The head of the conversation: title, switcher, new session. */
import { ChevronDown, MoreHorizontal, Plus } from "lucide-react";
import { useState } from "react";
import { run } from "../../shared/commands";
import { useStore } from "../../shared/store";
import { IconButton, Menu, keyOf } from "../../shared/ui";
import { exportSession, renameSession } from "./commands";
import { sessionsStore } from "./store";
import { Switcher } from "./Switcher";
import styles from "./SessionHeader.module.css";

export function SessionHeader() {
  const selected = useStore(sessionsStore, (state) => state.sessions.find((session) => session.id === state.selected));
  const id = useStore(sessionsStore, (state) => state.selected);
  const open = useStore(sessionsStore, (state) => state.switcherOpen);
  const [renaming, setRenaming] = useState(false);
  const title = selected?.title ?? "New session";
  return (
    <div className={styles.header}>
      {renaming && selected ? (
        <RenameField
          title={title}
          onDone={(next) => {
            setRenaming(false);
            if (next && next !== title) void renameSession(selected.id, next);
          }}
        />
      ) : (
        <button
          type="button"
          className={styles.title}
          aria-haspopup="dialog"
          aria-expanded={open}
          title="Switch session"
          onClick={() => run("session.switch")}
        >
          <h2 className={styles.name}>{title}</h2>
          <ChevronDown size={14} />
        </button>
      )}
      <span className={styles.space} />
      <IconButton label="New session" commandId="session.new" onClick={() => run("session.new")}>
        <Plus size={16} />
      </IconButton>
      <Menu
        align="end"
        trigger={
          <button type="button" className={styles.more} aria-label="Session actions">
            <MoreHorizontal size={16} />
          </button>
        }
        entries={[
          { label: "Rename", disabled: !id, onSelect: () => setRenaming(true) },
          { label: "Export", disabled: !id, onSelect: () => id && void exportSession(id) },
          { label: "Switch session…", keys: keyOf("session.switch"), separated: true, onSelect: () => run("session.switch") },
        ]}
      />
      {open && <Switcher />}
    </div>
  );
}

function RenameField({ title, onDone }: { title: string; onDone(next: string | null): void }) {
  return (
    <input
      className={styles.rename}
      aria-label="Session title"
      defaultValue={title}
      autoFocus
      onFocus={(event) => event.target.select()}
      onBlur={(event) => onDone(event.target.value.trim())}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing) return;
        if (event.key === "Enter") onDone(event.currentTarget.value.trim());
        if (event.key === "Escape") onDone(null);
      }}
    />
  );
}
