/** The composer: a text box with coloured references, modes, model, send and stop. Enter is safe while composing. */
import { ArrowUp, AtSign, Paperclip, Square, ScanSearch } from "lucide-react";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { run } from "../../shared/commands";
import { useStore } from "../../shared/store";
import { IconButton, Menu, keyOf } from "../../shared/ui";
import { ModelPicker, effective, providersStore } from "../providers";
import { isActive, sessionsStore } from "../sessions";
import { workspaceStore } from "../workspace";
import { attach, attachFiles, detach, setMode, stop, submit, write } from "./commands";
import { Highlighted } from "./Highlighted";
import { isLongPaste } from "./attach";
import { Chips } from "./Chips";
import { QueueTray } from "./QueueTray";
import { type Suggestion, SuggestionList, triggerAt, useSuggestions } from "./Suggestions";
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
  const suggestions = useSuggestions(draft.text, draft.caret);
  const chooser = useRef<HTMLInputElement>(null);
  useFileDrop();
  const [recalled, setRecalled] = useState(0);
  const empty = draft.text.trim() === "" && draft.attachments.length === 0;

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

  const pick = ({ word, command }: Suggestion) => {
    const trigger = triggerAt(draft.text, draft.caret);
    if (!trigger) return;
    const after = draft.text.slice(draft.caret);
    const put = word === null ? (command?.does.what === "write" ? command.does.text : "") : `${word} `;
    write(draft.text.slice(0, trigger.start) + put + after, trigger.start + put.length);
    box.current?.focus();
    if (command?.does.what === "run") run(command.does.command, command.does.argument);
  };

  const key = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // Enter that ends an input method's composition is not ours; Safari says so only by the key code.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (suggestions.open && suggestions.key(event, pick)) return;
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
        {suggestions.open && <SuggestionList suggestions={suggestions} onPick={pick} />}
        <Chips attachments={draft.attachments} onRemove={detach} />
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
            aria-controls={suggestions.open ? "suggestion-list" : undefined}
            aria-activedescendant={suggestions.open && suggestions.entries.length > 0 ? `suggestion-${suggestions.at}` : undefined}
            onPaste={(event) => {
              const files = [...event.clipboardData.files];
              const text = event.clipboardData.getData("text/plain");
              if (files.length === 0 && !isLongPaste(text)) return;
              event.preventDefault();
              if (files.length > 0) void attachFiles(files);
              else attach([{ name: "Pasted text", text }]);
            }}
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
          <IconButton label="Attach a file" onClick={() => chooser.current?.click()}>
            <Paperclip size={15} />
          </IconButton>
          <IconButton label="What the model would see" onClick={() => run("context.explain", draft.text)}>
            <ScanSearch size={15} />
          </IconButton>
          <input
            ref={chooser}
            type="file"
            multiple
            hidden
            aria-label="Files to attach"
            onChange={(event) => {
              void attachFiles([...(event.target.files ?? [])]);
              // The same file can be chosen again after it was taken out.
              event.target.value = "";
            }}
          />
          <span className={styles.space} />
          {disabled?.action && (
            <button type="button" className={styles.way} onClick={() => run(disabled.action!.command)}>
              {disabled.action.label}
            </button>
          )}
          {running && empty ? (
            <IconButton label="Stop" commandId="composer.stop" className={styles.stop} onClick={() => void stop()}>
              <Square size={12} fill="currentColor" />
            </IconButton>
          ) : (
            <IconButton
              label={running ? "Queue this message" : "Send"}
              className={running ? styles.stop : styles.send}
              disabled={empty || sending || disabled !== null}
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

/** Files may be dropped anywhere on the conversation. */
function useFileDrop(): void {
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length === 0) return;
      // Elsewhere the browser would leave the window for the file.
      event.preventDefault();
      if (event.target instanceof Element && event.target.closest("main")) void attachFiles(files);
    };
    window.addEventListener("dragover", over);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", over);
      window.removeEventListener("drop", drop);
    };
  }, []);
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
