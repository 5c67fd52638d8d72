/** The composer: a text box with coloured references, modes, model, send and stop. Enter is safe while composing. */
import { ArrowUp, AtSign, Square } from "lucide-react";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { run } from "../../shared/commands";
import { useStore } from "../../shared/store";
import { IconButton, Menu, keyOf } from "../../shared/ui";
import { ModelPicker, effective, providersStore } from "../providers";
import { isActive, sessionsStore } from "../sessions";
import { workspaceStore } from "../workspace";
import { setMode, stop, submit, write } from "./commands";
import { Highlighted } from "./Highlighted";
import { MentionList, mentionAt, useMentions } from "./Mentions";
import { QueueTray } from "./QueueTray";
import { MODES, composerStore, draftOf } from "./store";
import styles from "./View.module.css";

export function Composer() {
  const session = useStore(sessionsStore, (state) => state.selected);
  const draft = useStore(composerStore, (state) => draftOf(state, session));
  const sending = useStore(composerStore, (state) => state.sending);
  const running = useStore(sessionsStore, (state) => {
    const known = state.sessions.find((entry) => entry.id === state.selected);
    return (state.selected !== null && state.selected in state.runs) || (known ? isActive(known.state) : false);
  });
  const disabled = useDisabledReason();
  const box = useRef<HTMLTextAreaElement>(null);
  const layer = useRef<HTMLDivElement>(null);
  const mode = MODES.find((entry) => entry.mode === draft.mode)!;
  const mentions = useMentions(draft.text, draft.caret);
  const [recalled, setRecalled] = useState(0);

  // Grows with its text up to 40 % of the column; the mirror must have the same size.
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [draft.text]);

  // A caret that the store moved (a picked file, a restored draft) is put where it belongs.
  useEffect(() => {
    const element = box.current;
    if (element && element.selectionStart !== draft.caret && document.activeElement === element) {
      element.setSelectionRange(draft.caret, draft.caret);
    }
  }, [draft.caret, session]);

  const pick = (path: string) => {
    const mention = mentionAt(draft.text, draft.caret);
    if (!mention) return;
    const word = `@${path} `;
    const text = draft.text.slice(0, mention.start) + word + draft.text.slice(draft.caret);
    write(text, mention.start + word.length);
    box.current?.focus();
  };

  const key = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // Enter that ends an input method's composition is not ours; Safari says so only by the key code.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (mentions.open && mentions.key(event, pick)) return;
    const plain = !event.shiftKey && !event.altKey;
    if (event.key === "Enter" && plain) {
      event.preventDefault();
      setRecalled(0);
      if (!disabled) void submit();
      return;
    }
    if (event.key === "Escape") {
      event.preventDefault();
      document.getElementById("region-chat")?.focus();
      return;
    }
    if (event.key === "ArrowUp" && (draft.text === "" || recalled > 0) && plain) {
      const { sent } = composerStore.getState();
      const text = sent[sent.length - 1 - recalled];
      if (text === undefined) return;
      event.preventDefault();
      setRecalled(recalled + 1);
      write(text, text.length);
      return;
    }
    if (event.key === "Backspace" && plain && !event.ctrlKey && !event.metaKey) {
      const whole = wholeMention(draft.text, event.currentTarget);
      if (whole === null) return;
      event.preventDefault();
      write(draft.text.slice(0, whole) + draft.text.slice(draft.caret), whole);
    }
  };

  return (
    <div className={styles.composer} id="region-composer" data-keys="composer" role="form" aria-label="Message">
      <QueueTray />
      <div className={styles.box}>
        {mentions.open && <MentionList mentions={mentions} onPick={pick} />}
        <div className={styles.field}>
          <div ref={layer} className={styles.layer} aria-hidden="true">
            <Highlighted text={draft.text} />
          </div>
          <textarea
            ref={box}
            id="composer-text"
            className={styles.text}
            rows={2}
            spellCheck
            aria-label="Message"
            placeholder={disabled?.words ?? mode.placeholder}
            value={draft.text}
            aria-autocomplete="list"
            aria-controls={mentions.open ? "mention-list" : undefined}
            aria-activedescendant={mentions.open ? `mention-${mentions.at}` : undefined}
            onChange={(event) => {
              setRecalled(0);
              write(event.target.value, event.target.selectionStart);
            }}
            onSelect={(event) => {
              const caret = event.currentTarget.selectionStart;
              if (caret !== draft.caret) write(draft.text, caret);
            }}
            onScroll={(event) => {
              if (layer.current) layer.current.scrollTop = event.currentTarget.scrollTop;
            }}
            onKeyDown={key}
          />
        </div>
        <div className={styles.foot}>
          <Menu
            side="top"
            heading="Mode"
            trigger={
              <button type="button" className={styles.pick}>
                {mode.name}
              </button>
            }
            entries={MODES.map((entry) => ({
              label: entry.name,
              note: entry.note,
              checked: entry.mode === draft.mode,
              onSelect: () => setMode(entry.mode),
            }))}
          />
          <ModelPicker />
          <IconButton
            label="Refer to a file"
            onClick={() => {
              const text = draft.text === "" || /\s$/.test(draft.text) ? `${draft.text}@` : `${draft.text} @`;
              write(text, text.length);
              box.current?.focus();
            }}
          >
            <AtSign size={15} />
          </IconButton>
          <span className={styles.space} />
          {disabled?.action && (
            <button type="button" className={styles.way} onClick={() => run(disabled.action!.command)}>
              {disabled.action.label}
            </button>
          )}
          {running && draft.text.trim() === "" ? (
            <IconButton label="Stop" commandId="composer.stop" className={styles.stop} onClick={() => void stop()}>
              <Square size={12} fill="currentColor" />
            </IconButton>
          ) : (
            <IconButton
              label={running ? "Queue this message" : "Send"}
              className={running ? styles.stop : styles.send}
              disabled={draft.text.trim() === "" || sending || disabled !== null}
              onClick={() => void submit()}
            >
              <ArrowUp size={16} />
            </IconButton>
          )}
        </div>
      </div>
      <p className={styles.hint}>
        {running ? "Enter queues the message" : "Enter sends, Shift+Enter makes a new line"} · {keyOf("composer.mode")} changes
        the mode
      </p>
    </div>
  );
}

/** Where a whole reference that ends at the caret begins; `null` when none does. */
function wholeMention(text: string, element: HTMLTextAreaElement): number | null {
  if (element.selectionStart !== element.selectionEnd) return null;
  const found = /(^|\s)(@[^\s@]*[/.][^\s@]+)$/.exec(text.slice(0, element.selectionStart));
  return found ? element.selectionStart - found[2]!.length : null;
}

interface Disabled {
  words: string;
  action: { label: string; command: string } | null;
}

/** Why nothing can be sent, in the placeholder's place, with the way out beside it. */
function useDisabledReason(): Disabled | null {
  const connection = useStore(workspaceStore, (state) => state.connection);
  const engine = useStore(workspaceStore, (state) => state.engine);
  const problem = useStore(providersStore, (state) => {
    if (!state.loaded) return null;
    const provider = effective(state);
    if (!provider) return "Connect a model to chat. Files and editor work without one";
    return provider.ready ? null : (provider.problem ?? "This model is not ready");
  });
  if (connection.kind === "waiting") return { words: `Reconnecting… attempt ${connection.attempt}`, action: null };
  if (engine === "failed" || engine === "stopped") {
    return {
      words: "The local engine stopped. Your text is kept",
      action: { label: "Restart engine", command: "workspace.restartEngine" },
    };
  }
  if (problem) return { words: problem, action: { label: "Connect a model", command: "model.connect" } };
  return null;
}
