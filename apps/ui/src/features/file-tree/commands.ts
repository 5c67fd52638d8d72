/** Commands of the files column. */
import { declareCommands, run } from "../../shared/commands";

export function declareFileTreeCommands(): void {
  declareCommands([
    {
      id: "files.reveal",
      title: "Reveal in the tree",
      group: "Files",
      internal: true,
      run: () => run("focus.files"),
    },
  ]);
}
