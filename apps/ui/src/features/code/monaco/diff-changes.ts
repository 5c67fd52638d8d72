/** The engine's hunks as the line mappings that the editor's diff view draws. Uses classes the editor does not declare. */
import { Range } from "monaco-editor/editor/common/core/range";
import { LineRange } from "monaco-editor/editor/common/core/ranges/lineRange";
import { DetailedLineRangeMapping, RangeMapping } from "monaco-editor/editor/common/diff/rangeMapping";
import type { DiffHunk } from "../../../protocol";
import { runsOf } from "../hunks";

/** What is asked of a text. */
export interface Text {
  getLineCount(): number;
  getLineMaxColumn(line: number): number;
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
        // Empty rather than absent: the editor then marks no words instead of whole lines.
        words,
      ),
    );
  }
  return changes;
}

function columns(text: Text, line: number, { from, to }: { from: number; to: number }): Range {
  const most = text.getLineMaxColumn(line);
  return new Range(line, Math.min(from, most), line, Math.min(to, most));
}
