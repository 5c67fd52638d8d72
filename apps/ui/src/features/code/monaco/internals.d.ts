/** The parts of the editor that it does not declare. Used by `setup.ts` and the diff provider alone; the version is
 * pinned, and `diff-changes.test.ts` fails when one of them has moved. */
/* oxlint-disable typescript/no-extraneous-class -- These declare the editor's classes; they are not ours. */
declare module "monaco-editor/editor/standalone/browser/standaloneServices" {
  export const StandaloneServices: {
    initialize(overrides: Record<string, unknown>): unknown;
    get<T>(id: unknown): T;
  };
}

declare module "monaco-editor/platform/instantiation/common/instantiation" {
  export const IInstantiationService: unknown;
}

declare module "monaco-editor/editor/browser/widget/diffEditor/diffProviderFactoryService" {
  export const WorkerBasedDocumentDiffProvider: unknown;
}

declare module "monaco-editor/editor/common/core/ranges/lineRange" {
  export class LineRange {
    constructor(startLineNumber: number, endLineNumberExclusive: number);
    readonly startLineNumber: number;
    readonly endLineNumberExclusive: number;
  }
}

declare module "monaco-editor/editor/common/core/range" {
  export class Range {
    constructor(startLineNumber: number, startColumn: number, endLineNumber: number, endColumn: number);
  }
}

declare module "monaco-editor/editor/common/diff/rangeMapping" {
  import type { LineRange } from "monaco-editor/editor/common/core/ranges/lineRange";
  import type { Range } from "monaco-editor/editor/common/core/range";
  export class RangeMapping {
    constructor(originalRange: Range, modifiedRange: Range);
  }
  export class DetailedLineRangeMapping {
    constructor(original: LineRange, modified: LineRange, innerChanges: RangeMapping[] | undefined);
    readonly original: LineRange;
    readonly modified: LineRange;
    readonly innerChanges: RangeMapping[] | undefined;
  }
}
