/** Says that the connection or the engine is gone, what is kept, and how to go on. */
import { runtime } from "../../shared/runtime";
import { run } from "../../shared/commands";
import { useStore } from "../../shared/store";
import { Button, useNow } from "../../shared/ui";
import { workspaceStore } from "../workspace";
import styles from "./View.module.css";

export function ConnectionBanner() {
  const connection = useStore(workspaceStore, (state) => state.connection);
  const engine = useStore(workspaceStore, (state) => state.engine);
  const reason = useStore(workspaceStore, (state) => state.engineReason);
  // The first try may fail while the program starts; nothing is said before the second.
  if (connection.kind === "waiting" && connection.attempt > 1) {
    return (
      <div className={styles.banner} role="status">
        <span className={styles.bannerWords}>
          Vibe Coder is not reachable. Your text is kept in this window. If it ended, start it again. <RetryClock at={connection.retryAt} />
        </span>
        <Button size="small" onClick={() => runtime().reconnect()}>
          Reconnect now
        </Button>
      </div>
    );
  }
  if (engine !== "failed" && engine !== "stopped") return null;
  return (
    <div className={styles.banner} role="status">
      <span className={styles.bannerWords}>
        The local engine stopped. Your edits are kept in this window.{reason ? ` ${reason}` : ""}
      </span>
      <Button size="small" onClick={() => run("workspace.restartEngine")}>
        Restart engine
      </Button>
    </div>
  );
}

function RetryClock({ at }: { at: number }) {
  const now = useNow();
  const seconds = Math.ceil((at - now) / 1_000);
  return <>{seconds > 0 ? `Trying again in ${seconds} s.` : "Trying again."}</>;
}
