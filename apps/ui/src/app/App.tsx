/** Composes the features into the window. No logic of its own. */
import { useEffect } from "react";
import { ChatPanel } from "./ChatPanel";
import { listenForKeys } from "./keys";
import { CodeColumn } from "../features/code";
import { ContextView } from "../features/context";
import { FilesColumn } from "../features/file-tree";
import { FirstRun } from "../features/first-run";
import { Toasts } from "../features/notifications";
import { Palette } from "../features/palette";
import { SettingsDialog, settingsStore } from "../features/settings";
import { Shell } from "../features/shell";
import { StatusBar } from "../features/status-bar";
import { CommandLog } from "../features/timeline";
import { TopBar } from "../features/top-bar";
import { workspaceStore } from "../features/workspace";
import { useStore } from "../shared/store";
import { TooltipProvider } from "../shared/ui";

export function App() {
  useEffect(listenForKeys, []);
  useAppearance();
  const context = useStore(workspaceStore, (state) => state.context);
  const known = useStore(workspaceStore, (state) => state.known);
  return (
    <TooltipProvider delay={600}>
      <h1 className="vc-hidden">Vibe Coder</h1>
      {context || !known ? (
        <Shell top={<TopBar />} files={<FilesColumn />} chat={<ChatPanel />} code={<CodeColumn />} status={<StatusBar />} />
      ) : (
        <FirstRun />
      )}
      <Palette />
      <SettingsDialog />
      <ContextView />
      <CommandLog />
      <Toasts />
      <div id="announce-polite" className="vc-hidden" aria-live="polite" />
      <div id="announce-assertive" className="vc-hidden" aria-live="assertive" />
    </TooltipProvider>
  );
}

/** Puts theme and sizes on the document, where the tokens read them. */
function useAppearance(): void {
  const preferences = useStore(settingsStore, (state) => state.preferences);
  useEffect(() => {
    const root = document.documentElement;
    const light = window.matchMedia("(prefers-color-scheme: light)");
    const apply = () => {
      const theme = preferences.theme === "system" ? (light.matches ? "light" : "dark") : preferences.theme;
      root.dataset["theme"] = theme;
    };
    apply();
    root.style.setProperty("--vc-chat-size", `${preferences.chatSize}px`);
    root.style.setProperty("--vc-chat-line", `${Math.round(preferences.chatSize * 1.57)}px`);
    root.style.setProperty("--vc-editor-size", `${preferences.editorSize}px`);
    light.addEventListener("change", apply);
    return () => light.removeEventListener("change", apply);
  }, [preferences]);
}
