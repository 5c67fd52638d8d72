/** Moving between regions, folding columns, presets. */
import { declareCommands } from "../../shared/commands";
import { keep } from "../../shared/kept";
import { type Column, type Preset, type Widths, clamp, currentWidths, defaultWidths, shellStore } from "./store";

/** Ids of the landmark elements, in tab order. */
export const REGIONS = ["region-top", "region-files", "region-chat", "region-composer", "region-code", "region-status"];

function change(widths: Partial<Widths>): void {
  shellStore.setState((state) => ({
    widths: { ...state.widths, [state.preset]: { ...currentWidths(state), ...widths } },
  }));
  store();
}

function store(): void {
  const { preset, widths } = shellStore.getState();
  const plain = Object.fromEntries(Object.entries(widths).map(([name, entry]) => [name, { ...entry }]));
  keep("layout", { preset, widths: plain });
}

export function setWidth(column: Column, width: number): void {
  change(column === "files" ? { files: clamp("files", width) } : { code: clamp("code", width) });
}

export function resetWidth(column: Column): void {
  const fresh = defaultWidths(shellStore.getState().preset, window.innerWidth);
  change(column === "files" ? { files: fresh.files } : { code: fresh.code });
}

export function fold(column: Column): void {
  change(column === "files" ? { filesOpen: false } : { codeOpen: false });
}

/** Opens a column if it is folded, so that what was asked for can be seen. */
export function unfold(column: Column): void {
  const widths = currentWidths(shellStore.getState());
  if (column === "files" && !widths.filesOpen) change({ filesOpen: true });
  if (column === "code" && !widths.codeOpen) change({ codeOpen: true });
  if (window.innerWidth < 820) shellStore.setState({ shown: column });
}

export function setPreset(preset: Preset): void {
  shellStore.setState({ preset });
  store();
}

function toggle(column: Column): void {
  if (column === "files" && window.innerWidth < 1_100 && window.innerWidth >= 820) {
    shellStore.setState(({ drawerOpen }) => ({ drawerOpen: !drawerOpen }));
    return;
  }
  const widths = currentWidths(shellStore.getState());
  change(column === "files" ? { filesOpen: !widths.filesOpen } : { codeOpen: !widths.codeOpen });
}

/** Focuses the first thing in a region that takes the focus, else the region itself. */
export function focusRegion(id: string): void {
  const region = document.getElementById(id);
  if (!region) return;
  const inside = region.querySelector<HTMLElement>(
    'textarea, [tabindex="0"], [role="tree"], input:not([disabled]), button:not([disabled])',
  );
  (inside ?? region).focus();
}

function cycle(step: 1 | -1): void {
  const shown = REGIONS.filter((id) => document.getElementById(id));
  const at = shown.findIndex((id) => document.getElementById(id)?.contains(document.activeElement));
  const next = shown[(at + step + shown.length) % shown.length];
  if (next) focusRegion(next);
}

export function declareShellCommands(): void {
  const preset = (name: Preset, number: number, title: string) => ({
    id: `layout.${name}`,
    title,
    group: "View" as const,
    keys: [`Alt+${number}`],
    run: () => setPreset(name),
  });
  const goTo = (column: "files" | "chat" | "code", number: number, title: string, region: string) => ({
    id: `focus.${column}`,
    title,
    group: "View" as const,
    keys: [`Mod+${number}`],
    run: () => {
      if (column !== "chat") unfold(column);
      else shellStore.setState({ shown: "chat" });
      // The column is drawn in the next frame.
      requestAnimationFrame(() => focusRegion(region));
    },
  });
  declareCommands([
    goTo("files", 1, "Go to files", "region-files"),
    goTo("chat", 2, "Go to the conversation", "region-chat"),
    goTo("code", 3, "Go to code", "region-code"),
    { id: "focus.next", title: "Next region", group: "View", keys: ["F6"], run: () => cycle(1) },
    { id: "focus.previous", title: "Previous region", group: "View", keys: ["Shift+F6"], run: () => cycle(-1) },
    { id: "layout.toggleFiles", title: "Show or hide files", group: "View", keys: ["Mod+B"], run: () => toggle("files") },
    { id: "layout.toggleCode", title: "Show or hide code", group: "View", keys: ["Mod+J"], run: () => toggle("code") },
    preset("balanced", 1, "Layout: balanced"),
    preset("chat", 2, "Layout: chat"),
    preset("review", 3, "Layout: review"),
    preset("code", 4, "Layout: code"),
  ]);
}
