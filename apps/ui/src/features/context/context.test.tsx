import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import type { ContextExplainResult, ContextFile } from "../../protocol";
import { run } from "../../shared/commands";
import { testRuntime } from "../../test/runtime";
import { workspaceStore } from "../workspace";
import { declareContextCommands } from "./commands";
import { contextStore, emptyContext } from "./store";
import { ContextView } from "./View";

const file = (path: string, more: Partial<ContextFile> = {}): ContextFile => ({
  path,
  score: 2,
  reason: "its name has the request's words",
  parts: [{ factor: "file_name", words: "its name has the request's words", score: 2 }],
  ranges: [[1, 20]],
  estimatedTokens: 120,
  mark: "none",
  ...more,
});

const answer: ContextExplainResult = {
  included: [file("src/cache.rs")],
  omitted: [file("src/old.rs", { ranges: [], reason: "you excluded it", mark: "excluded" })],
  tests: [file("tests/cache.rs", { ranges: [] })],
  maxTokens: 8000,
  estimatedTokens: 120,
  index: { files: 40, complete: true, leftOut: ["1 file is minified (dist.js)"] },
};

beforeEach(() => {
  contextStore.setState(emptyContext);
  workspaceStore.setState({ connection: { kind: "open" }, engine: "ready", context: "ctx" });
  declareContextCommands();
});

test("every file has its reason, and pinning asks again", async () => {
  const { asked } = testRuntime({ "context/explain": () => answer, "context/mark": () => ({}) });
  render(<ContextView />);
  run("context.explain", "wrong cache");
  const shown = await screen.findByRole("list", { name: "Shown" });
  expect(within(shown).getByText("Its name has the request's words.")).toBeTruthy();
  expect(screen.getByText("1 file is minified (dist.js)")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Pin src/cache.rs" }));
  await waitFor(() => expect(asked.filter((one) => one.method === "context/explain")).toHaveLength(2));
  expect(asked.find((one) => one.method === "context/mark")?.params).toEqual({ path: "src/cache.rs", mark: "pinned" });
  await userEvent.click(screen.getByRole("button", { name: "No longer exclude src/old.rs", hidden: true }));
  await waitFor(() => expect(asked.filter((one) => one.method === "context/mark")).toHaveLength(2));
});

test("a failure is told in its place", async () => {
  testRuntime({});
  render(<ContextView />);
  run("context.explain", "wrong cache");
  expect(await screen.findByText(/The test answers no context\/explain/)).toBeTruthy();
});
