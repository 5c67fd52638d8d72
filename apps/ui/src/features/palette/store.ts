/** Whether the palette is open, and what is typed into it. */
import { createStore } from "../../shared/store";

export interface PaletteState {
  open: boolean;
  /** Begins with a prefix: `>` commands, `@` symbols are not known yet, `#` text in files, `:` a line; else files. */
  query: string;
}

export const paletteStore = createStore<PaletteState>(() => ({ open: false, query: "" }));

export type PaletteMode = "commands" | "files" | "text";

export function modeOf(query: string): { mode: PaletteMode; words: string } {
  if (query.startsWith(">")) return { mode: "commands", words: query.slice(1).trim() };
  if (query.startsWith("#")) return { mode: "text", words: query.slice(1).trim() };
  return { mode: "files", words: query.trim() };
}

/**
 * How well a title answers what was typed: letters in order, better at the beginning of words and in a row.
 * `null` when it does not.
 */
export function score(title: string, words: string): number | null {
  const text = title.toLowerCase();
  const wanted = words.toLowerCase().replaceAll(" ", "");
  let at = 0;
  let sum = 0;
  let row = 0;
  for (const letter of wanted) {
    const found = text.indexOf(letter, at);
    if (found < 0) return null;
    const startsWord = found === 0 || /[^a-z0-9]/.test(text[found - 1]!);
    row = found === at && at > 0 ? row + 1 : 0;
    sum += 1 + row * 2 + (startsWord ? 4 : 0) - Math.min(3, (found - at) * 0.1);
    at = found + 1;
  }
  // What was typed as it stands beats its letters scattered over a title.
  const whole = text.indexOf(words.toLowerCase());
  return sum + (whole < 0 || words === "" ? 0 : 30) - text.length * 0.01;
}
