/** Every command of the window, declared by the feature that owns it. */
import { declareChangesCommands } from "../features/changes";
import { declareCodeCommands } from "../features/code";
import { declareComposerCommands } from "../features/composer";
import { declareContextCommands } from "../features/context";
import { declareFileTreeCommands } from "../features/file-tree";
import { declarePaletteCommands } from "../features/palette";
import { declareProviderCommands } from "../features/providers";
import { declareSessionCommands } from "../features/sessions";
import { declareSettingsCommands } from "../features/settings";
import { declareShellCommands } from "../features/shell";
import { declareTimelineCommands } from "../features/timeline";
import { declareWorkspaceCommands } from "../features/workspace";

export function declareAll(): void {
  declareShellCommands();
  declareWorkspaceCommands();
  declareSessionCommands();
  declareTimelineCommands();
  declareComposerCommands();
  declareChangesCommands();
  declareContextCommands();
  declareProviderCommands();
  declareSettingsCommands();
  declarePaletteCommands();
  declareFileTreeCommands();
  declareCodeCommands();
}
