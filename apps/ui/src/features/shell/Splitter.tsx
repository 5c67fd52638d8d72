/**
 * The line between two columns. While it is dragged it writes one CSS variable, so no list draws again; the store hears
 * the width when the pointer lets go.
 */
import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import { fold, resetWidth, setWidth } from "./commands";
import { type Column, LIMITS, clamp } from "./store";
import styles from "./View.module.css";

const STEP = 16;
/** Pixels past the minimum after which a column folds. */
const FOLD_AFTER = 60;

export function Splitter({ column, width, label }: { column: Column; width: number; label: string }) {
  const drag = useRef<{ from: number; width: number; now: number } | null>(null);
  // The files column grows to the right, the code column to the left.
  const direction = column === "files" ? 1 : -1;
  const limits = LIMITS[column];

  const move = (event: PointerEvent) => {
    const state = drag.current;
    if (!state) return;
    state.now = state.width + (event.clientX - state.from) * direction;
    const shell = event.currentTarget.closest<HTMLElement>("[data-shell]");
    shell?.style.setProperty(`--vc-${column}-width`, `${clamp(column, state.now)}px`);
  };
  const end = (event: PointerEvent) => {
    const state = drag.current;
    drag.current = null;
    if (!state) return;
    event.currentTarget.closest<HTMLElement>("[data-shell]")?.style.removeProperty(`--vc-${column}-width`);
    if (state.now < limits.min - FOLD_AFTER) fold(column);
    else if (state.now !== state.width) setWidth(column, state.now);
  };
  const key = (event: KeyboardEvent) => {
    const widths: Record<string, number> = {
      ArrowLeft: width - STEP * direction,
      ArrowRight: width + STEP * direction,
      Home: limits.min,
      End: limits.max,
    };
    const next = widths[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setWidth(column, next);
  };

  return (
    <div
      className={styles.splitter}
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width}
      aria-valuemin={limits.min}
      aria-valuemax={limits.max}
      tabIndex={0}
      onKeyDown={key}
      onDoubleClick={() => resetWidth(column)}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { from: event.clientX, width, now: width };
      }}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={end}
    />
  );
}
