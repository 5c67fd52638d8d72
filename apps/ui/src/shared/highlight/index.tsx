/** Coloured lines of a text, once the worker has them; `null` until then and for languages that are drawn plain. */
import { useEffect, useState } from "react";
import { type GrammarName, grammarName } from "./names";

export { grammarName } from "./names";

export interface HighlightRequest {
  id: number;
  text: string;
  grammar: GrammarName;
}

/** Text and CSS colour. */
export type ColouredToken = [text: string, colour: string];
export type ColouredLine = ColouredToken[];

export interface HighlightAnswer {
  id: number;
  lines: ColouredLine[] | null;
}

/** Longer texts stay plain: colours are a help for reading, and nobody reads that much in a card. */
const LONGEST_TEXT = 200_000;
const CACHED = 300;

const cache = new Map<string, ColouredLine[] | null>();
const asked = new Map<number, (lines: ColouredLine[] | null) => void>();
let worker: Worker | null = null;
let nextId = 1;

function ask(text: string, grammar: GrammarName): Promise<ColouredLine[] | null> {
  if (!worker) {
    worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", (message: MessageEvent<HighlightAnswer>) => {
      asked.get(message.data.id)?.(message.data.lines);
      asked.delete(message.data.id);
    });
  }
  const id = nextId++;
  worker.postMessage({ id, text, grammar } satisfies HighlightRequest);
  return new Promise((resolve) => asked.set(id, resolve));
}

export function useHighlight(text: string, language: string): ColouredLine[] | null {
  const grammar = grammarName(language);
  const key = grammar && text.length <= LONGEST_TEXT ? `${grammar}\n${text}` : null;
  const [arrived, setArrived] = useState<{ key: string; lines: ColouredLine[] | null } | null>(null);
  useEffect(() => {
    if (!key || !grammar || cache.has(key) || typeof Worker === "undefined") return;
    let wanted = true;
    // A growing block is asked about when it rests, not at every flush.
    const timer = setTimeout(() => {
      void ask(text, grammar).then((lines) => {
        if (cache.size >= CACHED) cache.delete(cache.keys().next().value!);
        cache.set(key, lines);
        if (wanted) setArrived({ key, lines });
      });
    }, 120);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [key, grammar, text]);
  if (!key) return null;
  return arrived?.key === key ? arrived.lines : (cache.get(key) ?? null);
}

export function colouredLine(line: ColouredLine) {
  return line.map(([text, colour], index) => (
    <span key={`${index}`} style={colour ? { color: colour } : undefined}>
      {text}
    </span>
  ));
}

export function highlighted(lines: readonly ColouredLine[]) {
  return lines.map((line, index) => (
    <span key={`${index}`}>
      {colouredLine(line)}
      {index < lines.length - 1 ? "\n" : ""}
    </span>
  ));
}
