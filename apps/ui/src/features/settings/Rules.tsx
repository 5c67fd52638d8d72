/** Standing answers about commands: what each is about, how far it reaches, and a way to take it back. */
import { useEffect, useState } from "react";
import type { CommandRule, RuleEffect } from "../../protocol";
import { asShownError } from "../../shared/failure";
import { runtime } from "../../shared/runtime";
import { Button } from "../../shared/ui";
import { showError } from "../notifications";
import styles from "./View.module.css";

const EFFECTS: Record<RuleEffect, string> = { allow: "Allowed", ask: "Asks", never: "Never" };

export function Rules() {
  const [rules, setRules] = useState<readonly CommandRule[]>([]);
  const load = () =>
    runtime()
      .request("approvals/list", {})
      .then((answer) => setRules(answer.rules))
      .catch((thrown: unknown) => showError(asShownError(thrown)));
  useEffect(() => void load(), []);
  const revoke = async (id: string) => {
    try {
      await runtime().request("approvals/revoke", { id });
    } catch (thrown) {
      showError(asShownError(thrown));
    }
    await load();
  };
  return (
    <section aria-label="Standing answers">
      <h3 className={styles.title}>Standing answers</h3>
      {rules.length === 0 && <p className={styles.note}>None. When a command asks, you can answer for the session or the workspace.</p>}
      {rules.map((rule) => (
        <div key={rule.id} className={styles.provider}>
          <div className={styles.providerHead}>
            <code className={styles.providerName}>{rule.pattern}</code>
            <span className={styles.providerState}>
              {EFFECTS[rule.effect]} {rule.sessionId ? "in one session" : "in this workspace"}
            </span>
            <Button size="small" onClick={() => void revoke(rule.id)}>
              Take back
            </Button>
          </div>
          <p className={styles.note}>{rule.because}</p>
        </div>
      ))}
    </section>
  );
}
