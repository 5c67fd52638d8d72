/** A mark where the model began to be sent less of the conversation: what is left out, and the way back. */
import { useState } from "react";
import type { TimelineItem } from "../../../protocol";
import { tokens } from "../../../shared/format";
import { Button } from "../../../shared/ui";
import { restoreCondensed } from "../commands";
import { timelineStore } from "../store";
import { Line } from "./Card";
import facts from "./Facts.module.css";

type CondensedOf = Extract<TimelineItem, { type: "condensed" }>;

export function Condensed({ item }: { item: CondensedOf }) {
  const [open, setOpen] = useState(false);
  const { original } = item;
  return (
    <div>
      <Line
        state="done"
        verb={item.undone ? "Sent again" : "Made room"}
        target={item.title}
        open={open}
        onToggle={() => setOpen(!open)}
      />
      {open && (
        <>
          <dl className={facts.facts}>
            <dt>Why</dt>
            <dd>{item.reason} Nothing is lost: the session keeps all of it.</dd>
            <dt>Left out</dt>
            <dd>
              {item.leftOut.map((part, index) => (
                <div key={index}>
                  {part.what} ({tokens(part.tokens)})
                </div>
              ))}
              {item.more > 0 && <div>and {item.more.toLocaleString("en-US")} more</div>}
            </dd>
          </dl>
          <div className={facts.actions}>
            {original && (
              <Button
                size="small"
                look="quiet"
                onClick={() => timelineStore.setState({ log: { artifact: original, command: item.title } })}
              >
                View original
              </Button>
            )}
            {!item.undone && (
              <Button size="small" look="quiet" onClick={() => void restoreCondensed(item.sessionId, item.id)}>
                Send it again
              </Button>
            )}
          </div>
        </>
      )}
    </div>
  );
}
