/** The plan as a checklist. While it runs it shows the step it is at. */
import { useState } from "react";
import type { TimelineItem } from "../../../protocol";
import { StateGlyph } from "../../../shared/ui";
import { Card } from "./Card";
import { glyphOf } from "./glyph";
import styles from "./Plan.module.css";

type PlanItem = Extract<TimelineItem, { type: "plan" }>;

export function Plan({ item }: { item: PlanItem }) {
  const done = item.steps.filter((step) => step.status === "succeeded").length;
  const current = item.steps.find((step) => step.status === "running");
  const [open, setOpen] = useState(true);
  const shown = open ? item.steps : current ? [current] : [];
  return (
    <Card
      label="Plan"
      state={glyphOf(item.status)}
      verb="Plan"
      target=""
      facts={`${done} of ${item.steps.length}`}
      open={open}
      onToggle={() => setOpen(!open)}
    >
      {shown.length > 0 && (
        <ol className={styles.steps}>
          {shown.map((step) => (
            <li key={step.text} data-status={step.status}>
              <StateGlyph state={step.status === "cancelled" ? "skipped" : glyphOf(step.status)} />
              <span>{step.text}</span>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}
