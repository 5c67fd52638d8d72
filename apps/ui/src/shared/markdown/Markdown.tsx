/**
 * Draws Markdown of an assistant. No HTML is ever parsed or inserted; images become links; `path:line` in code spans
 * becomes a link when `onOpenPath` is given.
 */
import { type ReactNode, memo, useState } from "react";
import type { Token, Tokens } from "marked";
import { BlockStream, lex, lexTail } from "./blocks";
import { CodeBlock } from "./CodeBlock";
import styles from "./Markdown.module.css";

export type OpenPath = (path: string, line: number | null) => void;

interface MarkdownProps {
  text: string;
  /** While true a caret follows the last word and open marks are closed. */
  streaming: boolean;
  onOpenPath?: OpenPath;
}

export function Markdown({ text, streaming, onOpenPath }: MarkdownProps) {
  // Not a value of rendering: a cache that only saves work, keyed by the text it is given.
  const [stream] = useState(() => new BlockStream());
  const blocks = stream.update(text);
  return (
    <div className={styles.markdown} data-streaming={streaming || undefined}>
      {blocks.map((block, index) => (
        <MarkdownBlock
          key={block.key}
          raw={block.raw}
          tail={streaming && index === blocks.length - 1}
          onOpenPath={onOpenPath}
        />
      ))}
    </div>
  );
}

const MarkdownBlock = memo(function MarkdownBlock(props: { raw: string; tail: boolean; onOpenPath?: OpenPath }) {
  const tokens = props.tail ? lexTail(props.raw) : lex(props.raw);
  return <>{blockNodes(tokens, props.onOpenPath)}</>;
});

function blockNodes(tokens: readonly Token[], open: OpenPath | undefined): ReactNode[] {
  return tokens.map((token, index) => {
    const key = `${index}`;
    switch (token.type) {
      case "heading": {
        const heading = token as Tokens.Heading;
        // The page and the session own levels 1 and 2.
        const Level = `h${Math.min(6, heading.depth + 2)}` as "h3" | "h4" | "h5" | "h6";
        return <Level key={key}>{inlineNodes(heading.tokens, open)}</Level>;
      }
      case "paragraph":
        return <p key={key}>{inlineNodes((token as Tokens.Paragraph).tokens, open)}</p>;
      case "list":
        return <List key={key} list={token as Tokens.List} open={open} />;
      case "code": {
        const code = token as Tokens.Code;
        return <CodeBlock key={key} text={code.text} language={code.lang ?? ""} />;
      }
      case "blockquote":
        return <blockquote key={key}>{blockNodes((token as Tokens.Blockquote).tokens, open)}</blockquote>;
      case "table":
        return <Table key={key} table={token as Tokens.Table} open={open} />;
      case "hr":
        return <hr key={key} />;
      case "html":
        return <p key={key}>{token.raw}</p>;
      case "space":
      case "def":
        return null;
      case "text": {
        const text = token as Tokens.Text;
        return <span key={key}>{text.tokens ? inlineNodes(text.tokens, open) : unescapeEntities(text.text)}</span>;
      }
      default:
        return <p key={key}>{token.raw}</p>;
    }
  });
}

function List({ list, open }: { list: Tokens.List; open: OpenPath | undefined }) {
  const items = list.items.map((item, index) => (
    <li key={`${index}`} data-task={item.task || undefined}>
      {item.task && <input type="checkbox" checked={item.checked ?? false} readOnly aria-label="Task" tabIndex={-1} />}
      {blockNodes(
        item.tokens.filter((token) => token.type !== "checkbox"),
        open,
      )}
    </li>
  ));
  return list.ordered ? <ol start={typeof list.start === "number" ? list.start : 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table, open }: { table: Tokens.Table; open: OpenPath | undefined }) {
  return (
    <div className={styles.table} tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={`${index}`} style={cell.align ? { textAlign: cell.align } : undefined}>
                {inlineNodes(cell.tokens, open)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, rowIndex) => (
            <tr key={`${rowIndex}`}>
              {row.map((cell, index) => (
                <td key={`${index}`} style={cell.align ? { textAlign: cell.align } : undefined}>
                  {inlineNodes(cell.tokens, open)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlineNodes(tokens: readonly Token[], open: OpenPath | undefined): ReactNode[] {
  return tokens.map((token, index) => {
    const key = `${index}`;
    switch (token.type) {
      case "strong":
        return <strong key={key}>{inlineNodes((token as Tokens.Strong).tokens, open)}</strong>;
      case "em":
        return <em key={key}>{inlineNodes((token as Tokens.Em).tokens, open)}</em>;
      case "del":
        return <del key={key}>{inlineNodes((token as Tokens.Del).tokens, open)}</del>;
      case "codespan":
        return <CodeSpan key={key} text={(token as Tokens.Codespan).text} open={open} />;
      case "br":
        return <br key={key} />;
      case "link": {
        const link = token as Tokens.Link;
        return <SafeLink key={key} address={link.href} content={inlineNodes(link.tokens, open)} open={open} />;
      }
      case "image": {
        const image = token as Tokens.Image;
        return <SafeLink key={key} address={image.href} content={image.text || image.href} open={open} />;
      }
      case "escape":
        return <span key={key}>{(token as Tokens.Escape).text}</span>;
      case "text": {
        const text = token as Tokens.Text;
        return <span key={key}>{text.tokens ? inlineNodes(text.tokens, open) : unescapeEntities(text.text)}</span>;
      }
      default:
        return <span key={key}>{token.raw}</span>;
    }
  });
}

/** "src/app.ts", "src/app.ts:12", "app.ts:12:4": something with a folder or an ending, and no spaces. */
const PATH = /^((?:[\w.@~-]+\/)*[\w.@-]+\.[A-Za-z]\w{0,9}|(?:[\w.@~-]+\/)+[\w.@-]+)(?::(\d+))?(?::\d+)?$/;

function CodeSpan({ text, open }: { text: string; open: OpenPath | undefined }) {
  const shown = unescapeEntities(text);
  const found = open ? PATH.exec(shown) : null;
  if (!open || !found?.[1] || !(shown.includes("/") || found[2])) return <code>{shown}</code>;
  const [, path, line] = found;
  return (
    <button type="button" className={styles.path} onClick={() => open(path, line ? Number(line) : null)}>
      {shown}
    </button>
  );
}

function SafeLink(props: { address: string; content: ReactNode; open: OpenPath | undefined }) {
  if (/^(https?:|mailto:)/i.test(props.address)) {
    return (
      <a href={props.address} target="_blank" rel="noreferrer noopener">
        {props.content}
      </a>
    );
  }
  const found = PATH.exec(props.address.replace(/#L?(\d+)$/, ":$1"));
  const open = props.open;
  if (open && found?.[1]) {
    const [, path, line] = found;
    return (
      <button type="button" className={styles.path} onClick={() => open(path, line ? Number(line) : null)}>
        {props.content}
      </button>
    );
  }
  return <span>{props.content}</span>;
}

/** marked leaves entities of the source as they are; only these few stand in ordinary text. */
function unescapeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => {
    const signs: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: "\u00a0" };
    return signs[name] ?? whole;
  });
}
