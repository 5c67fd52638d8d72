import { beforeAll, expect, test } from "vitest";
import { allCommands, commandForKey, conflicts } from "../shared/commands";
import { parseChord } from "../shared/commands/keys";
import { declareAll } from "./declare";

beforeAll(declareAll);

test("no key runs two commands, and none needs AltGr or a bare letter", () => {
  expect(conflicts()).toEqual([]);
  for (const command of allCommands()) {
    for (const keys of command.keys ?? []) {
      const chord = parseChord(keys);
      expect(chord.mod && chord.alt, keys).toBe(false);
      if (chord.key.length === 1) expect(chord.mod || chord.alt, `${command.id} ${keys}`).toBe(true);
    }
  }
});

test("a browser tab takes some keys for itself; no command has only those", () => {
  const reserved = new Set(["Mod+N", "Mod+T", "Mod+W"]);
  for (const command of allCommands()) {
    const keys = command.keys ?? [];
    if (keys.length > 0) expect(keys.some((key) => !reserved.has(key)), command.id).toBe(true);
  }
});

test("an approval key counts only where an approval is armed", () => {
  const key = { key: "y", code: "KeyY", ctrlKey: false, metaKey: false, shiftKey: false, altKey: true };
  expect(commandForKey(key, new Set(["anywhere"]), false)).toBeNull();
  expect(commandForKey(key, new Set(["anywhere", "approval"]), false)?.id).toBe("approval.allow");
});
