/** A dialog that returns the focus where it was. */
import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactNode, RefObject } from "react";
import styles from "./Popup.module.css";

interface DialogProps {
  title: string;
  /** False for dialogs whose content says it all, such as the palette; screen readers still hear it. */
  titleShown?: boolean;
  open: boolean;
  onClose(): void;
  /** Width in pixels; the height follows the content up to the window's. */
  width?: number;
  position?: "centre" | "top";
  initialFocus?: RefObject<HTMLElement | null>;
  children: ReactNode;
}

export function Dialog(props: DialogProps) {
  const { title, titleShown = true, open, onClose, width = 520, position = "centre", initialFocus, children } = props;
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup
          className={styles.dialog}
          data-position={position}
          style={{ width }}
          {...(initialFocus ? { initialFocus } : {})}
        >
          <div className={titleShown ? styles.dialogHead : "vc-hidden"}>
            <Base.Title className={styles.dialogTitle}>{title}</Base.Title>
            {titleShown && (
              <Base.Close className={styles.close} aria-label="Close">
                <X size={16} />
              </Base.Close>
            )}
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
