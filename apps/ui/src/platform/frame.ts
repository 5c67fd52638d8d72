/** Turns one text frame into a `Frame`, once, at the boundary. Unknown shapes give `null`. */
import type { EventEnvelope, Notice, RuntimeError } from "../protocol";
import type { Frame, HostEvent } from "../shared/host";

type Fields = Record<string, unknown>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Checks what the adapter relies on; the engine's own types guarantee the rest. */
function isEvent(value: unknown): value is EventEnvelope {
  return (
    isFields(value) &&
    typeof value["seq"] === "number" &&
    typeof value["at"] === "number" &&
    isFields(value["body"]) &&
    typeof value["body"]["type"] === "string"
  );
}

function isTyped<T extends { type: string }>(value: unknown): value is T {
  return isFields(value) && typeof value["type"] === "string";
}

function isError(value: unknown): value is RuntimeError {
  return isFields(value) && typeof value["code"] === "string" && typeof value["message"] === "string";
}

export function decodeFrame(text: string): Frame | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isFields(value)) return null;
  const context = typeof value["context"] === "string" ? value["context"] : "";
  if (isEvent(value["event"])) return { kind: "event", context, event: value["event"] };
  if (isTyped<Notice>(value["notice"])) return { kind: "notice", context, notice: value["notice"] };
  if (isTyped<HostEvent>(value["hostEvent"])) return { kind: "host", event: value["hostEvent"] };
  const id = value["id"];
  if (typeof id !== "number") return null;
  if (value["ok"] === true) return { kind: "reply", id, ok: true, data: value["data"] };
  if (isError(value["error"])) return { kind: "reply", id, ok: false, error: value["error"] };
  return null;
}
