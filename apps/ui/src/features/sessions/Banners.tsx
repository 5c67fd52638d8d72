/** One banner per session that a crash or a restart interrupted: what happened, and the two ways on. */
import { useShallow, useStore } from "../../shared/store";
import { Button } from "../../shared/ui";
import { leaveInterrupted, resumeSession } from "./commands";
import { sessionsStore } from "./store";
import styles from "./Banners.module.css";

const MOST_SHOWN = 2;

export function InterruptedBanners() {
  const interrupted = useStore(
    sessionsStore,
    useShallow((state) =>
      state.sessions.filter((session) => session.interrupted && !state.leftAlone.includes(session.id)),
    ),
  );
  return interrupted.slice(0, MOST_SHOWN).map((session) => (
    <div key={session.id} className={styles.banner} role="status">
      <span className={styles.words}>
        “{session.title}” was stopped while it was running. Nothing was lost.
      </span>
      <Button size="small" onClick={() => void resumeSession(session.id)}>
        Resume
      </Button>
      <Button size="small" look="quiet" onClick={() => leaveInterrupted(session.id)}>
        Leave
      </Button>
    </div>
  ));
}
