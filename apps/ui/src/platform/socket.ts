/**
 * One WebSocket to the host: requests with answers, frames in order, reconnection.
 * Owns ids and waiting times; knows nothing of what the frames mean.
 */
import { RequestFailed, connectionLost } from "../shared/failure";
import type { Frame } from "../shared/host";
import { decodeFrame } from "./frame";

export type SocketState =
  | { kind: "connecting" }
  | { kind: "open" }
  /** `retryAt` is in milliseconds since the epoch. */
  | { kind: "waiting"; attempt: number; retryAt: number };

export interface SocketOptions {
  url: string;
  onFrame(frame: Exclude<Frame, { kind: "reply" }>): void;
  onState(state: SocketState): void;
  /** A frame that could not be understood; the connection goes on. */
  onMalformed(text: string): void;
}

export interface Socket {
  request(method: string, params: unknown, context: string | null): Promise<unknown>;
  reconnect(): void;
  close(): void;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8_000;

interface Waiting {
  resolve(data: unknown): void;
  reject(error: RequestFailed): void;
}

export function openSocket(options: SocketOptions): Socket {
  const waiting = new Map<number, Waiting>();
  let nextId = 1;
  let attempt = 0;
  let socket: WebSocket | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let closed = false;

  function connect(): void {
    timer = null;
    options.onState({ kind: "connecting" });
    const opened = new WebSocket(options.url);
    socket = opened;
    opened.addEventListener("open", () => {
      attempt = 0;
      options.onState({ kind: "open" });
    });
    opened.addEventListener("message", (message) => receive(String(message.data)));
    opened.addEventListener("close", () => {
      if (socket !== opened) return;
      socket = null;
      failAll();
      if (!closed) wait();
    });
  }

  function wait(): void {
    attempt += 1;
    const delay = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS);
    options.onState({ kind: "waiting", attempt, retryAt: Date.now() + delay });
    timer = setTimeout(connect, delay);
  }

  function receive(text: string): void {
    const frame = decodeFrame(text);
    if (!frame) {
      options.onMalformed(text);
      return;
    }
    if (frame.kind !== "reply") {
      options.onFrame(frame);
      return;
    }
    const asked = waiting.get(frame.id);
    waiting.delete(frame.id);
    if (frame.ok) asked?.resolve(frame.data);
    else asked?.reject(new RequestFailed(frame.error));
  }

  function failAll(): void {
    const lost = [...waiting.values()];
    waiting.clear();
    for (const asked of lost) asked.reject(connectionLost());
  }

  connect();
  return {
    request(method, params, context) {
      if (socket?.readyState !== WebSocket.OPEN) return Promise.reject(connectionLost());
      const id = nextId++;
      const frame = context === null ? { id, method, params } : { context, id, method, params };
      const answer = new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject }));
      socket.send(JSON.stringify(frame));
      return answer;
    },
    reconnect() {
      if (timer === null) return;
      clearTimeout(timer);
      connect();
    },
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      socket?.close();
      failAll();
    },
  };
}
