import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { TimelineItem } from "../../../protocol";
import { testRuntime } from "../../../test/runtime";
import { Verification } from "./Verification";

type Result = Extract<TimelineItem, { type: "verification" }>;

function result(given: Partial<Result>): Result {
  return {
    id: "itm_v",
    sessionId: "ses_a",
    correlationId: "trn_a",
    createdAt: 1,
    status: "succeeded",
    visible: true,
    type: "verification",
    command: "cargo test",
    treeHash: "0123456789abcdef",
    exitCode: 0,
    summary: "12 passed",
    ...given,
  };
}

test("a result that holds says that it passed; one that does not claims nothing", () => {
  testRuntime();
  const { rerender } = render(<Verification item={result({})} />);
  expect(screen.getByText("Passed")).toBeTruthy();
  expect(screen.getByText(/the files as proposed, 0123456789ab/)).toBeTruthy();
  rerender(<Verification item={result({ stale: "src/lib.rs changed since." })} />);
  expect(screen.queryByText("Passed")).toBeNull();
  expect(screen.getByText("Passed before")).toBeTruthy();
  expect(screen.getByText("src/lib.rs changed since.")).toBeTruthy();
  // The exit code of a pipe is that of its last part.
  rerender(<Verification item={result({ status: "failed" })} />);
  expect(screen.getAllByText("Failed").length).toBeGreaterThan(0);
  expect(screen.queryByText("Passed")).toBeNull();
});

test("failures are listed with their places, the first ten of many", () => {
  testRuntime();
  const failures = Array.from({ length: 12 }, (_, index) => ({ name: `test ${index}`, file: "src/lib.rs", line: index + 1 }));
  render(<Verification item={result({ status: "failed", exitCode: 101, failures })} />);
  expect(screen.getByRole("button", { name: "src/lib.rs:10" })).toBeTruthy();
  expect(screen.queryByRole("button", { name: "src/lib.rs:11" })).toBeNull();
  expect(screen.getByText("and 2 more")).toBeTruthy();
});
