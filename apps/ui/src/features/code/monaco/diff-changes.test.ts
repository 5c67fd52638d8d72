import { describe, expect, it } from "vitest";
import type { DiffHunk, DiffLine } from "../../../protocol";
import { changesOf } from "./diff-changes";

const line = (kind: DiffLine["kind"], text: string): DiffLine => ({ kind, text, ending: "lf" });
const text = (lines: readonly string[]) => ({ getLineCount: () => lines.length, getLineMaxColumn: (at: number) => (lines[at - 1]?.length ?? 0) + 1 });

const hunk: DiffHunk = {
  number: 1,
  oldStart: 1,
  oldLines: 4,
  newStart: 1,
  newLines: 5,
  lines: [line("context", "a"), line("deleted", "let b"), line("added", "let bee"), line("context", "c"), line("added", "new"), line("context", "d")],
};
const before = text(["a", "let b", "c", "d"]);
const after = text(["a", "let bee", "c", "new", "d"]);

describe("changes of the diff view", () => {
  it("are where the engine's hunks are, in the editor's own classes", () => {
    const changes = changesOf([hunk], before, after);
    expect(changes.map((change) => change.toString())).toEqual(["{[2,3)->[2,3)}", "{[4,4)->[4,5)}"]);
    expect(changes[0]!.innerChanges?.map((change) => change.toString())).toEqual(["{[2,5 -> 2,6]->[2,5 -> 2,8]}"]);
    // What the diff view calls on them.
    expect(changes[0]).toHaveProperty("flip");
    expect(changes[0]!.original).toHaveProperty("length", 1);
    expect(changes[1]!.innerChanges).toEqual([]);
  });

  it("leave out what lies beyond a text that is a step behind", () => {
    expect(changesOf([hunk], text(["a"]), after)).toEqual([]);
  });
});
