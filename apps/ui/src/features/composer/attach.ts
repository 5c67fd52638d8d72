/** Takes pasted texts and dropped or chosen files into the message that is being written. */
import { type Attachment, lineCount } from "../../shared/attachments";
import { bytes } from "../../shared/format";
import { toast } from "../notifications";

/** A longer paste becomes a chip instead of burying the message. */
const MOST_PASTED_LINES = 40;
/** All texts that go with one message; more would fill a model's window by itself. */
export const MOST_ATTACHED = 512 * 1024;

export function isLongPaste(text: string): boolean {
  return lineCount(text) > MOST_PASTED_LINES;
}

/** Reads files as text. What cannot go to a model is left out, and each is told why. */
export async function readFiles(files: readonly File[], room: number): Promise<Attachment[]> {
  const taken: Attachment[] = [];
  let left = room;
  for (const file of files) {
    // oxlint-disable-next-line no-await-in-loop -- The room that is left depends on the file before.
    const problem = problemOf(file, left) ?? (await take(file));
    if (problem) toast({ text: `${file.name} was not attached. ${problem}`, tone: "bad" });
  }
  return taken;

  async function take(file: File): Promise<string | null> {
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    } catch {
      return "It is not text in UTF-8.";
    }
    if (text.includes("\0")) return "It is not a text file.";
    taken.push({ name: file.name, text });
    left -= file.size;
    return null;
  }
}

function problemOf(file: File, left: number): string | null {
  if (file.type.startsWith("image/")) return "Pictures cannot be given to a model yet. Save it in the workspace and describe what to look at.";
  if (file.size > left) return `Together, texts may have ${bytes(MOST_ATTACHED)}. Put it in the workspace and refer to it with @.`;
  return null;
}
