// The wire contract, generated from crates/protocol. Do not edit: change the Rust types, then run
// UPDATE_TYPES=1 cargo nextest run -p protocol

/**
 * How far an answer to a question reaches.
 */
export type AnswerScope = "once" | "session" | "workspace";

export type ApprovalAnswerParams = { approvalId: ApprovalId, decision: ApprovalDecision, 
/**
 * Beyond this one question only for what the question offers in `patterns`.
 */
scope?: AnswerScope, };

export type ApprovalDecision = "allow" | "deny";

export type ApprovalId = string;

export type ApprovalItem = { approvalId: ApprovalId, toolCallId: ToolCallId, 
/**
 * The whole of what is asked for, for example the full command.
 */
request: string, 
/**
 * Why a person is asked.
 */
reason: string, 
/**
 * What a standing answer would be about, one for each part that asks. Empty where only this one can be answered.
 */
patterns?: Array<string>, decision?: ApprovalDecision | null, 
/**
 * Who decided and why: "denied: --approvals deny".
 */
decidedBecause?: string, };

/**
 * What becomes of a call that needs a person. A hard block is never lifted.
 */
export type Approvals = "deny" | "allow" | "ask";

export type ApprovalsAddParams = { pattern: string, effect: RuleEffect, place?: RulePlace, sessionId?: SessionId | null, };

export type ApprovalsListParams = Record<symbol, never>;

export type ApprovalsListResult = { rules: Array<CommandRule>, };

export type ApprovalsRevokeParams = { id: RuleId, };

export type ArtifactId = string;

export type ArtifactKind = "command_log" | "diff_patch" | "provider_trace" | "snapshot" | "diagnostic_report" | "prompt_trace" | "tool_output";

export type ArtifactReadParams = { id: ArtifactId, offset?: number, 
/**
 * At most 1 MiB, which is also the default.
 */
maxBytes?: number | null, };

export type ArtifactReadResult = { 
/**
 * Bytes of the artifact decoded for display; `size` counts the stored bytes.
 */
text: string, size: number, nextOffset: number, };

/**
 * A stored file beside the event log: a whole command log, an exported diff.
 */
export type ArtifactRef = { id: ArtifactId, kind: ArtifactKind, sizeBytes: number, };

export type Capability = { name: string, description: string, 
/**
 * Whether a person is asked before it acts.
 */
requiresConfirmation: boolean, };

export type CapabilityRegistry = { capabilities: Array<Capability>, };

export type ChangeSet = { id: ChangeSetId, sessionId: SessionId, title: string, reason: string, createdAt: number, updatedAt: number, status: ChangeSetStatus, files: Array<ChangeSetFile>, 
/**
 * What the accept wrote, to be undone by; one per accept, newest last.
 */
snapshots: Array<SnapshotId>, sourceToolCallIds: Array<ToolCallId>, };

export type ChangeSetFile = { 
/**
 * Relative to the workspace, `/` between parts; bytes that are not UTF-8 are shown as U+FFFD.
 */
path: string, changeType: ChangeType, oldPath?: string | null, status: FileStatus, 
/**
 * Unix permission bits before and after, where they differ or the file is created.
 */
beforeMode?: number | null, afterMode?: number | null, beforeContentHash?: ContentHash | null, afterContentHash?: ContentHash | null, added: number, deleted: number, 
/**
 * Content that is not shown as lines; such a file is accepted or rejected whole.
 */
binary: boolean, 
/**
 * The pending differences between what is on disk and what is proposed. Empty for binary files.
 */
hunks: Array<DiffHunk>, 
/**
 * Why the file cannot be accepted as it stands, in words.
 */
conflict?: string | null, 
/**
 * The command that made this change, when it was not an edit tool.
 */
byCommand?: string | null, };

export type ChangeSetId = string;

/**
 * §51.3.
 */
export type ChangeSetStatus = "draft" | "proposed" | "pending_review" | "partially_accepted" | "accepted" | "rejected" | "conflicted" | "restored";

export type ChangeType = "create" | "modify" | "delete" | "rename";

export type ChangesDecideParams = { id?: ChangeSetId | null, selection: Selection, };

export type ChangesFileParams = { id: ChangeSetId, path: string, };

export type ChangesFileResult = { 
/**
 * Absent for a creation.
 */
before: string | null, 
/**
 * Absent for a deletion.
 */
after: string | null, };

export type ChangesListParams = { sessionId?: SessionId | null, };

export type ChangesListResult = { changeSets: Array<ChangeSet>, };

export type ChangesRedoParams = { id?: ChangeSetId | null, };

export type ChangesRejectParams = { id?: ChangeSetId | null, selection: Selection, };

export type ChangesResult = { changeSet: ChangeSet, 
/**
 * Paths whose content on disk this changed.
 */
filesWritten: Array<string>, notes: Array<string>, };

export type ChangesShowParams = { 
/**
 * The newest open one when absent.
 */
id?: ChangeSetId | null, };

export type ChangesShowResult = { changeSet: ChangeSet, 
/**
 * The pending part as a unified diff.
 */
diff: string, };

export type ChangesUndoParams = { id?: ChangeSetId | null, 
/**
 * Only say which files would be written and what would not be taken back.
 */
dryRun?: boolean, };

export type ChatMessage = { 
/**
 * "user" or "assistant".
 */
role: string, text: string, };

/**
 * `chat/turn`: one message to any context and its whole answer.
 */
export type ChatTurnParams = { message: string, 
/**
 * The conversation to go on with; a new one when absent.
 */
threadId?: string | null, 
/**
 * What the screen shows, for backends that want to know; opaque to the host.
 */
context?: JsonValue | null, 
/**
 * What was said before, for backends that keep nothing.
 */
thread?: Array<ChatMessage>, };

export type ChatTurnResult = { threadId: string, text: string, 
/**
 * What the backend proposes and a person decides about; for the engine, ids of change sets.
 */
proposals: Array<JsonValue>, };

/**
 * One test, or one place in the code, that a check complains about.
 */
export type CheckFailure = { name: string, 
/**
 * Relative to the workspace where it is known to lie there, else as the runner wrote it.
 */
file?: string, line?: number, message?: string, };

/**
 * What a passing check shows.
 */
export type CheckKind = "tests" | "types" | "lint";

/**
 * How much of the project is checked.
 */
export type CheckReach = "focused" | "broad";

export type CommandAccepted = { commandId: CommandId, };

export type CommandId = string;

export type CommandInputParams = { commandId: CommandId, text: string, };

export type CommandItem = { commandId: CommandId, toolCallId: ToolCallId, 
/**
 * Exactly one command string, as it was run.
 */
command: string, 
/**
 * The directory it really ran in, relative to the workspace ("." for its root).
 */
cwd: string, state: CommandState, 
/**
 * "read-only", "approved for this run", or why it was refused.
 */
policyReason: string, 
/**
 * What the command could reach, in one line.
 */
isolation: string, lifetime?: CommandLifetime, terminal?: CommandTerminal, 
/**
 * Whether the user ran it, and not the assistant.
 */
byUser?: boolean, exitCode?: number | null, signal?: number | null, durationMs?: number | null, 
/**
 * Head and tail of the output for the card, decoded for display.
 */
output?: string, 
/**
 * Bytes between head and tail that only the log has.
 */
omittedBytes: number, log?: ArtifactRef | null, 
/**
 * What else the reader must know: still-running children, a fallback directory, unkept changes.
 */
notes?: Array<string>, };

/**
 * How long a command may run.
 */
export type CommandLifetime = "awaited" | "background";

export type CommandListParams = Record<symbol, never>;

export type CommandListResult = { commands: Array<RunningCommand>, };

export type CommandRule = { id: RuleId, 
/**
 * Words of a command; `*` stands for any arguments, for `allow` any that are no options.
 */
pattern: string, effect: RuleEffect, place: RulePlace, 
/**
 * Absent where it holds for the workspace.
 */
sessionId?: SessionId, createdAt: number, 
/**
 * Who made it and over what.
 */
because: string, 
/**
 * Commands it has decided about since the engine started.
 */
used: number, };

/**
 * A command of the user's own. What it changes joins the session's draft, as an agent's would.
 */
export type CommandRunParams = { sessionId: SessionId, command: string, 
/**
 * Relative to the workspace; its root when absent.
 */
cwd?: string | null, lifetime?: CommandLifetime, terminal?: CommandTerminal, };

/**
 * §51.2.
 */
export type CommandState = "queued" | "awaiting_approval" | "starting" | "running" | "stopping" | "stopped" | "succeeded" | "failed" | "timed_out" | "cancelled";

export type CommandStopParams = { commandId: CommandId, };

/**
 * What a command has for its input and output.
 */
export type CommandTerminal = "none" | "own";

/**
 * What the requests to the model leave out from here on. The session's own record stays whole.
 */
export type CondensedItem = { 
/**
 * One line for a person: "Left out 12 tool results and 3 earlier requests: 41k → 18k tokens".
 */
title: string, 
/**
 * Why now, in words.
 */
reason: string, 
/**
 * Oldest first, at most 100.
 */
leftOut: Array<LeftOut>, 
/**
 * Parts beyond those named in `left_out`.
 */
more: number, 
/**
 * Estimates of the whole request.
 */
tokensBefore: number, tokensAfter: number, 
/**
 * What is sent in place of whole turns; empty where only results were left out.
 */
summary?: string, 
/**
 * All that is left out, as it was sent.
 */
original?: ArtifactRef | null, 
/**
 * Whether the person wants it sent again.
 */
undone: boolean, };

/**
 * The BLAKE3 hash of a content, in lowercase hex. Blobs and file versions are named by it.
 */
export type ContentHash = string;

export type ContextExplainParams = { 
/**
 * The request in words.
 */
request: string, 
/**
 * The file in front of the user, relative to the workspace.
 */
activeFile?: string | null, openFiles: Array<string>, 
/**
 * For files, at most 100,000; 8,000 unless given.
 */
maxTokens?: number | null, };

export type ContextExplainResult = { 
/**
 * What would be shown, best first.
 */
included: Array<ContextFile>, 
/**
 * What was considered and is not shown, best first, with the reason.
 */
omitted: Array<ContextFile>, 
/**
 * Files found by the request that are tests: shown apart, so that they cost no place.
 */
tests: Array<ContextFile>, maxTokens: number, estimatedTokens: number, index: ContextIndexState, };

export type ContextFile = { path: string, 
/**
 * Comparable only within one answer.
 */
score: number, 
/**
 * Why it is here, or not, in words.
 */
reason: string, 
/**
 * What made the score, the largest first.
 */
parts: Array<ContextScorePart>, 
/**
 * Lines that are or would be shown, counted from 1, both ends included.
 */
ranges: Array<[number, number]>, estimatedTokens: number, mark: ContextMark, };

/**
 * A live context of the shell; the coding engine of one workspace is one.
 */
export type ContextId = string;

export type ContextIndexState = { files: number, 
/**
 * All files were looked at since the engine started; otherwise the index may be behind.
 */
complete: boolean, 
/**
 * What is not in it and why, one sentence a reason.
 */
leftOut: Array<string>, };

/**
 * What stands behind a context.
 */
export type ContextKind = "engine" | "http";

/**
 * The user's word on a file, whatever the ranking says.
 */
export type ContextMark = "pinned" | "excluded" | "none";

export type ContextMarkParams = { 
/**
 * Relative to the workspace.
 */
path: string, mark: ContextMark, };

export type ContextMarksParams = Record<symbol, never>;

export type ContextMarksResult = { pinned: Array<string>, excluded: Array<string>, };

export type ContextPackParams = { turnId: TurnId, };

/**
 * What a turn was shown before the user's message.
 */
export type ContextPackResult = { shown: Array<ContextPackSource>, 
/**
 * What was left out or cut.
 */
omitted: Array<ContextPackSource>, estimatedTokens: number, maxTokens: number, };

export type ContextPackSource = { 
/**
 * For example "repo_summary".
 */
kind: string, label: string, path?: string, reason: string, estimatedTokens: number, 
/**
 * Exactly what was sent; empty for what was left out.
 */
text: string, };

export type ContextRankParams = { request: string, 
/**
 * Paths returned at most; 100 unless given.
 */
limit?: number | null, 
/**
 * Tokens that `ranges` may add up to; 8,000 unless given.
 */
maxTokens?: number | null, };

export type ContextRankResult = { files: Array<ContextRanked>, };

export type ContextRanked = { path: string, score: number, 
/**
 * The parts to show; empty where the budget was used up by files before it.
 */
ranges: Array<[number, number]>, };

export type ContextScorePart = { 
/**
 * For example "past_commits".
 */
factor: string, 
/**
 * Completes "it is here because …".
 */
words: string, score: number, };

/**
 * A live context of the host: a process that serves one workspace or another backend.
 */
export type ContextState = "stopped" | "starting" | "ready" | "suspended" | "failed" | "stopping";

export type ContextSummary = { 
/**
 * The key by which frames name the context.
 */
context: string, kind: ContextKind, name: string, path: string, state: ContextState, 
/**
 * Why it failed, when it did.
 */
error?: RuntimeError, };

/**
 * One contiguous group of changed lines with its context. Hunks are numbered from 1 within their file.
 */
export type DiffHunk = { number: number, 
/**
 * First line and count on each side, as in a unified diff header (1-based; 0 when the side is empty).
 */
oldStart: number, oldLines: number, newStart: number, newLines: number, lines: Array<DiffLine>, };

export type DiffLine = { kind: LineKind, 
/**
 * The line without its ending, decoded for display.
 */
text: string, 
/**
 * "lf", "crlf" or "none": a change of only the ending must be visible.
 */
ending: LineEnding, };

export type Done = Record<symbol, never>;

/**
 * One line from the engine.
 */
export type EngineFrame = { event: EventEnvelope, } | { notice: Notice, } | ReplyFrame;

/**
 * What an entry of a folder is.
 */
export type EntryKind = "folder" | "file" | "link" | "special";

/**
 * Every failure the product can report. The text form is stable; new kinds are added, none renamed.
 */
export type ErrorCode = "workspace.notFound" | "workspace.notADirectory" | "workspace.unreadable" | "workspace.tooWide" | "path.outside" | "path.notFound" | "path.exists" | "path.isDirectory" | "path.notADirectory" | "path.protected" | "file.binary" | "file.tooLarge" | "file.encoding" | "file.io" | "edit.notFound" | "edit.ambiguous" | "edit.stale" | "edit.noChange" | "patch.malformed" | "patch.rejected" | "changes.notFound" | "changes.notPending" | "changes.conflict" | "changes.nothingToUndo" | "changes.recovery" | "tool.unknown" | "tool.arguments" | "tool.failed" | "search.pattern" | "permission.mode" | "permission.denied" | "permission.blocked" | "command.spawn" | "command.failed" | "command.timeout" | "command.staging" | "git.missing" | "git.notARepository" | "git.failed" | "provider.unknown" | "provider.noKey" | "provider.auth" | "provider.modelUnknown" | "provider.rateLimited" | "provider.quota" | "provider.overloaded" | "provider.contextTooLong" | "provider.refused" | "provider.invalidRequest" | "provider.streamBroken" | "provider.outputLimit" | "provider.timeoutIdle" | "provider.timeoutTotal" | "provider.network" | "provider.tls" | "provider.proxy" | "provider.other" | "scenario.invalid" | "scenario.exhausted" | "session.notFound" | "session.busy" | "session.limit" | "session.timeout" | "session.damaged" | "session.illegalTransition" | "store.locked" | "store.corrupt" | "store.newer" | "store.full" | "store.io" | "settings.invalid" | "artifact.notFound" | "host.forbiddenHost" | "host.forbiddenOrigin" | "host.unauthorized" | "host.busy" | "context.notFound" | "context.failed" | "context.manifest" | "request.invalid" | "request.unknown" | "usage.invalid" | "cancelled" | "interrupted" | "internal";

export type EventBody = { "type": "sessionStateChanged", from: SessionState, to: SessionState, 
/**
 * In words, where the transition needs one: "interrupted by a crash".
 */
reason?: string | null, } | { "type": "sessionCreated", title: string, } | { "type": "sessionRenamed", title: string, } | { "type": "turnStarted", turnId: TurnId, mode: Mode, provider: string, model: string, } | { "type": "itemStarted", item: TimelineItem, } | { "type": "itemDelta", itemId: ItemId, delta: ItemDelta, } | { "type": "itemCompleted", item: TimelineItem, } | { "type": "turnCompleted", turnId: TurnId, outcome: TurnOutcome, usage: Usage, cost?: number | null, durationMs: number, } | { "type": "changeSetUpdated", changeSet: ChangeSet, } | { "type": "usageUpdated", turnId: TurnId, requestId: ProviderRequestId, promptHash: string, estimatedInput: number, usage: Usage, 
/**
 * In US dollars, at the prices of the model that answered; absent where they are not known.
 */
cost?: number | null, 
/**
 * Of the session so far.
 */
session?: Spending, 
/**
 * Of the user's day so far (UTC), over all workspaces.
 */
today?: Spending, } | { "type": "recovered", notes: Array<string>, };

export type EventEnvelope = { contextId: ContextId, sessionId?: SessionId | null, 
/**
 * Counts from 1 without gaps within a context.
 */
seq: number, at: number, body: EventBody, };

/**
 * Replays events after `fromSeq`, then follows live.
 */
export type EventsSubscribeParams = { fromSeq: number, };

/**
 * One step of the user in the tree.
 */
export type FileOperation = { "what": "createFile", path: string, } | { "what": "createFolder", path: string, } | { "what": "rename", from: string, to: string, } | { "what": "delete", paths: Array<string>, };

export type FileStatus = "pending" | "accepted" | "rejected" | "conflicted";

/**
 * How a file is shown.
 */
export type FileView = { "kind": "text", 
/**
 * Decoded, line endings as they are.
 */
text: string, 
/**
 * For example "utf-8", "utf-8-bom", "windows-1252".
 */
encoding: string, 
/**
 * "lf", "crlf", "mixed" or "none".
 */
endings: string, } | { "kind": "large", head: string, tail: string, omittedBytes: number, } | { "kind": "binary", what: string, };

export type FilesChangeParams = { operation: FileOperation, };

export type FilesChangeResult = { 
/**
 * For `files/undo`.
 */
undo: string, 
/**
 * Paths that changed.
 */
paths: Array<string>, notes: Array<string>, };

/**
 * Whether the user's files differ from before the failed operation (the fourth question of §27).
 */
export type FilesChanged = { "state": "none" } | { "state": "some", "paths": Array<string> } | { "state": "unknown" };

export type FilesFindParams = { query: string, max?: number | null, };

export type FilesFindResult = { found: Array<FoundPath>, };

export type FilesListParams = { path: string, 
/**
 * At most this many; 2,000 when absent.
 */
max?: number | null, };

/**
 * Columns of equal length, folders first, each group by name.
 */
export type FilesListResult = { path: string, names: Array<string>, kinds: Array<EntryKind>, ignored: Array<boolean>, omitted: number, };

export type FilesReadParams = { path: string, };

export type FilesReadResult = { path: string, view: FileView, 
/**
 * What `files/save` expects. Of a large file, which cannot be saved, only good for noticing a change.
 */
contentHash: ContentHash, size: number, 
/**
 * Unix permission bits.
 */
mode: number, readOnly: boolean, };

export type FilesSaveParams = { path: string, text: string, 
/**
 * The hash the text was loaded with; absent for a file that must not exist yet.
 */
expected?: ContentHash | null, 
/**
 * As read; the file keeps it. A character it cannot hold is refused.
 */
encoding: string, };

export type FilesSaveResult = { contentHash: ContentHash, };

/**
 * Lines that match, in files that are not ignored. The pattern is a regular expression unless `literal`.
 */
export type FilesSearchParams = { pattern: string, literal?: boolean, ignoreCase?: boolean, globs?: Array<string>, };

export type FilesSearchResult = { hits: Array<SearchHitLine>, 
/**
 * How much was searched, what was not and why.
 */
notes: Array<string>, };

export type FilesUndoParams = { undo: string, };

/**
 * Replaces the folders this connection watches. Their content and the repository's state are told as notices.
 */
export type FilesWatchParams = { folders: Array<string>, };

export type FoundPath = { path: string, 
/**
 * Indexes of the matched characters.
 */
positions: Array<number>, };

/**
 * A path that was changed in the index and again since is there twice, staged first.
 */
export type GitEntry = { path: string, letter: GitLetter, staged: boolean, };

/**
 * The letter a row of the tree shows for its state in git.
 */
export type GitLetter = "modified" | "added" | "deleted" | "renamed" | "untracked" | "conflicted";

export type GitShowParams = { path: string, };

export type GitShowResult = { 
/**
 * Absent when the last commit does not have the file or it is not text.
 */
text: string | null, };

export type GitStatusParams = Record<symbol, never>;

export type GitStatusResult = { 
/**
 * False where the workspace is no repository; then the rest is empty.
 */
repository: boolean, branch: string | null, ahead: number, behind: number, entries: Array<GitEntry>, };

/**
 * How a provider has been doing.
 */
export type HealthState = "untried" | "working" | "limited" | "failing" | "unusable";

export type HelloParams = Record<symbol, never>;

export type HelloResult = { version: string, contextId: ContextId, workspace: string, lastSeq: number, 
/**
 * What opening the workspace repaired, in words.
 */
recovered: Array<string>, };

export type HostCloseParams = { context: string, };

export type HostContextsParams = Record<symbol, never>;

export type HostContextsResult = { contexts: Array<ContextSummary>, };

/**
 * Something about contexts that every window is told.
 */
export type HostEvent = { "type": "contextStateChanged", context: string, from: ContextState, to: ContextState, 
/**
 * In words, where the change needs them.
 */
reason?: string | null, };

export type HostFoldersParams = { 
/**
 * Absolute; empty for the home folder.
 */
path?: string, };

export type HostFoldersResult = { path: string, parent: string | null, 
/**
 * Names, sorted, without hidden ones; at most 2,000.
 */
folders: Array<string>, };

export type HostHelloParams = Record<symbol, never>;

export type HostHelloResult = { version: string, 
/**
 * "linux", "macos", "windows".
 */
platform: string, contexts: Array<ContextSummary>, };

export type HostOpenParams = { 
/**
 * Absolute.
 */
path: string, 
/**
 * Also `/` or the home folder.
 */
allowWide?: boolean, };

export type HostOpenResult = { context: string, };

export type HostRecentParams = Record<symbol, never>;

export type HostRecentResult = { 
/**
 * Latest first.
 */
recent: Array<RecentWorkspace>, };

/**
 * A request that the host answers itself.
 */
export type HostRequest = { "method": "host/hello", "params": HostHelloParams } | { "method": "host/contexts", "params": HostContextsParams } | { "method": "host/open", "params": HostOpenParams } | { "method": "host/close", "params": HostCloseParams } | { "method": "host/restart", "params": HostRestartParams } | { "method": "host/recent", "params": HostRecentParams } | { "method": "host/sample", "params": HostSampleParams } | { "method": "host/folders", "params": HostFoldersParams };

export type HostRestartParams = { context: string, };

export type HostSampleParams = Record<symbol, never>;

export type ItemDelta = { "kind": "text", text: string, } | { "kind": "output", text: string, } | { "kind": "command", state: CommandState, } | { "kind": "notes", notes: Array<string>, };

export type ItemId = string;

export type ItemStatus = "pending" | "running" | "succeeded" | "failed" | "cancelled";

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null;

export type LeftOut = { 
/**
 * "Read src/app.rs", "the request “fix the test” and what was done for it".
 */
what: string, 
/**
 * An estimate.
 */
tokens: number, };

export type LineEnding = "lf" | "crlf" | "none";

export type LineKind = "context" | "added" | "deleted";

/**
 * Forgets what is remembered of the repository. It is found anew when a session begins.
 */
export type MemoryClearParams = Record<symbol, never>;

export type MemoryClearResult = { forgotten: number, };

export type MemoryEntry = { name: string, text: string, 
/**
 * Why it is known: the files it was read from, or the records.
 */
because: string, foundAt: number, };

export type MemoryShowParams = { 
/**
 * Also what its records say of a session.
 */
sessionId?: SessionId | null, };

export type MemoryShowResult = { 
/**
 * Of the workspace: its structure, its modules, and the commands that build and test it.
 */
repository: Array<MemoryEntry>, 
/**
 * Follows from the session's own records and goes with them.
 */
session: Array<MemoryEntry>, 
/**
 * Whether anything is remembered beyond workspaces. Off unless it is switched on.
 */
longTerm: boolean, };

/**
 * The three modes a user can choose (§11.2). The mode shown is the mode enforced.
 */
export type Mode = "ask" | "edit" | "agent";

/**
 * Something a client should look at again.
 */
export type Notice = { "type": "filesChanged", folders: Array<string>, files: Array<string>, } | { "type": "gitChanged" } | { "type": "watching", live: boolean, reason: string | null, } | { "type": "settingsChanged" };

export type PlanStep = { text: string, status: ItemStatus, };

/**
 * From the requests of the last two days, of all the user's workspaces (§14.5).
 */
export type ProviderHealth = { id: string, state: HealthState, 
/**
 * The state in words, and the way out where something is wrong.
 */
summary: string, lastSuccess?: number | null, consecutiveFailures: number, limitedUntil?: number | null, 
/**
 * From sending to the first byte, the newest counting most.
 */
firstByteMs?: number | null, 
/**
 * Answers that came to their end, and that broke off.
 */
streamsWhole: number, streamsBroken: number, 
/**
 * Tool calls whose arguments could be read, and could not.
 */
callsReadable: number, callsUnreadable: number, 
/**
 * Models that the provider said it does not have.
 */
unknownModels: Array<string>, today: Spending, };

/**
 * One request to a model.
 */
export type ProviderRequestId = string;

export type ProviderSummary = { id: string, family: string, 
/**
 * Used when a turn names none.
 */
isDefault: boolean, ready: boolean, 
/**
 * What is missing and what to do, when it is not ready.
 */
problem: string | null, baseUrl: string, models: Array<string>, keyVariable: string | null, };

export type ProvidersHealthParams = Record<symbol, never>;

export type ProvidersHealthResult = { 
/**
 * Those that can be used or have been tried.
 */
providers: Array<ProviderHealth>, 
/**
 * Of all providers on this day (UTC).
 */
today: Spending, };

export type ProvidersListParams = Record<symbol, never>;

export type ProvidersListResult = { providers: Array<ProviderSummary>, };

export type RecentWorkspace = { path: string, name: string, openedAt: number, exists: boolean, };

/**
 * §10.2. Exactly one of `data` and `error` is present, as `ok` says.
 */
export type ReplyFrame = { 
/**
 * The request's id; absent when the line could not be read far enough to find one, and in the error that ends
 * the events because the log can no longer be read or written.
 */
id: number | null, ok: boolean, data?: JsonValue | null, error?: RuntimeError | null, };

/**
 * What a rule does with the commands it names. The strictest that matches counts.
 */
export type RuleEffect = "allow" | "ask" | "never";

/**
 * A person's standing rule about commands.
 */
export type RuleId = string;

/**
 * Where a rule holds: what is harmless in a sandbox may not be without one.
 */
export type RulePlace = "sandboxed" | "anywhere";

/**
 * One that has not ended.
 */
export type RunningCommand = { commandId: CommandId, sessionId: SessionId, command: string, cwd: string, startedAt: number, lifetime: CommandLifetime, terminal: CommandTerminal, 
/**
 * The end of what it has printed.
 */
recentOutput: string, };

/**
 * What failed, why likely, what to do, whether files changed, whether to retry.
 */
export type RuntimeError = { code: ErrorCode, 
/**
 * What failed, one plain sentence.
 */
message: string, 
/**
 * Why, as far as is known: the operating system's or the provider's own words.
 */
detail?: string | null, 
/**
 * Whether the user can go on with this session after acting.
 */
recoverable: boolean, 
/**
 * Whether the same request may simply be sent again.
 */
retryable: boolean, 
/**
 * The way out, one plain sentence.
 */
userAction?: string | null, filesChanged: FilesChanged, };

export type SearchHitLine = { path: string, line: number, column: number, text: string, };

/**
 * What a user decides about: everything, one file, or one hunk of one file.
 */
export type Selection = { "what": "all" } | { "what": "file", path: string, } | { "what": "hunk", path: string, number: number, };

export type SessionExportParams = { sessionId: SessionId, };

export type SessionExportResult = { records: Array<JsonValue>, };

export type SessionHit = { sessionId: SessionId, title: string, seq: number, 
/**
 * The matching text with `[` and `]` around the matches.
 */
snippet: string, };

export type SessionId = string;

export type SessionListParams = Record<symbol, never>;

export type SessionListResult = { sessions: Array<SessionSummary>, };

export type SessionRenameParams = { sessionId: SessionId, title: string, };

export type SessionRestoreParams = { sessionId: SessionId, 
/**
 * The mark in the timeline.
 */
itemId: ItemId, };

export type SessionResumeParams = { sessionId: SessionId, };

export type SessionSearchParams = { query: string, limit?: number | null, };

export type SessionSearchResult = { hits: Array<SessionHit>, };

export type SessionShowParams = { sessionId: SessionId, };

export type SessionShowResult = { session: SessionSummary, timeline: Array<TimelineItem>, 
/**
 * The newest event that `timeline` contains: a client that follows events adds only later ones to it.
 */
lastSeq: number, changeSets: Array<ChangeSet>, 
/**
 * Damaged records that were left out, in words.
 */
notes: Array<string>, };

export type SessionStartParams = { title?: string | null, };

export type SessionStarted = { sessionId: SessionId, };

/**
 * §51.1.
 */
export type SessionState = "idle" | "preparing_context" | "planning" | "awaiting_plan_approval" | "executing" | "awaiting_tool_approval" | "applying_changes" | "verifying" | "repairing" | "awaiting_diff_review" | "accepted" | "rejected" | "complete" | "cancelling" | "cancelled" | "failed" | "retrying";

export type SessionSummary = { id: SessionId, title: string, createdAt: number, updatedAt: number, state: SessionState, 
/**
 * The engine ended while a turn was running.
 */
interrupted: boolean, spent?: Spending, };

export type SettingsGetParams = { 
/**
 * Dotted name; absent for all.
 */
key?: string | null, };

export type SettingsSetParams = { key: string, 
/**
 * Null unsets.
 */
value: JsonValue, };

export type SettingsValue = { value: JsonValue, };

export type ShutdownParams = Record<symbol, never>;

export type SnapshotId = string;

/**
 * What was spent in a session or on a day.
 */
export type Spending = { 
/**
 * Read and written.
 */
tokens: number, 
/**
 * US dollars, of the requests whose price is known.
 */
dollars: number, 
/**
 * Requests whose price is not known.
 */
unpriced: number, };

export type SummaryItem = { filesChanged: Array<string>, commandsRun: number, usage: Usage, 
/**
 * In US dollars; absent where the model's price is not known.
 */
cost?: number | null, durationMs: number, 
/**
 * What the checks say of the changes; absent where nothing was changed.
 */
verified?: Verified, 
/**
 * Things the reader should know: a repaired record, a limit reached.
 */
notes?: Array<string>, };

export type TimelineItem = { id: ItemId, sessionId: SessionId, 
/**
 * The turn this item belongs to.
 */
correlationId: TurnId, createdAt: number, updatedAt?: number | null, status: ItemStatus, 
/**
 * False for what belongs under Details.
 */
visible: boolean, } & ({ "type": "user_message", text: string, mode: Mode, } | { "type": "assistant_message", text: string, provider: string, model: string, } | { "type": "thinking", text: string, } | { "type": "plan", steps: Array<PlanStep>, } | { "type": "tool_call" } & ToolCallItem | { "type": "command" } & CommandItem | { "type": "change_set", changeSetId: ChangeSetId, title: string, } | { "type": "diff", changeSetId: ChangeSetId, path: string, hunks: Array<DiffHunk>, } | { "type": "verification" } & VerificationItem | { "type": "error", error: RuntimeError, } | { "type": "approval" } & ApprovalItem | { "type": "summary" } & SummaryItem | { "type": "condensed" } & CondensedItem);

/**
 * A tool call's id as the model gave it; unique only within one session.
 */
export type ToolCallId = string;

export type ToolCallItem = { toolCallId: ToolCallId, 
/**
 * The model's name for the tool; also kept when it names nothing we have.
 */
name: string, 
/**
 * "Read", "Searched", "Edited" …
 */
verb: string, 
/**
 * What the verb applies to: a path, a pattern.
 */
target: string, 
/**
 * The arguments as the model gave them, for Details.
 */
arguments: JsonValue, 
/**
 * One line about the outcome; empty while running.
 */
summary: string, durationMs?: number | null, 
/**
 * The head of what the model was given.
 */
preview?: string, error?: RuntimeError | null, artifacts?: Array<ArtifactRef>, };

export type TurnAccepted = { turnId: TurnId, };

export type TurnCancelParams = { sessionId: SessionId, };

export type TurnId = string;

export type TurnOutcome = { "result": "completed" } | { "result": "failed", error: RuntimeError, } | { "result": "cancelled" } | { "result": "interrupted" };

export type TurnSendParams = { sessionId: SessionId, text: string, mode?: Mode, 
/**
 * The configured default when absent.
 */
provider?: string | null, model?: string | null, approvals?: Approvals, 
/**
 * Milliseconds after which the turn is ended as failed.
 */
timeoutMs?: number | null, };

export type UiEntry = { key: string, value: JsonValue, updatedAt: number, };

export type UiLoadParams = { 
/**
 * Keys begin with this.
 */
prefix: string, };

export type UiLoadResult = { entries: Array<UiEntry>, };

export type UiSaveParams = { 
/**
 * At most 512 bytes.
 */
key: string, 
/**
 * Null deletes. At most 8 MiB as JSON.
 */
value: JsonValue, };

/**
 * Token counts of one or more model requests. `input` counts everything the model read, cached or not.
 */
export type Usage = { input: number, output: number, 
/**
 * Part of `input` that was read from the provider's prompt cache.
 */
cacheRead: number, 
/**
 * Part of `input` that was written to the provider's prompt cache.
 */
cacheWrite: number, 
/**
 * Part of `output` spent on reasoning, where the provider says so.
 */
reasoning: number, };

/**
 * One run of a check. It says something only about the files it ran on.
 */
export type VerificationItem = { command: string, 
/**
 * The folder it ran in, relative to the workspace.
 */
cwd?: string, kind?: CheckKind, 
/**
 * Names the exact files, those on disk with the draft over them.
 */
treeHash: string, exitCode: number | null, 
/**
 * One line: "12 passed", "1 of 12 failed".
 */
summary: string, 
/**
 * Why it was run, in words.
 */
reason?: string, 
/**
 * Counts are absent where the runner does not tell them.
 */
passed?: number, failed?: number, skipped?: number, failures?: Array<CheckFailure>, 
/**
 * The card of the command itself.
 */
commandId?: CommandId, finishedAt?: number, durationMs?: number, 
/**
 * Why it says nothing about the files as they are now; absent while it does.
 */
stale?: string, };

/**
 * What may be said of the files at a turn's end. Written by the engine from results, whatever a model claims.
 */
export type Verified = { state: VerifiedState, 
/**
 * One sentence, with what to do where something is left to do.
 */
text: string, };

export type VerifiedState = "passed" | "failed" | "not_verified";

/**
 * Runs the project's checks on the files as they are with the session's draft.
 */
export type VerifyRunParams = { 
/**
 * Absent: the newest session whose changes wait for review, else a new one.
 */
sessionId?: SessionId | null, reach?: CheckReach, };

/**
 * Returned when the last check has ended; each is an item of the timeline meanwhile.
 */
export type VerifyRunResult = { sessionId: SessionId, verified: Verified, results: Array<VerificationItem>, };

/** Every request with its parameters and its result. */
export interface Methods {
  "engine/hello": { params: HelloParams; result: HelloResult };
  "session/start": { params: SessionStartParams; result: SessionStarted };
  "session/list": { params: SessionListParams; result: SessionListResult };
  "session/show": { params: SessionShowParams; result: SessionShowResult };
  "session/resume": { params: SessionResumeParams; result: SessionShowResult };
  "session/search": { params: SessionSearchParams; result: SessionSearchResult };
  "session/export": { params: SessionExportParams; result: SessionExportResult };
  "turn/send": { params: TurnSendParams; result: TurnAccepted };
  "turn/cancel": { params: TurnCancelParams; result: Done };
  "approval/answer": { params: ApprovalAnswerParams; result: Done };
  "changes/list": { params: ChangesListParams; result: ChangesListResult };
  "changes/show": { params: ChangesShowParams; result: ChangesShowResult };
  "changes/accept": { params: ChangesDecideParams; result: ChangesResult };
  "changes/reject": { params: ChangesRejectParams; result: ChangesResult };
  "changes/undo": { params: ChangesUndoParams; result: ChangesResult };
  "changes/redo": { params: ChangesRedoParams; result: ChangesResult };
  "events/subscribe": { params: EventsSubscribeParams; result: Done };
  "artifact/read": { params: ArtifactReadParams; result: ArtifactReadResult };
  "command/stop": { params: CommandStopParams; result: Done };
  "command/run": { params: CommandRunParams; result: CommandAccepted };
  "command/list": { params: CommandListParams; result: CommandListResult };
  "command/input": { params: CommandInputParams; result: Done };
  "verify/run": { params: VerifyRunParams; result: VerifyRunResult };
  "approvals/list": { params: ApprovalsListParams; result: ApprovalsListResult };
  "approvals/add": { params: ApprovalsAddParams; result: CommandRule };
  "approvals/revoke": { params: ApprovalsRevokeParams; result: Done };
  "session/rename": { params: SessionRenameParams; result: Done };
  "session/restore": { params: SessionRestoreParams; result: Done };
  "files/list": { params: FilesListParams; result: FilesListResult };
  "files/read": { params: FilesReadParams; result: FilesReadResult };
  "files/save": { params: FilesSaveParams; result: FilesSaveResult };
  "files/change": { params: FilesChangeParams; result: FilesChangeResult };
  "files/undo": { params: FilesUndoParams; result: FilesChangeResult };
  "files/find": { params: FilesFindParams; result: FilesFindResult };
  "files/search": { params: FilesSearchParams; result: FilesSearchResult };
  "files/watch": { params: FilesWatchParams; result: Done };
  "git/status": { params: GitStatusParams; result: GitStatusResult };
  "git/show": { params: GitShowParams; result: GitShowResult };
  "changes/file": { params: ChangesFileParams; result: ChangesFileResult };
  "memory/show": { params: MemoryShowParams; result: MemoryShowResult };
  "memory/clear": { params: MemoryClearParams; result: MemoryClearResult };
  "settings/get": { params: SettingsGetParams; result: SettingsValue };
  "settings/set": { params: SettingsSetParams; result: SettingsValue };
  "providers/list": { params: ProvidersListParams; result: ProvidersListResult };
  "providers/health": { params: ProvidersHealthParams; result: ProvidersHealthResult };
  "ui/load": { params: UiLoadParams; result: UiLoadResult };
  "ui/save": { params: UiSaveParams; result: Done };
  "context/explain": { params: ContextExplainParams; result: ContextExplainResult };
  "context/rank": { params: ContextRankParams; result: ContextRankResult };
  "context/pack": { params: ContextPackParams; result: ContextPackResult };
  "context/mark": { params: ContextMarkParams; result: Done };
  "context/marks": { params: ContextMarksParams; result: ContextMarksResult };
  "engine/shutdown": { params: ShutdownParams; result: Done };
}
