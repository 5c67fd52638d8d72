import { describe, expect, test } from "vitest";
import { chunks } from "../../test/events";
import { AnsiScreen } from "./screen";

function written(...parts: string[]): AnsiScreen {
  const screen = new AnsiScreen();
  for (const part of parts) screen.write(part);
  return screen;
}

describe("what a person saw", () => {
  const cases: [name: string, input: string, text: string][] = [
    ["lines", "one\ntwo\n", "one\ntwo"],
    ["carriage return rewrites the line", "10 %\r20 %\r100 %\n", "100 %"],
    ["a shorter rewrite leaves the rest", "abcdef\rXY\n", "XYcdef"],
    ["erase to the end of the line", "abcdef\r\x1b[KXY\n", "XY"],
    ["erase the whole line", "abcdef\x1b[2K\rXY\n", "XY"],
    ["windows line ends", "one\r\ntwo\r\n", "one\ntwo"],
    ["backspace", "ab\bc\n", "ac"],
    ["cursor to a column", "abc\x1b[1GX\n", "Xbc"],
    ["cursor up rewrites an earlier line", "one\ntwo\n\x1b[2AONE\n", "ONE\ntwo"],
    ["tab", "a\tb\n", "a       b"],
    ["window titles and links are not text", "\x1b]0;title\x07text\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "textlink"],
    ["other control characters", "a\x00\x07b\n", "ab"],
    ["a sequence that is none", "\x1b[999999999999999999999999999999999999999999999999999999999999999999999x", "999999999999999999999999999999999999999999999999999999999999999999999x"],
    ["characters outside the basic plane", "🦀x\r1\n", "1x"],
  ];
  for (const [name, input, text] of cases) {
    test(name, () => expect(written(input).plainText()).toBe(text));
  }
});

test("any chunking of the same text gives the same lines", () => {
  const text =
    "\x1b[1;31merror\x1b[0m: \x1b[38;5;208mwarm\x1b[39m 🦀\n  10%\r 100%\r\n\x1b]0;t\x07\x1b[48;2;1;2;3mblue\x1b[m\n\x1b[2Ktail\n".repeat(20);
  const whole = written(text);
  const lines = (screen: AnsiScreen) => Array.from({ length: screen.lineCount() }, (_, index) => screen.line(index));
  for (let seed = 1; seed <= 40; seed += 1) {
    expect(lines(written(...chunks(text, seed, 1 + (seed % 9), "inside")))).toEqual(lines(whole));
  }
});

test("colours and weights", () => {
  const screen = written("\x1b[1;32mok\x1b[22m thin\x1b[0m \x1b[38;5;196mred\x1b[0m\x1b[7minv\x1b[27m");
  expect(screen.line(0)).toEqual([
    { text: "ok", style: { bold: true, foreground: "green" } },
    { text: " thin", style: { foreground: "green" } },
    { text: " ", style: {} },
    { text: "red", style: { foreground: "#ff0000" } },
    { text: "inv", style: { inverse: true } },
  ]);
});
