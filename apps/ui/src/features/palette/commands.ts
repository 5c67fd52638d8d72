import { declareCommands } from "../../shared/commands";
import { paletteStore } from "./store";

function open(query: string): void {
  paletteStore.setState({ open: true, query });
}

export function declarePaletteCommands(): void {
  declareCommands([
    {
      id: "palette.commands",
      title: "Show all commands",
      group: "View",
      keys: ["Mod+Shift+P", "F1"],
      internal: true,
      run: () => open(">"),
    },
    { id: "palette.files", title: "Go to file…", group: "Files", keys: ["Mod+P"], run: () => open("") },
    { id: "palette.text", title: "Search text in files…", group: "Files", keys: ["Mod+Shift+F"], run: () => open("#") },
  ]);
}
