import { act, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";
import type { ErrorCode } from "../../../protocol";
import { approval, command, tool } from "../../../test/events";
import { testRuntime } from "../../../test/runtime";
import { timelineStore } from "../store";
import { Approval } from "./Approval";
import { CommandCard } from "./CommandCard";
import { Condensed } from "./Condensed";
import { ErrorStrip } from "./ErrorStrip";
import { ToolLine } from "./ToolLine";

afterEach(() => vi.useRealTimers());

test("a waiting command is shown whole and cannot be allowed before half a second", async () => {
  vi.useFakeTimers();
  const { asked } = testRuntime({ "approval/answer": () => ({}) });
  const request = `cargo run -- ${"x".repeat(400)}`;
  const { container } = render(<Approval item={approval("p", { request })} place="strip" of={2} />);
  expect(screen.getByText(request)).toBeTruthy();
  expect(screen.getByText("1 of 2")).toBeTruthy();
  const allow = screen.getByRole<HTMLButtonElement>("button", { name: "Allow once" });
  expect(allow.disabled).toBe(true);
  expect(container.querySelector("[data-approval-armed]")).toBeNull();
  act(() => void vi.advanceTimersByTime(500));
  expect(container.querySelector("[data-approval-armed]")?.getAttribute("data-approval-armed")).toBe("apr_p");
  allow.click();
  allow.click();
  expect(asked).toEqual([{ method: "approval/answer", params: { approvalId: "apr_p", decision: "allow", scope: "once" } }]);
});

test("an error answers the five questions in their order", () => {
  testRuntime();
  const code: ErrorCode = "provider.rateLimited";
  render(
    <ErrorStrip
      error={{
        code,
        message: "The provider refused the request.",
        detail: "429",
        recoverable: true,
        retryable: true,
        userAction: "Wait a minute.",
        filesChanged: { state: "some", paths: ["src/a.rs"] },
      }}
    />,
  );
  expect(screen.getAllByRole("term").map((term) => term.textContent)).toEqual([
    "What failed",
    "Likely why",
    "What you can do",
    "Files changed",
    "Retry",
  ]);
  expect(screen.getByRole("button", { name: "src/a.rs" })).toBeTruthy();
  expect(screen.getByRole("button", { name: "Open model settings" })).toBeTruthy();
});

test("a long finished command folds to its failure, and opens on request", async () => {
  testRuntime();
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
  lines[20] = "error[E0308]: mismatched types";
  render(<CommandCard item={command("c", { state: "failed", status: "failed", exitCode: 1, output: lines.join("\n"), durationMs: 1_200 })} />);
  expect(screen.getByText("error[E0308]: mismatched types")).toBeTruthy();
  expect(screen.queryByText("line 0")).toBeNull();
  expect(screen.getByText("Exit 1 · 1.2 s")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Show 40 lines" }));
  expect(screen.getByText("line 0")).toBeTruthy();
});

test("how a command ended is said in words", () => {
  testRuntime();
  const cases: [Parameters<typeof command>[1], string][] = [
    [{ state: "succeeded", exitCode: 0 }, "Exit 0"],
    [{ state: "failed", signal: 9 }, "Ended by signal 9"],
    [{ state: "failed" }, "Did not run"],
    [{ state: "timed_out" }, "Timed out"],
    [{ state: "stopped" }, "Stopped by you"],
    [{ state: "cancelled" }, "Cancelled"],
  ];
  for (const [fields, words] of cases) {
    const { unmount } = render(<CommandCard item={command("c", fields)} />);
    expect(screen.getByText(words)).toBeTruthy();
    unmount();
  }
});

test("a step says its outcome once and keeps raw arguments behind Details", async () => {
  testRuntime();
  render(<ToolLine item={tool("t", { summary: "Read src/app.ts 1–120", durationMs: 9, preview: "code" })} />);
  expect(screen.getByText("1–120 · 9 ms")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Show details" }));
  expect(screen.getByText("Details")).toBeTruthy();
});

test("an answer for longer is offered only where the question says what it would be about", async () => {
  const { asked } = testRuntime({ "approval/answer": () => ({}) });
  const { unmount } = render(<Approval item={approval("p", { request: "rm -r build" })} place="strip" />);
  expect(screen.queryByRole("button", { name: /Allow for longer/ })).toBeNull();
  unmount();
  render(<Approval item={approval("q", { request: "npm test", patterns: ["npm test"] })} place="strip" />);
  const menu = screen.getByRole<HTMLButtonElement>("button", { name: /Allow for longer/ });
  await waitFor(() => expect(menu.disabled).toBe(false));
  await userEvent.click(menu);
  expect(screen.getByText("Allow npm test")).toBeTruthy();
  await userEvent.click(screen.getByRole("menuitem", { name: /In this workspace/ }));
  expect(asked).toEqual([{ method: "approval/answer", params: { approvalId: "apr_q", decision: "allow", scope: "workspace" } }]);
});

test("a command is run again where it ran", async () => {
  const { asked } = testRuntime({ "command/run": () => ({ commandId: "cmd_2" }) });
  timelineStore.setState({ sessionId: "ses_1" });
  render(<CommandCard item={command("c", { state: "succeeded", exitCode: 0, command: "cargo test", cwd: "crates/a" })} />);
  await userEvent.click(screen.getByRole("button", { name: "Run again" }));
  expect(asked).toEqual([{ method: "command/run", params: { sessionId: "ses_1", command: "cargo test", cwd: "crates/a" } }]);
});

test("a mark of a condensed conversation names what is left out, shows it, and sends it again", async () => {
  const { asked } = testRuntime({ "session/restore": () => ({}) });
  const original = { id: "art_1", kind: "prompt_trace" as const, sizeBytes: 12 };
  const item = {
    ...tool("c"),
    type: "condensed" as const,
    title: "To make room the model is no longer sent one tool result: about 18k instead of 41k tokens",
    reason: "The conversation came near to what the model can hold.",
    leftOut: [{ what: "read_file src/app.rs", tokens: 3_000 }],
    more: 2,
    tokensBefore: 41_000,
    tokensAfter: 18_000,
    original,
    undone: false,
  };
  const { rerender } = render(<Condensed item={item} />);
  await userEvent.click(screen.getByRole("button", { name: "Show details" }));
  expect(screen.getByText(/read_file src\/app.rs/)).toBeTruthy();
  expect(screen.getByText("and 2 more")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "View original" }));
  expect(timelineStore.getState().log?.artifact).toEqual(original);
  await userEvent.click(screen.getByRole("button", { name: "Send it again" }));
  expect(asked).toEqual([{ method: "session/restore", params: { sessionId: item.sessionId, itemId: item.id } }]);
  rerender(<Condensed item={{ ...item, undone: true }} />);
  expect(screen.queryByRole("button", { name: "Send it again" })).toBeNull();
});
