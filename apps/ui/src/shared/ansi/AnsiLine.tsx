/** One line of output as styled spans. */
import type { CSSProperties } from "react";
import type { Span, Style } from "./screen";

function colour(name: string): string {
  return name.startsWith("#") ? name : `var(--vc-ansi-${name})`;
}

/** A program that names an exact colour knows nothing of the theme: some of the text's own colour keeps it readable. */
function textColour(name: string): string {
  return name.startsWith("#") ? `color-mix(in oklab, ${name} 65%, var(--vc-text))` : colour(name);
}

function look(style: Style): CSSProperties | undefined {
  const foreground = style.inverse ? (style.background ?? "var(--vc-canvas)") : style.foreground;
  const background = style.inverse ? (style.foreground ?? "var(--vc-text)") : style.background;
  const css: CSSProperties = {};
  if (foreground) css.color = foreground.startsWith("var") ? foreground : textColour(foreground);
  if (background) css.backgroundColor = background.startsWith("var") ? background : colour(background);
  if (style.bold) css.fontWeight = 600;
  if (style.dim) css.opacity = 0.75;
  if (style.italic) css.fontStyle = "italic";
  if (style.underline || style.strike) {
    css.textDecoration = [style.underline && "underline", style.strike && "line-through"].filter(Boolean).join(" ");
  }
  return css;
}

export function AnsiLine({ spans }: { spans: readonly Span[] }) {
  return (
    <>
      {spans.map((span, index) => {
        const key = `${index}`;
        if (Object.keys(span.style).length === 0) return <span key={key}>{span.text}</span>;
        return (
          <span key={key} style={look(span.style)}>
            {span.text}
          </span>
        );
      })}
    </>
  );
}
