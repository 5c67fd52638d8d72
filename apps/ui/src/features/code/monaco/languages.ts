/** Languages the editor colours. Grammars are loaded when a file needs one; the engine, not a worker, knows meanings. */
import "monaco-editor/languages/definitions/register.all";
import { languages } from "monaco-editor/editor";

const BRACKETS: languages.LanguageConfiguration = {
  brackets: [
    ["{", "}"],
    ["[", "]"],
  ],
  autoClosingPairs: [
    { open: "{", close: "}" },
    { open: "[", close: "]" },
    { open: '"', close: '"', notIn: ["string"] },
  ],
};

languages.register({ id: "json", extensions: [".json", ".jsonc", ".json5", ".webmanifest", ".code-workspace"], aliases: ["JSON", "json"] });
languages.setLanguageConfiguration("json", { ...BRACKETS, comments: { lineComment: "//", blockComment: ["/*", "*/"] } });
languages.setMonarchTokensProvider("json", {
  tokenizer: {
    root: [
      [/"(?:[^"\\]|\\.)*"(?=\s*:)/, "type"],
      [/"(?:[^"\\]|\\.)*"/, "string"],
      [/-?\d+(\.\d+)?([eE][-+]?\d+)?/, "number"],
      [/\b(true|false|null)\b/, "keyword"],
      [/\/\/.*$/, "comment"],
      [/\/\*/, "comment", "@comment"],
      [/[{}[\],:]/, "delimiter"],
    ],
    comment: [
      [/\*\//, "comment", "@pop"],
      [/./, "comment"],
    ],
  },
});

languages.register({ id: "toml", extensions: [".toml"], filenames: ["Cargo.lock", "poetry.lock"], aliases: ["TOML", "toml"] });
languages.setLanguageConfiguration("toml", { ...BRACKETS, comments: { lineComment: "#" } });
languages.setMonarchTokensProvider("toml", {
  tokenizer: {
    root: [
      [/#.*$/, "comment"],
      [/^\s*\[\[?[^\]]*\]\]?/, "type"],
      [/[\w.-]+(?=\s*=)/, "variable"],
      [/"""/, "string", "@text"],
      [/"(?:[^"\\]|\\.)*"|'[^']*'/, "string"],
      [/\b(true|false|inf|nan)\b/, "keyword"],
      [/\d{4}-\d\d-\d\d[T ]?[\d:.Z+-]*/, "number"],
      [/[-+]?\d[\d_]*(\.\d+)?([eE][-+]?\d+)?/, "number"],
      [/[{}[\],=]/, "delimiter"],
    ],
    text: [
      [/"""/, "string", "@pop"],
      [/./, "string"],
    ],
  },
});
