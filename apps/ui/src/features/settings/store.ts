/** The user's preferences for the screen. Kept in the settings file that all workspaces share. */
import type { Approvals, JsonValue } from "../../protocol";
import { createStore } from "../../shared/store";

export type Theme = "system" | "dark" | "light";
export type Trust = "careful" | "balanced" | "handsOff";

export interface Preferences {
  theme: Theme;
  /** Pixels, 13 to 17. */
  chatSize: number;
  /** Pixels, 11 to 18. */
  editorSize: number;
  ligatures: boolean;
  trust: Trust;
  /** Whether the first-run steps were done or skipped. */
  welcomed: boolean;
}

export const defaults: Preferences = {
  theme: "system",
  chatSize: 14,
  editorSize: 13,
  ligatures: false,
  trust: "balanced",
  welcomed: false,
};

export interface SettingsState {
  preferences: Preferences;
  loaded: boolean;
  /** The open page of the settings dialog; `null` when it is closed. */
  page: SettingsPage | null;
}

export type SettingsPage = "models" | "trust" | "appearance" | "keys" | "islands" | "about";

export const settingsStore = createStore<SettingsState>(() => ({ preferences: defaults, loaded: false, page: null }));

/** What becomes of a command that needs a person. */
export function approvalsOf(trust: Trust): Approvals {
  return trust === "careful" ? "deny" : trust === "balanced" ? "ask" : "allow";
}

export const TRUST_WORDS: Record<Trust, { name: string; note: string }> = {
  careful: {
    name: "Careful",
    note: "Read-only commands run. Every other command is refused, with the reason told to the model.",
  },
  balanced: { name: "Balanced", note: "Read-only commands run. Every other command asks you first." },
  handsOff: {
    name: "Hands-off",
    note: "Commands run without asking. What is always blocked stays blocked, and edits still wait for your review.",
  },
};

/** Takes what is known from a settings value and leaves the rest at its default. */
export function readPreferences(value: JsonValue): Preferences {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return defaults;
  const size = (field: JsonValue | undefined, from: number, to: number, otherwise: number) =>
    typeof field === "number" ? Math.min(to, Math.max(from, field)) : otherwise;
  const theme = value["theme"];
  const trust = value["trust"];
  return {
    theme: theme === "dark" || theme === "light" ? theme : "system",
    chatSize: size(value["chatSize"], 13, 17, defaults.chatSize),
    editorSize: size(value["editorSize"], 11, 18, defaults.editorSize),
    ligatures: value["ligatures"] === true,
    trust: trust === "careful" || trust === "handsOff" ? trust : "balanced",
    welcomed: value["welcomed"] === true,
  };
}
