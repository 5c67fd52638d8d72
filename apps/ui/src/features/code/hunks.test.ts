import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DiffHunk, DiffLine, LineKind } from "../../protocol";
import { barAfterLine, hunkLine, runsOf } from "./hunks";

function hunk(oldStart: number, newStart: number, lines: string): DiffHunk {
  const kinds: Record<string, LineKind> = { " ": "context", "+": "added", "-": "deleted" };
  const drawn = lines.split("\n").map((line): DiffLine => ({ kind: kinds[line[0]!]!, text: line.slice(1), ending: "lf" }));
  const count = (kind: LineKind) => drawn.filter((line) => line.kind === "context" || line.kind === kind).length;
  return { number: 1, oldStart, oldLines: count("deleted"), newStart, newLines: count("added"), lines: drawn };
}

describe("hunks", () => {
  it.each<[what: string, hunk: DiffHunk, ranges: [number, number, number, number][], bar: number]>([
    ["a changed line", hunk(10, 10, " a\n-b\n+B\n c"), [[11, 12, 11, 12]], 10],
    ["two runs in one hunk", hunk(1, 1, "-a\n+A\n b\n c\n+d"), [[1, 2, 1, 2], [4, 4, 4, 5]], 0],
    ["an insertion", hunk(3, 3, " a\n+b\n+c\n d"), [[4, 4, 4, 6]], 3],
    ["a deletion", hunk(3, 3, " a\n-b\n c"), [[4, 5, 4, 4]], 3],
    ["a new file", { ...hunk(0, 1, "+a\n+b"), oldLines: 0 }, [[1, 1, 1, 3]], 0],
    ["a file that goes", { ...hunk(1, 0, "-a\n-b"), newLines: 0 }, [[1, 3, 1, 1]], 0],
    ["an insertion without context", { ...hunk(4, 5, "+a"), oldLines: 0 }, [[5, 5, 5, 6]], 4],
  ])("%s lies where the engine says", (_, given, ranges, bar) => {
    expect(runsOf(given).map(({ original, modified }) => [original.from, original.to, modified.from, modified.to])).toEqual(ranges);
    expect(barAfterLine(given)).toBe(bar);
    expect(hunkLine(given)).toBe(bar + 1);
  });

  it("marks the differing part of lines that pair up", () => {
    expect(runsOf(hunk(7, 9, "-let a = 1;\n+let abc = 1;"))[0]!.words).toEqual([
      { line: 7, otherLine: 9, original: { from: 5, to: 6 }, modified: { from: 5, to: 8 } },
    ]);
    expect(runsOf(hunk(1, 1, "-a\n+a\n+b"))[0]!.words).toEqual([]);
  });

  it("covers exactly the changed lines, whatever their order", () => {
    const line = fc.constantFrom(" x", "+y", "-z");
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 30 }), (drawn) => {
        const given = hunk(1, 1, drawn.join("\n"));
        if (given.oldLines === 0) given.oldStart = 0;
        if (given.newLines === 0) given.newStart = 0;
        const runs = runsOf(given);
        const sum = (side: "original" | "modified") => runs.reduce((all, run) => all + run[side].to - run[side].from, 0);
        expect(sum("original")).toBe(drawn.filter((each) => each.startsWith("-")).length);
        expect(sum("modified")).toBe(drawn.filter((each) => each.startsWith("+")).length);
        // The unchanged lines before each run are as many on both sides.
        let shift = 0;
        for (const { original, modified } of runs) {
          expect(modified.from - original.from).toBe(shift);
          shift += modified.to - modified.from - (original.to - original.from);
        }
      }),
    );
  });
});
