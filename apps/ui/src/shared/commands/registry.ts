/**
 * Commands: each declared once, and palette, menus, tooltips and shortcuts read the declaration.
 * Owns the table and the search for a key press; who runs a command and what it does is the feature's.
 */
import { type KeyPress, matches, parseChord } from "./keys";

/** Where the focus must be for a key to count. `anywhere` includes text fields, so such keys carry Mod, Alt or F. */
export type KeyPlace = "anywhere" | "composer" | "timeline" | "approval" | "review" | "tree" | "editor";

export interface Command {
  /** "area.verb", stable: settings and tests name it. */
  id: string;
  /** As the palette shows it: sentence case, a verb first. */
  title: string;
  /** The palette groups by it. */
  group: "Chat" | "Changes" | "Files" | "View" | "Workspace" | "Settings";
  /** The first is shown in tooltips. */
  keys?: readonly string[];
  place?: KeyPlace;
  /** Why it cannot be run now, in words; `null` when it can. */
  unavailable?(): string | null;
  /** Left out of the palette, for example because it needs an argument. */
  internal?: boolean;
  run(argument?: unknown): void | Promise<void>;
}

const table = new Map<string, Command>();

export function declareCommands(commands: readonly Command[]): void {
  for (const declared of commands) table.set(declared.id, declared);
}

export function allCommands(): Command[] {
  return [...table.values()];
}

export function command(id: string): Command | undefined {
  return table.get(id);
}

/** Runs a command by its id. Unknown ids and unavailable commands do nothing. */
export function run(id: string, argument?: unknown): void {
  const found = table.get(id);
  if (!found || found.unavailable?.()) return;
  void found.run(argument);
}

/** A key that means something where the focus is goes before what it means anywhere. */
export function commandForKey(press: KeyPress, places: ReadonlySet<KeyPlace>, mac: boolean): Command | null {
  let anywhere: Command | null = null;
  for (const candidate of table.values()) {
    const place = candidate.place ?? "anywhere";
    if (!places.has(place)) continue;
    if (!(candidate.keys ?? []).some((keys) => matches(parseChord(keys), press, mac))) continue;
    if (place !== "anywhere") return candidate;
    anywhere ??= candidate;
  }
  return anywhere;
}

/** Pairs of commands that the same key in the same place would run. */
export function conflicts(commands: readonly Command[] = allCommands()): [string, string, string][] {
  const found: [string, string, string][] = [];
  const seen = new Map<string, string>();
  for (const candidate of commands) {
    for (const keys of candidate.keys ?? []) {
      const slot = `${candidate.place ?? "anywhere"} ${JSON.stringify(parseChord(keys))}`;
      const other = seen.get(slot);
      if (other) found.push([other, candidate.id, keys]);
      else seen.set(slot, candidate.id);
    }
  }
  return found;
}
