export { Markdown, type OpenPath } from "./Markdown";
export { CodeBlock } from "./CodeBlock";
export { BlockStream, lex } from "./blocks";
