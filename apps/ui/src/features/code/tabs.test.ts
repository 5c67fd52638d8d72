import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../protocol";
import { readGroups, storedGroups, emptyEditor } from "./store";
import { type Groups, activeTab, closeTab, fileTab, keepTab, moveTab, noGroups, openBeside, openIn, renamePath, reviewTab, split, tabFolder } from "./tabs";

/** "a b* | c" : tabs of each group, previews with "?", the one in front with "*", the group in use with "!". */
function drawn(state: Groups): string {
  return state.groups
    .map((group, index) => {
      const tabs = group.tabs.map((tab) => tab.path + (tab.preview ? "?" : "") + (tab.id === group.active ? "*" : ""));
      return (index === state.activeGroup ? "! " : "") + tabs.join(" ");
    })
    .join(" | ");
}

const keep = (path: string) => fileTab(path, false);
const preview = (path: string) => fileTab(path, true);
const opened = (...paths: string[]) => paths.reduce((state, path) => openIn(state, state.activeGroup, keep(path)), noGroups);

describe("tabs", () => {
  it.each<[what: string, state: Groups, drawn: string]>([
    ["a preview takes the place of the preview", openIn(openIn(opened("a"), 0, preview("b")), 0, preview("c")), "! a c?*"],
    ["opening a kept file as a preview leaves it kept", openIn(opened("a", "b"), 0, preview("a")), "! a* b"],
    ["keeping makes a preview stay", openIn(keepTab(openIn(opened("a"), 0, preview("b")), "file:b"), 0, preview("c")), "! a b c?*"],
    ["a new tab comes after the one in front", openIn(openIn(opened("a", "b"), 0, keep("a")), 0, keep("c")), "! a c* b"],
    ["closing brings the next one to the front", closeTab(openIn(opened("a", "b", "c"), 0, keep("b")), 0, "file:b"), "! a c*"],
    ["closing the last one brings the one before", closeTab(opened("a", "b"), 0, "file:b"), "! a*"],
    ["closing what is behind changes nothing in front", closeTab(opened("a", "b"), 0, "file:a"), "! b*"],
    ["the last group stays without tabs", closeTab(opened("a"), 0, "file:a"), "! "],
    ["beside makes a group", openBeside(opened("a"), keep("b")), "a* | ! b*"],
    ["beside uses the group that is there", openBeside({ ...openBeside(opened("a"), keep("b")), activeGroup: 0 }, keep("c")), "a* | ! b c*"],
    ["a split shows the same", split(opened("a", "b")), "a b* | ! b*"],
    ["an emptied group goes away", closeTab(split(opened("a")), 1, "file:a"), "! a*"],
    ["a tab moves along its group", moveTab(opened("a", "b", "c"), "file:a", 0, 0, 3), "! b c a*"],
    ["a tab moves into another group", moveTab(split(opened("a", "b")), "file:a", 0, 1, 0), "b* | ! a* b"],
    ["the last tab of a group takes the group along", moveTab(openBeside(opened("a"), keep("b")), "file:a", 0, 1, 1), "! b a*"],
    ["a rename of a folder renames what is in it", renamePath(opened("src/a", "srcs/a"), "src", "lib"), "! lib/a srcs/a*"],
  ])("%s", (_, state, expected) => {
    expect(drawn(state)).toBe(expected);
  });

  it("tells tabs of one name apart by their folder", () => {
    const tabs = [keep("src/a/index.ts"), keep("src/b/index.ts"), keep("readme")];
    expect(tabs.map((tab) => tabFolder(tab.path, tabs))).toEqual(["a", "b", ""]);
  });

  it("comes back from what was kept, and from what makes no sense as an empty column", () => {
    const state = { ...emptyEditor, ...openBeside(openIn(opened("a"), 0, preview("b")), reviewTab("set", "c")), direction: "down" as const };
    expect(readGroups(JSON.parse(JSON.stringify(storedGroups(state))))).toEqual({
      groups: state.groups,
      activeGroup: 1,
      direction: "down",
    });
    const kept: (JsonValue | undefined)[] = [undefined, null, 3, "x", [], { groups: [{}] }, { groups: [{ tabs: [{ id: 1 }] }], activeGroup: 9 }];
    for (const nonsense of kept) expect(activeTab(readGroups(nonsense))).toBeNull();
  });
});
