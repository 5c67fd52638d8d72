import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineBreaks, smallestEdit } from "./line-breaks";

const lines = (text: string) => text.split(/\r\n|\n|\r/);

describe("line breaks", () => {
  it.each([
    ["one\ntwo\n", false],
    ["one\r\ntwo\r\n", false],
    ["one", false],
    ["one\r\ntwo\n", true],
    ["one\rtwo", true],
  ])("of %j are kept one by one: %s", (text, kept) => {
    const breaks = LineBreaks.ofMixed(text);
    expect(breaks !== null).toBe(kept);
    if (breaks) expect(breaks.join(lines(text))).toBe(text);
  });

  it("stay with their lines through an edit", () => {
    const breaks = LineBreaks.ofMixed("a\r\nb\nc\r\nd")!;
    // "b" becomes "B", then a line is added after it, then "a" is deleted with its break.
    breaks.apply([{ from: 2, to: 2, text: "B" }]);
    breaks.apply([{ from: 2, to: 2, text: "\nnew" }]);
    breaks.apply([{ from: 1, to: 2, text: "" }]);
    expect(breaks.join(["B", "new", "c", "d"])).toBe("B\r\nnew\nc\r\nd");
  });

  it("are as many as the lines need after any edits", () => {
    const text = fc.array(fc.constantFrom("a", "b", "\n", "\r\n"), { maxLength: 20 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, fc.array(fc.tuple(fc.nat(20), fc.nat(5), text), { maxLength: 8 }), (start, edits) => {
        const breaks = LineBreaks.ofMixed(`x\r\n${start}\ny`)!;
        let current = lines(`x\r\n${start}\ny`);
        for (const [at, length, written] of edits) {
          const from = (at % current.length) + 1;
          const to = Math.min(current.length, from + length);
          breaks.apply([{ from, to, text: written }]);
          const joined = [...lines(current[from - 1]! + written)];
          joined[joined.length - 1] += current[to - 1]!;
          current = [...current.slice(0, from - 1), ...joined, ...current.slice(to)];
        }
        expect(lines(breaks.join(current))).toEqual(current);
      }),
    );
  });
});

describe("smallest edit", () => {
  it("makes one text into the other without cutting a character or a line break", () => {
    const text = fc.array(fc.constantFrom("a", "b", "😀", "😁", "\r\n", "\n", "\r"), { maxLength: 12 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const edit = smallestEdit(before, after);
        if (!edit) {
          expect(before).toBe(after);
          return;
        }
        expect(before.slice(0, edit.start) + edit.text + before.slice(edit.end)).toBe(after);
        for (const at of [edit.start, edit.end]) {
          expect(before.slice(at - 1, at + 1)).not.toBe("\r\n");
          expect(/[\uD800-\uDBFF]/.test(before[at - 1] ?? "")).toBe(false);
        }
      }),
    );
  });
});
