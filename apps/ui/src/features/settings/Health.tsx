/** How each provider has been doing and what it cost today, as the engine tells it. */
import { useEffect, useState } from "react";
import type { Methods, ProviderHealth, Spending } from "../../protocol";
import { count, dollars, tokens } from "../../shared/format";
import { runtime } from "../../shared/runtime";
import styles from "./View.module.css";

type Told = Methods["providers/health"]["result"];

/** By provider. Empty until it is told, and where it cannot be: the page is of use without it. */
export function useHealth(): { health: Readonly<Record<string, ProviderHealth>>; today: Spending | null } {
  const [told, setTold] = useState<Told | null>(null);
  useEffect(() => {
    let gone = false;
    runtime()
      .request("providers/health", {})
      .then((result) => {
        if (!gone) setTold(result);
      })
      .catch(() => undefined);
    return () => {
      gone = true;
    };
  }, []);
  return {
    health: Object.fromEntries((told?.providers ?? []).map((provider) => [provider.id, provider])),
    today: told?.today ?? null,
  };
}

/** "1.2k tokens, $0.42", with what is not known of it. */
export function spendingWords(spent: Spending): string {
  const read = `${tokens(spent.tokens)} tokens`;
  if (spent.dollars === 0) return read;
  const unknown = spent.unpriced > 0 ? ` and ${count(spent.unpriced, "request")} of unknown price` : "";
  return `${read}, ${dollars(spent.dollars)}${unknown}`;
}

export function HealthNote({ health }: { health: ProviderHealth }) {
  if (health.state === "untried") return null;
  const answers = health.streamsWhole + health.streamsBroken;
  const calls = health.callsReadable + health.callsUnreadable;
  const figures = [
    health.summary,
    health.firstByteMs != null && `First byte after ${health.firstByteMs} ms.`,
    health.streamsBroken > 0 && `${health.streamsBroken} of ${count(answers, "answer")} broke off.`,
    health.callsUnreadable > 0 && `${health.callsUnreadable} of ${count(calls, "tool call")} could not be read.`,
    health.unknownModels.length > 0 && `It has no ${health.unknownModels.join(", ")}.`,
    health.today.tokens > 0 && `Today ${spendingWords(health.today)}.`,
  ].filter((words) => typeof words === "string");
  const bad = health.state === "failing" || health.state === "unusable";
  return <p className={bad ? `${styles.note} ${styles.bad}` : styles.note}>{figures.join(" ")}</p>;
}
