/** The names people write for the grammars that ship with the screen. No grammar is loaded by asking for a name. */

/** Each has an entry in grammars.ts. */
export const GRAMMAR_NAMES = [
  "bash",
  "c",
  "cpp",
  "csharp",
  "css",
  "diff",
  "docker",
  "go",
  "html",
  "java",
  "javascript",
  "json",
  "jsx",
  "kotlin",
  "make",
  "markdown",
  "php",
  "python",
  "ruby",
  "rust",
  "sql",
  "swift",
  "toml",
  "tsx",
  "typescript",
  "xml",
  "yaml",
] as const;

export type GrammarName = (typeof GRAMMAR_NAMES)[number];

const ALIASES: Record<string, GrammarName> = {
  "c++": "cpp",
  console: "bash",
  cs: "csharp",
  dockerfile: "docker",
  golang: "go",
  h: "c",
  hpp: "cpp",
  js: "javascript",
  kt: "kotlin",
  makefile: "make",
  md: "markdown",
  mjs: "javascript",
  patch: "diff",
  py: "python",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  ts: "typescript",
  yml: "yaml",
  zsh: "bash",
};

const KNOWN: ReadonlySet<string> = new Set(GRAMMAR_NAMES);

/** The grammar for a language name or a file ending; `null` for what is drawn plain. */
export function grammarName(name: string): GrammarName | null {
  const lower = name.toLowerCase();
  const grammar = ALIASES[lower] ?? lower;
  return KNOWN.has(grammar) ? (grammar as GrammarName) : null;
}
