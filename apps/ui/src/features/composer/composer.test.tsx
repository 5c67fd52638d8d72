import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { testRuntime } from "../../test/runtime";
import { editorStore } from "../code";
import { notificationStore } from "../notifications";
import { providersStore } from "../providers";
import { emptySessions, sessionsStore } from "../sessions";
import { workspaceStore } from "../workspace";
import { declareComposerCommands, restoreDrafts, turnEnded } from "./commands";
import { NEW, composerStore, draftOf, emptyComposer, freshDraft, readDraft } from "./store";
import { triggerAt } from "./Suggestions";
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
  expect(triggerAt("see @src/l", 10)).toEqual({ kind: "@", start: 4, query: "src/l" });
  expect(triggerAt("mail me@x", 9)).toBeNull();
  expect(triggerAt("/ne", 3)).toEqual({ kind: "/", start: 0, query: "ne" });
  expect(triggerAt("a /ne", 5)).toBeNull();
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

test("@ offers the selection and folders, and / runs a command", async () => {
  declareComposerCommands();
  editorStore.setState({ selection: { path: "src/lib.rs", from: 3, to: 9 } });
  const { box } = setUp();
  await userEvent.type(box, "see @sel");
  await userEvent.click(await screen.findByRole("option", { name: /lib\.rs:3-9/ }));
  expect(box.value).toBe("see @src/lib.rs:3-9 ");
  await userEvent.type(box, "and @sr");
  await screen.findByRole("option", { name: "src/" });
  fireEvent.change(box, { target: { value: "/as", selectionStart: 3 } });
  await userEvent.click(await screen.findByRole("option", { name: /Answers only/ }));
  expect(draftOf(composerStore.getState(), "ses_1")).toMatchObject({ text: "", mode: "ask" });
});

test("a long paste becomes a chip that goes with the message and comes back with one that could not be sent", async () => {
  const { box, sent } = setUp();
  const text = Array.from({ length: 60 }, (_, at) => `line ${at}`).join("\n");
  fireEvent.paste(box, { clipboardData: { files: [], getData: () => text } });
  expect(box.value).toBe("");
  expect(screen.getByText("60 lines")).toBeTruthy();
  await userEvent.type(box, "what is this?{Enter}");
  await waitFor(() => expect(sent()).toHaveLength(1));
  expect(sent()[0]).toMatchObject({ text: `what is this?\n\n[attached: Pasted text, 60 lines]\n${text}` });
  expect(screen.queryByText("60 lines")).toBeNull();
});

test("files that are no text are not attached, and it is said", async () => {
  setUp();
  const chooser = screen.getByLabelText<HTMLInputElement>("Files to attach");
  await userEvent.upload(chooser, [new File(["hello\n"], "notes.txt"), new File([new Uint8Array([0, 1, 255])], "blob.bin")]);
  await screen.findByText("notes.txt");
  expect(screen.queryByText("blob.bin")).toBeNull();
  expect(notificationStore.getState().toasts.at(-1)?.text).toContain("blob.bin was not attached");
});
