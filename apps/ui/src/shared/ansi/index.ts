export { AnsiScreen, type Span, type Style } from "./screen";
export { AnsiLine } from "./AnsiLine";
