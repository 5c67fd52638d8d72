/** Opening, switching and restarting workspaces. */
import { declareCommands } from "../../shared/commands";
import { asShownError } from "../../shared/failure";
import { runtime } from "../../shared/runtime";
import { showError, toast } from "../notifications";
import { workspaceStore } from "./store";

export async function openFolder(path: string): Promise<void> {
  try {
    const { context } = await runtime().host("host/open", { path });
    await runtime().enter(context);
  } catch (thrown) {
    const error = asShownError(thrown);
    if (error.code !== "workspace.tooWide") {
      showError(error);
      return;
    }
    toast({
      text: `${path} holds very much. Open it all the same?`,
      action: { label: "Open", command: "workspace.openWide", argument: path },
    });
  }
}

async function openWide(path: string): Promise<void> {
  try {
    const { context } = await runtime().host("host/open", { path, allowWide: true });
    await runtime().enter(context);
  } catch (thrown) {
    showError(asShownError(thrown));
  }
}

export async function openSample(): Promise<void> {
  try {
    const { context } = await runtime().host("host/sample", {});
    await runtime().enter(context);
  } catch (thrown) {
    showError(asShownError(thrown));
  }
}

export async function refreshGit(): Promise<void> {
  try {
    workspaceStore.setState({ git: await runtime().request("git/status", {}) });
  } catch {
    // The branch is a help, not a need; the next notice tries again.
  }
}

export function declareWorkspaceCommands(): void {
  declareCommands([
    {
      id: "workspace.open",
      title: "Open a folder…",
      group: "Workspace",
      run: () => workspaceStore.setState({ context: null }),
    },
    {
      id: "workspace.openWide",
      title: "Open a very wide folder",
      group: "Workspace",
      internal: true,
      run: (path) => openWide(String(path)),
    },
    { id: "workspace.sample", title: "Open the sample project", group: "Workspace", run: openSample },
    {
      id: "workspace.restartEngine",
      title: "Restart the engine",
      group: "Workspace",
      unavailable: () => (workspaceStore.getState().context ? null : "No workspace is open."),
      run: async () => {
        const { context } = workspaceStore.getState();
        if (!context) return;
        try {
          await runtime().host("host/restart", { context });
        } catch (thrown) {
          showError(asShownError(thrown));
        }
      },
    },
    { id: "workspace.refreshGit", title: "Refresh git status", group: "Workspace", run: refreshGit },
  ]);
}
