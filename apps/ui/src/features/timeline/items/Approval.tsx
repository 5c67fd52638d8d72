/**
 * Asks before a command runs. Keys are armed half a second after it appears, so that what was being typed cannot answer
 * it; the answer goes to exactly the request that is shown.
 */
import { ChevronDown } from "lucide-react";
import { useEffect, useState } from "react";
import type { TimelineItem } from "../../../protocol";
import { run } from "../../../shared/commands";
import { Button, Menu, keyOf } from "../../../shared/ui";
import { answerApproval } from "../commands";
import { Card, Line } from "./Card";
import styles from "./Approval.module.css";

type ApprovalOf = Extract<TimelineItem, { type: "approval" }>;

const ARM_AFTER_MS = 500;

interface ApprovalProps {
  item: ApprovalOf;
  /** The strip above the composer asks and carries the keys; the line in the timeline tells what was answered. */
  place: "timeline" | "strip";
  /** How many wait. */
  of?: number;
}

export function Approval({ item, place, of = 1 }: ApprovalProps) {
  if (place === "strip") return <Strip item={item} of={of} />;
  return (
    <Line
      state={item.decision === "allow" ? "done" : "stopped"}
      verb={item.decision === "allow" ? "Allowed" : item.decision === "deny" ? "Denied" : "Not answered"}
      target={item.request}
      facts={item.decidedBecause ?? ""}
    />
  );
}

function Strip({ item, of }: { item: ApprovalOf; of: number }) {
  const [armed, setArmed] = useState(false);
  const patterns = item.patterns ?? [];
  useEffect(() => {
    const timer = setTimeout(() => setArmed(true), ARM_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div {...(armed ? { "data-approval-armed": item.approvalId } : {})} data-keys="approval" data-attention>
      <Card
        label="Needs your OK"
        tone="warn"
        state="waiting"
        verb="Run this command?"
        target=""
        facts={of > 1 ? `1 of ${of}` : ""}
      >
        <pre className={styles.request} tabIndex={0} aria-label="Command">
          {item.request}
        </pre>
        <p className={styles.reason}>{item.reason}</p>
        <div className={styles.actions}>
          <Button
            look="primary"
            disabled={!armed}
            commandId="approval.allow"
            onClick={() => void answerApproval(item.approvalId, "allow")}
          >
            Allow once
          </Button>
          {patterns.length > 0 && (
            <Menu
              side="top"
              heading={`Allow ${patterns.join(" and ")}`}
              trigger={
                <button type="button" className={styles.standing} disabled={!armed}>
                  Allow for longer <ChevronDown size={14} aria-hidden="true" />
                </button>
              }
              entries={[
                { label: "In this session", keys: keyOf("approval.allowInSession"), onSelect: () => void answerApproval(item.approvalId, "allow", "session") },
                { label: "In this workspace", onSelect: () => void answerApproval(item.approvalId, "allow", "workspace") },
              ]}
            />
          )}
          <Button
            disabled={!armed}
            commandId="approval.deny"
            onClick={() => void answerApproval(item.approvalId, "deny")}
          >
            Deny
          </Button>
          <Button
            look="quiet"
            disabled={!armed}
            commandId="approval.denyAndSay"
            hint="The message you write waits until this turn has ended"
            onClick={() => void answerApproval(item.approvalId, "deny").then(() => run("composer.focus"))}
          >
            Deny and say why
          </Button>
        </div>
      </Card>
    </div>
  );
}
