/** Model providers as the engine knows them, and the user's choice for the next turn. */
import type { ProviderSummary } from "../../protocol";
import { createStore } from "../../shared/store";

export interface ProvidersState {
  providers: readonly ProviderSummary[];
  loaded: boolean;
  /** `null` is the default of the settings. */
  chosen: { provider: string; model: string | null } | null;
}

export const providersStore = createStore<ProvidersState>(() => ({ providers: [], loaded: false, chosen: null }));

/** The provider that the next turn uses. */
export function effective(state: ProvidersState): ProviderSummary | null {
  const wanted = state.chosen?.provider;
  return (
    (wanted ? state.providers.find((provider) => provider.id === wanted) : undefined) ??
    state.providers.find((provider) => provider.isDefault) ??
    state.providers.find((provider) => provider.ready) ??
    null
  );
}

/** As their makers write them; what is not here is shown by its id. */
const NAMES: Readonly<Record<string, string>> = {
  anthropic: "Anthropic",
  deepseek: "DeepSeek",
  fireworks: "Fireworks",
  gemini: "Google Gemini",
  groq: "Groq",
  llamacpp: "llama.cpp",
  lmstudio: "LM Studio",
  ollama: "Ollama",
  openai: "OpenAI",
  openrouter: "OpenRouter",
  scripted: "Practice model",
  together: "Together",
};

export function providerName(id: string): string {
  return NAMES[id] ?? id;
}

/** "Practice model", "Anthropic · claude-sonnet-5". */
export function choiceLabel(state: ProvidersState): string {
  const provider = effective(state);
  if (!provider) return "No model";
  if (provider.family === "scripted") return providerName(provider.id);
  const model = state.chosen?.provider === provider.id ? state.chosen.model : null;
  return model ?? provider.models[0] ?? providerName(provider.id);
}
