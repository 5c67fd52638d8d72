/** Loading and choosing the model of the next turn. */
import { declareCommands, run } from "../../shared/commands";
import { asShownError } from "../../shared/failure";
import { keep } from "../../shared/kept";
import { runtime } from "../../shared/runtime";
import { showError } from "../notifications";
import { providersStore } from "./store";

export async function loadProviders(): Promise<void> {
  try {
    const { providers } = await runtime().request("providers/list", {});
    providersStore.setState({ providers, loaded: true });
  } catch (thrown) {
    showError(asShownError(thrown));
  }
}

export function choose(provider: string, model: string | null): void {
  const chosen = { provider, model };
  providersStore.setState({ chosen });
  keep("model", chosen);
}

export function declareProviderCommands(): void {
  declareCommands([
    {
      id: "model.connect",
      title: "Connect a model…",
      group: "Settings",
      run: () => run("settings.open", "models"),
    },
    { id: "model.refresh", title: "Look for models again", group: "Settings", run: loadProviders },
  ]);
}
