/**
 * Open files: their texts in the editor, what they were loaded as, saving, and what happens when the disk moves.
 * Unsaved text is kept with the engine while it is written, and comes back after a reload or a crash.
 */
import type { editor } from "monaco-editor/editor";
import type { FilesReadResult, JsonValue } from "../../protocol";
import { RequestFailed, asShownError } from "../../shared/failure";
import { type FileNotice, fileNotices } from "../../shared/file-notices";
import { fileName } from "../../shared/format";
import { keep } from "../../shared/kept";
import { runtime } from "../../shared/runtime";
import { watchFolders } from "../../shared/watching";
import { showError, toast } from "../notifications";
import { LineBreaks, smallestEdit } from "./line-breaks";
import { loadMonaco } from "./monaco";
import { type Buffer, editorStore, openTabs, patchText, putBuffer } from "./store";
import { movedPath } from "./tabs";

interface OpenText {
  model: editor.ITextModel;
  /** The text's version when it was last what the disk has; -1 for text that never was. */
  savedVersion: number;
  /** Only for texts that mix line breaks. */
  breaks: LineBreaks | null;
  keeping: ReturnType<typeof setTimeout> | null;
}

interface Kept {
  path: string;
  text: string;
  encoding: string;
  hash: string | null;
}

const texts = new Map<string, OpenText>();
/** Unsaved texts of an earlier window, until their file is opened. */
const restored = new Map<string, Kept>();
const opening = new Map<string, Promise<void>>();

/** Unsaved text is kept this long after the last letter. */
const KEEP_AFTER_MS = 400;

export function modelOf(path: string): editor.ITextModel | null {
  return texts.get(path)?.model ?? null;
}

/** Keys are short; the path itself is in the value. */
function keyOf(path: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const unit of new TextEncoder().encode(path)) hash = BigInt.asUintN(64, (hash ^ BigInt(unit)) * 0x100000001b3n);
  return `buffer/${hash.toString(16).padStart(16, "0")}`;
}

/** Loads a file for editing, once. What cannot be edited is described instead. */
export function openBuffer(path: string): Promise<void> {
  if (texts.has(path)) return Promise.resolve();
  let task = opening.get(path);
  if (!task) {
    task = load(path).finally(() => opening.delete(path));
    opening.set(path, task);
  }
  return task;
}

async function load(path: string): Promise<void> {
  if (!editorStore.getState().buffers[path]) putBuffer(path, { status: "loading" });
  const kept = restored.get(path);
  try {
    const [read] = await Promise.all([readOrMissing(path), loadMonaco()]);
    await show(path, read, kept);
    if (kept) restored.delete(path);
  } catch (thrown) {
    const error = asShownError(thrown);
    putBuffer(path, { status: "failed", message: [error.message, error.userAction].filter(Boolean).join(" ") });
  }
  watch();
}

async function readOrMissing(path: string): Promise<FilesReadResult | null> {
  try {
    return await runtime().request("files/read", { path });
  } catch (thrown) {
    if (thrown instanceof RequestFailed && thrown.error.code === "path.notFound") return null;
    throw thrown;
  }
}

async function show(path: string, read: FilesReadResult | null, kept: Kept | undefined): Promise<void> {
  if (read === null) {
    if (kept) await showText(path, kept.text, { ...blank, encoding: kept.encoding, moved: "deleted" }, -1);
    else putBuffer(path, { status: "missing" });
    return;
  }
  const { view } = read;
  if (view.kind === "large") putBuffer(path, { status: "large", head: view.head, tail: view.tail, omittedBytes: view.omittedBytes, size: read.size });
  else if (view.kind === "binary") putBuffer(path, { status: "binary", what: view.what, size: read.size });
  else {
    const state = { ...blank, encoding: view.encoding, endings: view.endings, hash: read.contentHash as string | null, readOnly: read.readOnly };
    if (!kept || kept.text === view.text) {
      await showText(path, view.text, state, null);
      if (kept) keep(keyOf(path), null);
      return;
    }
    // What was written meets a disk that may have moved since: the bar asks, nothing is lost.
    const moved = kept.hash === read.contentHash ? null : { hash: read.contentHash };
    await showText(path, kept.text, { ...state, hash: kept.hash, dirty: true, moved }, -1);
  }
}

const blank: Extract<Buffer, { status: "text" }> = {
  status: "text",
  encoding: "utf-8",
  endings: "lf",
  hash: null,
  dirty: true,
  readOnly: false,
  saving: false,
  moved: null,
};

/** `savedVersion` is null for a text as the disk has it. */
async function showText(path: string, text: string, state: typeof blank, savedVersion: number | null): Promise<void> {
  const monaco = await loadMonaco();
  const uri = monaco.Uri.from({ scheme: "vibe", path: `/${path}` });
  monaco.editor.getModel(uri)?.dispose();
  const model = monaco.editor.createModel(text, undefined, uri);
  const open: OpenText = {
    model,
    savedVersion: savedVersion ?? model.getAlternativeVersionId(),
    breaks: LineBreaks.ofMixed(text),
    keeping: null,
  };
  texts.set(path, open);
  model.onDidChangeContent((event) => {
    open.breaks?.apply(event.changes.map(({ range, text: written }) => ({ from: range.startLineNumber, to: range.endLineNumber, text: written })));
    const dirty = model.getAlternativeVersionId() !== open.savedVersion;
    patchText(pathOf(open) ?? path, { dirty });
    open.keeping ??= setTimeout(() => keepText(open), KEEP_AFTER_MS);
  });
  putBuffer(path, { ...state, dirty: savedVersion !== null });
}

/** A file may have been renamed since its text was opened. */
function pathOf(open: OpenText): string | null {
  for (const [path, other] of texts) if (other === open) return path;
  return null;
}

function textOf(open: OpenText): string {
  return open.breaks ? open.breaks.join(open.model.getLinesContent()) : open.model.getValue();
}

function keepText(open: OpenText): void {
  if (open.keeping !== null) clearTimeout(open.keeping);
  open.keeping = null;
  const path = pathOf(open);
  const buffer = path === null ? undefined : editorStore.getState().buffers[path];
  if (path === null || buffer?.status !== "text") return;
  keep(keyOf(path), buffer.dirty ? { path, text: textOf(open), encoding: buffer.encoding, hash: buffer.hash } : null);
}

/** Hands every text that waits to be kept over now: the window is about to go. */
export function keepAll(): void {
  for (const open of texts.values()) if (open.keeping !== null) keepText(open);
}

/** Writes a text through the engine. `expected` says what may be overwritten. */
export async function save(path: string): Promise<boolean> {
  const open = texts.get(path);
  const buffer = editorStore.getState().buffers[path];
  if (!open || buffer?.status !== "text" || buffer.saving) return false;
  const version = open.model.getAlternativeVersionId();
  patchText(path, { saving: true });
  try {
    const expected = buffer.moved === "deleted" ? null : buffer.hash;
    const { contentHash } = await runtime().request("files/save", { path, text: textOf(open), expected, encoding: buffer.encoding });
    open.savedVersion = version;
    patchText(path, { hash: contentHash, moved: null, dirty: open.model.getAlternativeVersionId() !== version });
    keepText(open);
    return true;
  } catch (thrown) {
    const error = asShownError(thrown);
    patchText(path, { saving: false });
    if (error.code === "edit.stale") await lookAgain(path);
    else showError(error);
    return false;
  } finally {
    patchText(path, { saving: false });
  }
}

/** Overwrites what the disk has with what is shown. */
export async function keepMine(path: string): Promise<void> {
  const buffer = editorStore.getState().buffers[path];
  if (buffer?.status !== "text" || buffer.moved === null || buffer.moved === "deleted") return;
  patchText(path, { hash: buffer.moved.hash, moved: null });
  await save(path);
}

/** Takes what the disk has; the text that is replaced stays in the undo history. */
export async function loadTheirs(path: string): Promise<void> {
  try {
    const read = await readOrMissing(path);
    if (read) take(path, read);
    else patchText(path, { moved: "deleted" });
  } catch (thrown) {
    showError(asShownError(thrown));
  }
}

function take(path: string, read: FilesReadResult): void {
  const open = texts.get(path);
  if (!open || read.view.kind !== "text") {
    dropBuffer(path);
    void openBuffer(path);
    return;
  }
  const { text, encoding, endings } = read.view;
  const { model } = open;
  const edit = smallestEdit(model.getValue(), text);
  const breaks = LineBreaks.ofMixed(text);
  const known = editorStore.getState().buffers[path];
  const sameBreaks = known?.status === "text" && known.endings === endings && !breaks && !open.breaks;
  if (edit && sameBreaks) {
    const range = { start: model.getPositionAt(edit.start), end: model.getPositionAt(edit.end) };
    model.pushStackElement();
    model.pushEditOperations(
      [],
      [
        {
          range: {
            startLineNumber: range.start.lineNumber,
            startColumn: range.start.column,
            endLineNumber: range.end.lineNumber,
            endColumn: range.end.column,
          },
          text: edit.text,
        },
      ],
      () => null,
    );
    model.pushStackElement();
  } else if (edit || !sameBreaks) {
    model.setValue(text);
  }
  open.breaks = breaks;
  open.savedVersion = model.getAlternativeVersionId();
  patchText(path, { encoding, endings, hash: read.contentHash, readOnly: read.readOnly, dirty: false, moved: null });
  keepText(open);
}

/** The disk changed, or a save says that it did: a clean text follows, an edited one asks. */
async function lookAgain(path: string): Promise<void> {
  const before = editorStore.getState().buffers[path];
  if (!before || before.status === "loading") return;
  let read: FilesReadResult | null;
  try {
    read = await readOrMissing(path);
  } catch {
    // Not readable just now; the next notice or save looks again.
    return;
  }
  const buffer = editorStore.getState().buffers[path];
  if (buffer?.status !== "text") {
    if (buffer) await show(path, read, undefined);
    return;
  }
  if (read === null) {
    patchText(path, { moved: "deleted" });
    return;
  }
  if (read.contentHash === buffer.hash) {
    patchText(path, { moved: null, readOnly: read.readOnly });
    return;
  }
  if (buffer.saving) return;
  if (buffer.dirty) patchText(path, { moved: { hash: read.contentHash } });
  else take(path, read);
}

/** A file that the disk lost: writes it again as it is shown. */
export async function saveAgain(path: string): Promise<void> {
  patchText(path, { hash: null, moved: "deleted" });
  if (await save(path)) toast({ text: `Saved ${fileName(path)} again.` });
}

/** Forgets an open file; unsaved text goes with it. */
export function dropBuffer(path: string): void {
  const open = texts.get(path);
  texts.delete(path);
  if (open) {
    if (open.keeping !== null) clearTimeout(open.keeping);
    open.model.dispose();
  }
  restored.delete(path);
  if (open) keep(keyOf(path), null);
  putBuffer(path, null);
  watch();
}

/** A file or folder has another name now; its texts follow with their undo history. */
export async function renameBuffers(from: string, to: string): Promise<void> {
  for (const path of Object.keys(editorStore.getState().buffers)) {
    const next = movedPath(path, from, to);
    if (next === path) continue;
    const open = texts.get(path);
    const buffer = editorStore.getState().buffers[path];
    keep(keyOf(path), null);
    // The model's address names its language; a new one is made and takes the text over.
    const text = open ? textOf(open) : null;
    texts.delete(path);
    putBuffer(path, null);
    if (open && text !== null && buffer?.status === "text") {
      // oxlint-disable-next-line no-await-in-loop -- The editor is there already; nothing is waited for.
      await showText(next, text, buffer, buffer.dirty ? -1 : null);
      const moved = texts.get(next);
      if (moved && buffer.dirty) keepText(moved);
      open.model.dispose();
    } else {
      void openBuffer(next);
    }
  }
  watch();
}

function watch(): void {
  const folders = openTabs(editorStore.getState().groups).map(({ path }) => path.slice(0, Math.max(0, path.lastIndexOf("/"))) || ".");
  watchFolders("editors", [...new Set(folders)]);
}

function receive(notice: FileNotice): void {
  const { buffers } = editorStore.getState();
  const folders = new Set(notice.folders);
  for (const path of Object.keys(buffers)) {
    const folder = path.slice(0, Math.max(0, path.lastIndexOf("/"))) || ".";
    // An entry that comes or goes is told by its folder alone.
    if (notice.files.includes(path) || folders.has(folder)) void lookAgain(path);
  }
}

fileNotices.listen(receive);

/** After a new engine or connection: what happened meanwhile was not told. */
export function lookAtAll(): void {
  for (const path of Object.keys(editorStore.getState().buffers)) void lookAgain(path);
}

/** Unsaved texts that an earlier window left; gives the files they belong to. */
export function restoreTexts(entries: ReadonlyMap<string, JsonValue>): string[] {
  forgetTexts();
  for (const [key, value] of entries) {
    if (!key.startsWith("buffer/") || typeof value !== "object" || value === null || Array.isArray(value)) continue;
    const { path, text, encoding, hash } = value;
    if (typeof path !== "string" || typeof text !== "string" || typeof encoding !== "string") continue;
    restored.set(path, { path, text, encoding, hash: typeof hash === "string" ? hash : null });
  }
  return [...restored.keys()];
}

export function forgetTexts(): void {
  for (const open of texts.values()) {
    if (open.keeping !== null) clearTimeout(open.keeping);
    open.model.dispose();
  }
  texts.clear();
  restored.clear();
}
