/**
 * Texts that go with a message: pasted pieces and files that are not in the workspace. They travel inside the message,
 * each after a line that names it and counts its lines, and are shown as chips. Pure.
 */

export interface Attachment {
  name: string;
  text: string;
}

const HEAD = /^\[attached: (.*), (\d+) lines?\]$/;

export function lineCount(text: string): number {
  return text.split("\n").length;
}

/** As a person counts: an ending is no line of its own. */
export function linesShown(text: string): number {
  return lineCount(text.replace(/\n$/, ""));
}

export function withAttachments(text: string, attachments: readonly Attachment[]): string {
  const parts = attachments.map(({ name, text: attached }) => {
    const lines = lineCount(attached);
    return `[attached: ${name.replace(/\s+/g, " ")}, ${lines} ${lines === 1 ? "line" : "lines"}]\n${attached}`;
  });
  return [text, ...parts].filter((part) => part !== "").join("\n\n");
}

/** Takes a message apart again. What only looks like an attachment, being too short for its count, stays text. */
export function splitAttachments(message: string): { text: string; attachments: Attachment[] } {
  const lines = message.split("\n");
  const text: string[] = [];
  const attachments: Attachment[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const head = HEAD.exec(lines[at]!);
    const count = head ? Number(head[2]) : 0;
    if (head && at + count < lines.length) {
      attachments.push({ name: head[1]!, text: lines.slice(at + 1, at + 1 + count).join("\n") });
      at += count;
    } else {
      text.push(lines[at]!);
    }
  }
  return { text: text.join("\n").trim(), attachments };
}
