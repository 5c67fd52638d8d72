/** The context view: every file that would be shown or left out, with its reason, and the user's own word on it. */
import { Ban, Pin, X } from "lucide-react";
import { type ReactNode, useRef } from "react";
import type { ContextFile } from "../../protocol";
import { run } from "../../shared/commands";
import { useStore } from "../../shared/store";
import { Button, Dialog, IconButton } from "../../shared/ui";
import { closeContext, explain, markFile } from "./commands";
import { contextStore } from "./store";
import styles from "./View.module.css";

export function ContextView() {
  const { open, request, loading, explained, problem } = useStore(contextStore, (state) => state);
  const field = useRef<HTMLInputElement>(null);
  return (
    <Dialog title="What the model would see" open={open} onClose={closeContext} width={680} initialFocus={field}>
      <form
        className={styles.ask}
        onSubmit={(event) => {
          event.preventDefault();
          void explain(field.current?.value ?? "");
        }}
      >
        <input
          key={request}
          ref={field}
          className={styles.field}
          aria-label="Request"
          placeholder="Say in words what you would ask for"
          defaultValue={request}
        />
        <Button type="submit">Explain</Button>
      </form>
      <div className={styles.body} aria-busy={loading}>
        {problem && <p className={styles.problem}>{problem}</p>}
        {!explained && !problem && (
          <p className={styles.note}>
            {loading ? "Looking at the files…" : "Each file that fits is listed with the reason, and so is what is left out."}
          </p>
        )}
        {explained && (
          <>
            <p className={styles.note}>
              {explained.included.length} files, about {explained.estimatedTokens.toLocaleString("en")} of{" "}
              {explained.maxTokens.toLocaleString("en")} tokens
            </p>
            <Group title="Shown" files={explained.included} />
            <Group title="Tests that fit" files={explained.tests} />
            <Group title="Not shown" files={explained.omitted} folded />
            <details className={styles.index}>
              <summary>
                Index: {explained.index.files.toLocaleString("en")} files{explained.index.complete ? "" : ", still being made"}
              </summary>
              <ul>
                {explained.index.leftOut.map((sentence) => (
                  <li key={sentence}>{sentence}</li>
                ))}
              </ul>
            </details>
          </>
        )}
      </div>
    </Dialog>
  );
}

function Group({ title, files, folded = false }: { title: string; files: readonly ContextFile[]; folded?: boolean }) {
  if (files.length === 0) return null;
  const list = (
    <ul className={styles.files} aria-label={title}>
      {files.map((file) => (
        <Row key={file.path} file={file} />
      ))}
    </ul>
  );
  if (!folded) {
    return (
      <section>
        <h3 className={styles.title}>{title}</h3>
        {list}
      </section>
    );
  }
  return (
    <details>
      <summary className={styles.title}>
        {title} ({files.length})
      </summary>
      {list}
    </details>
  );
}

function Row({ file }: { file: ContextFile }) {
  const [first] = file.ranges[0] ?? [1];
  return (
    <li className={styles.file}>
      <div className={styles.head}>
        <button
          type="button"
          className={styles.path}
          title={file.path}
          onClick={() => {
            closeContext();
            run("code.openFile", { path: file.path, line: first });
          }}
        >
          {file.path}
        </button>
        {file.ranges.length > 0 && (
          <span className={styles.meta}>lines {file.ranges.map(([from, to]) => `${from}–${to}`).join(", ")}</span>
        )}
        <span className={styles.space} />
        <span className={styles.meta}>{file.estimatedTokens.toLocaleString("en")} tokens</span>
        <Marks file={file} />
      </div>
      <p className={styles.reason} title={file.parts.map((part) => `${part.words}: ${part.score.toFixed(2)}`).join("\n")}>
        {asSentence(file.reason)}
      </p>
    </li>
  );
}

function Marks({ file }: { file: ContextFile }): ReactNode {
  if (file.mark !== "none") {
    return (
      <IconButton
        label={file.mark === "pinned" ? `Unpin ${file.path}` : `No longer exclude ${file.path}`}
        onClick={() => void markFile(file.path, "none")}
      >
        <X size={14} />
      </IconButton>
    );
  }
  return (
    <>
      <IconButton label={`Pin ${file.path}`} onClick={() => void markFile(file.path, "pinned")}>
        <Pin size={14} />
      </IconButton>
      <IconButton label={`Exclude ${file.path}`} onClick={() => void markFile(file.path, "excluded")}>
        <Ban size={14} />
      </IconButton>
    </>
  );
}

function asSentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}
