import { expect, test } from "vitest";
import { clamp, defaultWidths, readShell } from "./store";

test("a kept layout is read with care", () => {
  expect(readShell(undefined, 1_440).preset).toBe("balanced");
  expect(readShell("x", 1_440).preset).toBe("balanced");
  const kept = readShell({ preset: "code", widths: { code: { files: 5, code: 99_999, filesOpen: false, codeOpen: true } } }, 1_440);
  expect(kept.preset).toBe("code");
  expect(kept.widths.code).toEqual({ files: 200, code: 2_000, filesOpen: false, codeOpen: true });
  expect(kept.widths.chat).toEqual(defaultWidths("chat", 1_440));
});

test("widths stay within their limits", () => {
  expect(clamp("files", 10)).toBe(200);
  expect(clamp("files", 1_000)).toBe(420);
  expect(defaultWidths("balanced", 1_440)).toMatchObject({ files: 240, code: 528 });
  expect(defaultWidths("chat", 1_440).codeOpen).toBe(false);
});
