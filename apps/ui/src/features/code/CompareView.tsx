/** What is being edited beside what the disk has. The editor compares; its right side is the open text itself. */
import type { editor } from "monaco-editor/editor";
import { useEffect, useRef, useState } from "react";
import { asShownError } from "../../shared/failure";
import { runtime } from "../../shared/runtime";
import { settingsStore } from "../settings";
import { modelOf, openBuffer } from "./buffers";
import { giveKeysToWindow } from "./keys";
import { editorOptions, loadMonaco } from "./monaco";
import styles from "./View.module.css";

export function CompareView({ path }: { path: string }) {
  const host = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    let gone = false;
    let shown: editor.IStandaloneDiffEditor | null = null;
    let disk: editor.ITextModel | null = null;
    let keys: (() => void) | null = null;
    Promise.all([loadMonaco(), runtime().request("files/read", { path }), openBuffer(path)])
      .then(([monaco, read]) => {
        const mine = modelOf(path);
        if (gone) return;
        if (read.view.kind !== "text" || !mine) {
          setProblem("There is no text to compare with.");
          return;
        }
        disk = monaco.editor.createModel(read.view.text, mine.getLanguageId());
        shown = monaco.editor.createDiffEditor(element, {
          ...editorOptions(settingsStore.getState().preferences),
          renderSideBySideInlineBreakpoint: 700,
          renderOverviewRuler: false,
          ignoreTrimWhitespace: false,
        });
        shown.setModel({ original: disk, modified: mine });
        keys = giveKeysToWindow(element);
      })
      .catch((thrown: unknown) => setProblem(asShownError(thrown).message));
    return () => {
      gone = true;
      keys?.();
      shown?.dispose();
      disk?.dispose();
    };
  }, [path]);
  return (
    <div className={styles.compare}>
      <div className={styles.sides} aria-hidden="true">
        <span>On disk</span>
        <span>Yours</span>
      </div>
      {problem && <p className={styles.loading}>{problem}</p>}
      <div ref={host} className={styles.host} />
    </div>
  );
}
