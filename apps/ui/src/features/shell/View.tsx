/** The grid: top bar, three columns with splitters, status bar. Knows places, not contents. */
import { type CSSProperties, type ReactNode, useSyncExternalStore } from "react";
import { useStore } from "../../shared/store";
import { Splitter } from "./Splitter";
import { currentWidths, shellStore } from "./store";
import styles from "./View.module.css";

interface ShellProps {
  top: ReactNode;
  files: ReactNode;
  chat: ReactNode;
  code: ReactNode;
  status: ReactNode;
}

type Breadth = "wide" | "drawer" | "single";

function breadth(): Breadth {
  return window.innerWidth >= 1_100 ? "wide" : window.innerWidth >= 820 ? "drawer" : "single";
}

function useBreadth(): Breadth {
  return useSyncExternalStore((listener) => {
    window.addEventListener("resize", listener);
    return () => window.removeEventListener("resize", listener);
  }, breadth);
}

export function Shell({ top, files, chat, code, status }: ShellProps) {
  const state = useStore(shellStore, (shell) => shell);
  const room = useBreadth();
  const widths = currentWidths(state);
  const filesShown = room === "wide" ? widths.filesOpen : room === "drawer" ? state.drawerOpen : state.shown === "files";
  const codeShown = room === "single" ? state.shown === "code" : widths.codeOpen;
  const chatShown = room !== "single" || state.shown === "chat";
  const variables = { "--vc-files-set": `${widths.files}px`, "--vc-code-set": `${widths.code}px` } as CSSProperties;

  return (
    <div className={styles.shell} data-shell data-breadth={room} style={variables}>
      <header id="region-top" className={styles.top} aria-label="Top bar">
        {top}
      </header>
      {room === "single" && <ColumnSwitch shown={state.shown} />}
      <div className={styles.columns}>
        {filesShown && (
          <nav id="region-files" className={styles.files} aria-label="Files" tabIndex={-1}>
            {files}
          </nav>
        )}
        {filesShown && room === "drawer" && (
          <button
            type="button"
            className={styles.scrim}
            aria-label="Close files"
            onClick={() => shellStore.setState({ drawerOpen: false })}
          />
        )}
        {room === "wide" && filesShown && <Splitter column="files" width={widths.files} label="Width of files" />}
        {chatShown && (
          <main className={styles.chat} aria-label="Conversation">
            {chat}
          </main>
        )}
        {room !== "single" && codeShown && <Splitter column="code" width={widths.code} label="Width of code" />}
        {codeShown && (
          <section id="region-code" className={styles.code} aria-label="Code" tabIndex={-1}>
            {code}
          </section>
        )}
      </div>
      <footer id="region-status" className={styles.status} aria-label="Status bar">
        {status}
      </footer>
    </div>
  );
}

function ColumnSwitch({ shown }: { shown: "files" | "chat" | "code" }) {
  const names = { files: "Files", chat: "Chat", code: "Code" } as const;
  return (
    <div className={styles.switch} role="tablist" aria-label="Column">
      {(["files", "chat", "code"] as const).map((column) => (
        <button
          key={column}
          type="button"
          role="tab"
          aria-selected={shown === column}
          className={styles.switchTab}
          onClick={() => shellStore.setState({ shown: column })}
        >
          {names[column]}
        </button>
      ))}
    </div>
  );
}
