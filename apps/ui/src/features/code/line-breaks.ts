/**
 * The line breaks of a text that mixes them. The editor knows one kind per text and would change the others on save;
 * this keeps each break of each line, so that a save changes only what was typed.
 */
export type Break = "\n" | "\r\n" | "\r";

/** What the editor says about one edit: lines are 1-based, both ends inclusive. */
export interface LineEdit {
  from: number;
  to: number;
  text: string;
}

const BREAKS = /\r\n|\n|\r/g;

export class LineBreaks {
  private breaks: Break[];
  /** What a new line gets: the kind that most lines have. */
  readonly usual: Break;

  private constructor(breaks: Break[], usual: Break) {
    this.breaks = breaks;
    this.usual = usual;
  }

  /** `null` where all breaks are of one kind that the editor keeps by itself. */
  static ofMixed(text: string): LineBreaks | null {
    const breaks = (text.match(BREAKS) ?? []) as Break[];
    const counts = new Map<Break, number>();
    for (const each of breaks) counts.set(each, (counts.get(each) ?? 0) + 1);
    if (counts.size === 0 || (counts.size === 1 && !counts.has("\r"))) return null;
    const [usual] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one));
    return new LineBreaks(breaks, usual);
  }

  /** Edits of one change, which the editor gives from the last to the first. */
  apply(edits: readonly LineEdit[]): void {
    for (const edit of [...edits].sort((one, other) => other.from - one.from)) {
      const added = edit.text.match(BREAKS)?.length ?? 0;
      const fresh = new Array<Break>(added).fill(this.usual);
      const before = this.breaks.slice(edit.from - 1, edit.to - 1);
      // A replacement with as many lines keeps the breaks that were there.
      const kept = before.length === added ? before : fresh;
      this.breaks = [...this.breaks.slice(0, edit.from - 1), ...kept, ...this.breaks.slice(edit.to - 1)];
    }
  }

  join(lines: readonly string[]): string {
    let text = "";
    for (let index = 0; index < lines.length; index += 1) {
      text += lines[index]!;
      if (index < lines.length - 1) text += this.breaks[index] ?? this.usual;
    }
    return text;
  }
}

/** The smallest single replacement that makes one text into the other; `null` when they are the same. */
export function smallestEdit(before: string, after: string): { start: number; end: number; text: string } | null {
  if (before === after) return null;
  let start = 0;
  const most = Math.min(before.length, after.length);
  while (start < most && before[start] === after[start]) start += 1;
  let tail = 0;
  while (tail < most - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  // Neither a pair of surrogates nor CR LF is cut in two.
  const splits = (text: string, at: number) => at > 0 && at < text.length && (/[\uD800-\uDBFF]/.test(text[at - 1]!) || text[at - 1] === "\r");
  while (start > 0 && (splits(before, start) || splits(after, start))) start -= 1;
  while (tail > 0 && (splits(before, before.length - tail) || splits(after, after.length - tail))) tail -= 1;
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}
