/** A block of code: language, Copy, and colours once the worker has them. */
import { useState } from "react";
import { highlighted, useHighlight } from "../highlight";
import { runtime } from "../runtime";
import styles from "./CodeBlock.module.css";

export function CodeBlock({ text, language }: { text: string; language: string }) {
  const [copied, setCopied] = useState(false);
  const name = language.split(/[\s,{]/)[0] ?? "";
  const lines = useHighlight(text, name);
  const copy = () => {
    void runtime()
      .copy(text)
      .then(() => {
        setCopied(true);
        setTimeout(() => setCopied(false), 1_500);
      });
  };
  return (
    <figure className={styles.block}>
      <figcaption className={styles.head}>
        <span>{name || "text"}</span>
        <button type="button" className={styles.copy} onClick={copy}>
          {copied ? "Copied" : "Copy"}
        </button>
      </figcaption>
      <pre className={styles.code} tabIndex={0} aria-label={name ? `Code, ${name}` : "Code"}>
        <code>{lines ? highlighted(lines) : text}</code>
      </pre>
    </figure>
  );
}
