/** What stands in for a file that is not edited here, and why. */
import { useEffect } from "react";
import { bytes, fileName } from "../../shared/format";
import { Button } from "../../shared/ui";
import { openBuffer } from "./buffers";
import type { Buffer } from "./store";
import styles from "./View.module.css";

interface PlaceholderProps {
  path: string;
  buffer: Exclude<Buffer, { status: "text" }>;
  onClose(): void;
}

export function Placeholder({ path, buffer, onClose }: PlaceholderProps) {
  // A tab that came back from an earlier window asks for its file when it is looked at.
  useEffect(() => {
    void openBuffer(path);
  }, [path]);
  switch (buffer.status) {
    case "loading":
      return <p className={styles.loading}>Loading {fileName(path)}…</p>;
    case "binary":
      return (
        <div className={styles.placeholder}>
          <p className={styles.title}>{fileName(path)} is not text</p>
          <p>
            {buffer.what}, {bytes(buffer.size)}. It is not shown here.
          </p>
        </div>
      );
    case "large":
      return (
        <div className={styles.large}>
          <p className={styles.largeNote}>
            {bytes(buffer.size)}: too large to edit here. The beginning and the end are shown, read only.
          </p>
          <pre className={styles.ends} tabIndex={0} aria-label={`Beginning and end of ${path}`}>
            {buffer.head}
            <span className={styles.omitted}>{`\n— ${bytes(buffer.omittedBytes)} left out —\n`}</span>
            {buffer.tail}
          </pre>
        </div>
      );
    case "missing":
      return (
        <div className={styles.placeholder}>
          <p className={styles.title}>{fileName(path)} is not there</p>
          <p>It was deleted or moved on disk.</p>
          <Button onClick={onClose}>Close</Button>
        </div>
      );
    case "failed":
      return (
        <div className={styles.placeholder}>
          <p className={styles.title}>{fileName(path)} could not be opened</p>
          <p>{buffer.message}</p>
          <Button onClick={() => void openBuffer(path)}>Try again</Button>
        </div>
      );
  }
}
