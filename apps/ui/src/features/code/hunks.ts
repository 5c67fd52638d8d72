/** What the engine's hunks mean for two texts shown side by side. Pure: no editor, no difference computed here. */
import type { DiffHunk } from "../../protocol";

/** Lines of one side, 1-based, the end exclusive; an empty range lies before its first line. */
export interface Lines {
  from: number;
  to: number;
}

/** A run of changed lines without an unchanged one between. */
export interface Run {
  original: Lines;
  modified: Lines;
  /** The parts of paired lines that differ, as columns, 1-based and the end exclusive. */
  words: readonly { line: number; original: Lines; modified: Lines; otherLine: number }[];
}

export function runsOf(hunk: DiffHunk): Run[] {
  const runs: Run[] = [];
  // A side without lines counts from the line before it, as in a unified diff.
  let old = hunk.oldLines === 0 ? hunk.oldStart + 1 : hunk.oldStart;
  let fresh = hunk.newLines === 0 ? hunk.newStart + 1 : hunk.newStart;
  let deleted: string[] = [];
  let added: string[] = [];
  const close = () => {
    if (deleted.length > 0 || added.length > 0) {
      const original = { from: old - deleted.length, to: old };
      const modified = { from: fresh - added.length, to: fresh };
      runs.push({ original, modified, words: words(deleted, added, original.from, modified.from) });
    }
    deleted = [];
    added = [];
  };
  for (const line of hunk.lines) {
    if (line.kind === "context") {
      close();
      old += 1;
      fresh += 1;
    } else if (line.kind === "deleted") {
      deleted.push(line.text);
      old += 1;
    } else {
      added.push(line.text);
      fresh += 1;
    }
  }
  close();
  return runs;
}

const isWord = (letter: string | undefined) => letter !== undefined && /[\p{L}\p{N}_]/u.test(letter);

/** Lines are paired where both sides have as many; what both have at their ends is not marked, by whole words. */
function words(deleted: readonly string[], added: readonly string[], from: number, to: number): Run["words"] {
  if (deleted.length !== added.length) return [];
  return deleted.map((before, index) => {
    const after = added[index]!;
    const most = Math.min(before.length, after.length);
    let start = 0;
    while (start < most && before[start] === after[start]) start += 1;
    let tail = 0;
    while (tail < most - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
    const atWord = (at: number) => isWord(before[at - 1]) && (isWord(before[at]) || isWord(after[at]));
    while (start > 0 && atWord(start)) start -= 1;
    const ends = (text: string) => isWord(text[text.length - tail]) && isWord(text[text.length - tail - 1]);
    while (tail > 0 && (ends(before) || ends(after))) tail -= 1;
    return {
      line: from + index,
      otherLine: to + index,
      original: { from: start + 1, to: before.length - tail + 1 },
      modified: { from: start + 1, to: after.length - tail + 1 },
    };
  });
}

/** The line of the proposed side above which a hunk's bar lies; 0 is above the first line. */
export function barAfterLine(hunk: DiffHunk): number {
  const first = runsOf(hunk)[0];
  return Math.max(0, (first?.modified.from ?? hunk.newStart) - 1);
}

/** Where a reader is brought for a hunk. */
export function hunkLine(hunk: DiffHunk): number {
  return Math.max(1, runsOf(hunk)[0]?.modified.from ?? hunk.newStart);
}
