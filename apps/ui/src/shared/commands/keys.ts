/** Reads key declarations ("Mod+Shift+P", "Alt+Enter", "F6") and compares them with key presses. Pure. */

export interface Chord {
  mod: boolean;
  shift: boolean;
  alt: boolean;
  /** A `KeyboardEvent.key` in lower case, or a single character. */
  key: string;
}

const NAMES: Record<string, string> = {
  up: "arrowup",
  down: "arrowdown",
  left: "arrowleft",
  right: "arrowright",
  esc: "escape",
  space: " ",
};

export function parseChord(text: string): Chord {
  const parts = text.split("+");
  // "Mod++" names the plus key itself.
  const last = parts.pop() || "+";
  const key = last.toLowerCase();
  const has = (name: string) => parts.some((part) => part.toLowerCase() === name);
  return { mod: has("mod"), shift: has("shift"), alt: has("alt"), key: NAMES[key] ?? key };
}

export type KeyPress = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">;

export function matches(chord: Chord, press: KeyPress, mac: boolean): boolean {
  const mod = mac ? press.metaKey : press.ctrlKey;
  const other = mac ? press.ctrlKey : press.metaKey;
  if (other || mod !== chord.mod || press.altKey !== chord.alt) return false;
  if (press.key.toLowerCase() === chord.key) return press.shiftKey === chord.shift || !isLetterOrName(chord.key);
  // With Alt or Shift the character differs by layout and system; the physical key still says which was meant.
  return press.shiftKey === chord.shift && physicalKey(press.code) === chord.key;
}

/** For punctuation Shift may be part of typing the character itself. */
function isLetterOrName(key: string): boolean {
  return key.length > 1 || /[a-z0-9 ]/.test(key);
}

function physicalKey(code: string): string | null {
  if (code.startsWith("Key")) return code.slice(3).toLowerCase();
  if (code.startsWith("Digit")) return code.slice(5);
  const punctuation: Record<string, string> = {
    Comma: ",",
    Period: ".",
    Slash: "/",
    Semicolon: ";",
    Backquote: "`",
    BracketLeft: "[",
    BracketRight: "]",
    Backslash: "\\",
  };
  return punctuation[code] ?? null;
}

/** As a tooltip shows it: "Ctrl+Shift+P", on macOS "⌘⇧P". */
export function chordLabel(text: string, mac: boolean): string {
  const chord = parseChord(text);
  const shown = chord.key.startsWith("arrow")
    ? { arrowup: "↑", arrowdown: "↓", arrowleft: "←", arrowright: "→" }[chord.key]!
    : chord.key === " "
      ? "Space"
      : chord.key.charAt(0).toUpperCase() + chord.key.slice(1);
  if (mac) return `${chord.alt ? "⌥" : ""}${chord.shift ? "⇧" : ""}${chord.mod ? "⌘" : ""}${shown}`;
  return [chord.mod && "Ctrl", chord.alt && "Alt", chord.shift && "Shift", shown].filter(Boolean).join("+");
}
