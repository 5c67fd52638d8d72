/**
 * Splits a growing Markdown text into blocks, so that a flush costs what is new: every block but the last is frozen and
 * never looked at again. Freezing waits for whole lines, because an unfinished line can still change what it is.
 */
import { type Token, marked } from "marked";
import remend from "remend";

export interface Block {
  /** Stable while the text grows. */
  key: number;
  raw: string;
}

const OPTIONS = { gfm: true, breaks: false } as const;

export function lex(raw: string): Token[] {
  return marked.lexer(raw, OPTIONS);
}

/** Closes marks that the stream has not closed yet, so that half a link or bold word does not flash as signs. */
export function lexTail(raw: string): Token[] {
  return lex(remend(raw));
}

export class BlockStream {
  private text = "";
  private frozenLength = 0;
  private readonly frozen: Block[] = [];

  /** The whole text so far. A text that does not continue the last one starts anew. */
  update(text: string): readonly Block[] {
    if (!text.startsWith(this.text)) {
      this.frozen.length = 0;
      this.frozenLength = 0;
    }
    this.text = text;
    this.freeze();
    const rest = text.slice(this.frozenLength);
    return rest.trim() === "" ? [...this.frozen] : [...this.frozen, { key: this.frozen.length, raw: rest }];
  }

  private freeze(): void {
    const whole = this.text.slice(this.frozenLength, this.text.lastIndexOf("\n") + 1);
    if (whole.trim() === "") return;
    const tokens = lex(whole);
    const last = tokens.findLastIndex((token) => token.type !== "space");
    for (const token of tokens.slice(0, last)) {
      this.frozenLength += token.raw.length;
      if (token.type !== "space") this.frozen.push({ key: this.frozen.length, raw: token.raw });
    }
  }
}
