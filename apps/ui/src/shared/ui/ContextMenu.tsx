/** A menu at the pointer, or at the focused row on Shift+F10. */
import { ContextMenu as Base } from "@base-ui/react/context-menu";
import type { ReactElement } from "react";
import { MenuItem, type MenuEntry } from "./Menu";
import styles from "./Popup.module.css";

interface ContextMenuProps {
  /** The area that the menu belongs to. */
  trigger: ReactElement;
  entries: readonly MenuEntry[];
}

export function ContextMenu({ trigger, entries }: ContextMenuProps) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className={styles.positioner}>
          <Base.Popup className={styles.menu}>
            {entries.map((entry) => (
              <MenuItem key={entry.label} entry={entry} />
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
