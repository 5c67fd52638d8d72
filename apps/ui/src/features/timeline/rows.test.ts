import { expect, test } from "vitest";
import { answer, approval, command, question, tool } from "../../test/events";
import { foldSummary, rowsOf, turnEnd } from "./rows";

const kinds = (items: Parameters<typeof rowsOf>[0]) =>
  rowsOf(items).map((row) => (row.kind === "fold" ? `fold ${row.ids.length}` : row.kind === "marker" ? row.mark.what : row.id));

test("three finished steps in a row fold, fewer do not", () => {
  expect(kinds([tool("a"), tool("b")])).toEqual(["a", "b"]);
  expect(kinds([tool("a"), tool("b"), tool("c"), answer("t", "text"), tool("d")])).toEqual(["fold 3", "t", "d"]);
});

test("what asks to be read ends a fold", () => {
  const failed = tool("f", { status: "failed" });
  expect(kinds([tool("a"), tool("b"), tool("c"), failed, tool("d")])).toEqual(["fold 3", "f", "d"]);
  expect(kinds([tool("a"), tool("b"), command("c"), tool("d")])).toEqual(["a", "b", "c", "d"]);
});

test("invisible items are not drawn and an empty answer is no break", () => {
  const empty = { ...answer("e", ""), status: "succeeded" as const };
  expect(kinds([tool("a"), empty, tool("b"), { ...tool("x"), visible: false }, tool("c")])).toEqual(["fold 3"]);
});

test("a fold says what was done how often", () => {
  const items = [tool("a"), tool("b", { verb: "Searched" }), tool("c"), tool("d")];
  expect(foldSummary(items)).toBe("Read 3 times, searched once");
});

test("an open question is the strip's, an answered one is told", () => {
  expect(kinds([approval("p")])).toEqual([]);
  expect(kinds([approval("p", { decision: "deny", status: "succeeded" })])).toEqual(["p"]);
});

test("a summary says how its own turn ended", () => {
  const earlier = { ...tool("e", { status: "cancelled" }), correlationId: "trn_0" };
  const end = tool("s");
  expect(turnEnd([earlier, tool("a"), end], 2)).toBe("finished");
  expect(turnEnd([tool("a", { status: "cancelled" }), end], 1)).toBe("stopped");
});

test("a broken off turn, a long pause and another model are marked", () => {
  const hour = 3_600_000;
  const other = { ...answer("o", "text"), model: "another" };
  const next = question("q2", { correlationId: "trn_2", createdAt: 1_000 + 2 * hour });
  expect(kinds([question("q1"), answer("a", "text"), next, other])).toEqual(["q1", "a", "interrupted", "later", "q2", "model", "o"]);
  const soon = question("q3", { correlationId: "trn_1" });
  expect(kinds([question("q1"), answer("a", "text"), soon, answer("b", "text")])).toEqual(["q1", "a", "q3", "b"]);
});
