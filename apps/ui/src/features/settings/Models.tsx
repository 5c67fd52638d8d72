/**
 * Model providers: what is ready, what is missing, and the settings of each. Keys are never typed here: the engine
 * reads them from the environment variable that is named.
 */
import { useEffect, useState } from "react";
import type { JsonValue, ProviderHealth, ProviderSummary } from "../../protocol";
import { asShownError } from "../../shared/failure";
import { runtime } from "../../shared/runtime";
import { useStore } from "../../shared/store";
import { Button } from "../../shared/ui";
import { showError } from "../notifications";
import { choose, loadProviders, providerName, providersStore } from "../providers";
import { HealthNote, spendingWords, useHealth } from "./Health";
import styles from "./View.module.css";

export function Models() {
  const providers = useStore(providersStore, (state) => state.providers);
  const [adding, setAdding] = useState(false);
  const { health, today } = useHealth();
  useEffect(() => void loadProviders(), []);
  return (
    <>
      <h3 className={styles.title}>Models</h3>
      <p className={styles.note}>
        Store a key in a terminal with <code>vibe-coder providers login NAME</code>; it works at once. Or set its
        environment variable and start Vibe Coder again. The settings hold only the variable's name.
      </p>
      {providers.map((provider) => (
        <Provider key={provider.id} provider={provider} health={health[provider.id]} />
      ))}
      {today && today.tokens > 0 && <p className={styles.note}>Today (UTC), all workspaces: {spendingWords(today)}.</p>}
      {adding ? (
        <NewProvider onDone={() => setAdding(false)} />
      ) : (
        <div className={styles.actions}>
          <Button onClick={() => setAdding(true)}>Add a provider</Button>
          <Button look="quiet" onClick={() => void loadProviders()}>
            Look again
          </Button>
        </div>
      )}
    </>
  );
}

async function save(key: string, value: JsonValue): Promise<boolean> {
  try {
    await runtime().request("settings/set", { key, value });
    await loadProviders();
    return true;
  } catch (thrown) {
    showError(asShownError(thrown));
    return false;
  }
}

function Provider({ provider, health }: { provider: ProviderSummary; health: ProviderHealth | undefined }) {
  const [editing, setEditing] = useState(false);
  return (
    <div className={styles.provider}>
      <div className={styles.providerHead}>
        <span className={styles.providerName}>{providerName(provider.id)}</span>
        <span className={styles.providerState} data-ready={provider.ready || undefined}>
          {provider.ready ? "Ready" : "Not ready"}
          {provider.isDefault ? " · default" : ""}
        </span>
        {provider.ready && !provider.isDefault && (
          <Button
            size="small"
            onClick={() => {
              choose(provider.id, null);
              void save("defaultProvider", provider.id);
            }}
          >
            Use by default
          </Button>
        )}
        <Button size="small" look="quiet" aria-expanded={editing} onClick={() => setEditing(!editing)}>
          {editing ? "Close" : "Change"}
        </Button>
      </div>
      {!provider.ready && provider.problem && <p className={styles.note}>{provider.problem}</p>}
      {provider.ready && health && <HealthNote health={health} />}
      {editing && <ProviderFields provider={provider} />}
    </div>
  );
}

function ProviderFields({ provider }: { provider: ProviderSummary }) {
  const base = `providers.${/[.]/.test(provider.id) ? `"${provider.id}"` : provider.id}`;
  if (provider.family === "scripted") {
    return <Field id={`${provider.id}-scenario`} label="Scenario file" value="" onSave={(value) => save(`${base}.scenario`, value || null)} />;
  }
  return (
    <>
      <Field
        id={`${provider.id}-variable`}
        label="Key variable"
        value={provider.keyVariable ?? ""}
        onSave={(value) => save(`${base}.apiKeyEnv`, value || null)}
      />
      <Field id={`${provider.id}-url`} label="Base URL" value={provider.baseUrl} onSave={(value) => save(`${base}.baseUrl`, value || null)} />
      <Field id={`${provider.id}-model`} label="Model" value={provider.models[0] ?? ""} onSave={(value) => save(`${base}.model`, value || null)} />
    </>
  );
}

function Field(props: { id: string; label: string; value: string; onSave(value: string): Promise<boolean> }) {
  const { id, label, value, onSave } = props;
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={styles.input}
        defaultValue={value}
        key={value}
        spellCheck={false}
        onBlur={(event) => {
          const next = event.target.value.trim();
          if (next !== value) void onSave(next);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.nativeEvent.isComposing) event.currentTarget.blur();
        }}
      />
    </div>
  );
}

/** Any server that speaks one of the four wire formats, a local one included. */
function NewProvider({ onDone }: { onDone(): void }) {
  const [id, setId] = useState("");
  const [family, setFamily] = useState("openai-chat");
  const [baseUrl, setBaseUrl] = useState("http://127.0.0.1:11434/v1");
  const [model, setModel] = useState("");
  const [variable, setVariable] = useState("");
  const complete = /^[\w-]+$/.test(id) && baseUrl !== "" && model !== "";
  const add = async () => {
    const entry = { family, baseUrl, model, ...(variable ? { apiKeyEnv: variable } : {}) };
    if (await save(`providers.${id}`, entry)) onDone();
  };
  const fields: [string, string, (value: string) => void, string][] = [
    ["Name", id, setId, "local"],
    ["Base URL", baseUrl, setBaseUrl, ""],
    ["Model", model, setModel, "qwen3-coder"],
    ["Key variable", variable, setVariable, "empty where none is needed"],
  ];
  return (
    <div className={styles.provider}>
      <div className={styles.field}>
        <label htmlFor="new-family">Wire format</label>
        <select id="new-family" className={styles.input} value={family} onChange={(event) => setFamily(event.target.value)}>
          <option value="openai-chat">OpenAI Chat Completions, or compatible</option>
          <option value="openai-responses">OpenAI Responses</option>
          <option value="anthropic">Anthropic Messages</option>
          <option value="gemini">Google Gemini</option>
        </select>
      </div>
      {fields.map(([label, value, set, placeholder]) => (
        <div key={label} className={styles.field}>
          <label htmlFor={`new-${label}`}>{label}</label>
          <input
            id={`new-${label}`}
            className={styles.input}
            value={value}
            placeholder={placeholder}
            spellCheck={false}
            onChange={(event) => set(event.target.value.trim())}
          />
        </div>
      ))}
      <div className={styles.actions}>
        <Button disabled={!complete} onClick={() => void add()}>
          Add
        </Button>
        <Button look="quiet" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
