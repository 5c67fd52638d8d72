import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { EventEnvelope } from "../protocol";
import { event } from "../test/events";
import { decodeFrame } from "./frame";
import { openSocket, type SocketState } from "./socket";
import { follow } from "./subscription";

const body = { type: "sessionCreated", title: "x" } as const;

test("frames are sorted once, and what is none is said to be none", () => {
  expect(decodeFrame(JSON.stringify({ context: "c", event: event(1, body) }))).toMatchObject({ kind: "event", context: "c" });
  expect(decodeFrame('{"context":"c","notice":{"type":"gitChanged"}}')).toMatchObject({ kind: "notice" });
  expect(decodeFrame('{"id":3,"ok":true,"data":{}}')).toMatchObject({ kind: "reply", ok: true });
  expect(decodeFrame('{"id":3,"ok":false,"error":{"code":"path.outside","message":"no"}}')).toMatchObject({ ok: false });
  for (const text of ["", "{", "[]", "null", '{"event":{"seq":"1"}}', '{"id":3,"ok":false}']) {
    expect(decodeFrame(text), text).toBeNull();
  }
});

function following(fromSeq: number) {
  const seen: number[] = [];
  const asked: number[] = [];
  const subscription = follow({
    fromSeq,
    subscribe: (seq) => {
      asked.push(seq);
      return Promise.resolve();
    },
    onEvent: (received: EventEnvelope) => seen.push(received.seq),
  });
  return { subscription, seen, asked };
}

test("each event is taken once, in order; a hole asks for replay from the last one", async () => {
  const { subscription, seen, asked } = following(4);
  for (const seq of [3, 4, 5, 5, 6, 9, 10]) subscription.receive(event(seq, body));
  expect(seen).toEqual([5, 6]);
  expect(asked).toEqual([6]);
  await Promise.resolve();
  for (const seq of [7, 8, 9, 10, 11]) subscription.receive(event(seq, body));
  expect(seen).toEqual([5, 6, 7, 8, 9, 10, 11]);
});

class FakeSocket extends EventTarget {
  static readonly OPEN = 1;
  static made: FakeSocket[] = [];
  readyState = 0;
  sent: string[] = [];
  constructor() {
    super();
    FakeSocket.made.push(this);
  }
  open(): void {
    this.readyState = 1;
    this.dispatchEvent(new Event("open"));
  }
  say(frame: unknown): void {
    this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(frame) }));
  }
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.readyState = 3;
    this.dispatchEvent(new Event("close"));
  }
}

beforeEach(() => {
  FakeSocket.made = [];
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.useFakeTimers();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("requests meet their answers, and a lost connection fails them and comes back", async () => {
  const states: SocketState["kind"][] = [];
  const socket = openSocket({
    url: "ws://x/ws",
    onFrame: () => undefined,
    onState: (state) => states.push(state.kind),
    onMalformed: () => undefined,
  });
  await expect(socket.request("host/hello", {}, null)).rejects.toMatchObject({ error: { code: "connection.lost" } });
  FakeSocket.made[0]!.open();
  const one = socket.request("files/read", { path: "a" }, "ctx");
  const two = socket.request("files/read", { path: "b" }, "ctx");
  const lost = socket.request("files/read", { path: "c" }, "ctx");
  const [first, second] = FakeSocket.made[0]!.sent.map((text) => JSON.parse(text) as { id: number; context: string });
  expect(first).toMatchObject({ context: "ctx" });
  FakeSocket.made[0]!.say({ context: "ctx", id: second!.id, ok: true, data: "second" });
  FakeSocket.made[0]!.say({ context: "ctx", id: first!.id, ok: false, error: { code: "path.notFound", message: "no" } });
  await expect(two).resolves.toBe("second");
  await expect(one).rejects.toMatchObject({ error: { code: "path.notFound" } });
  FakeSocket.made[0]!.close();
  await expect(lost).rejects.toMatchObject({ error: { code: "connection.lost" } });
  vi.advanceTimersByTime(250);
  FakeSocket.made[1]!.open();
  expect(states).toEqual(["connecting", "open", "waiting", "connecting", "open"]);
  socket.close();
});

test("waiting times double up to eight seconds", () => {
  const waits: number[] = [];
  openSocket({
    url: "ws://x/ws",
    onFrame: () => undefined,
    onState: (state) => state.kind === "waiting" && waits.push(state.retryAt - Date.now()),
    onMalformed: () => undefined,
  });
  for (let round = 0; round < 8; round += 1) {
    FakeSocket.made.at(-1)!.close();
    vi.advanceTimersByTime(8_000);
  }
  expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
});
