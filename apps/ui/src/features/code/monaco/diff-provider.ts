/**
 * The one place where the engine's hunks reach the editor's diff view. A review's texts are painted as the engine says
 * what differs; every other pair of texts is compared by the editor itself. Uses parts the editor does not declare.
 */
import type { DetailedLineRangeMapping } from "monaco-editor/editor/common/diff/rangeMapping";
import { WorkerBasedDocumentDiffProvider } from "monaco-editor/editor/browser/widget/diffEditor/diffProviderFactoryService";
import { StandaloneServices } from "monaco-editor/editor/standalone/browser/standaloneServices";
// oxlint-disable-next-line no-restricted-imports -- The editor has a folder of this name; it is not the shell.
import { IInstantiationService } from "monaco-editor/platform/instantiation/common/instantiation";
import type { DiffHunk } from "../../../protocol";
import { type Text, changesOf } from "./diff-changes";

interface TextModel extends Text {
  uri: { toString(): string };
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
  computeDiff(original: TextModel, modified: TextModel, options: unknown, cancelled: unknown): Promise<DocumentDiff>;
  dispose?(): void;
}

/** By the address of the proposed text. */
const hunksOf = new Map<string, readonly DiffHunk[]>();
const listeners = new Set<() => void>();

/** Says what differs in a review's text; `null` when the review is closed. */
export function setHunks(modified: string, hunks: readonly DiffHunk[] | null): void {
  if (!hunks) {
    // Nobody looks at it any more: a new comparison would only meet texts that are gone.
    hunksOf.delete(modified);
    return;
  }
  hunksOf.set(modified, hunks);
  for (const listener of listeners) listener();
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

  async computeDiff(original: TextModel, modified: TextModel, options: unknown, cancelled: unknown): Promise<DocumentDiff> {
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
