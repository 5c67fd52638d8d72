import { describe, expect, test } from "vitest";
import type { EventEnvelope, TimelineItem } from "../../protocol";
import { answer, chunks, command, event } from "../../test/events";
import { RUNNING_OUTPUT_LIMIT, foldDelta, foldEvents } from "./fold";

interface Fixture {
  events: EventEnvelope[];
  timeline: TimelineItem[];
}

// The engine's own fixtures: its fold and this one give the same timeline from the same events.
const fixtures = import.meta.glob<{ default: Fixture }>("../../../../../crates/engine/fixtures/timeline/*.json", {
  eager: true,
});

describe("the engine's fixtures", () => {
  test("are there", () => {
    expect(Object.keys(fixtures).length).toBeGreaterThan(5);
  });
  for (const [path, fixture] of Object.entries(fixtures)) {
    test(path.slice(path.lastIndexOf("/") + 1), () => {
      expect(foldEvents(fixture.default.events)).toEqual(fixture.default.timeline);
    });
  }
});

test("items that did not change stay the same objects", () => {
  const first = answer("itm_1", "done");
  const before = [first, answer("itm_2", "")];
  const after = foldDelta(before, "itm_2", { kind: "text", text: "more" }, 5);
  expect(after[0]).toBe(first);
  expect(after[1]).not.toBe(before[1]);
});

test("output kept as one piece is what is kept of many", () => {
  const text = "línea de salida ✓ 🦀\n".repeat(6_000);
  const whole = foldDelta([command("c")], "c", { kind: "output", text }, 1);
  let parts: readonly TimelineItem[] = [command("c")];
  for (const part of chunks(text, 7, 9_000)) {
    // A chunk of the wire never ends inside a character.
    parts = foldDelta(parts, "c", { kind: "output", text: part }, 1);
  }
  expect(parts[0]).toEqual(whole[0]);
  const kept = whole[0] as Extract<TimelineItem, { type: "command" }>;
  const bytes = new TextEncoder().encode(kept.output ?? "").length;
  expect(bytes).toBeLessThanOrEqual(RUNNING_OUTPUT_LIMIT);
  expect(bytes + kept.omittedBytes).toBe(new TextEncoder().encode(text).length);
});

test("an event about an item that never started adds it", () => {
  expect(foldEvents([event(1, { type: "itemCompleted", item: answer("itm_9", "late") })])).toHaveLength(1);
  expect(foldEvents([event(1, { type: "itemDelta", itemId: "itm_0", delta: { kind: "text", text: "x" } })])).toEqual([]);
});
