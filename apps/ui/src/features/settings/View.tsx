/** Settings: one dialog, a page at a time. Islands are placeholders and load only when they are looked at. */
import { Suspense, lazy, useRef } from "react";
import { allCommands, chordLabel, conflicts, isMac } from "../../shared/commands";
import { useStore } from "../../shared/store";
import { Button, Dialog } from "../../shared/ui";
import { workspaceStore } from "../workspace";
import { setPreference } from "./commands";
import { Models } from "./Models";
import { Rules } from "./Rules";
import { type SettingsPage, type Theme, TRUST_WORDS, type Trust, settingsStore } from "./store";
import styles from "./View.module.css";

const Islands = lazy(() => import("./Islands"));

const PAGES: readonly { page: SettingsPage; name: string }[] = [
  { page: "models", name: "Models" },
  { page: "trust", name: "Trust" },
  { page: "appearance", name: "Appearance" },
  { page: "keys", name: "Keys" },
  { page: "islands", name: "Future islands" },
  { page: "about", name: "About" },
];

export function SettingsDialog() {
  const page = useStore(settingsStore, (state) => state.page);
  const current = useRef<HTMLButtonElement>(null);
  return (
    <Dialog title="Settings" open={page !== null} width={760} initialFocus={current} onClose={() => settingsStore.setState({ page: null })}>
      <div className={styles.settings}>
        <nav className={styles.pages} aria-label="Settings pages">
          {PAGES.map((entry) => (
            <button
              key={entry.page}
              ref={entry.page === page ? current : undefined}
              type="button"
              className={styles.page}
              aria-current={entry.page === page ? "page" : undefined}
              onClick={() => settingsStore.setState({ page: entry.page })}
            >
              {entry.name}
            </button>
          ))}
        </nav>
        <div className={styles.body} tabIndex={0} role="region" aria-label={PAGES.find((entry) => entry.page === page)?.name}>{page && <Page page={page} />}</div>
      </div>
    </Dialog>
  );
}

function Page({ page }: { page: SettingsPage }) {
  switch (page) {
    case "models":
      return <Models />;
    case "trust":
      return <TrustPage />;
    case "appearance":
      return <Appearance />;
    case "keys":
      return <Keys />;
    case "islands":
      return (
        <Suspense fallback={<p className={styles.note}>Loading…</p>}>
          <Islands />
        </Suspense>
      );
    case "about":
      return <About />;
  }
}

export function TrustPage() {
  const trust = useStore(settingsStore, (state) => state.preferences.trust);
  return (
    <>
    <fieldset className={styles.group}>
      <legend className={styles.title}>What may run without asking</legend>
      {(Object.keys(TRUST_WORDS) as Trust[]).map((name) => (
        <label key={name} className={styles.choice}>
          <input type="radio" name="trust" checked={trust === name} onChange={() => void setPreference("trust", name)} />
          <span>
            <span className={styles.choiceName}>{TRUST_WORDS[name].name}</span>
            <span className={styles.note}>{TRUST_WORDS[name].note}</span>
          </span>
        </label>
      ))}
      <p className={styles.note}>Proposed edits are never written before you accept them, whatever is chosen here.</p>
    </fieldset>
    <Rules />
    </>
  );
}

const THEMES: readonly [Theme, string][] = [
  ["system", "As the system"],
  ["dark", "Dark"],
  ["light", "Light"],
];

function Appearance() {
  const preferences = useStore(settingsStore, (state) => state.preferences);
  return (
    <>
      <fieldset className={styles.group}>
        <legend className={styles.title}>Theme</legend>
        <div className={styles.row}>
          {THEMES.map(([theme, name]) => (
            <label key={theme} className={styles.radio}>
              <input
                type="radio"
                name="theme"
                checked={preferences.theme === theme}
                onChange={() => void setPreference("theme", theme)}
              />
              {name}
            </label>
          ))}
        </div>
      </fieldset>
      <fieldset className={styles.group}>
        <legend className={styles.title}>Text</legend>
        <SizeField label="Conversation" value={preferences.chatSize} from={13} to={17} onChange={(size) => void setPreference("chatSize", size)} />
        <SizeField label="Editor" value={preferences.editorSize} from={11} to={18} onChange={(size) => void setPreference("editorSize", size)} />
        <label className={styles.radio}>
          <input
            type="checkbox"
            checked={preferences.ligatures}
            onChange={(event) => void setPreference("ligatures", event.target.checked)}
          />
          Ligatures in the editor
        </label>
      </fieldset>
    </>
  );
}

function SizeField(props: { label: string; value: number; from: number; to: number; onChange(size: number): void }) {
  const { label, value, from, to, onChange } = props;
  return (
    <div className={styles.size}>
      <span>{label}</span>
      <Button size="small" aria-label={`${label} smaller`} disabled={value <= from} onClick={() => onChange(value - 1)}>
        −
      </Button>
      <span className={styles.number} aria-live="polite">
        {value} px
      </span>
      <Button size="small" aria-label={`${label} larger`} disabled={value >= to} onClick={() => onChange(value + 1)}>
        +
      </Button>
    </div>
  );
}

function Keys() {
  const commands = allCommands().filter((command) => command.keys?.length);
  const clashes = conflicts(commands);
  return (
    <>
      <h3 className={styles.title}>Keys</h3>
      {clashes.map(([one, other, keys]) => (
        <p key={`${one} ${other}`} className={styles.bad}>
          {keys} belongs to both {one} and {other}.
        </p>
      ))}
      <table className={styles.keys}>
        <tbody>
          {commands.map((command) => (
            <tr key={command.id}>
              <td>{command.title}</td>
              <td>
                {command.keys?.map((keys) => (
                  <kbd key={keys} className={styles.kbd}>
                    {chordLabel(keys, isMac)}
                  </kbd>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function About() {
  const version = useStore(workspaceStore, (state) => state.engineVersion);
  const path = useStore(workspaceStore, (state) => state.path);
  return (
    <>
      <h3 className={styles.title}>Vibe Coder {version}</h3>
      <p className={styles.note}>
        Everything runs on this machine. Only what you send to a model leaves it, and only to the provider you chose.
      </p>
      {path && <p className={styles.note}>Workspace: {path}</p>}
    </>
  );
}
