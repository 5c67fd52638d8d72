/** Widths and presets of the three columns. Dragging writes CSS variables; this store hears of it at the end. */
import type { JsonValue } from "../../protocol";
import { createStore } from "../../shared/store";

export type Preset = "balanced" | "chat" | "review" | "code";
export type Column = "files" | "code";

export interface Widths {
  files: number;
  code: number;
  filesOpen: boolean;
  codeOpen: boolean;
}

export interface ShellState {
  preset: Preset;
  /** The last widths of each preset. */
  widths: Readonly<Record<Preset, Widths>>;
  /** The files drawer of a narrow window. */
  drawerOpen: boolean;
  /** The one column that a very narrow window shows. */
  shown: "files" | "chat" | "code";
}

export const LIMITS = { files: { min: 200, max: 420 }, code: { min: 380, max: 2_000 }, chatMin: 420 } as const;

export function defaultWidths(preset: Preset, window: number): Widths {
  const files = window >= 1_440 ? 240 : 220;
  const share = window >= 1_440 ? 0.44 : 0.42;
  const code = Math.max(LIMITS.code.min, Math.round((window - files) * share));
  switch (preset) {
    case "balanced":
      return { files, code, filesOpen: true, codeOpen: true };
    case "chat":
      return { files, code, filesOpen: true, codeOpen: false };
    case "review":
      return { files, code: Math.max(LIMITS.code.min, window - files - 440), filesOpen: true, codeOpen: true };
    case "code":
      return { files: 240, code: Math.max(LIMITS.code.min, window - 240 - 420), filesOpen: true, codeOpen: true };
  }
}

export function freshShell(window: number): ShellState {
  return {
    preset: "balanced",
    widths: {
      balanced: defaultWidths("balanced", window),
      chat: defaultWidths("chat", window),
      review: defaultWidths("review", window),
      code: defaultWidths("code", window),
    },
    drawerOpen: false,
    shown: "chat",
  };
}

export const shellStore = createStore<ShellState>(() => freshShell(globalThis.innerWidth || 1_440));

export function currentWidths(state: ShellState): Widths {
  return state.widths[state.preset];
}

/** A layout that was kept; what does not fit is left at its default. */
export function readShell(value: JsonValue | undefined, window: number): ShellState {
  const fresh = freshShell(window);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return fresh;
  const widths = { ...fresh.widths };
  const stored = value["widths"];
  if (typeof stored === "object" && stored !== null && !Array.isArray(stored)) {
    for (const preset of ["balanced", "chat", "review", "code"] as const) {
      const entry = stored[preset];
      if (typeof entry !== "object" || entry === null || Array.isArray(entry)) continue;
      widths[preset] = {
        files: typeof entry["files"] === "number" ? clamp("files", entry["files"]) : widths[preset].files,
        code: typeof entry["code"] === "number" ? clamp("code", entry["code"]) : widths[preset].code,
        filesOpen: entry["filesOpen"] !== false,
        codeOpen: entry["codeOpen"] === true || (entry["codeOpen"] === undefined && widths[preset].codeOpen),
      };
    }
  }
  const preset = value["preset"];
  return {
    ...fresh,
    widths,
    preset: preset === "chat" || preset === "review" || preset === "code" ? preset : "balanced",
  };
}

export function clamp(column: Column, width: number): number {
  return Math.min(LIMITS[column].max, Math.max(LIMITS[column].min, width));
}
