export { declarePaletteCommands } from "./commands";
export { Palette } from "./View";
