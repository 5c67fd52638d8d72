/** Texts between the window and the disk: the engine is a double with one file, the editor's text a plain one. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { FilesReadResult } from "../../protocol";
import { RequestFailed } from "../../shared/failure";
import { fileNotices } from "../../shared/file-notices";
import { testRuntime } from "../../test/runtime";
import { dropBuffer, forgetTexts, keepAll, keepMine, loadTheirs, modelOf, openBuffer, restoreTexts, save, saveAgain } from "./buffers";
import { editorStore, emptyEditor } from "./store";

vi.mock("./monaco", () => {
  /** As much of the editor's text as is used: a value, a version, and changes that are told. */
  const createModel = (initial: string) => {
    let value = initial;
    let version = 1;
    const listeners: ((event: unknown) => void)[] = [];
    const set = (next: string, changes: unknown[]) => {
      value = next;
      version += 1;
      for (const listener of listeners) listener({ changes });
    };
    return {
      getValue: () => value,
      getLinesContent: () => value.split(/\r\n|\n|\r/),
      getAlternativeVersionId: () => version,
      onDidChangeContent: (listener: (event: unknown) => void) => listeners.push(listener),
      setValue: (next: string) => set(next, []),
      getPositionAt: (offset: number) => ({ lineNumber: 1, column: offset }),
      pushStackElement: () => undefined,
      pushEditOperations: (_: unknown, [edit]: { range: { startColumn: number; endColumn: number }; text: string }[]) =>
        set(value.slice(0, edit!.range.startColumn) + edit!.text + value.slice(edit!.range.endColumn), []),
      dispose: () => undefined,
      /** The user types at the very beginning. */
      type: (text: string) => set(text + value, [{ range: { startLineNumber: 1, endLineNumber: 1 }, text }]),
    };
  };
  const monaco = { Uri: { from: (uri: unknown) => uri }, editor: { createModel, getModel: () => null } };
  return { loadMonaco: () => Promise.resolve(monaco) };
});

let disk: { text: string; hash: string } | null = null;
let saved: unknown[] = [];
let kept = new Map<string, unknown>();

const read = (): FilesReadResult => {
  if (!disk) throw refusal("path.notFound");
  const endings = disk.text.includes("\r\n") ? (/[^\r]\n/.test(disk.text) ? "mixed" : "crlf") : "lf";
  return { path: "a.txt", view: { kind: "text", text: disk.text, encoding: "windows-1252", endings }, contentHash: disk.hash, size: 1, mode: 0o644, readOnly: false };
};

function refusal(code: "path.notFound" | "edit.stale"): RequestFailed {
  return new RequestFailed({ code, message: "No.", recoverable: true, retryable: false, filesChanged: { state: "none" } });
}

const buffer = () => editorStore.getState().buffers["a.txt"];
const type = (text: string) => (modelOf("a.txt") as unknown as { type(text: string): void }).type(text);
const notice = async () => {
  fileNotices.publish({ folders: ["."], files: ["a.txt"] });
  await new Promise((resolve) => setTimeout(resolve, 5));
};

beforeEach(() => {
  forgetTexts();
  editorStore.setState(emptyEditor);
  disk = { text: "one\ntwo\n", hash: "h1" };
  saved = [];
  kept = new Map();
  testRuntime({
    "files/read": read,
    "files/watch": () => ({}),
    "ui/save": ({ key, value }) => {
      kept.set(key, value);
      return {};
    },
    "files/save": (params) => {
      if ((disk?.hash ?? null) !== (params.expected ?? null)) throw refusal("edit.stale");
      saved.push(params);
      disk = { text: params.text, hash: `saved${saved.length}` };
      return { contentHash: disk.hash };
    },
  });
});

describe("an open file", () => {
  it("is saved over what it was loaded from, in its encoding", async () => {
    await openBuffer("a.txt");
    type("X");
    expect(buffer()).toMatchObject({ dirty: true, moved: null });
    expect(await save("a.txt")).toBe(true);
    expect(saved).toEqual([{ path: "a.txt", text: "Xone\ntwo\n", expected: "h1", encoding: "windows-1252" }]);
    expect(buffer()).toMatchObject({ dirty: false, hash: "saved1" });
  });

  it("follows the disk while it is clean", async () => {
    await openBuffer("a.txt");
    disk = { text: "one\n2\n", hash: "h2" };
    await notice();
    expect(modelOf("a.txt")!.getValue()).toBe("one\n2\n");
    expect(buffer()).toMatchObject({ dirty: false, hash: "h2", moved: null });
  });

  it("asks when the disk moved under unsaved text, and writes nothing before an answer", async () => {
    await openBuffer("a.txt");
    type("X");
    disk = { text: "theirs", hash: "h2" };
    expect(await save("a.txt")).toBe(false);
    expect(buffer()).toMatchObject({ dirty: true, moved: { hash: "h2" } });
    expect(disk.text).toBe("theirs");
    await keepMine("a.txt");
    expect(disk.text).toBe("Xone\ntwo\n");
    expect(buffer()).toMatchObject({ dirty: false, moved: null });
  });

  it("takes the other text when that is the answer", async () => {
    await openBuffer("a.txt");
    type("X");
    disk = { text: "theirs\n", hash: "h2" };
    await notice();
    await loadTheirs("a.txt");
    expect(modelOf("a.txt")!.getValue()).toBe("theirs\n");
    expect(buffer()).toMatchObject({ dirty: false, moved: null, hash: "h2" });
  });

  it("that was deleted keeps its text, and is written again on request only", async () => {
    await openBuffer("a.txt");
    disk = null;
    await notice();
    expect(buffer()).toMatchObject({ moved: "deleted" });
    await saveAgain("a.txt");
    expect(disk).toMatchObject({ text: "one\ntwo\n" });
    expect(buffer()).toMatchObject({ moved: null, dirty: false });
  });

  it("keeps each line break of a text that mixes them", async () => {
    disk = { text: "one\r\ntwo\nthree\r\n", hash: "h1" };
    await openBuffer("a.txt");
    type("X");
    await save("a.txt");
    expect(disk.text).toBe("Xone\r\ntwo\nthree\r\n");
  });
});

describe("unsaved text", () => {
  const keptNow = async () => {
    keepAll();
    await new Promise((resolve) => setTimeout(resolve, 300));
    return [...kept.entries()].filter(([key]) => key.startsWith("buffer/"));
  };

  it("comes back in a new window, and says so when the disk moved meanwhile", async () => {
    await openBuffer("a.txt");
    type("X");
    const entries = (await keptNow()) as [string, { path: string }][];
    expect(entries).toHaveLength(1);
    forgetTexts();
    editorStore.setState(emptyEditor);
    disk = { text: "theirs", hash: "h2" };
    expect(restoreTexts(new Map(entries))).toEqual(["a.txt"]);
    await openBuffer("a.txt");
    expect(modelOf("a.txt")!.getValue()).toBe("Xone\ntwo\n");
    expect(buffer()).toMatchObject({ dirty: true, moved: { hash: "h2" } });
  });

  it("is forgotten once it is saved or dropped", async () => {
    await openBuffer("a.txt");
    type("X");
    await save("a.txt");
    expect((await keptNow()).at(-1)?.[1]).toBeNull();
    type("Y");
    await keptNow();
    dropBuffer("a.txt");
    expect((await keptNow()).at(-1)?.[1]).toBeNull();
  });
});
