import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { EventEnvelope, Methods, TimelineItem } from "../protocol";
import { timelineStore } from "../features/timeline";
import { sessionsStore } from "../features/sessions";
import { answer, command, event } from "../test/events";
import { testRuntime } from "../test/runtime";
import { forgetAll, loadSession, receiveEvent } from "./adapter";

type Shown = Methods["session/show"]["result"];

function shown(timeline: TimelineItem[], lastSeq: number): Shown {
  return {
    session: { id: "ses_1", title: "t", createdAt: 1, updatedAt: 1, state: "executing", interrupted: false },
    timeline,
    lastSeq,
    changeSets: [],
    notes: [],
  };
}

const texts = () => timelineStore.getState().items.map((item) => ("text" in item ? item.text : item.type));
const delta = (seq: number, text: string): EventEnvelope =>
  event(seq, { type: "itemDelta", itemId: "a", delta: { kind: "text", text } });

beforeEach(() => {
  forgetAll();
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

test("what a session's timeline already contains is not folded again, whenever its events come", async () => {
  let reply: (value: Shown) => void = () => undefined;
  testRuntime({ "session/show": () => new Promise<Shown>((resolve) => (reply = resolve)) });
  const loading = loadSession("ses_1");
  // These two arrive before the answer; the answer contains the first of them.
  receiveEvent(delta(11, "two "));
  receiveEvent(delta(12, "three "));
  reply(shown([answer("a", "one two ")], 11));
  await loading;
  receiveEvent(delta(13, "four "));
  // Late replay of what is there.
  receiveEvent(delta(11, "two "));
  vi.advanceTimersByTime(60);
  expect(texts()).toEqual(["one two three four "]);
});

test("a fast stream is drawn a few times a second, at word edges, and ends complete", async () => {
  testRuntime({ "session/show": () => shown([answer("a", "")], 1) });
  await loadSession("ses_1");
  const drawn: string[] = [];
  const stop = timelineStore.subscribe(() => drawn.push(texts()[0] ?? ""));
  const words = "The quick brown fox jumps over the lazy dog ";
  let seq = 2;
  for (const letter of words.repeat(10)) {
    receiveEvent(delta(seq++, letter));
    vi.advanceTimersByTime(5);
  }
  receiveEvent(event(seq, { type: "itemCompleted", item: { ...answer("a", words.repeat(10)), status: "succeeded" } }));
  vi.advanceTimersByTime(20);
  stop();
  expect(drawn.length).toBeLessThan(60);
  for (const text of drawn.slice(0, -2)) expect(text === "" || text.endsWith(" "), JSON.stringify(text)).toBe(true);
  expect(texts()).toEqual([words.repeat(10)]);
});

test("output of a command keeps its order with its end", async () => {
  testRuntime({ "session/show": () => shown([command("c")], 1) });
  await loadSession("ses_1");
  receiveEvent(event(2, { type: "itemDelta", itemId: "c", delta: { kind: "output", text: "early " } }));
  receiveEvent(event(3, { type: "itemDelta", itemId: "c", delta: { kind: "command", state: "stopping" } }));
  vi.advanceTimersByTime(20);
  const item = timelineStore.getState().items[0];
  expect(item).toMatchObject({ output: "early ", state: "stopping" });
});

test("events of another session leave the shown one alone", async () => {
  testRuntime({ "session/show": () => shown([answer("a", "mine")], 1) });
  await loadSession("ses_1");
  receiveEvent(event(2, { type: "itemStarted", item: answer("b", "other") }, "ses_2"));
  expect(texts()).toEqual(["mine"]);
  receiveEvent(
    event(3, { type: "turnStarted", turnId: "trn_2", mode: "agent", provider: "p", model: "m" }, "ses_2"),
  );
  expect(Object.keys(sessionsStore.getState().runs)).toEqual(["ses_2"]);
});

test("a burst of events is drawn once a frame", async () => {
  testRuntime({ "session/show": () => shown([], 1) });
  await loadSession("ses_1");
  let drawn = 0;
  const stop = timelineStore.subscribe(() => (drawn += 1));
  for (let at = 0; at < 1_000; at += 1) receiveEvent(event(2 + at, { type: "itemCompleted", item: answer(`a${at}`, "text") }));
  vi.advanceTimersByTime(20);
  stop();
  expect(timelineStore.getState().items).toHaveLength(1_000);
  expect(drawn).toBeLessThan(4);
});

test("a session that was shown before is there at once, and then as the engine has it", async () => {
  const replies: ((value: Shown) => void)[] = [];
  testRuntime({ "session/show": () => new Promise<Shown>((resolve) => replies.push(resolve)) });
  const first = loadSession("ses_1");
  replies[0]!(shown([answer("a", "old")], 1));
  await first;
  await loadSession(null);
  expect(texts()).toEqual([]);
  const again = loadSession("ses_1");
  expect(texts()).toEqual(["old"]);
  // What comes meanwhile is not lost on the way.
  receiveEvent(event(3, { type: "itemStarted", item: answer("c", "new") }));
  replies[1]!(shown([answer("a", "old"), answer("b", "missed")], 2));
  await again;
  expect(texts()).toEqual(["old", "missed", "new"]);
});
