import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DeltaBuffer, OUTPUT_FLUSH_MS } from "./buffer";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("output after a pause is drawn at once, a flood a few times a second", () => {
  const drawn: string[] = [];
  const buffer = new DeltaBuffer((_, delta) => drawn.push(delta.kind === "output" ? delta.text : ""));
  const print = (text: string) => buffer.add("itm_1", { kind: "output", text }, 0);
  print("first");
  vi.advanceTimersByTime(1);
  expect(drawn).toEqual(["first"]);
  for (let at = 0; at < 60; at += 1) {
    print(".");
    vi.advanceTimersByTime(2);
  }
  expect(drawn.length).toBe(2);
  vi.advanceTimersByTime(OUTPUT_FLUSH_MS);
  expect(drawn.join("")).toBe(`first${".".repeat(60)}`);
  expect(drawn).toHaveLength(3);
});
