/** The mirror under the text box: the same text, with file references tinted. */
import { Fragment } from "react";

/** "@src/app.ts", "@src/": a word that begins with @ and looks like a path. */
const REFERENCE = /(^|\s)(@[^\s@]*[/.][^\s@]*)/g;

export function Highlighted({ text }: { text: string }) {
  const parts: { text: string; reference: boolean }[] = [];
  let from = 0;
  for (const found of text.matchAll(REFERENCE)) {
    const start = found.index + found[1]!.length;
    parts.push({ text: text.slice(from, start), reference: false }, { text: found[2]!, reference: true });
    from = start + found[2]!.length;
  }
  parts.push({ text: text.slice(from), reference: false });
  return (
    <>
      {parts.map((part, index) => {
        const key = `${index}`;
        return part.reference ? <mark key={key}>{part.text}</mark> : <Fragment key={key}>{part.text}</Fragment>;
      })}
      {/* A last empty line has a height in the box and none in the mirror. */}
      {"\u200b"}
    </>
  );
}
