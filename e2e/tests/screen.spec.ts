/** Parts of the screen that only a real window shows: the first run, chips, commands of a message, islands. */
import { expect, test } from "../support/test";

test("a new user reaches an accepted change without a key, and the composer in under a minute", async ({ place, app }) => {
  test.setTimeout(120_000);
  // The practice repository lies in the user's own data folder, as it does for everyone.
  delete place.variables["VIBE_CODER_HOME"];
  const start = Date.now();
  await app.page.goto(await place.serve({ without: "workspace" }));
  await app.page.getByRole("button", { name: "Try the sample project" }).click();
  await expect(app.page.getByText("Connected", { exact: true })).toBeVisible({ timeout: 60_000 });
  await expect(app.composer).toBeVisible();
  expect(Date.now() - start).toBeLessThan(60_000);
  await app.page.getByRole("button", { name: "Run the tests and fix the first failure." }).click();
  await app.composer.press("Enter");
  await expect(app.items("Summary")).toContainText("Finished", { timeout: 90_000 });
  await expect(app.items("Command").last()).toContainText("Exit 0");
  await app.changes.getByRole("button", { name: "Accept all" }).click();
  await expect(app.changes).toContainText("Accepted");
});

test("a message takes a long paste, a dropped file, the selection and a folder with it", async ({ place, app }) => {
  place.write("src/deep/a.txt", "one\ntwo\nthree\nfour\n");
  place.commitAll();
  await place.play("steps:\n  - when: { user_regex: \"(?s)paste 59.*from a file\" }\n    text: All of it arrived.\n");
  await app.open(await place.serve());
  const { page } = app;
  await app.openFile("a.txt");
  await expect.poll(() => app.editorText()).toContain("two");
  await app.editor.locator(".view-lines").click({ position: { x: 5, y: 5 } });
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Shift+End");

  await app.composer.pressSequentially("Look at @selec");
  await page.getByRole("option", { name: /a\.txt:1-2/ }).click();
  await expect(app.composer).toHaveValue("Look at @src/deep/a.txt:1-2 ");
  await app.composer.pressSequentially("and @deep");
  await page.getByRole("option", { name: "src/deep/", exact: true }).click();
  await expect(app.composer).toHaveValue("Look at @src/deep/a.txt:1-2 and @src/deep/ ");

  const paste = Array.from({ length: 60 }, (_, at) => `paste ${at}`).join("\n");
  await app.composer.evaluate((box, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, paste);
  await page.getByLabel("Files to attach").setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("from a file\n") });
  const chips = page.getByRole("list", { name: "Attached" });
  await expect(chips.getByRole("listitem")).toHaveText([/Pasted text\s*60 lines/, /notes\.txt\s*1 line/]);

  // A reload keeps them; then they go out.
  await page.waitForTimeout(600);
  await page.reload();
  await expect(chips.getByRole("listitem")).toHaveCount(2);
  await app.composer.press("Enter");
  await expect(app.items("Answer")).toContainText("All of it arrived.");
  await expect(app.items("You")).toContainText("Pasted text · 60 lines");
  await expect(app.items("You")).not.toContainText("paste 7");
});

test("a picture is refused with the reason and nothing of it is sent", async ({ place, app }) => {
  await place.play("steps:\n  - text: Hello.\n");
  await app.open(await place.serve());
  await app.page.getByLabel("Files to attach").setInputFiles({ name: "shot.png", mimeType: "image/png", buffer: Buffer.from([137, 80, 78, 71]) });
  await expect(app.page.getByText("shot.png was not attached.")).toBeVisible();
  await expect(app.page.getByRole("list", { name: "Attached" })).toHaveCount(0);
});

test("/ runs a command of the window from the message", async ({ place, app }) => {
  await place.play("steps:\n  - text: Hello.\n");
  await app.open(await place.serve());
  await app.composer.pressSequentially("/as");
  await expect(app.page.getByRole("option", { name: /\/ask/ })).toBeVisible();
  await app.composer.press("Enter");
  await expect(app.page.getByRole("button", { name: "Ask", exact: true })).toBeVisible();
  await expect(app.composer).toHaveValue("");
});

test("a finished command is found in, copied, saved whole and run again", async ({ place, app, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  place.commitAll();
  await place.play(`steps:
  - tools: [{ name: run_command, arguments: { command: "seq 1 30000" } }]
  - text: Counted.
`);
  await app.open(await place.serve());
  await app.send("Count");
  await app.turnEnds();
  const card = app.items("Command");
  await card.hover();
  await card.getByRole("button", { name: "Copy output" }).click();
  await expect.poll(() => app.page.evaluate(() => navigator.clipboard.readText())).toContain("30000");
  const saved = app.page.waitForEvent("download");
  await card.getByRole("button", { name: "Save the whole log" }).click();
  const file = await (await saved).path();
  const { readFileSync } = await import("node:fs");
  expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(30_000);
  await card.getByRole("button", { name: "Find in the output" }).click();
  await card.getByRole("textbox", { name: "Find in the output" }).fill("29999");
  await card.getByRole("textbox", { name: "Find in the output" }).press("Enter");
  await expect(card.locator("[data-hit]")).toContainText("29999");
  await card.hover();
  await card.getByRole("button", { name: "Run again" }).click();
  await expect(app.items("Command")).toHaveCount(2);
  await expect(app.items("Command").last()).toContainText("You: Ran");
  await expect(app.items("Command").last()).toContainText("Exit 0");
});

test("island placeholders are loaded when they are looked at, and hold nothing", async ({ place, app }) => {
  await place.play("steps:\n  - text: Hello.\n");
  const loaded: string[] = [];
  app.page.on("response", (response) => loaded.push(new URL(response.url()).pathname));
  await app.open(await place.serve());
  await app.page.getByRole("button", { name: "Settings", exact: true }).click();
  expect(loaded.filter((path) => path.includes("Islands"))).toEqual([]);
  await app.page.getByRole("button", { name: "Future islands" }).click();
  await expect(app.page.getByText("They are off and cannot be switched on.")).toBeVisible();
  expect(loaded.filter((path) => path.includes("Islands")).length).toBeGreaterThan(0);
});

test("what the page loads comes from this host alone, and the first script is small", async ({ place, app }) => {
  await place.play("steps:\n  - text: Hello.\n");
  let script = 0;
  const foreign: string[] = [];
  app.page.on("request", (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (hostname !== "127.0.0.1" && protocol !== "blob:" && protocol !== "data:") foreign.push(request.url());
  });
  app.page.on("response", async (response) => {
    if (!response.url().endsWith(".js") || /monaco|editor/i.test(response.url())) return;
    script += (await response.body().catch(() => Buffer.alloc(0))).length;
  });
  await app.open(await place.serve());
  expect(foreign).toEqual([]);
  test.info().annotations.push({ type: "script before the editor", description: `${Math.round(script / 1024)} KiB, not compressed` });
  expect(script).toBeLessThan(4 * 1024 * 1024);
});

test("an answer for the session is asked for once, listed in the settings and taken back there", async ({ place, app }) => {
  place.write("build/a.txt", "a\n");
  place.commitAll();
  const remove = `  - tools: [{ name: run_command, arguments: { command: "touch marker && rm marker" } }]\n  - text: Done.\n`;
  await place.play(`steps:\n${remove}${remove}${remove}`);
  await app.open(await place.serve());
  await app.send("First");
  const strip = app.page.getByRole("region", { name: "Needs your OK" });
  const longer = strip.getByRole("button", { name: "Allow for longer" });
  await expect(longer).toBeEnabled();
  await longer.click();
  await app.page.getByRole("menuitem", { name: /In this session/ }).click();
  await app.turnEnds();
  await app.send("Second");
  await app.turnEnds(2);

  await app.page.getByRole("button", { name: "Settings", exact: true }).click();
  await app.page.getByRole("navigation", { name: "Settings pages" }).getByRole("button", { name: "Trust" }).click();
  const rules = app.page.getByRole("region", { name: "Standing answers" });
  await expect(rules).toContainText("in one session");
  const takeBack = rules.getByRole("button", { name: "Take back" });
  for (let left = await takeBack.count(); left > 0; left -= 1) {
    await takeBack.first().click();
    await expect(takeBack).toHaveCount(left - 1);
  }
  await expect(rules).toContainText("None.");
  await app.page.keyboard.press("Escape");
  await app.send("Third");
  await expect(strip).toBeVisible();
});
