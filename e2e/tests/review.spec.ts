/** Deciding about proposed changes: hunk by hunk, and when the user edited the same file meanwhile. */
import { expect, test } from "../support/test";

const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}\n`).join("");
const LINES = numbered(1, 60);

/** Two changes far apart, so that they are two hunks. */
const TWO_HUNKS = `steps:
  - tools:
      - name: multi_edit
        arguments:
          path: long.txt
          edits:
            - { old: "line 5\\n", new: "line five\\n" }
            - { old: "line 50\\n", new: "line fifty\\n" }
  - text: Two lines are words now.
  - text: Fine.
`;

test("a hunk is accepted alone: the disk has exactly it, the other waits on", async ({ place, app }) => {
  place.write("long.txt", LINES);
  place.commitAll();
  await place.play(TWO_HUNKS);
  await app.open(await place.serve());
  await app.send("Write the fives as words");
  const first = app.changes.getByRole("group", { name: "Hunk 1" });
  await expect(first).toContainText("line five");
  await expect(app.changes.getByText("Hunk 1 of 2")).toBeVisible();
  await app.changes.getByRole("button", { name: "Accept", exact: true }).nth(1).click();

  await expect(app.changes).toContainText("Partly accepted");
  await expect(app.changes.getByText("Hunk 1 of 1")).toBeVisible();
  expect(place.read("long.txt")).toBe(LINES.replace("line 5\n", "line five\n"));
  await app.changes.getByRole("button", { name: "Reject", exact: true }).last().click();
  await expect(app.changes.getByRole("button", { name: "Accept all" })).toHaveCount(0);
  expect(place.read("long.txt")).toBe(LINES.replace("line 5\n", "line five\n"));
});

test("the review shows the engine's hunks in the editor and walks through them", async ({ place, app }) => {
  place.write("long.txt", LINES);
  place.commitAll();
  await place.play(TWO_HUNKS);
  await app.open(await place.serve());
  await app.send("Write the fives as words");
  await app.changes.getByRole("button", { name: "Review" }).click();
  const code = app.page.getByRole("region", { name: "Code" });
  await expect(code.getByText("Hunk 1 of 2 · 1 file left")).toBeVisible();
  await expect(code.locator(".monaco-diff-editor").getByText("Hunk 2 of 2")).toBeVisible();
  await app.page.keyboard.press("F7");
  await expect(code.getByText("Hunk 2 of 2 · 1 file left")).toBeVisible();
  await app.page.keyboard.press("Alt+a");
  await expect.poll(() => place.read("long.txt")).toBe(LINES.replace("line 50\n", "line fifty\n"));
  // The next decision is taken when the one before is shown.
  await expect(code.getByText("Hunk 1 of 1 · 1 file left")).toBeVisible();
  await app.page.keyboard.press("Alt+r");
  await expect(code.getByText("All changes are decided")).toBeVisible();
  expect(place.read("long.txt")).toBe(LINES.replace("line 50\n", "line fifty\n"));
});

test("E09 d: accepting over the user's own edit of the same line writes nothing and says so", async ({ place, app }) => {
  place.write("long.txt", LINES);
  place.commitAll();
  await place.play(TWO_HUNKS);
  await app.open(await place.serve());
  await app.send("Write the fives as words");
  await expect(app.changes.getByRole("button", { name: "Accept all" })).toBeVisible();
  const mine = LINES.replace("line 5\n", "my own line\n");
  place.write("long.txt", mine);
  await app.changes.getByRole("button", { name: "Accept all" }).click();
  await expect(app.changes).toContainText("Conflict");
  expect(place.read("long.txt")).toBe(mine);
  await app.changes.getByRole("button", { name: "Reject all" }).click();
  await expect(app.changes).toContainText("Rejected");
  expect(place.read("long.txt")).toBe(mine);
});

test("E09 d: an edit elsewhere in the file is kept when the change is accepted", async ({ place, app }) => {
  place.write("long.txt", LINES);
  place.commitAll();
  await place.play(TWO_HUNKS);
  await app.open(await place.serve());
  await app.send("Write the fives as words");
  await expect(app.changes.getByRole("button", { name: "Accept all" })).toBeVisible();
  place.write("long.txt", LINES.replace("line 30\n", "my line\n"));
  await app.changes.getByRole("button", { name: "Accept all" }).click();
  await expect(app.changes).toContainText("Accepted");
  expect(place.read("long.txt")).toBe(
    LINES.replace("line 5\n", "line five\n").replace("line 50\n", "line fifty\n").replace("line 30\n", "my line\n"),
  );
});

test("E09 b: text typed into a file that the assistant changed is not lost, and the user is asked", async ({ place, app }) => {
  place.write("long.txt", LINES);
  place.commitAll();
  await place.play(TWO_HUNKS);
  await app.open(await place.serve());
  await app.openFile("long.txt");
  await expect.poll(() => app.editorText()).toContain("line 1");
  await app.typeAtStart("mine ");
  await expect(app.page.getByRole("tab", { name: /long\.txt/ })).toContainText(/long\.txt/);
  await app.send("Write the fives as words");
  await app.changes.getByRole("button", { name: "Accept all" }).click();
  await expect(app.changes).toContainText("Accepted");
  expect(place.read("long.txt")).toContain("line five");

  const bar = app.page.getByRole("status").filter({ hasText: "changed on disk while you edited it" });
  await expect(bar).toBeVisible();
  expect(await app.editorText()).toContain("mine line 1");
  // Saving without an answer writes nothing.
  await app.editor.locator(".view-lines").click({ position: { x: 5, y: 5 } });
  await app.page.keyboard.press("Control+s");
  await expect(bar).toBeVisible();
  expect(place.read("long.txt")).not.toContain("mine");
  await bar.getByRole("button", { name: "Keep mine" }).click();
  await expect.poll(() => place.read("long.txt")).toBe(`mine ${LINES}`);
});

test("E09 c: an open clean tab shows the accepted text before a keystroke is taken", async ({ place, app }) => {
  place.write("long.txt", LINES);
  place.commitAll();
  await place.play(TWO_HUNKS);
  await app.open(await place.serve());
  await app.openFile("long.txt");
  await expect.poll(() => app.editorText()).toContain("line 5\n");
  await app.send("Write the fives as words");
  await app.changes.getByRole("button", { name: "Accept all" }).click();
  await expect.poll(() => app.editorText()).toContain("line five");
  await app.typeAtStart("# ");
  await app.page.keyboard.press("Control+s");
  await expect.poll(() => place.read("long.txt")).toBe(
    `# ${LINES.replace("line 5\n", "line five\n").replace("line 50\n", "line fifty\n")}`,
  );
});
