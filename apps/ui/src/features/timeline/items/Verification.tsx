/** The outcome of a check, bound to the files it ran on. Once those are others, it says so and claims nothing. */
import type { CheckFailure, TimelineItem } from "../../../protocol";
import { openFile } from "../../code";
import { Card } from "./Card";
import styles from "./Facts.module.css";

type VerificationItem = Extract<TimelineItem, { type: "verification" }>;

/** Failures that are listed; the summary counts all. */
const LISTED = 10;

export function Verification({ item }: { item: VerificationItem }) {
  const running = item.status === "running" || item.status === "pending";
  // The exit code alone may be that of a pipe's last part.
  const passed = item.exitCode === 0 && item.status !== "failed";
  const words = running
    ? "Checking"
    : item.stale
      ? passed
        ? "Passed before"
        : "Failed before"
      : passed
        ? "Passed"
        : item.exitCode == null
          ? "Not run"
          : "Failed";
  const state = running ? "running" : item.stale || item.exitCode == null ? "skipped" : passed ? "done" : "failed";
  const failures = item.failures ?? [];
  return (
    <Card
      label="Check"
      state={state}
      verb={words}
      target={item.command}
      facts={item.stale ? "No longer holds" : item.exitCode == null || passed ? "" : `Exit ${item.exitCode}`}
    >
      {item.summary && (
        <dl className={styles.facts}>
          {item.stale && (
            <>
              <dt>No longer holds</dt>
              <dd>{item.stale}</dd>
            </>
          )}
          <dt>Result</dt>
          <dd>{item.summary}</dd>
          {failures.length > 0 && (
            <>
              <dt>Failed</dt>
              <dd>
                {failures.slice(0, LISTED).map((failure, index) => (
                  <Failure key={`${failure.name} ${index}`} failure={failure} />
                ))}
                {failures.length > LISTED && <div>and {failures.length - LISTED} more</div>}
              </dd>
            </>
          )}
          {item.reason && (
            <>
              <dt>Why</dt>
              <dd>{item.reason}</dd>
            </>
          )}
          {item.treeHash && (
            <>
              <dt>Ran on</dt>
              <dd>
                {item.stale ? "other files than there are now" : "the files as proposed"}, {item.treeHash.slice(0, 12)}
              </dd>
            </>
          )}
        </dl>
      )}
    </Card>
  );
}

function Failure({ failure }: { failure: CheckFailure }) {
  const { name, file, line, message } = failure;
  return (
    <div>
      {file && (
        <button type="button" className={styles.link} onClick={() => openFile(file, line ?? null)}>
          {line ? `${file}:${line}` : file}
        </button>
      )}
      {name}
      {message && `: ${message}`}
    </div>
  );
}
