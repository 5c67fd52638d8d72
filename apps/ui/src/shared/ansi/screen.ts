/**
 * The text of a program's output as a person saw it: colours, carriage returns, erased and rewritten lines.
 * Not a terminal: cursor moves outside the last lines and full-screen programs are not followed.
 */

export interface Style {
  /** A palette name ("red", "bright-red"), or "#rrggbb". */
  foreground?: string;
  background?: string;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  inverse?: boolean;
  strike?: boolean;
}

export interface Span {
  text: string;
  style: Style;
}

const PLAIN: Style = Object.freeze({});
const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
/** Longest parameter part of an escape sequence that is waited for; longer is not one. */
const LONGEST_SEQUENCE = 64;

interface Line {
  characters: string[];
  styles: Style[];
}

function emptyLine(): Line {
  return { characters: [], styles: [] };
}

export class AnsiScreen {
  private readonly lines: Line[] = [emptyLine()];
  private row = 0;
  private column = 0;
  private style: Style = PLAIN;
  /** The beginning of a sequence whose rest is in the next chunk. */
  private held = "";

  /** Any chunking of the same text gives the same lines. */
  write(chunk: string): void {
    const text = this.held + chunk;
    this.held = "";
    let index = 0;
    while (index < text.length) {
      const code = text.charCodeAt(index);
      if (code === 0x1b) {
        const used = this.escape(text, index);
        if (used === 0) {
          this.held = text.slice(index);
          return;
        }
        index += used;
      } else if (code === 0x0a) {
        this.newLine();
        index += 1;
      } else if (code === 0x0d) {
        this.column = 0;
        index += 1;
      } else if (code === 0x08) {
        this.column = Math.max(0, this.column - 1);
        index += 1;
      } else if (code === 0x09) {
        do this.put(" ");
        while (this.column % 8 !== 0);
        index += 1;
      } else if (code < 0x20 || code === 0x7f) {
        index += 1;
      } else {
        // A surrogate pair whose second half is in the next chunk waits for it.
        if (code >= 0xd800 && code < 0xdc00 && index + 1 === text.length) {
          this.held = text.slice(index);
          return;
        }
        const character = String.fromCodePoint(text.codePointAt(index)!);
        this.put(character);
        index += character.length;
      }
    }
  }

  /** How many lines there are; an empty last line is not one. */
  lineCount(): number {
    const last = this.lines[this.lines.length - 1];
    return this.lines.length - (last && last.characters.length === 0 ? 1 : 0);
  }

  line(index: number): Span[] {
    const line = this.lines[index];
    if (!line) return [];
    const spans: Span[] = [];
    let from = 0;
    for (let at = 1; at <= line.characters.length; at += 1) {
      if (at < line.characters.length && line.styles[at] === line.styles[from]) continue;
      spans.push({ text: line.characters.slice(from, at).join(""), style: line.styles[from] ?? PLAIN });
      from = at;
    }
    return spans;
  }

  plainLine(index: number): string {
    return this.lines[index]?.characters.join("") ?? "";
  }

  plainText(): string {
    const shown: string[] = [];
    for (let index = 0; index < this.lineCount(); index += 1) shown.push(this.plainLine(index));
    return shown.join("\n");
  }

  private put(character: string): void {
    const line = this.lines[this.row]!;
    while (line.characters.length < this.column) {
      line.characters.push(" ");
      line.styles.push(PLAIN);
    }
    line.characters[this.column] = character;
    line.styles[this.column] = this.style;
    this.column += 1;
  }

  private newLine(): void {
    this.row += 1;
    this.column = 0;
    if (this.row === this.lines.length) this.lines.push(emptyLine());
  }

  /** Characters used, or 0 when the sequence is not whole yet. */
  private escape(text: string, start: number): number {
    const kind = text[start + 1];
    if (kind === undefined) return 0;
    if (kind === "[") return this.controlSequence(text, start);
    if (kind === "]" || kind === "P" || kind === "_" || kind === "^") return skipString(text, start);
    return "()*+#% ".includes(kind) ? (start + 2 < text.length ? 3 : 0) : 2;
  }

  private controlSequence(text: string, start: number): number {
    let end = start + 2;
    while (end < text.length && text.charCodeAt(end) < 0x40) {
      end += 1;
      if (end - start > LONGEST_SEQUENCE) return 2;
    }
    if (end >= text.length) return 0;
    const body = text.slice(start + 2, end);
    const numbers = body.split(/[;:]/).map((part) => (part === "" ? 0 : Number.parseInt(part, 10) || 0));
    const first = numbers[0] ?? 0;
    switch (text[end]) {
      case "m":
        if (!/^[?<>=]/.test(body)) this.style = applyStyle(this.style, numbers);
        break;
      case "K":
        this.eraseInLine(first);
        break;
      case "J":
        if (first === 0) {
          this.eraseInLine(0);
          this.lines.length = this.row + 1;
        }
        break;
      case "G":
        this.column = Math.min(Math.max(first, 1), 4_096) - 1;
        break;
      case "C":
        this.column = Math.min(this.column + Math.max(first, 1), 4_096);
        break;
      case "D":
        this.column = Math.max(0, this.column - Math.max(first, 1));
        break;
      case "A":
      case "F":
        this.row = Math.max(0, this.row - Math.max(first, 1));
        if (text[end] === "F") this.column = 0;
        break;
      case "B":
      case "E":
        this.row = Math.min(this.lines.length - 1, this.row + Math.max(first, 1));
        if (text[end] === "E") this.column = 0;
        break;
      default:
    }
    return end - start + 1;
  }

  private eraseInLine(what: number): void {
    const line = this.lines[this.row]!;
    if (what === 0) {
      line.characters.length = Math.min(line.characters.length, this.column);
      line.styles.length = line.characters.length;
    } else if (what === 2) {
      line.characters.length = 0;
      line.styles.length = 0;
    } else {
      for (let at = 0; at <= this.column && at < line.characters.length; at += 1) {
        line.characters[at] = " ";
        line.styles[at] = PLAIN;
      }
    }
  }
}

/** Titles, links and other strings end with BEL or ESC \ and are not shown. */
function skipString(text: string, start: number): number {
  for (let at = start + 2; at < text.length; at += 1) {
    if (text.charCodeAt(at) === 0x07) return at - start + 1;
    if (text.charCodeAt(at) === 0x1b) {
      if (at + 1 >= text.length) return 0;
      return text[at + 1] === "\\" ? at - start + 2 : at - start;
    }
    if (at - start > 4_096) return 2;
  }
  return 0;
}

function applyStyle(before: Style, numbers: readonly number[]): Style {
  let style: Style = { ...before };
  for (let at = 0; at < numbers.length; at += 1) {
    const number = numbers[at]!;
    if (number === 0) style = {};
    else if (number === 1) style.bold = true;
    else if (number === 2) style.dim = true;
    else if (number === 3) style.italic = true;
    else if (number === 4) style.underline = true;
    else if (number === 7) style.inverse = true;
    else if (number === 9) style.strike = true;
    else if (number === 22) {
      delete style.bold;
      delete style.dim;
    } else if (number === 23) delete style.italic;
    else if (number === 24) delete style.underline;
    else if (number === 27) delete style.inverse;
    else if (number === 29) delete style.strike;
    else if (number >= 30 && number <= 37) style.foreground = COLOURS[number - 30]!;
    else if (number === 39) delete style.foreground;
    else if (number >= 40 && number <= 47) style.background = COLOURS[number - 40]!;
    else if (number === 49) delete style.background;
    else if (number >= 90 && number <= 97) style.foreground = COLOURS[number - 90]!;
    else if (number >= 100 && number <= 107) style.background = COLOURS[number - 100]!;
    else if (number === 38 || number === 48) {
      const colour = extendedColour(numbers, at + 1);
      at += colour.used;
      if (colour.value) style[number === 38 ? "foreground" : "background"] = colour.value;
    }
  }
  return Object.keys(style).length === 0 ? PLAIN : style;
}

function extendedColour(numbers: readonly number[], at: number): { value: string | null; used: number } {
  if (numbers[at] === 5) return { value: indexedColour(numbers[at + 1] ?? 0), used: 2 };
  if (numbers[at] === 2) {
    const [red = 0, green = 0, blue = 0] = numbers.slice(at + 1, at + 4);
    return { value: hex(red, green, blue), used: 4 };
  }
  return { value: null, used: numbers.length };
}

function indexedColour(index: number): string {
  if (index < 16) return COLOURS[index % 8]!;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return hex(grey, grey, grey);
  }
  const cube = index - 16;
  const level = (part: number) => (part === 0 ? 0 : 55 + part * 40);
  return hex(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function hex(...parts: number[]): string {
  return `#${parts.map((part) => Math.min(255, Math.max(0, part)).toString(16).padStart(2, "0")).join("")}`;
}
