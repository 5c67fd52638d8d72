/** The files column. */
import { useStore } from "../../shared/store";
import { workspaceStore } from "../workspace";
import styles from "./View.module.css";

export function FilesColumn() {
  const name = useStore(workspaceStore, (state) => state.name);
  return (
    <div className={styles.column} data-keys="tree">
      <div className={styles.head}>{name || "Files"}</div>
      <p className={styles.empty}>Press Ctrl+P to go to a file.</p>
    </div>
  );
}
