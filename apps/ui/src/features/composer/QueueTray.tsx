/** Messages that wait for the running turn, in their order. */
import { ArrowDown, ArrowUp, Pencil, Send, X } from "lucide-react";
import { useStore } from "../../shared/store";
import { IconButton } from "../../shared/ui";
import { sessionsStore } from "../sessions";
import { editQueued, moveQueued, removeQueued, sendQueued } from "./commands";
import { composerStore, draftOf } from "./store";
import styles from "./QueueTray.module.css";

export function QueueTray() {
  const session = useStore(sessionsStore, (state) => state.selected);
  const queue = useStore(composerStore, (state) => draftOf(state, session).queue);
  const paused = useStore(composerStore, (state) => draftOf(state, session).paused);
  const running = useStore(sessionsStore, (state) => state.selected !== null && state.selected in state.runs);
  if (!session || queue.length === 0) return null;
  return (
    <section className={styles.tray} aria-label="Waiting messages">
      {paused && !running && <p className={styles.paused}>Paused: {paused} Send a message when you are ready.</p>}
      <ol className={styles.list}>
        {queue.map((entry, index) => (
          <li
            key={entry.id}
            className={styles.entry}
            tabIndex={0}
            aria-label={`Waiting message ${index + 1}: ${entry.text}`}
            onKeyDown={(event) => {
              if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
              event.preventDefault();
              moveQueued(session, entry.id, event.key === "ArrowUp" ? -1 : 1);
            }}
          >
            <span className={styles.number}>{index + 1}</span>
            <span className={styles.text}>{entry.text}</span>
            <IconButton label="Earlier" disabled={index === 0} onClick={() => moveQueued(session, entry.id, -1)}>
              <ArrowUp size={14} />
            </IconButton>
            <IconButton label="Later" disabled={index === queue.length - 1} onClick={() => moveQueued(session, entry.id, 1)}>
              <ArrowDown size={14} />
            </IconButton>
            <IconButton label="Edit" onClick={() => editQueued(session, entry.id)}>
              <Pencil size={14} />
            </IconButton>
            <IconButton label="Send now" disabled={running} onClick={() => void sendQueued(session, entry.id)}>
              <Send size={14} />
            </IconButton>
            <IconButton label="Remove" onClick={() => removeQueued(session, entry.id)}>
              <X size={14} />
            </IconButton>
          </li>
        ))}
      </ol>
    </section>
  );
}
