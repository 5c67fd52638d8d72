/** The code column. */
import { chordLabel, isMac } from "../../shared/commands";
import styles from "./View.module.css";

const HINTS = [
  ["Go to file", "Mod+P"],
  ["Commands", "Mod+Shift+P"],
  ["Write a message", "Mod+L"],
] as const;

export function CodeColumn() {
  return (
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
  );
}
