import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { testRuntime } from "../../test/runtime";
import { providersStore } from "../providers";
import { emptySessions, sessionsStore } from "../sessions";
import { workspaceStore } from "../workspace";
import { restoreDrafts, turnEnded } from "./commands";
import { NEW, composerStore, draftOf, emptyComposer, freshDraft, readDraft } from "./store";
import { mentionAt } from "./Mentions";
import { Composer } from "./View";

const session = { id: "ses_1", title: "t", createdAt: 1, updatedAt: 1, state: "idle" as const, interrupted: false };
const run = { turnId: "trn_1", mode: "agent" as const, provider: "p", model: "m", startedAt: 1 };

beforeEach(() => {
  composerStore.setState({ ...emptyComposer, restored: true });
  sessionsStore.setState({ ...emptySessions, sessions: [session], selected: "ses_1" });
  workspaceStore.setState({ connection: { kind: "open" }, engine: "ready", context: "ctx" });
  providersStore.setState({ providers: [], loaded: false, chosen: null });
});

function setUp() {
  const { asked } = testRuntime({
    "turn/send": () => ({ turnId: "trn_1" }),
    "ui/save": () => ({}),
    "files/find": () => ({ found: [{ path: "src/lib.rs", positions: [] }] }),
  });
  render(<Composer />);
  const sent = () => asked.filter((request) => request.method === "turn/send").map((request) => request.params);
  return { box: screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" }), sent };
}

test("Enter sends, Shift+Enter does not", async () => {
  const { box, sent } = setUp();
  await userEvent.type(box, "first{Shift>}{Enter}{/Shift}second{Enter}");
  await waitFor(() => expect(sent()).toHaveLength(1));
  expect(sent()[0]).toMatchObject({ sessionId: "ses_1", text: "first\nsecond", mode: "agent", approvals: "ask" });
  expect(box.value).toBe("");
});

test("Enter that ends an input method's composition sends nothing", () => {
  const { box, sent } = setUp();
  fireEvent.change(box, { target: { value: "にほん" } });
  fireEvent.keyDown(box, { key: "Enter", isComposing: true });
  fireEvent.keyDown(box, { key: "Enter", keyCode: 229 });
  expect(sent()).toEqual([]);
});

test("while a turn runs a message waits; it goes out after a good end and waits on after a bad one", async () => {
  const { box, sent } = setUp();
  sessionsStore.setState({ runs: { ses_1: run } });
  await userEvent.type(box, "next{Enter}");
  expect(sent()).toEqual([]);
  expect(screen.getByText("next")).toBeTruthy();
  sessionsStore.setState({ runs: {} });
  turnEnded("ses_1", "failed");
  expect(sent()).toEqual([]);
  expect(await screen.findByText(/Paused: The last turn failed/)).toBeTruthy();
  turnEnded("ses_1", "completed");
  await waitFor(() => expect(sent()).toHaveLength(1));
});

test("what cannot be sent comes back into the box", async () => {
  testRuntime({ "ui/save": () => ({}) });
  render(<Composer />);
  const box = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
  await userEvent.type(box, "keep me{Enter}");
  await waitFor(() => expect(box.value).toBe("keep me"));
});

test("each session keeps its own text and mode", () => {
  const { box } = setUp();
  fireEvent.change(box, { target: { value: "for one" } });
  sessionsStore.setState({ selected: null });
  expect(draftOf(composerStore.getState(), "ses_1").text).toBe("for one");
  expect(draftOf(composerStore.getState(), null).text).toBe("");
});

test("a kept draft is read with care, and what waited waits on", () => {
  expect(readDraft(null).text).toBe("");
  expect(readDraft({ text: 5, mode: "root", queue: "x" })).toMatchObject({ text: "", mode: "agent", queue: [] });
  const draft = readDraft({ text: "a", mode: "ask", queue: [{ id: "1", text: "b", mode: "edit" }, { id: 2 }] });
  expect(draft).toMatchObject({ text: "a", mode: "ask", queue: [{ id: "1", text: "b", mode: "edit" }] });
  expect(draft.paused).not.toBeNull();
});

test("@ opens the file list at a word's start and a picked file stays in the sentence", async () => {
  expect(mentionAt("see @src/l", 10)).toEqual({ start: 4, query: "src/l" });
  expect(mentionAt("mail me@x", 9)).toBeNull();
  const { box } = setUp();
  await userEvent.type(box, "see @li");
  await screen.findByRole("option", { name: /lib\.rs/ });
  await userEvent.keyboard("{Enter}");
  expect(box.value).toBe("see @src/lib.rs ");
});

test("Enter never picks from a list of other letters", async () => {
  const { box, sent } = setUp();
  fireEvent.change(box, { target: { value: "see @", selectionStart: 5 } });
  await screen.findByRole("option", { name: /lib\.rs/ });
  // The answer to these letters is not there yet.
  fireEvent.change(box, { target: { value: "see @Cargo.toml", selectionStart: 15 } });
  fireEvent.keyDown(box, { key: "Enter" });
  await waitFor(() => expect(sent()).toHaveLength(1));
  expect(sent()[0]).toMatchObject({ text: "see @Cargo.toml" });
});

test("why nothing can be sent is said in the box's place", () => {
  setUp();
  workspaceStore.setState({ connection: { kind: "waiting", attempt: 3, retryAt: 0 } });
  return waitFor(() => expect(screen.getByPlaceholderText("Reconnecting… attempt 3")).toBeTruthy());
});

test("what is typed and sent while the window still loads is neither lost nor put under an older text", async () => {
  composerStore.setState(emptyComposer);
  sessionsStore.setState({ selected: null });
  const { box, sent } = setUp();
  await userEvent.type(box, "early{Enter}");
  expect(sent()).toEqual([]);
  sessionsStore.setState({ selected: "ses_1" });
  restoreDrafts({ ses_1: { ...freshDraft, mode: "ask" }, [NEW]: freshDraft }, "engine");
  await waitFor(() => expect(sent()).toHaveLength(1));
  expect(sent()[0]).toMatchObject({ sessionId: "ses_1", text: "early", mode: "ask" });
  expect(draftOf(composerStore.getState(), null).text).toBe("");
});

test("a window that finds its workspace again keeps its own newer drafts", () => {
  const { box } = setUp();
  fireEvent.change(box, { target: { value: "typed while nothing answered" } });
  composerStore.setState({ restored: false });
  restoreDrafts({ ses_1: { ...freshDraft, text: "older" }, ses_2: { ...freshDraft, text: "other" } }, "window");
  expect(draftOf(composerStore.getState(), "ses_1").text).toBe("typed while nothing answered");
  expect(draftOf(composerStore.getState(), "ses_2").text).toBe("other");
});

test("what is typed while the first message makes its session stays in the box", async () => {
  sessionsStore.setState({ selected: null });
  let started: (value: { sessionId: string }) => void = () => undefined;
  testRuntime({
    "session/start": () => new Promise<{ sessionId: string }>((done) => (started = done)),
    "turn/send": () => ({ turnId: "trn_1" }),
    "ui/save": () => ({}),
  });
  render(<Composer />);
  const box = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
  await userEvent.type(box, "first{Enter}and then");
  started({ sessionId: "ses_1" });
  await waitFor(() => expect(sessionsStore.getState().selected).toBe("ses_1"));
  expect(box.value).toBe("and then");
});
