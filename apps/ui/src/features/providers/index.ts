export { type ProvidersState, choiceLabel, effective, providerName, providersStore } from "./store";
export { choose, declareProviderCommands, loadProviders } from "./commands";
export { ModelPicker } from "./ModelPicker";
