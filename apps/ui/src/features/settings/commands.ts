/** Reading and changing preferences. A change shows at once and is taken back when it cannot be kept. */
import { declareCommands } from "../../shared/commands";
import { asShownError } from "../../shared/failure";
import { runtime } from "../../shared/runtime";
import { showError } from "../notifications";
import { type Preferences, type SettingsPage, readPreferences, settingsStore } from "./store";

const KEY = "ui";

export async function loadPreferences(): Promise<void> {
  try {
    const { value } = await runtime().request("settings/get", { key: KEY });
    settingsStore.setState({ preferences: readPreferences(value), loaded: true });
  } catch {
    // The defaults serve; a broken settings file is reported by the provider list, which needs it.
    settingsStore.setState({ loaded: true });
  }
}

export async function setPreference<K extends keyof Preferences>(name: K, value: Preferences[K]): Promise<void> {
  const before = settingsStore.getState().preferences;
  settingsStore.setState({ preferences: { ...before, [name]: value } });
  try {
    await runtime().request("settings/set", { key: `${KEY}.${name}`, value });
  } catch (thrown) {
    settingsStore.setState(({ preferences }) => ({ preferences: { ...preferences, [name]: before[name] } }));
    showError(asShownError(thrown));
  }
}

const PAGES: readonly SettingsPage[] = ["models", "trust", "appearance", "keys", "islands", "about"];

export function declareSettingsCommands(): void {
  const theme = (name: "dark" | "light" | "system", title: string) => ({
    id: `theme.${name}`,
    title,
    group: "View" as const,
    run: () => setPreference("theme", name),
  });
  declareCommands([
    {
      id: "settings.open",
      title: "Open settings",
      group: "Settings",
      keys: ["Mod+,"],
      run: (page) => settingsStore.setState({ page: PAGES.find((known) => known === page) ?? "models" }),
    },
    {
      id: "settings.keys",
      title: "Show all keys",
      group: "Settings",
      keys: ["Mod+/"],
      run: () => settingsStore.setState({ page: "keys" }),
    },
    theme("dark", "Use the dark theme"),
    theme("light", "Use the light theme"),
    theme("system", "Follow the system's theme"),
  ]);
}
