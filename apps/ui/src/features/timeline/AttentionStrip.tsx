/** Above the composer: the approval that waits, when its card is off screen or not. One at a time. */
import { useShallow, useStore } from "../../shared/store";
import { waitingApprovals } from "./commands";
import { Approval } from "./items/Approval";
import { timelineStore } from "./store";
import styles from "./AttentionStrip.module.css";

export function AttentionStrip() {
  const waiting = useStore(
    timelineStore,
    useShallow((state) => waitingApprovals(state.items)),
  );
  const first = waiting[0];
  if (!first) return null;
  return (
    <div className={styles.strip}>
      <Approval key={first.approvalId} item={first} place="strip" of={waiting.length} />
    </div>
  );
}
