/** Opening files and reviews: the two doors into the code column. */
import { declareCommands, run } from "../../shared/commands";
import type { OpenFile, OpenReview } from "./store";

export function openFile(path: string, line: number | null = null): void {
  run("code.openFile", { path, line } satisfies OpenFile);
}

export function openReview(changeSetId: string, path: string | null = null): void {
  run("code.openReview", { changeSetId, path } satisfies OpenReview);
}

export function declareCodeCommands(): void {
  declareCommands([
    {
      id: "code.openFile",
      title: "Open a file",
      group: "Files",
      internal: true,
      run: () => run("focus.code"),
    },
    {
      id: "code.openReview",
      title: "Open a review",
      group: "Changes",
      internal: true,
      run: () => run("focus.code"),
    },
  ]);
}
