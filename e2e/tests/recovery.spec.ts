/** §55.7 and what else may break: the page is reloaded, the engine is killed, the host is killed. */
import { expect, test } from "../support/test";
import { processesWith } from "../support/place";

const EDIT = `steps:
  - tools:
      - name: edit_file
        arguments: { path: a.txt, old: "one", new: "two" }
  - text: Done.
  - text: And on.
`;

for (const [what, breaks] of [
  ["the page is reloaded", "page"],
  ["the engine is killed", "engine"],
  ["the host is killed", "host"],
] as const) {
  test(`55.7 conversation, pending change, unsaved text and message are back after ${what}`, async ({ place, app }) => {
    place.write("a.txt", "one\n");
    place.write("notes.txt", "note\n");
    place.commitAll();
    await place.play(EDIT);
    await app.open(await place.serve());
    await app.send("Change one to two");
    await expect(app.changes.getByRole("button", { name: "Accept all" })).toBeVisible();
    await app.openFile("notes.txt");
    await expect.poll(() => app.editorText()).toContain("note");
    await app.typeAtStart("unsaved ");
    await app.composer.fill("a message that is not sent");
    // Both are kept a moment after the last letter.
    await app.page.waitForTimeout(1_500);

    if (breaks === "page") await app.page.reload();
    if (breaks === "engine") {
      const before = place.enginePid();
      place.killEngine();
      await expect.poll(() => place.enginePid() ?? before).not.toBe(before);
      await expect(app.status.getByText("Connected", { exact: true })).toBeVisible();
    }
    if (breaks === "host") {
      await place.killHost();
      await expect.poll(() => place.enginePid()).toBeNull();
      await app.page.goto(await place.serve());
    }

    await expect(app.composer).toHaveValue("a message that is not sent");
    await expect(app.items("You")).toContainText("Change one to two");
    await expect(app.page.getByRole("tab", { name: /notes\.txt/ })).toBeVisible();
    await expect.poll(() => app.editorText()).toContain("unsaved note");
    expect(place.read("notes.txt")).toBe("note\n");
    await expect(app.changes).toHaveCount(1);
    expect(place.read("a.txt")).toBe("one\n");
    await app.changes.getByRole("button", { name: "Accept all" }).click();
    await expect(app.changes).toContainText("Accepted");
    expect(place.read("a.txt")).toBe("two\n");
    // The conversation goes on.
    await app.composer.fill("go on");
    await app.composer.press("Enter");
    await expect(app.items("Answer").last()).toContainText("And on.");
  });
}

test("a turn that a dying engine interrupted is named and can be resumed", async ({ place, app }) => {
  const tag = `82${process.pid}`;
  place.write("a.txt", "one\n");
  place.commitAll();
  await place.play(`steps:
  - tools:
      - name: run_command
        arguments: { command: "sleep ${tag}" }
  - text: On it goes.
`);
  await app.open(await place.serve());
  await app.send("Wait for it");
  await expect.poll(() => processesWith(`sleep\0${tag}`).length).toBe(1);
  place.killEngine();
  const banner = app.page.getByRole("status").filter({ hasText: "was stopped while it was running" });
  await expect(banner).toBeVisible();
  await expect.poll(() => processesWith(`sleep\0${tag}`)).toEqual([]);
  await banner.getByRole("button", { name: "Resume" }).click();
  await expect(banner).toHaveCount(0);
  await expect(app.conversation.locator("[data-live]")).toHaveCount(0);
  await app.send("Go on");
  await expect(app.items("Answer").last()).toContainText("On it goes.");
});

test("a window that lost its host says so, keeps what is typed, and goes on when the host is back", async ({ place, app, context }) => {
  place.write("a.txt", "one\n");
  await place.play("steps:\n  - text: Hello again.\n");
  await app.open(await place.serve());
  const { port } = place.hostRecord();
  await place.killHost();
  await expect(app.page.getByText("Vibe Coder is not reachable.")).toBeVisible();
  await app.composer.fill("typed while it was away");
  // A new host has a new key; the window it opens brings it, and the old window finds it too.
  const second = await context.newPage();
  await second.goto(await place.serve({ port }));
  await expect(second.getByText("Connected", { exact: true })).toBeVisible();
  await expect(app.page.getByText("Connected", { exact: true })).toBeVisible();
  await expect(app.composer).toHaveValue("typed while it was away");
  await app.composer.press("Enter");
  await expect(app.items("Answer")).toContainText("Hello again.");
});
