import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import type { ChangeSet, DiffHunk, Methods } from "../../protocol";
import { testRuntime } from "../../test/runtime";
import { ChangeCard } from "./ChangeCard";
import { lineNumbers } from "./DiffHunks";
import { changesStore, emptyChanges, filesToReview, newestOpen, putChangeSet } from "./store";

const hunk: DiffHunk = {
  number: 1,
  oldStart: 8,
  oldLines: 3,
  newStart: 8,
  newLines: 3,
  lines: [
    { kind: "context", text: "a", ending: "lf" },
    { kind: "deleted", text: "b", ending: "lf" },
    { kind: "added", text: "c", ending: "lf" },
    { kind: "context", text: "d", ending: "none" },
  ],
};

function changeSet(fields: Partial<ChangeSet> = {}): ChangeSet {
  return {
    id: "chg_1",
    sessionId: "ses_1",
    title: "Fix the total",
    reason: "",
    createdAt: 1,
    updatedAt: 5,
    status: "pending_review",
    files: [
      { path: "src/lib.rs", changeType: "modify", status: "pending", added: 1, deleted: 1, binary: false, hunks: [hunk] },
    ],
    snapshots: [],
    sourceToolCallIds: [],
    ...fields,
  };
}

beforeEach(() => changesStore.setState(emptyChanges));

test("line numbers of both sides", () => {
  expect(lineNumbers(hunk)).toEqual([
    [8, 8],
    [9, null],
    [null, 9],
    [10, 10],
  ]);
});

test("an older list does not undo what an event said", () => {
  putChangeSet(changeSet({ updatedAt: 9, status: "accepted" }));
  putChangeSet(changeSet({ updatedAt: 5 }));
  expect(changesStore.getState().sets["chg_1"]?.status).toBe("accepted");
});

test("what waits for review is counted, drafts are not", () => {
  putChangeSet(changeSet());
  putChangeSet(changeSet({ id: "chg_2", status: "draft" }));
  expect(filesToReview(changesStore.getState().sets)).toBe(1);
  expect(newestOpen(changesStore.getState().sets, "ses_1")?.id).toBe("chg_1");
  expect(newestOpen(changesStore.getState().sets, "ses_other")).toBeNull();
});

test("a hunk, a file and everything are decided by asking the engine, once per press", async () => {
  const result: Methods["changes/accept"]["result"] = { changeSet: changeSet({ updatedAt: 6 }), filesWritten: ["src/lib.rs"], notes: [] };
  const { asked } = testRuntime({ "changes/accept": () => result, "changes/reject": () => result });
  putChangeSet(changeSet());
  render(<ChangeCard id="chg_1" title="t" />);
  const [file, one] = screen.getAllByRole("button", { name: "Accept" });
  await userEvent.click(one!);
  await userEvent.click(file!);
  await userEvent.click(screen.getByRole("button", { name: "Reject all" }));
  expect(asked.map((request) => [request.method, (request.params as { selection: unknown }).selection])).toEqual([
    ["changes/accept", { what: "hunk", path: "src/lib.rs", number: 1 }],
    ["changes/accept", { what: "file", path: "src/lib.rs" }],
    ["changes/reject", { what: "all" }],
  ]);
});

test("a conflicted file says why and cannot be accepted", () => {
  testRuntime();
  const [file] = changeSet().files;
  putChangeSet(changeSet({ status: "conflicted", files: [{ ...file!, status: "conflicted", conflict: "You changed the same lines." }] }));
  render(<ChangeCard id="chg_1" title="t" />);
  expect(screen.getByText("You changed the same lines.")).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Accept" }).disabled).toBe(true);
});

test("a change of only the line ending is seen", () => {
  testRuntime();
  const ending: DiffHunk = {
    ...hunk,
    lines: [
      { kind: "deleted", text: "same", ending: "crlf" },
      { kind: "added", text: "same", ending: "lf" },
    ],
  };
  const [file] = changeSet().files;
  putChangeSet(changeSet({ files: [{ ...file!, hunks: [ending] }] }));
  render(<ChangeCard id="chg_1" title="t" />);
  expect(screen.getByText("CRLF")).toBeTruthy();
  expect(screen.getByText("LF")).toBeTruthy();
});
