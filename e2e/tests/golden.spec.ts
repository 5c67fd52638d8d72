/** The golden workflows of the specification (§55), as a person sees them. */
import { expect, test } from "../support/test";
import { processesWith } from "../support/place";

const AUTH = `steps:
  - when: { user: "How does authentication work" }
    thinking: I look for the login.
    tools:
      - name: search_content
        arguments: { pattern: login, literal: true }
      - name: read_file
        arguments: { path: src/auth.ts }
  - text: |
      \`login\` in \`src/auth.ts:1\` compares the password and gives a session.
`;

test("55.1 a question is answered from the files, without a change or a command", async ({ place, app }) => {
  place.write("src/auth.ts", "export function login(name: string, password: string) {\n  return { name, password };\n}\n");
  place.write("README.md", "# Shop\n");
  place.commitAll();
  await place.play(AUTH);
  await app.open(await place.serve());
  await app.send("How does authentication work in this repo?");

  await expect(app.items("Answer").last()).toContainText("compares the password");
  await expect(app.items("Summary")).toContainText("Finished");
  await expect(app.conversation.getByText("src/auth.ts").first()).toBeVisible();
  await expect(app.items("Step")).toHaveCount(2);
  await expect(app.changes).toHaveCount(0);
  await expect(app.items("Command")).toHaveCount(0);
  expect(place.git("status", "--porcelain")).toBe("");

  // The reference leads to the file, and the session is there after a reload.
  await app.items("Answer").last().getByRole("button", { name: "src/auth.ts:1" }).click();
  await expect(app.page.getByRole("tab", { name: /auth\.ts/ })).toBeVisible();
  await expect.poll(() => app.editorText()).toContain("export function login");
  await app.page.reload();
  await expect(app.items("Answer").last()).toContainText("compares the password");
});

const BUTTON = `steps:
  - tools:
      - name: read_file
        arguments: { path: src/settings.html }
  - tools:
      - name: edit_file
        arguments: { path: src/settings.html, old: "<button>OK</button>", new: "<button>Save changes</button>" }
  - text: The button says "Save changes" now.
  - text: As you wish.
`;
const SETTINGS = "<h1>Settings</h1>\n<button>OK</button>\n";

test("55.2 one file is edited, shown as a difference, and only an accept writes it", async ({ place, app }) => {
  place.write("src/settings.html", SETTINGS);
  place.write("src/other.html", SETTINGS);
  place.commitAll();
  await place.play(BUTTON);
  await app.open(await place.serve());
  await app.send('Change the button text on the settings page to "Save changes".');

  await expect(app.changes).toHaveCount(1);
  await expect(app.changes.getByText("<button>Save changes</button>")).toBeVisible();
  await expect(app.changes).toContainText("1 file");
  await expect(app.status.getByRole("button", { name: "1 file to review" })).toBeVisible();
  expect(place.read("src/settings.html")).toBe(SETTINGS);

  await app.changes.getByRole("button", { name: "Accept all" }).click();
  await expect(app.changes).toContainText("Accepted");
  expect(place.read("src/settings.html")).toBe(SETTINGS.replace("OK", "Save changes"));
  expect(place.git("status", "--porcelain").trim()).toBe("M src/settings.html");

  // The accept made a snapshot: undo brings the file back.
  await app.changes.getByRole("button", { name: "Undo" }).click();
  await expect.poll(() => place.read("src/settings.html")).toBe(SETTINGS);
});

test("55.2 a rejected change leaves the disk as it was", async ({ place, app }) => {
  place.write("src/settings.html", SETTINGS);
  place.commitAll();
  await place.play(BUTTON);
  await app.open(await place.serve());
  await app.send("Change the button text");
  await app.changes.getByRole("button", { name: "Reject all" }).click();
  await expect(app.changes).toContainText("Rejected");
  expect(place.git("status", "--porcelain")).toBe("");
});

const RENAME = `steps:
  - tools:
      - name: search_content
        arguments: { pattern: useHealth, literal: true }
  - tools:
      - name: edit_file
        arguments: { path: hook.py, old: "def useHealth", new: "def use_provider_health" }
      - name: edit_file
        arguments: { path: a.py, old: "from hook import useHealth\\nuseHealth()", new: "from hook import use_provider_health\\nuse_provider_health()" }
      - name: edit_file
        arguments: { path: b.py, old: "from hook import useHealth", new: "from hook import use_provider_health" }
  - tools:
      - name: run_command
        arguments: { command: "python3 -m compileall -q . && grep -c use_provider_health hook.py a.py b.py" }
  - text: Renamed in three files; the check passes on the changed code.
`;

test("55.3 a rename over several files is checked before review and accepted as one", async ({ place, app }) => {
  place.write("hook.py", "def useHealth():\n    return True\n");
  place.write("a.py", "from hook import useHealth\nuseHealth()\n");
  place.write("b.py", "from hook import useHealth\n");
  place.write("c.py", "print('nothing to do with it')\n");
  place.write(".gitignore", "__pycache__/\n");
  place.commitAll();
  await place.play(RENAME);
  await app.open(await place.serve());
  await app.send("Rename the provider health hook and update all imports.");

  await expect(app.items("Command")).toContainText("Exit 0");
  // The command saw the proposed files while the disk has the old ones.
  await expect(app.items("Command")).toContainText("a.py:2");
  expect(place.read("a.py")).toContain("useHealth");

  await expect(app.changes).toContainText("3 files");
  for (const name of ["hook.py", "a.py", "b.py"]) await expect(app.changes.getByText(name, { exact: true })).toBeVisible();
  await app.changes.getByRole("button", { name: "Accept all" }).click();
  await expect(app.changes).toContainText("Accepted");
  expect(place.git("status", "--porcelain").trim().split(/\s*\n\s*/).sort()).toEqual(["M a.py", "M b.py", "M hook.py"]);
  expect(place.git("grep", "-c", "useHealth", "HEAD").trim().split("\n")).toHaveLength(3);
});

test("55.6 stopping ends the stream, the command and the turn, and nothing comes after", async ({ place, app }) => {
  const tag = `81${process.pid}`;
  place.write("a.txt", "one\n");
  place.commitAll();
  await place.play(`steps:
  - tools:
      - name: edit_file
        arguments: { path: a.txt, old: "one", new: "two" }
  - text: Now the long part.
    tools:
      - name: run_command
        arguments: { command: "sleep ${tag} & sleep ${tag}" }
  - text: never said
`);
  await app.open(await place.serve());
  await app.send("Refactor everything");
  await expect.poll(() => processesWith(`sleep\0${tag}`).length).toBe(2);

  await app.composer.press("Control+Shift+Backspace");
  await expect(app.status).toContainText("Stopped");
  await expect.poll(() => processesWith(`sleep\0${tag}`)).toEqual([]);
  await expect(app.items("Summary")).toContainText("Stopped");
  const command = app.items("Command");
  await expect(command).toContainText(/Stopped by you|Cancelled/);
  // What was edited before is there to be reviewed, not on disk; nothing spins.
  await expect(app.changes).toContainText("1 file");
  expect(place.read("a.txt")).toBe("one\n");
  await expect(app.conversation.locator("[data-live]")).toHaveCount(0);
  const before = await app.conversation.getByRole("article").count();
  await app.page.reload();
  await expect(app.items("Summary")).toContainText("Stopped");
  await expect(app.conversation.getByRole("article")).toHaveCount(before);
});
