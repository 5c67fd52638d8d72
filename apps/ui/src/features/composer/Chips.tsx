/** Texts that go with a message, by name and length, each with a way to take it out again. */
import { FileText, X } from "lucide-react";
import { type Attachment, linesShown } from "../../shared/attachments";
import { count } from "../../shared/format";
import styles from "./Chips.module.css";

export function Chips({ attachments, onRemove }: { attachments: readonly Attachment[]; onRemove(index: number): void }) {
  if (attachments.length === 0) return null;
  return (
    <ul className={styles.chips} aria-label="Attached">
      {attachments.map((attachment, index) => (
        <li key={`${index} ${attachment.name}`} className={styles.chip} title={attachment.text.slice(0, 400)}>
          <FileText size={14} aria-hidden="true" />
          <span className={styles.name}>{attachment.name}</span>
          <span className={styles.lines}>{count(linesShown(attachment.text), "line")}</span>
          <button type="button" className={styles.remove} aria-label={`Remove ${attachment.name}`} onClick={() => onRemove(index)}>
            <X size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
}
