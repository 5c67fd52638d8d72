/** The editor's colours, read from the tokens so that there is one palette. */
import type { editor } from "monaco-editor/editor";

type Editor = typeof editor;

const SYNTAX: readonly (readonly [rule: string, token: string, style?: string])[] = [
  ["", "text"],
  ["comment", "syntax-token-comment"],
  ["string", "syntax-token-string"],
  ["string.escape", "syntax-token-constant"],
  ["regexp", "syntax-token-constant"],
  ["number", "syntax-token-constant"],
  ["constant", "syntax-token-constant"],
  ["keyword", "syntax-token-keyword"],
  ["operator", "syntax-token-punctuation"],
  ["delimiter", "syntax-token-punctuation"],
  ["type", "syntax-token-function"],
  ["function", "syntax-token-function"],
  ["tag", "syntax-token-keyword"],
  ["attribute.name", "syntax-token-function"],
  ["attribute.value", "syntax-token-string"],
  ["annotation", "syntax-token-constant"],
  ["variable", "syntax-token-parameter"],
  ["metatag", "syntax-token-keyword"],
];

const COLOURS: Record<string, string> = {
  "editor.background": "canvas",
  "editor.foreground": "text",
  "editorLineNumber.foreground": "muted",
  "editorLineNumber.activeForeground": "text",
  "editorCursor.foreground": "accent",
  "editorIndentGuide.background1": "line",
  "editorIndentGuide.activeBackground1": "line-strong",
  "editorWhitespace.foreground": "line-strong",
  "editorRuler.foreground": "line",
  "editorWidget.background": "raised",
  "editorWidget.border": "line-strong",
  "editorHoverWidget.background": "raised",
  "editorHoverWidget.border": "line-strong",
  "editorSuggestWidget.background": "raised",
  "editorSuggestWidget.border": "line-strong",
  "editorSuggestWidget.selectedBackground": "selected",
  "editorSuggestWidget.selectedForeground": "strong",
  "editorSuggestWidget.highlightForeground": "accent",
  "editorStickyScroll.background": "canvas",
  "editorStickyScrollHover.background": "hover",
  "editorStickyScroll.border": "line",
  "editorOverviewRuler.border": "line",
  "diffEditor.insertedLineBackground": "diff-add",
  "diffEditor.insertedTextBackground": "diff-add-word",
  "diffEditor.removedLineBackground": "diff-del",
  "diffEditor.removedTextBackground": "diff-del-word",
  "diffEditor.diagonalFill": "line",
  "diffEditor.unchangedRegionBackground": "base",
  "diffEditor.unchangedRegionForeground": "muted",
  "diffEditor.border": "line",
  "input.background": "canvas",
  "input.foreground": "text",
  "input.border": "control",
  "inputOption.activeBorder": "accent",
  focusBorder: "accent",
  "list.hoverBackground": "hover",
  "list.activeSelectionBackground": "selected",
  "list.activeSelectionForeground": "strong",
  "list.focusBackground": "selected",
  "list.focusForeground": "strong",
  "quickInput.background": "raised",
  "quickInput.foreground": "text",
  "menu.background": "raised",
  "menu.foreground": "text",
  "menu.selectionBackground": "hover",
  "menu.selectionForeground": "text",
  "menu.border": "line-strong",
  "menu.separatorBackground": "line",
  "scrollbarSlider.background": "line-strong",
  "scrollbarSlider.hoverBackground": "control",
  "scrollbarSlider.activeBackground": "control",
  "editorBracketMatch.border": "control",
  "editorGutter.foldingControlForeground": "muted",
};

/** With these shares of the accent or another token; the rest shows through. */
const VEILS: Record<string, readonly [token: string, percent: number]> = {
  "editor.selectionBackground": ["accent", 28],
  "editor.inactiveSelectionBackground": ["accent", 16],
  "editor.wordHighlightBackground": ["muted", 18],
  "editor.wordHighlightStrongBackground": ["accent", 18],
  "editor.findMatchBackground": ["warn", 40],
  "editor.findMatchHighlightBackground": ["warn", 20],
  "editor.lineHighlightBackground": ["muted", 8],
  "editorBracketMatch.background": ["muted", 16],
  "widget.shadow": ["canvas", 0],
  "scrollbar.shadow": ["canvas", 0],
  "diffEditor.unchangedCodeBackground": ["canvas", 0],
  "editor.lineHighlightBorder": ["canvas", 0],
};

/** "rgb(1 2 3 / 0.5)" and "color(srgb 0.1 0.2 0.3 / 0.5)", as browsers give computed colours, to "#rrggbbaa". */
export function hexOf(computed: string): string {
  const numbers = (computed.match(/-?[\d.]+(e-?\d+)?/g) ?? []).map(Number);
  const scale = computed.startsWith("color(") ? 255 : 1;
  const parts = [...numbers.slice(0, 3).map((part) => part * scale), (numbers[3] ?? 1) * 255];
  return `#${parts.map((part) => Math.min(255, Math.max(0, Math.round(part))).toString(16).padStart(2, "0")).join("")}`;
}

/** Defines the theme anew whenever the window's theme changes, and once now. */
export function defineThemes(editors: Editor): void {
  const define = () => {
    const probe = document.createElement("span");
    probe.hidden = true;
    document.body.append(probe);
    const read = (value: string) => {
      probe.style.color = value;
      return hexOf(getComputedStyle(probe).color);
    };
    const token = (name: string) => read(`var(--vc-${name})`);
    const light = document.documentElement.dataset["theme"] === "light";
    editors.defineTheme("vibe-coder", {
      base: light ? "vs" : "vs-dark",
      inherit: true,
      rules: SYNTAX.map(([rule, name]) => ({ token: rule, foreground: token(name).slice(1, 7) })),
      colors: {
        ...Object.fromEntries(Object.entries(COLOURS).map(([key, name]) => [key, token(name)])),
        // Pairs are told apart by the match under the caret, not by six colours.
        ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((depth) => [`editorBracketHighlight.foreground${depth}`, token("syntax-token-punctuation")])),
        ...Object.fromEntries(
          Object.entries(VEILS).map(([key, [name, percent]]) => [key, read(`color-mix(in srgb, var(--vc-${name}) ${percent}%, transparent)`)]),
        ),
      },
    });
    editors.setTheme("vibe-coder");
    probe.remove();
  };
  define();
  new MutationObserver(define).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
}
