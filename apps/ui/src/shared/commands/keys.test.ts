import { expect, test } from "vitest";
import { type KeyPress, chordLabel, matches, parseChord } from "./keys";

function press(keys: Partial<KeyPress> & { key: string }): KeyPress {
  return { code: "", ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...keys };
}

test("keys match by meaning on every layout", () => {
  const cases: [string, Partial<KeyPress> & { key: string }, boolean, boolean][] = [
    ["Mod+P", { key: "p", ctrlKey: true }, false, true],
    ["Mod+P", { key: "P", ctrlKey: true, shiftKey: true }, false, false],
    ["Mod+Shift+P", { key: "P", ctrlKey: true, shiftKey: true }, false, true],
    ["Mod+P", { key: "p", metaKey: true }, true, true],
    ["Mod+P", { key: "p", metaKey: true }, false, false],
    // On macOS Alt+N types a dead key; the physical key says what was meant.
    ["Alt+N", { key: "˜", code: "KeyN", altKey: true }, true, true],
    ["Alt+Y", { key: "y", altKey: true, ctrlKey: true }, false, false],
    ["Mod+/", { key: "/", code: "Digit7", ctrlKey: true, shiftKey: true }, false, true],
    ["F6", { key: "F6" }, false, true],
    ["Shift+F6", { key: "F6", shiftKey: true }, false, true],
    ["F6", { key: "F6", shiftKey: true }, false, false],
    ["Mod+Shift+Backspace", { key: "Backspace", ctrlKey: true, shiftKey: true }, false, true],
  ];
  for (const [keys, event, mac, expected] of cases) {
    expect(matches(parseChord(keys), press(event), mac), `${keys} ${JSON.stringify(event)}`).toBe(expected);
  }
});

test("labels", () => {
  expect(chordLabel("Mod+Shift+P", false)).toBe("Ctrl+Shift+P");
  expect(chordLabel("Mod+Shift+P", true)).toBe("⇧⌘P");
  expect(chordLabel("Alt+Up", false)).toBe("Alt+↑");
});
