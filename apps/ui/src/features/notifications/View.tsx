/** Toasts in the lower right corner, announced politely. */
import { X } from "lucide-react";
import { run } from "../../shared/commands";
import { useStore } from "../../shared/store";
import { Button, IconButton } from "../../shared/ui";
import { dismiss, notificationStore } from "./store";
import styles from "./View.module.css";

export function Toasts() {
  const toasts = useStore(notificationStore, (state) => state.toasts);
  return (
    <div className={styles.stack} role="status" aria-live="polite" aria-label="Notifications">
      {toasts.map((entry) => (
        <div key={entry.id} className={styles.toast} data-tone={entry.tone}>
          <div className={styles.text}>
            {entry.text}
            {entry.detail && <div className={styles.detail}>{entry.detail}</div>}
          </div>
          {entry.action && (
            <Button
              size="small"
              onClick={() => {
                if (entry.action) run(entry.action.command, entry.action.argument);
                dismiss(entry.id);
              }}
            >
              {entry.action.label}
            </Button>
          )}
          <IconButton label="Close" onClick={() => dismiss(entry.id)}>
            <X size={14} />
          </IconButton>
        </div>
      ))}
    </div>
  );
}
