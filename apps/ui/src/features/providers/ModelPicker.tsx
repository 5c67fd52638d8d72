/** Chooses the model of the next message. A provider that is not ready says what is missing. */
import { run } from "../../shared/commands";
import { useStore } from "../../shared/store";
import { Menu, type MenuEntry } from "../../shared/ui";
import { choose } from "./commands";
import { choiceLabel, effective, providerName, providersStore } from "./store";
import styles from "./ModelPicker.module.css";

export function ModelPicker() {
  const state = useStore(providersStore, (providers) => providers);
  const current = effective(state);
  const entries = state.providers.flatMap((provider): MenuEntry[] => {
    const models: (string | null)[] = provider.models.length > 0 ? [...provider.models] : [null];
    return models.map((model) => ({
      label: provider.family === "scripted" || !model ? providerName(provider.id) : `${providerName(provider.id)} · ${model}`,
      note: provider.ready ? (provider.family === "scripted" ? "Answers from a script; needs no key" : "") : (provider.problem ?? "Not ready"),
      checked: current?.id === provider.id && (state.chosen?.model ?? provider.models[0] ?? null) === model,
      disabled: !provider.ready,
      onSelect: () => choose(provider.id, model),
    }));
  });
  return (
    <Menu
      side="top"
      heading="Model"
      trigger={
        <button type="button" className={styles.picker} aria-label={`Model: ${choiceLabel(state)}`}>
          {choiceLabel(state)}
        </button>
      }
      entries={[
        ...entries,
        { label: "Connect a model…", separated: true, onSelect: () => run("model.connect") },
      ]}
    />
  );
}
