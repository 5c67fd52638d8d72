/** The outcome of a check, bound to the tree it ran on. */
import type { TimelineItem } from "../../../protocol";
import { Card } from "./Card";
import styles from "./Facts.module.css";

type VerificationItem = Extract<TimelineItem, { type: "verification" }>;

export function Verification({ item }: { item: VerificationItem }) {
  const running = item.status === "running" || item.status === "pending";
  const passed = item.exitCode === 0;
  const words = running ? "Checking" : passed ? "Passed" : item.exitCode == null ? "Not run" : "Failed";
  return (
    <Card
      label="Check"
      state={running ? "running" : passed ? "done" : item.exitCode == null ? "skipped" : "failed"}
      verb={words}
      target={item.command}
      facts={item.exitCode == null || passed ? "" : `Exit ${item.exitCode}`}
    >
      {item.summary && (
        <dl className={styles.facts}>
          <dt>Result</dt>
          <dd>{item.summary}</dd>
          {item.treeHash && (
            <>
              <dt>Ran on</dt>
              <dd>the files as proposed, {item.treeHash.slice(0, 12)}</dd>
            </>
          )}
        </dl>
      )}
    </Card>
  );
}
