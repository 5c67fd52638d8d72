/** The difference of one file under review, painted from the engine's hunks, with a bar above each. */
import type { editor } from "monaco-editor/editor";
import { useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import type { ChangeSet, ChangeSetFile, ChangesFileResult } from "../../../protocol";
import { asShownError } from "../../../shared/failure";
import { runtime } from "../../../shared/runtime";
import { useStore } from "../../../shared/store";
import { Button } from "../../../shared/ui";
import { changesStore } from "../../changes";
import { type Preferences, settingsStore } from "../../settings";
import { giveKeysToWindow } from "../keys";
import { smallestEdit } from "../line-breaks";
import { barAfterLine, hunkLine } from "../hunks";
import { type EditorParts, editorOptions, loadEditor } from "../monaco";
import { decide, open, showHunk } from "./commands";
import { editorStore } from "../store";
import { decidesHunks, reviewStore } from "./store";
import styles from "./Review.module.css";

/** From this width on both sides are shown side by side. */
const SIDE_BY_SIDE_PX = 900;
const BAR_PX = 30;

interface Shown extends EditorParts {
  diff: editor.IStandaloneDiffEditor;
}

/** A bar's place in the editor, and the hunk it decides about. */
interface Bar {
  node: HTMLElement;
  number: number;
}

function diffOptions(preferences: Preferences): editor.IStandaloneDiffEditorConstructionOptions {
  return {
    ...editorOptions(preferences),
    readOnly: true,
    originalAriaLabel: "As it is on disk",
    modifiedAriaLabel: "As proposed",
    originalEditable: false,
    renderSideBySideInlineBreakpoint: SIDE_BY_SIDE_PX,
    useInlineViewWhenSpaceIsLimited: true,
    hideUnchangedRegions: { enabled: true, contextLineCount: 3, minimumLineCount: 6 },
    renderMarginRevertIcon: false,
    renderGutterMenu: false,
    renderOverviewRuler: false,
    stickyScroll: { enabled: false },
    // Grey boxes on every word like the one at the caret would be read as part of the difference.
    occurrencesHighlight: "off",
    ignoreTrimWhitespace: false,
  };
}

export function DiffView({ set, file }: { set: ChangeSet; file: ChangeSetFile }) {
  const host = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<Shown | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [bars, setBars] = useState<readonly Bar[]>([]);
  const reached = useRef(0);
  const current = useStore(reviewStore, (state) => state.current);
  const goal = useStore(editorStore, (state) => state.goal);
  const asked = useStore(reviewStore, (state) => state.shown);
  const preferences = useStore(settingsStore, (state) => state.preferences);
  const deciding = useStore(changesStore, (state) => state.deciding.includes(set.id));
  const decidable = open(set) && decidesHunks(file);
  const { path, hunks } = file;

  // The editor lives as long as the pane; files and decisions change its texts.
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    let gone = false;
    let made: editor.IStandaloneDiffEditor | null = null;
    let keys: (() => void) | null = null;
    loadEditor()
      .then(({ monaco, setHunks }) => {
        if (gone) return;
        made = monaco.editor.createDiffEditor(element, diffOptions(settingsStore.getState().preferences));
        keys = giveKeysToWindow(element);
        keepBarsInView(made.getModifiedEditor(), element);
        setShown({ monaco, setHunks, diff: made });
      })
      .catch((thrown: unknown) => setProblem(asShownError(thrown).message));
    return () => {
      gone = true;
      keys?.();
      made?.dispose();
      setShown(null);
    };
  }, []);

  useEffect(() => {
    shown?.diff.updateOptions(diffOptions(preferences));
  }, [shown, preferences]);

  // Texts of the shown file; a decision changes them in place, so that the view stays where it is.
  useEffect(() => {
    if (!shown) return;
    let wanted = true;
    runtime()
      .request("changes/file", { id: set.id, path })
      .then((sides) => {
        if (!wanted) return;
        setProblem(null);
        showSides(shown, set.id, path, sides, hunks);
        setBars(placeBars(shown.diff.getModifiedEditor(), hunks));
      })
      .catch((thrown: unknown) => {
        if (wanted) setProblem(asShownError(thrown).message);
      });
    return () => {
      wanted = false;
    };
  }, [shown, set.id, set.updatedAt, path, hunks]);

  // Who opened the review goes on in it by keyboard, also while the editor is on its way.
  useEffect(() => {
    if (shown || goal?.focus !== true || goal.path !== path || goal.number === reached.current) return;
    host.current?.closest<HTMLElement>("[data-keys='review']")?.focus({ preventScroll: true });
  }, [shown, goal, path]);

  useEffect(() => {
    if (!shown?.diff.getModel()) return;
    const asks = goal?.focus === true && goal.path === path && goal.number !== reached.current;
    // The button that decided is gone, and the focus with it.
    if (asks || document.activeElement === document.body) shown.diff.getModifiedEditor().focus();
    if (goal) reached.current = goal.number;
  }, [shown, goal, path, bars]);

  useEffect(() => {
    const hunk = hunks[Math.min(current, hunks.length - 1)];
    if (!shown || !hunk || bars.length === 0) return;
    const modified = shown.diff.getModifiedEditor();
    const line = Math.min(hunkLine(hunk), modified.getModel()?.getLineCount() ?? 1);
    modified.setPosition({ lineNumber: line, column: 1 });
    modified.revealLineInCenterIfOutsideViewport(line);
  }, [shown, asked, current, hunks, bars]);

  return (
    <div className={styles.diff}>
      {problem && <p className={styles.note}>{problem}</p>}
      <div ref={host} className={styles.host} hidden={problem !== null} />
      {bars.map(({ node, number }) => {
        const index = hunks.findIndex((hunk) => hunk.number === number);
        if (index < 0) return null;
        return createPortal(
          <div className={styles.bar} data-current={index === current || undefined}>
            <span>
              Hunk {index + 1} of {hunks.length}
            </span>
            {decidable && (
              <>
                <Button
                  size="small"
                  look="quiet"
                  tabIndex={-1}
                  disabled={deciding}
                  commandId="review.acceptHunk"
                  onFocus={() => index !== current && showHunk(index)}
                  onClick={() => void decide("accept", set, { what: "hunk", path, number })}
                >
                  Accept
                </Button>
                <Button
                  size="small"
                  look="quiet"
                  tabIndex={-1}
                  disabled={deciding}
                  commandId="review.rejectHunk"
                  onClick={() => void decide("reject", set, { what: "hunk", path, number })}
                >
                  Reject
                </Button>
              </>
            )}
          </div>,
          node,
          `${path} ${number}`,
        );
      })}
    </div>
  );
}

function showSides({ monaco, setHunks, diff }: Shown, id: string, path: string, sides: ChangesFileResult, hunks: ChangeSetFile["hunks"]): void {
  const uri = (side: string) => monaco.Uri.from({ scheme: "review", authority: side, path: `/${path}`, query: id });
  const modified = uri("proposed").toString();
  setHunks(modified, hunks);
  const before = diff.getModel();
  if (before?.modified.uri.toString() === modified) {
    replace(before.original, sides.before ?? "");
    replace(before.modified, sides.after ?? "");
    return;
  }
  for (const side of ["disk", "proposed"]) monaco.editor.getModel(uri(side))?.dispose();
  diff.setModel({
    original: monaco.editor.createModel(sides.before ?? "", undefined, uri("disk")),
    modified: monaco.editor.createModel(sides.after ?? "", undefined, uri("proposed")),
  });
  if (!before) return;
  setHunks(before.modified.uri.toString(), null);
  before.original.dispose();
  before.modified.dispose();
}

function replace(model: editor.ITextModel, text: string): void {
  const edit = smallestEdit(model.getValue(), text);
  if (!edit) return;
  const start = model.getPositionAt(edit.start);
  const end = model.getPositionAt(edit.end);
  const range = { startLineNumber: start.lineNumber, startColumn: start.column, endLineNumber: end.lineNumber, endColumn: end.column };
  model.applyEdits([{ range, text: edit.text }]);
}

/** A zone is as wide as the longest line; the bar keeps to the part that is seen. */
function keepBarsInView(modified: editor.ICodeEditor, element: HTMLElement): void {
  const place = () => {
    const { contentWidth, verticalScrollbarWidth } = modified.getLayoutInfo();
    element.style.setProperty("--bar-width", `${contentWidth - verticalScrollbarWidth}px`);
    element.style.setProperty("--bar-left", `${modified.getScrollLeft()}px`);
  };
  place();
  modified.onDidLayoutChange(place);
  modified.onDidScrollChange((event) => event.scrollLeftChanged && place());
}

const zonesOf = new WeakMap<object, string[]>();

function placeBars(modified: editor.ICodeEditor, hunks: ChangeSetFile["hunks"]): Bar[] {
  const bars: Bar[] = [];
  modified.changeViewZones((zones) => {
    for (const zone of zonesOf.get(modified) ?? []) zones.removeZone(zone);
    const ids = hunks.map((hunk) => {
      const node = document.createElement("div");
      node.className = styles.zone!;
      // The editor would take the pointer for its own selection, and no click would arrive.
      for (const press of ["pointerdown", "mousedown"]) node.addEventListener(press, (event) => event.stopPropagation());
      bars.push({ node, number: hunk.number });
      return zones.addZone({ afterLineNumber: barAfterLine(hunk), heightInPx: BAR_PX, domNode: node, suppressMouseDown: true, showInHiddenAreas: true });
    });
    zonesOf.set(modified, ids);
  });
  return bars;
}
