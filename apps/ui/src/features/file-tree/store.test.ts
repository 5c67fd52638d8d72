import { describe, expect, it } from "vitest";
import type { GitLetter } from "../../protocol";
import { takes } from "./commands";
import { gitMarks, joinPath, nameProblem, parentPath } from "./store";

describe("file tree", () => {
  it("marks folders with the worst state inside", () => {
    const entry = (path: string, letter: GitLetter) => ({ path, letter, staged: false });
    const { files, folders } = gitMarks({
      repository: true,
      branch: "main",
      ahead: 0,
      behind: 0,
      entries: [entry("a/b/new", "untracked"), entry("a/b/old", "modified"), entry("a/c", "added"), entry("top", "deleted"), entry("fresh/", "untracked")],
    });
    expect([...folders]).toEqual([
      ["a/b", "modified"],
      ["a", "modified"],
    ]);
    expect(files.get("top")).toBe("deleted");
    expect(files.get("fresh")).toBe("untracked");
  });

  it.each([
    ["", "Write a name."],
    ["  ", "Write a name."],
    ["taken", "A file or folder with this name exists."],
    ["../up", "Write a name, or names with / between them."],
    ["/abs", "Write a name, or names with / between them."],
    ["new", null],
    ["deep/new", null],
  ])("says of the name %j: %j", (name, problem) => {
    expect(nameProblem(name, new Set(["taken"]))).toBe(problem);
  });

  it.each([
    ["src", ["a"], true],
    [".", ["src/a"], true],
    [".", ["a"], false],
    ["src", ["src"], false],
    ["src/deep", ["src"], false],
    ["src2", ["src"], true],
    ["src", [], false],
  ])("a drop into %j of %j is taken: %s", (folder, paths, taken) => {
    expect(takes(folder, paths)).toBe(taken);
  });

  it("joins and splits paths at the root too", () => {
    expect([joinPath(".", "a"), joinPath("a", "b"), parentPath("a"), parentPath("a/b")]).toEqual(["a", "a/b", ".", "a"]);
  });
});
