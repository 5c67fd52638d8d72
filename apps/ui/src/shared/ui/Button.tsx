/** Buttons: one primary at a time on screen, the rest quiet. A key, where one exists, is in the tooltip. */
import type { ButtonHTMLAttributes, ReactNode } from "react";
import { chordLabel, command, isMac } from "../commands";
import { Tooltip } from "./Tooltip";
import styles from "./Button.module.css";

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "title"> {
  look?: "primary" | "outlined" | "quiet" | "danger";
  size?: "normal" | "small";
  /** What the tooltip says; a disabled button says why. */
  hint?: string;
  /** The command whose key the tooltip shows. */
  commandId?: string;
  children: ReactNode;
}

export function keyOf(commandId: string | undefined): string | null {
  const keys = commandId ? command(commandId)?.keys?.[0] : undefined;
  return keys ? chordLabel(keys, isMac) : null;
}

export function Button({ look = "outlined", size = "normal", hint, commandId, className, ...rest }: ButtonProps) {
  const button = (
    <button
      type="button"
      {...rest}
      className={[styles.button, className].filter(Boolean).join(" ")}
      data-look={look}
      data-size={size}
    />
  );
  const key = keyOf(commandId);
  return hint || key ? (
    <Tooltip text={hint ?? ""} keys={key}>
      {button}
    </Tooltip>
  ) : (
    button
  );
}

interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "title"> {
  /** Its name for screen readers and the tooltip. */
  label: string;
  commandId?: string;
  pressed?: boolean;
  children: ReactNode;
}

export function IconButton({ label, commandId, pressed, className, ...rest }: IconButtonProps) {
  return (
    <Tooltip text={label} keys={keyOf(commandId)}>
      <button
        type="button"
        aria-label={label}
        aria-pressed={pressed}
        {...rest}
        className={[styles.icon, className].filter(Boolean).join(" ")}
      />
    </Tooltip>
  );
}
