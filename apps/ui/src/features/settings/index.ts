export { type Preferences, type Trust, TRUST_WORDS, approvalsOf, settingsStore } from "./store";
export { declareSettingsCommands, loadPreferences, setPreference } from "./commands";
export { SettingsDialog } from "./View";
