/** The whole log of a command, a page at a time: the engine keeps it, the window never holds more than one page. */
import { useEffect, useState } from "react";
import type { ArtifactReadResult } from "../../protocol";
import { AnsiScreen } from "../../shared/ansi";
import { asShownError } from "../../shared/failure";
import { bytes } from "../../shared/format";
import { runtime } from "../../shared/runtime";
import { useStore } from "../../shared/store";
import { Button, Dialog } from "../../shared/ui";
import { showError } from "../notifications";
import { saveLog } from "./commands";
import { Output } from "./items/Output";
import { timelineStore } from "./store";
import styles from "./CommandLog.module.css";

const PAGE = 128 * 1024;

export function CommandLog() {
  const log = useStore(timelineStore, (state) => state.log);
  return (
    <Dialog
      title="Whole log"
      open={log !== null}
      width={960}
      onClose={() => timelineStore.setState({ log: null })}
    >
      {log && <Pages key={log.artifact.id} id={log.artifact.id} size={log.artifact.sizeBytes} command={log.command} />}
    </Dialog>
  );
}

interface Page {
  offset: number;
  result: ArtifactReadResult;
  screen: AnsiScreen;
}

function Pages({ id, size, command }: { id: string; size: number; command: string }) {
  const [offset, setOffset] = useState(Math.max(0, size - PAGE));
  const [page, setPage] = useState<Page | null>(null);
  useEffect(() => {
    let wanted = true;
    runtime()
      .request("artifact/read", { id, offset, maxBytes: PAGE })
      .then((result) => {
        if (!wanted) return;
        const screen = new AnsiScreen();
        screen.write(result.text);
        setPage({ offset, result, screen });
      })
      .catch((thrown: unknown) => showError(asShownError(thrown)));
    return () => {
      wanted = false;
    };
  }, [id, offset]);
  const end = page?.result.nextOffset ?? 0;
  const total = page?.result.size ?? size;
  return (
    <div className={styles.log}>
      <p className={styles.command}>{command}</p>
      {page && (
        <Output
          key={page.offset}
          screen={page.screen}
          revision={`${page.offset}`}
          from={0}
          count={page.screen.lineCount()}
          live={false}
          wrap={false}
          finding={false}
          omitted={null}
        />
      )}
      <div className={styles.foot}>
        <Button size="small" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - PAGE))}>
          Earlier
        </Button>
        <Button size="small" disabled={end >= total} onClick={() => setOffset(end)}>
          Later
        </Button>
        <span className={styles.place}>
          {bytes(offset)} – {bytes(end)} of {bytes(total)}
        </span>
        <Button
          size="small"
          look="quiet"
          onClick={() => void saveLog({ id, kind: "command_log", sizeBytes: total }, "command.log")}
        >
          Save
        </Button>
      </div>
    </div>
  );
}
