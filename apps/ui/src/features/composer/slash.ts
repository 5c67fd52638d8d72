/** What `/` offers at the start of a message: commands of the window, and messages that are asked often. */

export interface SlashCommand {
  name: string;
  note: string;
  does: { what: "run"; command: string; argument?: unknown } | { what: "write"; text: string };
}

const run = (name: string, note: string, command: string, argument?: unknown): SlashCommand => ({
  name,
  note,
  does: { what: "run", command, argument },
});
const write = (name: string, note: string, text: string): SlashCommand => ({ name, note, does: { what: "write", text } });

export const SLASH_COMMANDS: readonly SlashCommand[] = [
  run("new", "Begin a new session", "session.new"),
  run("sessions", "Switch to another session", "session.switch"),
  run("review", "Review the proposed changes", "changes.review"),
  run("undo", "Take back what was last accepted", "changes.undo"),
  write("test", "Run the tests and fix what fails", "Run the tests and fix what fails."),
  write("explain", "Explain this project", "Explain how this project is built and where to start reading."),
  write("plan", "Plan before anything is changed", "Make a plan first and change nothing yet: "),
  run("ask", "Answers only", "composer.setMode", "ask"),
  run("edit", "Proposes edits", "composer.setMode", "edit"),
  run("agent", "Edits, runs commands and checks", "composer.setMode", "agent"),
  run("stop", "Stop the running turn", "composer.stop"),
  run("export", "Save this session as a file", "session.export"),
  run("settings", "Open the settings", "settings.open"),
];
