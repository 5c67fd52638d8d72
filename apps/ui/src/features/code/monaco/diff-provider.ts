/**
 * The one place where the engine's hunks reach the editor's diff view. A review's texts are painted as the engine says
 * what differs; every other pair of texts is compared by the editor itself. Uses parts the editor does not declare.
 */
import { Range } from "monaco-editor/editor/common/core/range";
import { LineRange } from "monaco-editor/editor/common/core/ranges/lineRange";
import { DetailedLineRangeMapping, RangeMapping } from "monaco-editor/editor/common/diff/rangeMapping";
import { WorkerBasedDocumentDiffProvider } from "monaco-editor/editor/browser/widget/diffEditor/diffProviderFactoryService";
import { StandaloneServices } from "monaco-editor/editor/standalone/browser/standaloneServices";
// oxlint-disable-next-line no-restricted-imports -- The editor has a folder of this name; it is not the shell.
import { IInstantiationService } from "monaco-editor/platform/instantiation/common/instantiation";
import type { DiffHunk } from "../../../protocol";
import { runsOf } from "../hunks";

interface Text {
  uri: { toString(): string };
  getLineCount(): number;
  getLineMaxColumn(line: number): number;
  isDisposed(): boolean;
}

export interface DocumentDiff {
  identical: boolean;
  quitEarly: boolean;
  changes: DetailedLineRangeMapping[];
  moves: never[];
}

interface DiffProvider {
  onDidChange(listener: () => void): { dispose(): void };
  computeDiff(original: Text, modified: Text, options: unknown, cancelled: unknown): Promise<DocumentDiff>;
  dispose?(): void;
}

/** By the address of the proposed text. */
const hunksOf = new Map<string, readonly DiffHunk[]>();
const listeners = new Set<() => void>();

/** Says what differs in a review's text; `null` when the review is closed. */
export function setHunks(modified: string, hunks: readonly DiffHunk[] | null): void {
  if (hunks) hunksOf.set(modified, hunks);
  else hunksOf.delete(modified);
  for (const listener of listeners) listener();
}

/** Hunks as the diff view's line mappings. Lines beyond the texts are left out: a text may be a step behind. */
export function changesOf(hunks: readonly DiffHunk[], original: Text, modified: Text): DetailedLineRangeMapping[] {
  const changes: DetailedLineRangeMapping[] = [];
  for (const run of hunks.flatMap(runsOf)) {
    if (run.original.to > original.getLineCount() + 1 || run.modified.to > modified.getLineCount() + 1) continue;
    const words = run.words.map(
      (word) =>
        new RangeMapping(
          columns(original, word.line, word.original),
          columns(modified, word.otherLine, word.modified),
        ),
    );
    changes.push(
      new DetailedLineRangeMapping(
        new LineRange(run.original.from, run.original.to),
        new LineRange(run.modified.from, run.modified.to),
        words.length > 0 ? words : undefined,
      ),
    );
  }
  return changes;
}

function columns(text: Text, line: number, { from, to }: { from: number; to: number }): Range {
  const most = text.getLineMaxColumn(line);
  return new Range(line, Math.min(from, most), line, Math.min(to, most));
}

class HunkProvider implements DiffProvider {
  private readonly editorsOwn: DiffProvider;

  constructor(options: unknown) {
    const services = StandaloneServices.get<{ createInstance(kind: unknown, options: unknown): DiffProvider }>(IInstantiationService);
    this.editorsOwn = services.createInstance(WorkerBasedDocumentDiffProvider, options);
  }

  readonly onDidChange = (listener: () => void) => {
    listeners.add(listener);
    const own = this.editorsOwn.onDidChange(listener);
    return {
      dispose: () => {
        listeners.delete(listener);
        own.dispose();
      },
    };
  };

  async computeDiff(original: Text, modified: Text, options: unknown, cancelled: unknown): Promise<DocumentDiff> {
    const hunks = hunksOf.get(modified.uri.toString());
    if (!hunks || original.isDisposed() || modified.isDisposed()) {
      return this.editorsOwn.computeDiff(original, modified, options, cancelled);
    }
    const changes = changesOf(hunks, original, modified);
    return { identical: changes.length === 0, quitEarly: false, changes, moves: [] };
  }

  dispose(): void {
    this.editorsOwn.dispose?.();
  }
}

/** For the editor's services, before anything touches them. */
export const diffProviderService = {
  diffProviderFactoryService: { createDiffProvider: (options: unknown) => new HunkProvider(options) },
};
