/** Colours code off the main thread. One highlighter, grammars on demand, colours as names of tokens.css. */
import { createCssVariablesTheme, createHighlighterCore } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import { GRAMMARS } from "./grammars";
import type { HighlightAnswer, HighlightRequest } from "./index";

const theme = createCssVariablesTheme({ name: "vibe-coder", variablePrefix: "--vc-syntax-" });
const highlighter = createHighlighterCore({
  themes: [theme],
  langs: [],
  engine: createJavaScriptRegexEngine({ forgiving: true }),
});
const loading = new Map<string, Promise<void>>();

self.addEventListener("message", (message: MessageEvent<HighlightRequest>) => {
  void answer(message.data).then((done) => self.postMessage(done));
});

async function answer({ id, text, grammar }: HighlightRequest): Promise<HighlightAnswer> {
  try {
    const core = await highlighter;
    const load = GRAMMARS[grammar];
    if (!loading.has(grammar)) loading.set(grammar, core.loadLanguage(load));
    await loading.get(grammar);
    const { tokens } = core.codeToTokens(text, { lang: grammar, theme: "vibe-coder" });
    return { id, lines: tokens.map((line) => line.map((token) => [token.content, token.color ?? ""])) };
  } catch {
    // A grammar that fails leaves the code readable without colours.
    return { id, lines: null };
  }
}
