/** The compact unified diff: the engine's own hunks, drawn row by row. No difference is computed here. */
import type { DiffHunk, DiffLine, LineEnding } from "../../protocol";
import { colouredLine, useHighlight } from "../../shared/highlight";
import { Button } from "../../shared/ui";
import styles from "./DiffHunks.module.css";

export type DecideHunk = (number: number, verb: "accept" | "reject") => void;

interface DiffHunksProps {
  path: string;
  hunks: readonly DiffHunk[];
  /** `null` where nothing can be decided. */
  decide: DecideHunk | null;
}

export function DiffHunks({ path, hunks, decide }: DiffHunksProps) {
  return (
    <div className={styles.diff} role="region" aria-label={`Difference in ${path}`}>
      {hunks.map((hunk) => (
        <Hunk key={hunk.number} path={path} hunk={hunk} of={hunks.length} decide={decide} />
      ))}
    </div>
  );
}

function Hunk({ path, hunk, of, decide }: { path: string; hunk: DiffHunk; of: number; decide: DecideHunk | null }) {
  const ending = path.slice(path.lastIndexOf(".") + 1);
  // Both sides in one text: nearly every line is coloured as in its file, and one question serves the hunk.
  const colours = useHighlight(hunk.lines.map((line) => line.text).join("\n"), ending);
  const numbers = lineNumbers(hunk);
  return (
    <div>
      <div className={styles.head}>
        <span className={styles.place}>
          Hunk {hunk.number} of {of} · line {Math.max(1, hunk.newStart)}
        </span>
        {decide && (
          <span className={styles.actions}>
            <Button size="small" look="quiet" onClick={() => decide(hunk.number, "accept")}>
              Accept
            </Button>
            <Button size="small" look="quiet" onClick={() => decide(hunk.number, "reject")}>
              Reject
            </Button>
          </span>
        )}
      </div>
      <div className={styles.scroller} tabIndex={0} role="group" aria-label={`Hunk ${hunk.number}`}>
        <table className={styles.table}>
          <tbody>
            {hunk.lines.map((line, index) => (
              <tr key={`${index}`} data-kind={line.kind}>
                <td className={styles.number}>{numbers[index]?.[0] ?? ""}</td>
                <td className={styles.number}>{numbers[index]?.[1] ?? ""}</td>
                <td className={styles.sign}>
                  <span className="vc-hidden">{WORDS[line.kind]}</span>
                  <span aria-hidden="true">{SIGNS[line.kind]}</span>
                </td>
                <td className={styles.code}>
                  {colours?.[index] ? colouredLine(colours[index]) : line.text}
                  <EndingMark line={line} other={counterpart(hunk.lines, index)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

const SIGNS = { context: " ", added: "+", deleted: "−" } as const;
const WORDS = { context: "", added: "Added", deleted: "Deleted" } as const;

/** Old and new line number of each row; `null` where a side has none. */
export function lineNumbers(hunk: DiffHunk): [number | null, number | null][] {
  let old = hunk.oldStart;
  let fresh = hunk.newStart;
  return hunk.lines.map((line) => {
    if (line.kind === "deleted") return [old++, null];
    if (line.kind === "added") return [null, fresh++];
    return [old++, fresh++];
  });
}

/** The line of the other side with the same text: then only the ending differs, and it must be seen. */
function counterpart(lines: readonly DiffLine[], index: number): DiffLine | null {
  const line = lines[index]!;
  if (line.kind === "context") return null;
  const wanted = line.kind === "added" ? "deleted" : "added";
  return lines.find((other) => other.kind === wanted && other.text === line.text) ?? null;
}

const ENDING_WORDS: Record<LineEnding, string> = { lf: "LF", crlf: "CRLF", none: "no newline at the end" };

function EndingMark({ line, other }: { line: DiffLine; other: DiffLine | null }) {
  if (line.ending !== "none" && !(other && other.ending !== line.ending)) return null;
  return <span className={styles.ending}>{ENDING_WORDS[line.ending]}</span>;
}
