/** Builders for tests: events and items with what a test does not care about filled in. */
import type { EventBody, EventEnvelope, TimelineItem } from "../protocol";

export function event(seq: number, body: EventBody, sessionId: string | null = "ses_1"): EventEnvelope {
  return { contextId: "ctx_1", sessionId, seq, at: 1_000 + seq, body };
}

type Kind<T extends TimelineItem["type"]> = Extract<TimelineItem, { type: T }>;

const common = {
  sessionId: "ses_1",
  correlationId: "trn_1",
  createdAt: 1_000,
  status: "running",
  visible: true,
} as const;

export function question(id: string, fields: Partial<Kind<"user_message">> = {}): Kind<"user_message"> {
  return { ...common, id, type: "user_message", status: "succeeded", text: "?", mode: "agent", ...fields };
}

export function answer(id: string, text: string): Kind<"assistant_message"> {
  return { ...common, id, type: "assistant_message", text, provider: "scripted", model: "scripted" };
}

export function tool(id: string, fields: Partial<Kind<"tool_call">> = {}): Kind<"tool_call"> {
  return {
    ...common,
    id,
    type: "tool_call",
    status: "succeeded",
    toolCallId: id,
    name: "read_file",
    verb: "Read",
    target: "src/app.ts",
    arguments: {},
    summary: "",
    ...fields,
  };
}

export function command(id: string, fields: Partial<Kind<"command">> = {}): Kind<"command"> {
  return {
    ...common,
    id,
    type: "command",
    commandId: `cmd_${id}`,
    toolCallId: id,
    command: "cargo test",
    cwd: ".",
    state: "running",
    policyReason: "read-only",
    isolation: "",
    omittedBytes: 0,
    ...fields,
  };
}

export function approval(id: string, fields: Partial<Kind<"approval">> = {}): Kind<"approval"> {
  return {
    ...common,
    id,
    type: "approval",
    approvalId: `apr_${id}`,
    toolCallId: id,
    request: "rm -rf build",
    reason: "It deletes files.",
    ...fields,
  };
}

/** The same numbers on every run: tests of random inputs must fail twice the same way. */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A text cut into pieces of random length, between characters or, with `inside`, anywhere. */
export function chunks(text: string, seed: number, longest: number, cut: "between" | "inside" = "between"): string[] {
  const next = randomNumbers(seed);
  const parts: string[] = [];
  const units = cut === "between" ? [...text] : text.split("");
  for (let at = 0; at < units.length; ) {
    const length = 1 + next(longest);
    parts.push(units.slice(at, at + length).join(""));
    at += length;
  }
  return parts;
}
