/** Much at once: a command that prints 200 MB, a file of one 5 MB line. The window stays responsive, the engine small. */
import { expect, test } from "../support/test";
import type { Page } from "@playwright/test";
import { peakMemory } from "../support/place";

/** The longest task of the page's main thread since this was called, in milliseconds. */
async function watchTasks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const tasks: number[] = [];
    Object.assign(window, { tasks });
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ type: "longtask" });
  });
  return () => page.evaluate(() => Math.max(0, ...(window as unknown as { tasks: number[] }).tasks));
}

/**
 * The budget is 200 ms on a machine of its own. These tests share two cores with a browser, a debug engine and each
 * other, so they fail at a multiple of it, and say what they measured.
 */
const MOST_TASK_MS = 400;

test("a command that prints 200 MB leaves the window responsive and the engine under 150 MB", async ({ place, app }) => {
  test.setTimeout(150_000);
  place.write("small.txt", "small\n");
  place.commitAll();
  await place.play(`steps:
  - tools: [{ name: run_command, arguments: { command: "yes 'a line of output that a build might print, sixty letters' | head -c 200000000" } }]
  - text: That was a lot.
`);
  await app.open(await place.serve());
  // The editor is loaded when the window is idle; that is not what is measured here.
  await app.openFile("small.txt");
  await expect.poll(() => app.editorText()).toContain("small");
  const longest = await watchTasks(app.page);
  await app.send("Flood");
  await expect(app.items("Command")).toBeVisible();
  // Keys go on working while it floods.
  await app.composer.pressSequentially("typed while it floods", { delay: 30 });
  await expect(app.composer).toHaveValue("typed while it floods");
  await expect(app.items("Command")).toContainText("Exit 0", { timeout: 120_000 });
  await expect(app.items("Answer")).toContainText("That was a lot.");
  await expect(app.items("Command")).toContainText("more in the log");
  const memory = Math.round(peakMemory(place.enginePid()!));
  test.info().annotations.push({ type: "flood of 200 MB", description: `longest task ${Math.round(await longest())} ms, engine at most ${memory} MB` });
  console.log(`flood: longest task ${Math.round(await longest())} ms, engine at most ${memory} MB`);
  expect(memory).toBeLessThan(150);
  expect(await longest()).toBeLessThan(MOST_TASK_MS);
});

test("a file of one 5 MB line opens without freezing the window", async ({ place, app }) => {
  place.write("one-line.js", `var x="${"needle ".repeat(700_000)}";`);
  place.write("small.txt", "small\n");
  place.commitAll();
  await place.play("steps:\n  - text: Hello.\n");
  await app.open(await place.serve());
  await app.openFile("small.txt");
  await expect.poll(() => app.editorText()).toContain("small");
  const longest = await watchTasks(app.page);
  await app.openFile("one-line.js");
  await expect(app.page.getByRole("tabpanel").first()).toContainText(/needle|Large file/);
  await app.composer.pressSequentially("still here", { delay: 30 });
  await expect(app.composer).toHaveValue("still here");
  await app.openFile("small.txt");
  await expect.poll(() => app.editorText()).toContain("small");
  const memory = Math.round(peakMemory(place.enginePid()!));
  test.info().annotations.push({ type: "one line of 5 MB", description: `longest task ${Math.round(await longest())} ms, engine at most ${memory} MB` });
  console.log(`one line: longest task ${Math.round(await longest())} ms, engine at most ${memory} MB`);
  expect(memory).toBeLessThan(150);
  expect(await longest()).toBeLessThan(MOST_TASK_MS);
});
