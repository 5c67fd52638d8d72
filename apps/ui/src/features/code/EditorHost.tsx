/** The editor of one group. It lives as long as the group; tabs change its text and where it was looked at. */
import type { editor } from "monaco-editor/editor";
import { useEffect, useRef, useState } from "react";
import { useStore } from "../../shared/store";
import { settingsStore } from "../settings";
import { modelOf } from "./buffers";
import { step } from "./commands";
import { giveKeysToWindow } from "./keys";
import { type Monaco, editorOptions, loadMonaco } from "./monaco";
import { type EditorState, editorStore } from "./store";
import { fileTab, keepTab } from "./tabs";
import styles from "./View.module.css";

interface EditorHostProps {
  group: number;
  /** `null` while the group shows something else. */
  path: string | null;
  active: boolean;
}

/** Where each file was looked at, by group. */
const views = new Map<string, editor.ICodeEditorViewState>();

export function EditorHost({ group, path, active }: EditorHostProps) {
  const host = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<editor.IStandaloneCodeEditor | null>(null);
  const preferences = useStore(settingsStore, (state) => state.preferences);
  const goal = useStore(editorStore, (state) => state.goal);
  const readOnly = useStore(editorStore, (state) => isReadOnly(state, path));
  const reached = useRef(0);
  const wanted = path !== null;

  useEffect(() => {
    const element = host.current;
    if (!element || !wanted) return;
    let gone = false;
    let made: editor.IStandaloneCodeEditor | null = null;
    let keys: (() => void) | null = null;
    void loadMonaco()
      .then((monaco: Monaco) => {
        if (gone) return;
        made = monaco.editor.create(element, { ...editorOptions(settingsStore.getState().preferences), model: null });
        keys = giveKeysToWindow(element);
        follow(made);
        setShown(made);
      })
      .catch(() => undefined);
    return () => {
      gone = true;
      keys?.();
      made?.dispose();
      setShown(null);
    };
  }, [wanted]);

  useEffect(() => {
    shown?.updateOptions({ ...editorOptions(preferences), readOnly, ariaLabel: path ?? "No file" });
  }, [shown, preferences, readOnly, path]);

  useEffect(() => {
    if (!shown || path === null) return;
    const key = `${group} ${path}`;
    shown.setModel(modelOf(path));
    const view = views.get(key);
    if (view) shown.restoreViewState(view);
    tell(shown);
    return () => {
      const left = shown.saveViewState();
      if (left) views.set(key, left);
    };
  }, [shown, group, path]);

  useEffect(() => {
    if (!shown || !goal || !active || goal.path !== path || goal.number === reached.current) return;
    reached.current = goal.number;
    if (goal.line !== null) {
      shown.setPosition({ lineNumber: goal.line, column: 1 });
      shown.revealLineInCenter(goal.line);
    }
    if (goal.focus) shown.focus();
  }, [shown, goal, path, active]);

  // The caret in the status bar is that of the group in use.
  useEffect(() => {
    if (shown && active && path !== null) tell(shown);
    if (active && path === null) editorStore.setState({ cursor: null, selection: null, language: null });
  }, [shown, active, path]);

  return <div ref={host} className={styles.host} hidden={path === null} />;
}

function isReadOnly(state: EditorState, path: string | null): boolean {
  const buffer = path === null ? undefined : state.buffers[path];
  return buffer?.status === "text" && buffer.readOnly;
}

/** A model's path; texts of other kinds have none. */
function pathOf(shown: editor.ICodeEditor): string | null {
  const uri = shown.getModel()?.uri;
  return uri?.scheme === "vibe" ? uri.path.slice(1) : null;
}

function tell(shown: editor.ICodeEditor): void {
  const position = shown.getPosition();
  const selection = shown.getSelection();
  const path = pathOf(shown);
  editorStore.setState({
    cursor: position ? { line: position.lineNumber, column: position.column } : null,
    selection: selection && !selection.isEmpty() && path ? { path, from: selection.startLineNumber, to: lastLine(selection) } : null,
    language: shown.getModel()?.getLanguageId() ?? null,
  });
}

/** A selection that ends before the first letter of a line does not mean that line. */
function lastLine(selection: { startLineNumber: number; endLineNumber: number; endColumn: number }): number {
  return selection.endColumn === 1 && selection.endLineNumber > selection.startLineNumber ? selection.endLineNumber - 1 : selection.endLineNumber;
}

function follow(shown: editor.IStandaloneCodeEditor): void {
  shown.onDidChangeCursorSelection(() => {
    if (shown.hasTextFocus()) tell(shown);
  });
  shown.onDidFocusEditorText(() => tell(shown));
  // What is edited is no preview.
  shown.onDidChangeModelContent((event) => {
    const path = pathOf(shown);
    if (path === null || event.isFlush) return;
    const id = fileTab(path, false).id;
    const { groups } = editorStore.getState();
    if (groups.some((group) => group.tabs.some((tab) => tab.id === id && tab.preview))) step((state) => keepTab(state, id));
  });
}
