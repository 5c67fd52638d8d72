/** From a message to accepted changes without a pointer. */
import { expect, test } from "../support/test";

test("ask, allow, review, accept one hunk, reject the other and open the file by keys alone", async ({ place, app }) => {
  place.write("src/list.txt", Array.from({ length: 40 }, (_, at) => `line ${at + 1}\n`).join(""));
  place.write("build/out.txt", "old\n");
  place.commitAll();
  await place.play(`steps:
  - tools:
      - name: run_command
        arguments: { command: "rm -r build" }
  - tools:
      - name: multi_edit
        arguments:
          path: src/list.txt
          edits:
            - { old: "line 3\\n", new: "line three\\n" }
            - { old: "line 33\\n", new: "line thirty-three\\n" }
  - text: Ready for review.
`);
  await app.open(await place.serve());
  const { keyboard } = app.page;
  const focused = () => app.page.evaluate(() => document.activeElement?.id ?? "");

  await keyboard.press("Control+l");
  await expect.poll(focused).toBe("composer-text");
  await keyboard.type("Clean up and rewrite");
  await keyboard.press("Enter");
  const strip = app.page.getByRole("region", { name: "Needs your OK" });
  await expect(strip).toContainText("rm -r build");
  await expect(strip.getByRole("button", { name: /^Allow once/ })).toBeEnabled();
  expect(await focused()).toBe("composer-text");
  await keyboard.press("Alt+y");
  await app.turnEnds();
  await expect(app.conversation).toContainText("Allowed");

  // The deletion is a proposal as well: the folder is still there.
  expect(place.exists("build/out.txt")).toBe(true);
  await keyboard.press("Alt+Enter");
  const code = app.page.getByRole("region", { name: "Code" });
  await expect(code.getByText(/1 of 2/).first()).toBeVisible();
  await expect.poll(() => app.page.evaluate(() => document.activeElement?.closest("[data-keys='review']") !== null)).toBe(true);
  // Walk to the text file, whichever comes first.
  if (!(await code.getByRole("button", { name: "src/list.txt" }).isVisible())) await keyboard.press("Alt+]");
  await expect(code.getByText("Hunk 1 of 2 · 2 files left")).toBeVisible();
  await keyboard.press("Alt+a");
  await expect.poll(() => place.read("src/list.txt")).toContain("line three");
  await expect(code.getByText("Hunk 1 of 1 · 2 files left")).toBeVisible();
  await keyboard.press("Alt+r");
  await expect(code.getByText("1 file left")).toBeVisible();
  await keyboard.press("Alt+Shift+r");
  await expect(code.getByText("All changes are decided")).toBeVisible();
  expect(place.read("src/list.txt")).toContain("line 33\n");
  expect(place.exists("build/out.txt")).toBe(true);
  await keyboard.press("Alt+Enter");

  await keyboard.press("Control+p");
  await keyboard.type("list.txt");
  await keyboard.press("Enter");
  await expect(app.page.getByRole("tab", { name: /list\.txt/ })).toBeVisible();
  await expect.poll(() => app.editorText()).toContain("line three");

  // Every region is reached by F6, and back.
  await keyboard.press("Control+2");
  const regions = new Set<string>();
  for (let step = 0; step < 6; step += 1) {
    await keyboard.press("F6");
    regions.add(await app.page.evaluate(() => {
      const at = document.activeElement?.closest("header, nav, main, form, [role=region], [role=form], footer, [role=contentinfo], section");
      return at?.getAttribute("aria-label") ?? "";
    }));
  }
  expect(regions.size).toBeGreaterThanOrEqual(5);
});

test("the tree is walked and a file renamed by keys alone", async ({ place, app }) => {
  place.write("src/a.txt", "a\n");
  place.write("src/b.txt", "b\n");
  place.commitAll();
  await place.play("steps:\n  - text: Hello.\n");
  await app.open(await place.serve());
  const { keyboard } = app.page;
  const tree = app.page.getByRole("tree", { name: "Files" });
  await expect(tree.getByRole("treeitem", { name: "src" })).toBeVisible();
  await keyboard.press("Control+1");
  await tree.focus();
  await keyboard.press("Home");
  await keyboard.press("ArrowRight");
  await expect(tree.getByRole("treeitem", { name: /^a\.txt/ })).toBeVisible();
  await keyboard.press("ArrowDown");
  await keyboard.press("F2");
  await keyboard.press("Control+a");
  await keyboard.type("c.txt");
  await keyboard.press("Enter");
  await expect.poll(() => place.exists("src/c.txt")).toBe(true);
  await expect(tree.getByRole("treeitem", { name: /^c\.txt/ })).toBeVisible();
  expect(place.exists("src/a.txt")).toBe(false);
});
