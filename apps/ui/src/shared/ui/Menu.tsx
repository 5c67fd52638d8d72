/** A menu on a button. Items are declared; keys and focus are Base UI's. */
import { Menu as Base } from "@base-ui/react/menu";
import { Check } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import styles from "./Popup.module.css";

export interface MenuEntry {
  label: string;
  /** A second line in words. */
  note?: string;
  keys?: string | null;
  checked?: boolean;
  /** Why it cannot be chosen now. */
  disabled?: boolean;
  danger?: boolean;
  separated?: boolean;
  onSelect(): void;
}

interface MenuProps {
  trigger: ReactElement;
  entries: readonly MenuEntry[];
  heading?: string;
  side?: "top" | "bottom";
  align?: "start" | "end";
  children?: ReactNode;
}

export function Menu({ trigger, entries, heading, side = "bottom", align = "start", children }: MenuProps) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className={styles.positioner} side={side} align={align} sideOffset={4}>
          <Base.Popup className={styles.menu}>
            {heading && <div className={styles.heading}>{heading}</div>}
            {entries.map((entry) => (
              <MenuItem key={entry.label} entry={entry} />
            ))}
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export function MenuItem({ entry }: { entry: MenuEntry }) {
  return (
    <>
      {entry.separated && <Base.Separator className={styles.separator} />}
      <Base.Item
        className={styles.item}
        data-danger={entry.danger || undefined}
        disabled={entry.disabled ?? false}
        onClick={entry.onSelect}
      >
        <span className={styles.check}>{entry.checked && <Check size={14} aria-label="Chosen" />}</span>
        <span className={styles.label}>
          {entry.label}
          {entry.note && <span className={styles.note}>{entry.note}</span>}
        </span>
        {entry.keys && <kbd className={styles.keys}>{entry.keys}</kbd>}
      </Base.Item>
    </>
  );
}
