// Generated from the protocol models by `python -m octavo_protocol.generate`; do not edit.

/** A JSON object whose fields the protocol does not name. */
export type JsonObject = { [key: string]: unknown };

/** Counts up when a client written for the version before would misread something. */
export const PROTOCOL_VERSION = 1;

/** Result of the abort methods. */
export type AbortResult = {
  /** False when there was nothing to abort. */
  aborted: boolean;
};

/** Params of `agent/abort`. */
export type AgentAbortParams = {
  /** Session whose running operation must stop. */
  sessionId: string;
  /** What is about to begin. */
  reason: "compaction" | "handoff";
};

/** Result of `agent/abort`, sent once the host has stopped. */
export type AgentAbortResult = {
  /** False when nothing was running. Default: `true`. */
  stopped?: boolean;
};

/** Params of `session/append`: exactly one of `messages` and `entries`. */
export type AppendParams = {
  /** Id of an open session. */
  sessionId: string;
  /** Messages, each stored as one entry of type `message`. */
  messages?: Message[] | null;
  /** Entries of any type; `id`, `parentId` and `timestamp` are filled in where absent. */
  entries?: JsonObject[] | null;
  /** Entry to hang them under: absent means the leaf, null means a new root. */
  parentId?: string | null;
  /** Refuse with `content-modified` when the leaf is another; null expects an empty tree. */
  expectedLeafId?: string | null;
  /** Ids for the new entries, one each; repeating one that exists is a no-op. */
  ids?: string[] | null;
};

/** Result of `session/append`: everything named here is durable. */
export type AppendResult = {
  /** Ids in the order given. */
  entryIds: string[];
  /** Those that were there before and left alone. */
  repeatedIds: string[];
  /** Leaf now. */
  leafId: string;
  /** Number of the change. */
  seq: number;
};

/** Params of `session/applyCompaction`. */
export type ApplyCompactionParams = {
  /** Id of an open session. */
  sessionId: string;
  /** A held result. */
  operationId: string;
  /** Edited summary; it is checked again. */
  summary?: string | null;
  /** Edited short summary. */
  shortSummary?: string | null;
};

/** What the model answered. */
export type AssistantMessage = {
  /** Role. */
  role: "assistant";
  /** Text, reasoning and tool calls in the order they came. */
  content: (TextBlock | ThinkingBlock | RedactedThinkingBlock | ToolCallBlock)[];
  /** Wire that was spoken. */
  api?: string;
  /** Provider. */
  provider?: string;
  /** Model id. */
  model?: string;
  /** Tokens. */
  usage?: Usage;
  /** Why it stopped. */
  stopReason?: "stop" | "length" | "toolUse" | "error" | "aborted";
  /** Provider's text, for `error`. */
  errorMessage?: string;
  /** HTTP status, for `error`. */
  errorStatus?: number;
  /** Further facts about why it stopped. */
  stopDetails?: JsonObject;
  /** Native history for the same provider. */
  providerPayload?: JsonObject;
  /** Milliseconds since 1970, UTC. */
  timestamp?: number;
};

/** A command the user ran. */
export type BashExecutionMessage = {
  /** Role. */
  role: "bashExecution";
  /** Command line. */
  command: string;
  /** What it printed. */
  output: string;
  /** Exit code, if it ended. */
  exitCode?: number | null;
  /** Whether it was stopped. */
  cancelled?: boolean;
  /** Whether the output was cut. */
  truncated?: boolean;
  /** Facts about cuts and limits. */
  meta?: JsonObject;
  /** Whether the model never sees it. */
  excludeFromContext?: boolean;
  /** Milliseconds since 1970, UTC. */
  timestamp?: number;
};

/** Payload of `session/branchSummaryEnd`: exactly one for every start, whatever happened. */
export type BranchSummaryEnd = {
  /** The session. */
  sessionId: string;
  /** Names the run; its start and its end carry the same. */
  operationId: string;
  /** The stored summary, when there is one. */
  entryId?: string;
  /** Whether it was cancelled or aborted. */
  aborted: boolean;
  /** Why it failed, in a sentence. */
  errorMessage?: string;
  /** `provider/id` that was asked. */
  model?: string;
  /** Time since the start. Default: `0`. */
  durationMs: number;
};

/** What was left behind when the session went to another branch. */
export type BranchSummaryEntry = {
  /** Id within the session. */
  id: string;
  /** Entry before it; null for a root. */
  parentId: string | null;
  /** When it was appended, ISO 8601. */
  timestamp: string;
  /** Kind of entry. */
  type: "branch_summary";
  /** Entry it hangs at, or `root`. */
  fromId: string;
  /** What the model reads. */
  summary: string;
  /** Data beside the text, such as `{readFiles, modifiedFiles}`. */
  details?: unknown;
  /** Whether an extension supplied it. */
  fromExtension?: boolean;
};

/** Summary of a branch that was left, as built into a context. */
export type BranchSummaryMessage = {
  /** Role. */
  role: "branchSummary";
  /** Text. */
  summary: string;
  /** Entry the summary hangs at, or `root`. */
  fromId: string;
  /** Milliseconds since 1970, UTC. */
  timestamp?: number;
};

/** Summaries of branches that are left. */
export type BranchSummarySettings = {
  /** Whether a client should offer a summary when leaving a branch. Default: `false`. */
  enabled?: boolean;
  /** Tokens of the window its input leaves free. Default: `16384`. */
  reserveTokens?: number;
};

/** Payload of `session/branchSummaryStart`. */
export type BranchSummaryStart = {
  /** The session. */
  sessionId: string;
  /** Names the run; its start and its end carry the same. */
  operationId: string;
  /** Entry navigated to. */
  targetId: string;
  /** Entries left behind. */
  entries: number;
};

/** Where the tokens of a context go; every figure is an estimate in tokens. */
export type Breakdown = {
  /** System prompt. Default: `0`. */
  system: number;
  /** Tool names, descriptions and schemas. Default: `0`. */
  tools: number;
  /** Text of the compaction summary and branch summaries. Default: `0`. */
  summary: number;
  /** Frames of archived history. Default: `0`. */
  frames: number;
  /** User, developer and custom messages and file mentions. Default: `0`. */
  user: number;
  /** Assistant text, reasoning and tool calls. Default: `0`. */
  assistant: number;
  /** Tool results and command executions. Default: `0`. */
  toolResults: number;
};

/** Params of `session/buildContext`. */
export type BuildContextParams = {
  /** Id of an open session. */
  sessionId: string;
  /** End of the branch; absent means the leaf. */
  leafId?: string | null;
  /** Whole branch with compactions inline, for display; never sent to a model. Default: `false`. */
  transcript?: boolean;
  /** Shape of the messages; absent means `llm`, or `agent` for a transcript. */
  format?: "agent" | "llm" | "anthropic" | "openai-chat" | "openai-responses" | "google" | null;
  /** False replaces image data by a short note. Default: `true`. */
  includeImages?: boolean;
  /** System prompt for this context instead of the session's. */
  systemPrompt?: string | string[] | null;
  /** Entries to leave out, such as a failed turn (`Directive.dropEntryId`). */
  dropEntryIds?: string[];
};

/** Result of `session/buildContext`. */
export type BuildContextResult = {
  /** Messages in order, in the format asked for. */
  messages: JsonObject[];
  /** Shape of the messages. */
  format: "agent" | "llm" | "anthropic" | "openai-chat" | "openai-responses" | "google";
  /** System prompt parts that go with them. */
  systemPrompt: string[];
  /** `provider/id` in force. */
  model?: string;
  /** `provider/id` by role. */
  models: { [key: string]: string };
  /** Reasoning effort in force. Default: `"off"`. */
  thinkingLevel: string;
  /** Service tier in force. */
  serviceTier?: string;
  /** Mode in force; `none` outside of one. Default: `"none"`. */
  mode: string;
  /** End of the branch that was built. */
  leafId?: string;
  /** How full it is; absent for a transcript. */
  usage?: ContextUsage;
  /** State of the session the answer shows. */
  seq: number;
};

/** Payload of `$/cancelRequest`. */
export type CancelRequest = {
  /** Id of the request that shall stop; it is still answered. */
  id: string | number;
};

/** One change of a session. */
export type Change = {
  /** Its number; numbers count up by one. */
  seq: number;
  /** What happened. */
  kind: "appended" | "rewritten" | "leaf" | "title" | "label" | "closed";
  /** Entries appended or rewritten. */
  entryIds: string[];
  /** Leaf after it; absent when there is none. */
  leafId?: string;
};

/** One condition a result met, or not, before it was written. */
export type Check = {
  /**
   * `shrinks`, `pairs`, `api-valid`, `last-request`, `files`, `open-question`, `no-invented-user`, `no-markup` or
   * `no-boundary-tags`.
   */
  name: string;
  /** Whether the condition holds for what was (or would be) written. */
  ok: boolean;
  /** Whether it holds only after a deterministic repair. Default: `false`. */
  repaired: boolean;
  /** The numbers and names behind the verdict. */
  figures: JsonObject;
};

/** Params of `session/checkMaintenance`. */
export type CheckMaintenanceParams = {
  /** Token under which `$/progress` reports this request; absent means no reports. */
  workDoneToken?: string | number | null;
  /** Id of an open session. */
  sessionId: string;
  /** Where the host stands: after a turn, before a prompt, or between tool calls. */
  at: "turnEnd" | "prePrompt" | "midTurn";
  /** Messages about to be appended, counted in (`prePrompt`). */
  pendingMessages?: Message[];
  /** Whether the host has user messages waiting for the next turn. Default: `false`. */
  queued?: boolean;
  /** Whether a handoff may run later; absent means only at `turnEnd`. */
  allowDefer?: boolean | null;
  /** Whether to continue by itself afterwards; absent means `compaction.autoContinue`. */
  autoContinue?: boolean | null;
};

/** What the client can do for the daemon. */
export type ClientOptions = {
  /** Answers `llm/complete`. Default: `false`. */
  complete?: boolean;
  /** Answers `agent/abort`. Default: `false`. */
  agent?: boolean;
  /** Hooks it answers or wants to hear of, for example `sessionBeforeCompact`. */
  hooks?: string[];
};

/** What the daemon asks of clients. */
export type ClientSettings = {
  /** Longest wait for `agent/abort`. Default: `30000`. */
  abortTimeoutMs?: number;
  /** Longest wait for `llm/complete`. Default: `600000`. */
  completeTimeoutMs?: number;
};

/** One client of the daemon. */
export type ClientStatus = {
  /** Transport and number, and what the client calls itself. */
  name: string;
  /** Whether this is the client that asks. */
  asking: boolean;
  /** Ids of the sessions it has open. */
  sessions: string[];
  /** Methods of its requests that are not answered yet. */
  requests: string[];
  /** Bytes that wait for it to read. */
  queuedBytes: number;
};

/** Result of `session/close`. */
export type CloseResult = {
  /** False when other connections still have it open. */
  closed: boolean;
};

/** Params of `session/compact`. */
export type CompactParams = {
  /** Token under which `$/progress` reports this request; absent means no reports. */
  workDoneToken?: string | number | null;
  /** Id of an open session. */
  sessionId: string;
  /** What the summary should look at; only a model's summary can, so it implies one. */
  customInstructions?: string | null;
  /** Strategy by name; absent means the configured one. */
  strategy?: "context-full" | "snapcompact" | "extractive" | null;
  /** `provider/id` that summarises; absent means the session's. */
  model?: string | null;
  /** Keep the result for preview instead of writing it. Default: `false`. */
  hold?: boolean;
  /** Refuse with `content-modified` when the leaf is another. */
  expectedLeafId?: string | null;
};

/** Payload of `session/compactionEnd`: exactly one for every start, whatever happened. */
export type CompactionEnd = {
  /** The session. */
  sessionId: string;
  /** Names the run; its start and its end carry the same. */
  operationId: string;
  /** What set it off. */
  reason: "manual" | "threshold" | "overflow" | "incomplete" | "midTurn" | "idle";
  /** What was done or tried last. */
  action: "context-full" | "handoff" | "shake" | "snapcompact" | "extractive";
  /** The compaction, when there is one. */
  result?: CompactionResult;
  /** The compaction entry, when one was written. */
  entryId?: string;
  /** Whether it was cancelled or aborted. */
  aborted: boolean;
  /** Whether the failed turn is tried again. */
  willRetry: boolean;
  /** Whether there was nothing to do. Default: `false`. */
  skipped: boolean;
  /** Why there was nothing to do, in a sentence. */
  skipReason?: string;
  /** Why it failed, in a sentence. */
  errorMessage?: string;
  /** Tokens of the context before. */
  tokensBefore?: number;
  /** Estimated tokens of the context after. */
  tokensAfter?: number;
  /** `provider/id` that was asked last. */
  model?: string;
  /** Time since the start. Default: `0`. */
  durationMs: number;
};

/** History before `firstKeptEntryId` is replaced by a summary. */
export type CompactionEntry = {
  /** Id within the session. */
  id: string;
  /** Entry before it; null for a root. */
  parentId: string | null;
  /** When it was appended, ISO 8601. */
  timestamp: string;
  /** Kind of entry. */
  type: "compaction";
  /** What the model reads instead. */
  summary: string;
  /** Two or three sentences for lists and dividers. */
  shortSummary?: string;
  /** First entry that stays verbatim. */
  firstKeptEntryId: string;
  /** Tokens of the context before. */
  tokensBefore: number;
  /** Data beside the text, such as `{readFiles, modifiedFiles}`. */
  details?: unknown;
  /** Data carried on by later compactions: frames, native history. */
  preserveData?: JsonObject;
  /** Whether an extension supplied it. */
  fromExtension?: boolean;
};

/** What a compaction made; `session/applyCompaction` and `session/getHeldCompaction` answer with it too. */
export type CompactionResult = {
  /** Names this run in events, and in apply or discard. */
  operationId: string;
  /** What set it off. */
  reason: "manual" | "threshold" | "overflow" | "incomplete" | "midTurn" | "idle";
  /** What was done. */
  action: "context-full" | "handoff" | "shake" | "snapcompact" | "extractive";
  /** Whether it waits for apply or discard. Default: `false`. */
  held: boolean;
  /** The compaction entry; absent while held. */
  entryId?: string;
  /** Leaf afterwards. */
  leafId?: string;
  /** First entry that stays verbatim. */
  firstKeptEntryId: string;
  /** Text that replaces the discarded part. */
  summary: string;
  /** Two or three sentences for lists and dividers. */
  shortSummary?: string;
  /** Tokens of the context before. */
  tokensBefore: number;
  /** Estimated tokens of the context after. */
  tokensAfter: number;
  /** `provider/id` that wrote the summary; absent when none did. */
  model?: string;
  /** Frames attached. Default: `0`. */
  frames: number;
  /** Whether a hook supplied the result. Default: `false`. */
  fromExtension: boolean;
  /** What the model calls cost. */
  usage?: TokenUsage;
  /** Time from start to commit. */
  durationMs: number;
  /** Every check with its figures, in the order they were made. */
  checks: Check[];
  /** What a user should know about this run. */
  notices: Notice[];
  /** Details stored with the entry, such as the file lists. */
  details?: JsonObject;
};

/** When and how the context is made smaller. */
export type CompactionSettings = {
  /** Whether automatic maintenance compacts at all. Default: `true`. */
  enabled?: boolean;
  /**
   * What automatic maintenance does: a model's summary, a handoff to a new session, moving bulk out, frames, a
   * local summary without a model, or nothing. Default: `"context-full"`.
   */
  strategy?: "context-full" | "handoff" | "shake" | "snapcompact" | "extractive" | "off";
  /** `provider/id` that writes summaries, tried before the session's model. */
  model?: string | null;
  /** Percentage of the window above which maintenance starts, 1 to 99; 0 or less means by reserve. Default: `-1`. */
  thresholdPercent?: number;
  /** Tokens above which maintenance starts; above 0 it wins over the percentage. Default: `-1`. */
  thresholdTokens?: number;
  /** Tokens kept free for the answer; at least 15 % of the window are. Default: `16384`. */
  reserveTokens?: number;
  /** Newest tokens that stay verbatim. Default: `20000`. */
  keepRecentTokens?: number;
  /** Whether the agent is told to go on after a compaction. Default: `true`. */
  autoContinue?: boolean;
  /** Whether long tool loops are maintained between calls. Default: `true`. */
  midTurnEnabled?: boolean;
  /**
   * When the local summary steps in because no model answers: in overflow recovery, always, or never. Default:
   * `"overflow"`.
   */
  localFallback?: "overflow" | "always" | "never";
  /** Whether summaries may be made by a remote endpoint. Default: `true`. */
  remoteEnabled?: boolean;
  /** URL that takes `{systemPrompt, prompt}` and answers `{summary}`, or ends in `/chat/completions`. */
  remoteEndpoint?: string | null;
  /** Longest wait for a remote summary; 0 means without limit. Default: `180000`. */
  remoteTimeoutMs?: number;
  /** Whether automatic handoff documents are saved. Default: `false`. */
  handoffSaveToDisk?: boolean;
  /** Whether an idle session is compacted. Default: `false`. */
  idleEnabled?: boolean;
  /** Tokens an idle session needs for that. Default: `200000`. */
  idleThresholdTokens?: number;
  /** Idle time before it; taken as 60 to 3600. Default: `300`. */
  idleTimeoutSeconds?: number;
  /** Whether a newer read of a file blanks the older ones. Default: `true`. */
  supersedeReads?: boolean;
  /** Whether results flagged useless are blanked. Default: `true`. */
  dropUseless?: boolean;
};

/** Payload of `session/compactionStart`. */
export type CompactionStart = {
  /** The session. */
  sessionId: string;
  /** Names the run; its start and its end carry the same. */
  operationId: string;
  /** What set it off. */
  reason: "manual" | "threshold" | "overflow" | "incomplete" | "midTurn" | "idle";
  /** What is about to be done. */
  action: "context-full" | "handoff" | "shake" | "snapcompact" | "extractive";
  /** Tokens of the context now. */
  tokensBefore?: number;
};

/** Summary of compacted history, as built into a context. */
export type CompactionSummaryMessage = {
  /** Role. */
  role: "compactionSummary";
  /** Text. */
  summary: string;
  /** Tokens of the context before. */
  tokensBefore: number;
  /** Two or three sentences. */
  shortSummary?: string;
  /** Frames of archived history. */
  images?: ImageBlock[];
  /** Native history for the same provider. */
  providerPayload?: JsonObject;
  /** Milliseconds since 1970, UTC. */
  timestamp?: number;
};

export type ContentBlock = TextBlock | ImageBlock | ThinkingBlock | RedactedThinkingBlock | ToolCallBlock;

/** Switching to a larger window instead of compacting. */
export type ContextPromotionSettings = {
  /** Whether a model's `contextPromotionTarget` is tried first. Default: `true`. */
  enabled?: boolean;
};

/** How full the context is. */
export type ContextUsage = {
  /** Tokens of the context as it would be sent now. */
  tokens: number;
  /** `usage`: anchored on what the provider reported; `estimate`: counted locally. */
  source: "usage" | "estimate";
  /** Window of the session's model in tokens; 0 when unknown. */
  contextWindow: number;
  /** Tokens above which automatic maintenance starts; 0 when the window is unknown. */
  threshold: number;
  /** Tokens as a percentage of the window; absent when the window is unknown. */
  percent?: number;
  /** `provider/id` of the model the figures are for. */
  model?: string;
  /** Who said how large the window is. Default: `"unknown"`. */
  windowSource: "client" | "settings" | "catalogue" | "unknown";
  /** Why what the provider last reported is not used; absent when it is, or none is there. */
  rejected?: string;
  /** Encrypted reasoning in the estimate, counted by its own rule. Default: `0`. */
  opaqueTokens: number;
  /** About how many bytes the next request takes as JSON. Default: `0`. */
  requestBytes: number;
  /** Share of images in those bytes. Default: `0`. */
  imageBytes: number;
  /** Local estimate by kind of content; need not add up to `tokens`. */
  breakdown: Breakdown;
};

/** Params of `session/contextUsage`. */
export type ContextUsageParams = {
  /** Id of an open session. */
  sessionId: string;
  /** End of the branch; absent means the leaf. */
  leafId?: string | null;
  /** `provider/id` to measure for; absent means the session's. */
  model?: string | null;
  /** Messages about to be appended, counted in. */
  pendingMessages?: Message[];
};

/** Payload of `session/continue`. */
export type Continue = {
  /** The session. */
  sessionId: string;
  /** Repeat the failed turn, or go on with a prompt. */
  kind: "retry" | "autoContinue";
  /** Developer prompt to go on with. */
  prompt?: string;
  /** `provider/id` to call. */
  model?: string;
  /** Failed turn to leave out of the request. */
  dropEntryId?: string;
};

/** US dollars of a model call. */
export type Cost = {
  /** Uncached input. */
  input?: number;
  /** Output. */
  output?: number;
  /** Input read from the cache. */
  cacheRead?: number;
  /** Input written to the cache. */
  cacheWrite?: number;
  /** Sum. */
  total?: number;
};

/** Params of `session/create`. */
export type CreateParams = {
  /** System prompt, whole or in parts. */
  systemPrompt?: string | string[] | null;
  /** Tools offered to the model: `{name, description, parameters}` with a JSON schema. */
  tools?: JsonObject[] | null;
  /** Paths whose reads are never pruned or shaken, such as the active plan. */
  planFiles?: string[] | null;
  /** Working directory of the session, absolute. */
  cwd: string;
  /** Title; counts as chosen by the user. */
  title?: string | null;
  /** `provider/id`, written as the first model change. */
  model?: string | null;
  /** Reasoning effort, written as the first change. */
  thinkingLevel?: string | null;
  /** Id or path of the session this one continues. */
  parentSession?: string | null;
  /** File to create, absolute or relative to `cwd`; absent means its sessions folder. */
  path?: string | null;
  /** Keep the session in memory only. Default: `false`. */
  ephemeral?: boolean;
};

/** An extension's own record; no model sees it. */
export type CustomEntry = {
  /** Id within the session. */
  id: string;
  /** Entry before it; null for a root. */
  parentId: string | null;
  /** When it was appended, ISO 8601. */
  timestamp: string;
  /** Kind of entry. */
  type: "custom";
  /** Kind, by the extension's choice. */
  customType: string;
  /** The record. */
  data?: unknown;
};

/** What an extension put into the talk; models read it as developer. */
export type CustomMessage = {
  /** Role; `hookMessage` is the old name. */
  role: "custom" | "hookMessage";
  /** Kind, by the extension's choice. */
  customType: string;
  /** A string, or blocks of text and images. */
  content: string | (TextBlock | ImageBlock)[];
  /** Whether a transcript shows it. */
  display?: boolean;
  /** Data for the extension. */
  details?: unknown;
  /** Who speaks. */
  attribution?: "user" | "agent";
  /** Milliseconds since 1970, UTC. */
  timestamp?: number;
};

/** What an extension put into the talk. */
export type CustomMessageEntry = {
  /** Id within the session. */
  id: string;
  /** Entry before it; null for a root. */
  parentId: string | null;
  /** When it was appended, ISO 8601. */
  timestamp: string;
  /** Kind of entry. */
  type: "custom_message";
  /** Kind, by the extension's choice. */
  customType: string;
  /** What the model reads. */
  content: string | (TextBlock | ImageBlock)[];
  /** Whether a transcript shows it. */
  display: boolean;
  /** Data beside the text, such as `{readFiles, modifiedFiles}`. */
  details?: unknown;
  /** Who speaks. */
  attribution?: "user" | "agent";
};

/** One stretch of a file that could not be read as an entry. */
export type Damage = {
  /** Line number in the file, from 1. */
  line: number;
  /** First byte of the stretch. */
  offset: number;
  /** Bytes. */
  length: number;
  /** What is wrong with it. */
  reason: string;
};

/** Params of `session/delete`: exactly one of `sessionId` and `path`. */
export type DeleteParams = {
  /** Id of the session, open or not. */
  sessionId?: string | null;
  /** Its file. */
  path?: string | null;
};

/** Result of `session/delete`. */
export type DeleteResult = {
  /** False when there was nothing to delete. */
  deleted: boolean;
  /** Paths that are gone: the file and its artifacts. */
  removed: string[];
};

/** What the host told the model. */
export type DeveloperMessage = {
  /** Role. */
  role: "developer";
  /** A string, or blocks of text and images. */
  content: string | (TextBlock | ImageBlock)[];
  /** Milliseconds since 1970, UTC. */
  timestamp?: number;
  /** Who speaks. */
  attribution?: "user" | "agent";
};

/** Payload of `session/didChange`. */
export type DidChange = {
  /** Its number; numbers count up by one. */
  seq: number;
  /** What happened. */
  kind: "appended" | "rewritten" | "leaf" | "title" | "label" | "closed";
  /** Entries appended or rewritten. */
  entryIds: string[];
  /** Leaf after it; absent when there is none. */
  leafId?: string;
  /** The session. */
  sessionId: string;
  /** Numbering `seq` belongs to. */
  epoch: string;
  /** New title, for kind `title`. */
  title?: string;
};

/** Payload of `workspace/didChangeConfiguration`. */
export type DidChangeConfiguration = {
  /** Settings, by dotted key or nested; perhaps under the key `octavo`. */
  settings: JsonObject;
};

/** What was done and what the host does next (protocol.md §5). */
export type Directive = {
  /** What the daemon did. */
  action: "none" | "pruned" | "compacted" | "promoted" | "handoff" | "deferred";
  /** What the host does now. */
  next: "proceed" | "retry" | "autoContinue" | "wait" | "stop";
  /** What set the action off. */
  reason?: "manual" | "threshold" | "overflow" | "incomplete" | "midTurn" | "idle";
  /** Why nothing was done although something was due. */
  skipped?: string;
  /** Failed or cut-off turn to leave out of the next request; it stays in the tree. */
  dropEntryId?: string;
  /** Developer prompt to continue with (`autoContinue`). */
  prompt?: string;
  /** `provider/id` to use from now on, after a promotion. */
  model?: string;
  /** Session that takes over, after a handoff. */
  newSessionId?: string;
  /** The run, as named in events. */
  operationId?: string;
  /** Time to wait before doing it. Default: `0`. */
  delayMs: number;
  /** Tokens pruning and shaking made room for. Default: `0`. */
  tokensFreed: number;
  /** The compaction, if there was one. */
  result?: CompactionResult;
  /** How full the context is now. */
  usage: ContextUsage;
  /** What a user should know. */
  notices: Notice[];
};

/** Params of `session/discardCompaction`. */
export type DiscardCompactionParams = {
  /** Id of an open session. */
  sessionId: string;
  /** A held result. */
  operationId: string;
};

/** Result of `session/discardCompaction`. */
export type DiscardCompactionResult = {
  /** Always true; an unknown operation is an error. */
  discarded: boolean;
};

/** A result that says nothing beyond having arrived. */
export type Empty = Record<string, never>;

export type Entry = MessageEntry | ThinkingLevelChangeEntry | ModelChangeEntry | ServiceTierChangeEntry | CompactionEntry | BranchSummaryEntry | CustomEntry | CustomMessageEntry | LabelEntry | TtsrInjectionEntry | McpToolSelectionEntry | SessionInitEntry | ModeChangeEntry;

/** Result of a request that appended one entry. */
export type EntryResult = {
  /** The new entry. */
  entryId: string;
  /** Leaf now. */
  leafId: string;
  /** Number of the change. */
  seq: number;
};

/** `error.data` on the wire. */
export type ErrorData = {
  /** What to switch on. */
  kind: ErrorKind;
  /** Session it is about. */
  sessionId?: string;
  /** Entry it is about. */
  entryId?: string;
  /** Provider that failed. */
  provider?: string;
  /** HTTP status of the provider. */
  status?: number;
  /** Time the provider asked to wait. */
  retryAfterMs?: number;
  /** Further facts: a list of `{loc, msg}` for invalid params, else an object. */
  details?: unknown;
};

/** The stable name a client switches on (`error.data.kind`). */
export type ErrorKind = "parse-error" | "invalid-request" | "method-not-found" | "invalid-params" | "internal-error" | "not-initialized" | "cancelled" | "content-modified" | "not-available" | "session-not-found" | "entry-not-found" | "session-locked" | "session-unreadable" | "session-read-only" | "storage-failed" | "already-compacted" | "nothing-to-compact" | "compaction-in-progress" | "agent-busy" | "strategy-unavailable" | "check-failed" | "operation-not-found" | "no-model" | "provider-error" | "context-overflow" | "hook-failed";

/** Params of `snapcompact/estimate`. */
export type EstimateParams = {
  /** `provider/id` that will read the frames. */
  model?: string | null;
  /** API that carries the request, when the model is not registered. */
  api?: string | null;
  /** Shape by name; absent or `auto` means the model's. */
  shape?: string | null;
  /** Width of a frame in px, instead of the shape's. */
  frameSize?: number | null;
  /** Normalisation and paging; absent means `snapcompact.layout`. */
  layout?: "octavo" | "seed" | null;
  /** Text to price; any script. */
  text: string;
};

/** Result of `snapcompact/estimate`. */
export type EstimateResult = {
  /** Shape the figures are for. */
  shape: ShapeInfo;
  /** Frames needed. */
  frames: number;
  /** Characters left after normalisation, in UTF-16 units. */
  chars: number;
  /** Cells they take. */
  cells: number;
  /** Tokens of all frames, by the size they would really have. */
  frameTokens: number;
  /** Tokens of the same text as text. */
  textTokens: number;
  /** Difference; negative when frames cost more. */
  savedTokens: number;
};

/** Params of `session/export`. */
export type ExportParams = {
  /** Id of an open session. */
  sessionId: string;
  /** What to write. */
  format: "pi" | "anthropic" | "openai-chat" | "openai-responses" | "google" | "markdown" | "html";
  /** File to write; absent means to answer with the content. */
  path?: string | null;
  /** End of the branch; absent means the current leaf. */
  leafId?: string | null;
  /** Whole branch with dividers rather than the model's context. Default: `true`. */
  transcript?: boolean;
  /** False replaces images by a short note. Default: `true`. */
  includeImages?: boolean;
};

/** Result of `session/export`. */
export type ExportResult = {
  /** What was written. */
  format: "pi" | "anthropic" | "openai-chat" | "openai-responses" | "google" | "markdown" | "html";
  /** Media type of the content. */
  mediaType: string;
  /** Size of the content as UTF-8. */
  sizeBytes: number;
  /** The content, when no path was given. */
  content?: string;
  /** The file, when one was given. */
  path?: string;
};

/** Files the discarded part of a session touched. */
export type FileLists = {
  /** Read and not modified, sorted. */
  readFiles: string[];
  /** Written or edited, sorted. */
  modifiedFiles: string[];
};

/** Files the user mentioned. */
export type FileMentionMessage = {
  /** Role. */
  role: "fileMention";
  /** The files. */
  files: MentionedFile[];
  /** Milliseconds since 1970, UTC. */
  timestamp?: number;
};

/** Files tool calls touched, before they are sorted into read and modified. */
export type FileOperations = {
  /** Paths read, without selectors. */
  read: string[];
  /** Paths written. */
  written: string[];
  /** Paths edited. */
  edited: string[];
};

/** Params of `session/fork`. */
export type ForkParams = {
  /** Id of an open session. */
  sessionId: string;
  /** Keep only the path from the root to this entry; absent means every entry. */
  entryId?: string | null;
  /** Keep the new session in memory only. Default: `false`. */
  ephemeral?: boolean;
};

/** One drawn frame. */
export type Frame = {
  /** PNG, base64. */
  data: string;
  /** Media type of the data. Default: `"image/png"`. */
  mimeType: "image/png";
  /** Pixels. */
  width: number;
  /** Pixels; only as high as the rows printed. */
  height: number;
  /** Cells in a row. */
  cols: number;
  /** Rows printed. */
  rows: number;
  /** Characters drawn, in UTF-16 units. */
  chars: number;
  /** Tokens it is billed. */
  tokens: number;
  /** Detail hint the provider needs. */
  detail?: string;
};

/** Params of `session/getBranch`. */
export type GetBranchParams = {
  /** Largest number of items in one answer. */
  limit?: number | null;
  /** `nextCursor` of the previous page; absent means from the start. */
  cursor?: string | null;
  /** Id of an open session. */
  sessionId: string;
  /** End of the branch; absent means the leaf. */
  leafId?: string | null;
  /** Which end the first page is from; a page itself always runs root to leaf. Default: `"rootFirst"`. */
  order?: "rootFirst" | "newestFirst";
};

/** Result of `session/getBranch`. */
export type GetBranchResult = {
  /** The page, root to leaf. */
  entries: Entry[];
  /** Entries of the whole branch. */
  total: number;
  /** End of the branch; absent when the session is empty. */
  leafId?: string;
  /** Pass as `cursor` for more; absent on the last page. */
  nextCursor?: string;
  /** State of the session the answer shows. */
  seq: number;
};

/** Params of `session/getEntries`: `ids`, `sinceSeq`, or neither for all entries in file order. */
export type GetEntriesParams = {
  /** Largest number of items in one answer. */
  limit?: number | null;
  /** `nextCursor` of the previous page; absent means from the start. */
  cursor?: string | null;
  /** Id of an open session. */
  sessionId: string;
  /** Entries to read. */
  ids?: string[] | null;
  /** Last change the client knows of. */
  sinceSeq?: number | null;
  /** Numbering `sinceSeq` belongs to (`SessionInfo.epoch`). */
  epoch?: string | null;
};

/** Result of `session/getEntries`. */
export type GetEntriesResult = {
  /** Entries in the order asked for, or in file order. */
  entries: Entry[];
  /** Ids asked for that do not exist. */
  missing: string[];
  /** With `sinceSeq`: every change after it, in order. */
  changes: Change[];
  /** With `sinceSeq`: the changes are no longer known; read everything again. Default: `false`. */
  reset: boolean;
  /** State of the session the answer shows. */
  seq: number;
  /** Numbering `seq` belongs to. */
  epoch: string;
  /** Leaf now; absent when the session is empty. */
  leafId?: string;
  /** Pass as `cursor` for more; absent on the last page. */
  nextCursor?: string;
};

/** Params of `session/getHeldCompaction`. */
export type GetHeldCompactionParams = {
  /** Id of an open session. */
  sessionId: string;
  /** A held result, as `session/getInfo` lists them. */
  operationId: string;
};

/** Params of `session/getTree`. */
export type GetTreeParams = {
  /** Id of an open session. */
  sessionId: string;
  /** Entries to show; absent means `treeFilterMode`. */
  filter?: "default" | "no-tools" | "user-only" | "labeled-only" | "all" | null;
  /** Generations of shown nodes below each root (or below `around`). */
  maxDepth?: number | null;
  /** Entry the window is centred on; absent means the leaf. */
  around?: string | null;
  /** Largest number of nodes to answer. Default: `500`. */
  window?: number;
};

/** Result of `session/getTree`: a window of the tree in display order. */
export type GetTreeResult = {
  /** Shown nodes in pre-order; children sorted by timestamp. */
  nodes: TreeNode[];
  /** Nodes that pass the filter before the first one shown. Default: `0`. */
  hiddenBefore: number;
  /** Nodes that pass the filter after the last one shown. Default: `0`. */
  hiddenAfter: number;
  /** Nodes of the whole tree that pass the filter. */
  matching: number;
  /** Entries of the whole tree. */
  total: number;
  /** The leaf itself, shown or not. */
  leafId?: string;
  /** Filter that was applied. */
  filter: "default" | "no-tools" | "user-only" | "labeled-only" | "all";
  /** State of the session the answer shows. */
  seq: number;
};

/** Payload of `session/handoffEnd`: exactly one for every start, whatever happened. */
export type HandoffEnd = {
  /** The session. */
  sessionId: string;
  /** Names the run; its start and its end carry the same. */
  operationId: string;
  /** What set it off. */
  reason: "manual" | "threshold" | "overflow" | "incomplete" | "midTurn" | "idle";
  /** The handoff, when there is one. */
  result?: HandoffResult;
  /** Whether it was cancelled or aborted. */
  aborted: boolean;
  /** Why it failed, in a sentence. */
  errorMessage?: string;
  /** Time since the start. Default: `0`. */
  durationMs: number;
};

/** Params of `session/handoff`. */
export type HandoffParams = {
  /** Token under which `$/progress` reports this request; absent means no reports. */
  workDoneToken?: string | number | null;
  /** Id of an open session. */
  sessionId: string;
  /** What the document should look at. */
  customInstructions?: string | null;
  /** `provider/id` that writes it; absent means the session's. */
  model?: string | null;
  /** Also write the document beside the old session. Default: `false`. */
  saveToDisk?: boolean;
};

/** Result of `session/handoff`. */
export type HandoffResult = {
  /** Names this run in events. */
  operationId: string;
  /** The document; absent when the model wrote nothing. */
  document?: string;
  /** Where it was saved. */
  savedPath?: string;
  /** Session that takes over, opened for this client. */
  newSession?: SessionInfo;
  /** `provider/id` that wrote it. */
  model?: string;
};

/** Payload of `session/handoffStart`. */
export type HandoffStart = {
  /** The session. */
  sessionId: string;
  /** Names the run; its start and its end carry the same. */
  operationId: string;
  /** What set it off. */
  reason: "manual" | "threshold" | "overflow" | "incomplete" | "midTurn" | "idle";
};

/** A compaction a hook made instead of the daemon. */
export type HookCompaction = {
  /** Text that replaces the discarded part. */
  summary: string;
  /** Two or three sentences for lists and dividers. */
  shortSummary?: string | null;
  /** Absent means the planned one. */
  firstKeptEntryId?: string | null;
  /** Absent means the measured figure. */
  tokensBefore?: number | null;
  /** Stored with the entry. */
  details?: JsonObject | null;
  /** Stored with the entry and carried on. */
  preserveData?: JsonObject | null;
};

/** A compaction that is about to run. */
export type HookPreparation = {
  /** First entry that stays verbatim. */
  firstKeptEntryId: string;
  /** What the summary replaces. */
  messagesToSummarize: Message[];
  /** Beginning of a split turn. */
  turnPrefixMessages: Message[];
  /** What stays. */
  recentMessages: Message[];
  /** Whether the cut falls inside a turn. */
  isSplitTurn: boolean;
  /** Tokens of the context now. */
  tokensBefore: number;
  /** Summary that is carried on. */
  previousSummary?: string;
  /** Files touched so far. */
  fileOps: FileOperations;
};

/** A branch summary a hook made instead of the daemon. */
export type HookTreeSummary = {
  /** Its text. */
  summary: string;
  /** Stored with the entry. */
  details?: JsonObject | null;
};

/** Hooks of clients. */
export type HooksSettings = {
  /** Longest wait for a hook's answer. Default: `30000`. */
  timeoutMs?: number;
};

/** Calls to providers. */
export type HttpSettings = {
  /** Longest wait for a connection. Default: `30000`. */
  connectTimeoutMs?: number;
  /** Longest silence of a provider while it answers. Default: `180000`. */
  stallTimeoutMs?: number;
};

/** An image. */
export type ImageBlock = {
  /** Kind of block. */
  type: "image";
  /** Base64, or `blob:sha256:<hex>` on disk. */
  data: string;
  /** Media type. */
  mimeType: string;
  /** Detail hint for the provider. */
  detail?: string;
};

/** Params of `session/import`: exactly one of `path` and `messages`. */
export type ImportParams = {
  /** Token under which `$/progress` reports this request; absent means no reports. */
  workDoneToken?: string | number | null;
  /** Foreign transcript. */
  path?: string | null;
  /** A provider's message array instead of a file. */
  messages?: JsonObject[] | null;
  /** Name of the format; absent means by looking at the content. */
  format?: string | null;
  /** Working directory of the new session; absent means the source's. */
  cwd?: string | null;
  /** File to create; absent means the sessions folder. */
  targetPath?: string | null;
  /** Keep the new session in memory only. Default: `false`. */
  ephemeral?: boolean;
};

/** Result of `session/import`. */
export type ImportResult = {
  /** New sessions: the main one first, then those of sub-agents. */
  sessions: SessionInfo[];
  /** Format the source was read as. */
  format: string;
  /** Records that became entries. */
  imported: number;
  /** Records that did not. */
  skipped: number;
  /** What could not be carried over, in sentences. */
  warnings: string[];
};

/** `initialize.initializationOptions`. */
export type InitializationOptions = {
  /** Settings, by dotted key or nested. */
  settings?: JsonObject | null;
  /** Models to register. */
  models?: ModelInfo[] | null;
  /** What the client can do. */
  client?: ClientOptions;
  /** Token of the daemon, needed over TCP and WebSocket. */
  token?: string | null;
};

/** One candidate and what was decided. */
export type InlineItem = {
  /** What it is. */
  target: "systemPrompt" | "toolResult";
  /** Call whose result it is. */
  toolCallId?: string;
  /** Whether it is drawn. */
  imaged: boolean;
  /** Why not: `empty`, `small`, `latest`, `error`, `has-image`, `budget`, `margin`, `no-user`. */
  reason?: string;
  /** Frames it takes. Default: `0`. */
  frames: number;
  /** Tokens as text. */
  textTokens: number;
  /** Tokens as frames. Default: `0`. */
  frameTokens: number;
};

/** Params of `snapcompact/inline`. */
export type InlineParams = {
  /** Token under which `$/progress` reports this request; absent means no reports. */
  workDoneToken?: string | number | null;
  /** `provider/id` that will read the frames. */
  model?: string | null;
  /** API that carries the request, when the model is not registered. */
  api?: string | null;
  /** Shape by name; absent or `auto` means the model's. */
  shape?: string | null;
  /** Width of a frame in px, instead of the shape's. */
  frameSize?: number | null;
  /** Normalisation and paging; absent means `snapcompact.layout`. */
  layout?: "octavo" | "seed" | null;
  /** System prompt in parts. */
  systemPrompt?: string[];
  /** LLM messages of the request about to be sent. */
  messages: Message[];
  /** What of the system prompt to draw; absent means `snapcompact.systemPrompt`. */
  systemPromptMode?: "none" | "agents-md" | "all" | null;
  /** Whether to draw large tool results; absent means `snapcompact.toolResults`. */
  toolResults?: boolean | null;
  /** Answer with the plan and draw nothing. Default: `false`. */
  planOnly?: boolean;
  /** Session whose savings journal records it. */
  sessionId?: string | null;
};

/** Result of `snapcompact/inline`. */
export type InlineResult = {
  /** Every candidate. */
  items: InlineItem[];
  /** System prompt to send. */
  systemPrompt: string[];
  /** Messages to send; absent parts unchanged. */
  messages: Message[];
  /** Frames added. */
  images: number;
  /** Tokens saved against plain text. */
  savedTokens: number;
};

/** A label for another entry. */
export type LabelEntry = {
  /** Id within the session. */
  id: string;
  /** Entry before it; null for a root. */
  parentId: string | null;
  /** When it was appended, ISO 8601. */
  timestamp: string;
  /** Kind of entry. */
  type: "label";
  /** Entry that is labelled. */
  targetId: string;
  /** The label; empty or absent removes it. */
  label?: string;
};

/** Params of `session/list`. */
export type ListParams = {
  /** Largest number of items in one answer. */
  limit?: number | null;
  /** `nextCursor` of the previous page; absent means from the start. */
  cursor?: string | null;
  /** Only sessions of this working directory. */
  cwd?: string | null;
  /** Sessions folder to list instead of the configured one. */
  root?: string | null;
  /** Words that must occur in title, id, path or first message. */
  query?: string | null;
};

/** Result of `session/list`, newest first. */
export type ListResult = {
  /** The page. */
  sessions: SessionSummary[];
  /** Pass as `cursor` for more; absent on the last page. */
  nextCursor?: string;
};

/** A model of the catalogue. */
export type ListedModel = {
  /** Provider id, the part of `provider/id` before the slash. */
  provider: string;
  /** Model id as the provider spells it. */
  id: string;
  /** Wire it speaks; an unknown one is reachable through the client only. Default: `""`. */
  api: string;
  /** Tokens; 0 when unknown. Default: `0`. */
  contextWindow: number;
  /** Tokens; 0 when unknown. Default: `0`. */
  maxOutput: number;
  /** Kinds of content it reads. Default: `["text"]`. */
  inputs: ("text" | "image")[];
  /** Whether it has an effort dial. Default: `false`. */
  reasoning: boolean;
  /** Endpoint instead of the provider's own. */
  baseUrl?: string;
  /** Absent when unknown. */
  prices?: Prices;
  /** Model with a larger window to switch to (`provider/id`, or an id of this provider). */
  contextPromotionTarget?: string;
  /** Who told the daemon about it. */
  source: "builtin" | "settings" | "registered";
  /** Whether a credential or a delegating client is there for it. */
  usable: boolean;
};

/** Params of `llm/complete`. */
export type LlmCompleteParams = {
  /** Names the call in logs and progress. */
  requestId: string;
  /** Session it is for. */
  sessionId?: string;
  /** What it is for: `summary`, `turnPrefix`, `shortSummary`, `branchSummary`, `handoff`. */
  purpose: string;
  /** Model to call. */
  model: ModelInfo;
  /** System prompt in parts. */
  systemPrompt: string[];
  /** LLM messages. */
  messages: Message[];
  /** Tools of the live context, for handoff documents. */
  tools?: JsonObject[];
  /** Whether the model may call them. */
  toolChoice?: "auto" | "none";
  /** Output limit in tokens. */
  maxTokens?: number;
  /** Effort; absent means none. */
  reasoning?: string;
};

/** Result of `llm/complete`. */
export type LlmCompleteResult = {
  /** Content blocks: text, thinking, toolCall. */
  content: JsonObject[];
  /** Why it stopped. */
  stopReason: "stop" | "length" | "toolUse" | "error" | "aborted";
  /** Tokens: input, output, cacheRead, cacheWrite. */
  usage?: JsonObject | null;
  /** `provider/id` that answered, if another. */
  model?: string | null;
  /** Provider's text, for `error`. */
  errorMessage?: string | null;
  /** HTTP status, for `error`. */
  errorStatus?: number | null;
  /** Time the provider asked to wait. */
  retryAfterMs?: number | null;
};

/** Payload of `window/logMessage`. */
export type LogMessage = {
  /** 1 error, 2 warning, 3 info, 4 log, 5 debug. */
  type: number;
  /** One line for a log. */
  message: string;
};

/** Where in a snippet the query was found, in UTF-16 units. */
export type Match = {
  /** First unit. */
  start: number;
  /** Unit after the last. */
  end: number;
};

/** The tools that are offered from here on. */
export type McpToolSelectionEntry = {
  /** Id within the session. */
  id: string;
  /** Entry before it; null for a root. */
  parentId: string | null;
  /** When it was appended, ISO 8601. */
  timestamp: string;
  /** Kind of entry. */
  type: "mcp_tool_selection";
  /** Names of the tools. */
  selectedToolNames: string[];
};

/** A file the user mentioned. */
export type MentionedFile = {
  /** Path. */
  path: string;
  /** Its text. */
  content: string;
  /** Lines. */
  lineCount?: number;
  /** Bytes. */
  byteSize?: number;
  /** Why the text is not here. */
  skippedReason?: string;
  /** The file, when it is an image. */
  image?: ImageBlock;
};

export type Message = UserMessage | DeveloperMessage | AssistantMessage | ToolResultMessage | BashExecutionMessage | PythonExecutionMessage | CustomMessage | BranchSummaryMessage | CompactionSummaryMessage | FileMentionMessage;

/** A message of the talk. */
export type MessageEntry = {
  /** Id within the session. */
  id: string;
  /** Entry before it; null for a root. */
  parentId: string | null;
  /** When it was appended, ISO 8601. */
  timestamp: string;
  /** Kind of entry. */
  type: "message";
  /** The message. */
  message: UserMessage | DeveloperMessage | AssistantMessage | ToolResultMessage | BashExecutionMessage | PythonExecutionMessage | CustomMessage | BranchSummaryMessage | CompactionSummaryMessage | FileMentionMessage;
};

/** Params of `daemon/metrics`. */
export type MetricsParams = JsonObject;

/** Result of `daemon/metrics`. */
export type MetricsResult = {
  /** Counters and gauges in Prometheus's text format, version 0.0.4. */
  text: string;
};

/** The mode from here on. */
export type ModeChangeEntry = {
  /** Id within the session. */
  id: string;
  /** Entry before it; null for a root. */
  parentId: string | null;
  /** When it was appended, ISO 8601. */
  timestamp: string;
  /** Kind of entry. */
  type: "mode_change";
  /** Mode; `none` leaves it. */
  mode: string;
  /** Data of the mode. */
  data?: unknown;
};

/** The model from here on. */
export type ModelChangeEntry = {
  /** Id within the session. */
  id: string;
  /** Entry before it; null for a root. */
  parentId: string | null;
  /** When it was appended, ISO 8601. */
  timestamp: string;
  /** Kind of entry. */
  type: "model_change";
  /** `provider/id`. */
  model: string;
  /** Role it serves; absent means `default`. */
  role?: string;
};

/** A model: what it takes, what it costs and how it is reached. */
export type ModelInfo = {
  /** Provider id, the part of `provider/id` before the slash. */
  provider: string;
  /** Model id as the provider spells it. */
  id: string;
  /** Wire it speaks; an unknown one is reachable through the client only. Default: `""`. */
  api?: string;
  /** Tokens; 0 when unknown. Default: `0`. */
  contextWindow?: number;
  /** Tokens; 0 when unknown. Default: `0`. */
  maxOutput?: number;
  /** Kinds of content it reads. Default: `["text"]`. */
  inputs?: ("text" | "image")[];
  /** Whether it has an effort dial. Default: `false`. */
  reasoning?: boolean;
  /** Endpoint instead of the provider's own. */
  baseUrl?: string | null;
  /** Absent when unknown. */
  prices?: Prices | null;
  /** Model with a larger window to switch to (`provider/id`, or an id of this provider). */
  contextPromotionTarget?: string | null;
};

/** Params of `model/list`. */
export type ModelListParams = {
  /** Only models of this provider. */
  provider?: string | null;
};

/** Result of `model/list`. */
export type ModelListResult = {
  /** The catalogue, sorted by provider and id. */
  models: ListedModel[];
};

/** Payload of `session/modelPromoted`. */
export type ModelPromoted = {
  /** The session. */
  sessionId: string;
  /** `provider/id` before. */
  from: string;
  /** `provider/id` from now on. */
  to: string;
  /** What set it off. */
  reason: "manual" | "threshold" | "overflow" | "incomplete" | "midTurn" | "idle";
};

/** Params of `model/register`. */
export type ModelRegisterParams = {
  /** Models to add, or to replace by `provider/id`. */
  models: ModelInfo[];
};

/** Result of `model/register`. */
export type ModelRegisterResult = {
  /** Their `provider/id`. */
  registered: string[];
};

/** Params of `session/move`. */
export type MoveParams = {
  /** Id of an open session. */
  sessionId: string;
  /** Working directory the session shall belong to. */
  cwd: string;
};

/** Params of `session/navigateTree`. */
export type NavigateTreeParams = {
  /** Token under which `$/progress` reports this request; absent means no reports. */
  workDoneToken?: string | number | null;
  /** Id of an open session. */
  sessionId: string;
  /** Entry to go to; a user's message goes back into the editor. */
  targetId: string;
  /** Summarise what is left behind before going. Default: `false`. */
  summarize?: boolean;
  /** Prompt for that summary instead of the standard one. */
  customInstructions?: string | null;
  /** Label to put on the entry arrived at. */
  label?: string | null;
  /** Refuse with `content-modified` when the leaf is another. */
  expectedLeafId?: string | null;
  /** Answer with the context of the new branch. Default: `false`. */
  includeContext?: boolean;
};

/** Result of `session/navigateTree`. */
export type NavigateTreeResult = {
  /** True when a hook or an abort kept the session where it was. */
  cancelled: boolean;
  /** True when it was the summary that was aborted. */
  aborted?: boolean;
  /** Text of the user message navigated to, for the editor. */
  editorText?: string;
  /** Leaf now; absent means the next entry becomes a root. */
  leafId?: string;
  /** Leaf before. */
  oldLeafId?: string;
  /** The stored branch summary. */
  summaryEntry?: Entry;
  /** Context of the new branch, if asked for. */
  context?: BuildContextResult;
  /** State of the session afterwards. */
  seq: number;
};

/** A sentence a user should see. */
export type Notice = {
  /** How much it matters. */
  level: "info" | "warning" | "error";
  /** One sentence, without secrets. */
  message: string;
  /** Part of the daemon that speaks, for example `compaction` or `hooks`. */
  source: string;
};

/** Params of `session/open`: exactly one of `sessionId` and `path`. */
export type OpenParams = {
  /** System prompt, whole or in parts. */
  systemPrompt?: string | string[] | null;
  /** Tools offered to the model: `{name, description, parameters}` with a JSON schema. */
  tools?: JsonObject[] | null;
  /** Paths whose reads are never pruned or shaken, such as the active plan. */
  planFiles?: string[] | null;
  /** Id or unambiguous prefix of an id or file name, searched in the sessions folder. */
  sessionId?: string | null;
  /** File to open, absolute or relative to `cwd`. */
  path?: string | null;
  /** Directory whose sessions are searched first. */
  cwd?: string | null;
  /** `write` takes the file's lease; `read` follows it beside another writer. Default: `"write"`. */
  mode?: "write" | "read";
};

/** Result of `session/open` and `session/reload`. */
export type OpenResult = {
  /** The session's own id. */
  sessionId: string;
  /** Its file; absent for an ephemeral session. */
  path?: string;
  /** Working directory the session belongs to. */
  cwd: string;
  /** Title, if one was set. */
  title?: string;
  /** Who chose the title. */
  titleSource?: "auto" | "user";
  /** Id or path of the session it came from. */
  parentSession?: string;
  /** Header timestamp, ISO 8601. */
  createdAt?: string;
  /** Format of the file: `pi`, or the foreign format it was read from. */
  format: string;
  /** Version of the entries as they are held now. */
  version: number;
  /** Whether this connection may change it. */
  mode: "write" | "read";
  /** Entries in the whole tree. */
  entryCount: number;
  /** Entries of type `message` in the whole tree. */
  messageCount: number;
  /** Where the next entry goes; absent means a new root. */
  leafId?: string;
  /** Number of the last change; `session/didChange` counts on from here. */
  seq: number;
  /** Identifies the numbering of `seq`; it changes when the daemon opens the file anew. */
  epoch: string;
  /** `provider/id` in force on the branch. */
  model?: string;
  /** Reasoning effort in force on the branch. */
  thinkingLevel?: string;
  /** Whether the host said its agent loop is running. Default: `false`. */
  busy: boolean;
  /** Whether a compaction, handoff or branch summary is running. Default: `false`. */
  compacting: boolean;
  /** Operation ids of results held for preview. */
  heldOperations: string[];
  /** Size of the file; absent for an ephemeral session. */
  sizeBytes?: number;
  /** Folder of the session's side files. */
  artifactsDir?: string;
  /** Tokens and cost over the whole tree. */
  usage: TokenUsage;
  /** Absent when the file was in perfect order. */
  recovered?: Recovered;
};

/** A stretch of the branch and what happens to it. */
export type PlanPart = {
  /** Entries in it. */
  entries: number;
  /** Those of them that reach the model. */
  messages: number;
  /** Estimated tokens. */
  tokens: number;
  /** First entry; absent when the stretch is empty. */
  firstEntryId?: string;
  /** Last entry. */
  lastEntryId?: string;
};

/** Params of `session/prepareCompaction`. */
export type PrepareCompactionParams = {
  /** Id of an open session. */
  sessionId: string;
  /** Strategy to plan for; absent means the configured one. */
  strategy?: "context-full" | "snapcompact" | "extractive" | null;
  /** Instructions the compaction would be given. */
  customInstructions?: string | null;
  /** `provider/id` that would summarise. */
  model?: string | null;
};

/** Result of `session/prepareCompaction`: a plan; nothing was written and no model was asked. */
export type PrepareCompactionResult = {
  /** Whether there is anything to compact. */
  possible: boolean;
  /** Error kind `session/compact` would answer with. */
  reason?: "already-compacted" | "nothing-to-compact";
  /** Tokens of the context now. */
  tokensBefore: number;
  /** Window of the session's model in tokens; 0 when unknown. */
  contextWindow: number;
  /** Tokens above which automatic maintenance starts. */
  threshold: number;
  /** `compaction.keepRecentTokens` after adaption to measured usage. */
  keepRecentTokens: number;
  /** First entry that stays verbatim. */
  firstKeptEntryId?: string;
  /** Whether the cut falls inside a turn. Default: `false`. */
  splitTurn: boolean;
  /** What a summary replaces. */
  summarized?: PlanPart;
  /** Beginning of the split turn, summarised apart. */
  turnPrefix?: PlanPart;
  /** What stays. */
  kept?: PlanPart;
  /** Whether an earlier summary is carried on. Default: `false`. */
  previousSummary: boolean;
  /** Files the summary would list. */
  files: FileLists;
  /** Every strategy, side by side. */
  strategies: StrategyPlan[];
  /** Figures for a curious reader; names may change. */
  details: JsonObject;
};

/** US dollars per million tokens. */
export type Prices = {
  /** Uncached input. Default: `0`. */
  input?: number;
  /** Output. Default: `0`. */
  output?: number;
  /** Input read from the cache. Default: `0`. */
  cacheRead?: number;
  /** Input written to the cache. Default: `0`. */
  cacheWrite?: number;
};

/** Payload of `$/progress`. */
export type Progress = {
  /** `workDoneToken` of the request. */
  token: string | number;
  /** Where it stands. */
  value: ProgressValue;
};

/** Value of `$/progress`: LSP's work-done progress with our figures beside it. */
export type ProgressValue = {
  /** Place in the sequence. */
  kind: "begin" | "report" | "end";
  /** What is being done; with `begin`. */
  title?: string;
  /** What is being done now. */
  message?: string;
  /** How much is done, where that is known. */
  percentage?: number;
  /** Whether `$/cancelRequest` stops it. */
  cancellable?: boolean;
  /** `prepare`, `hooks`, `summary`, `turnPrefix`, `shortSummary`, `frames`, `checks`, `write`. */
  phase?: string;
  /** Tokens the model was given so far, estimated. */
  tokensIn?: number;
  /** Tokens the model wrote so far, estimated. */
  tokensOut?: number;
  /** Frames drawn. */
  framesDone?: number;
  /** Frames to draw. */
  framesTotal?: number;
};

/** How one provider is reached. */
export type ProviderSettings = {
  /** Wire it speaks, when the models do not say. */
  api?: string | null;
  /** Endpoint instead of the usual one. */
  baseUrl?: string | null;
  /** Credential; never logged, never stored. */
  apiKey?: string | null;
  /** Environment variable that holds it. */
  apiKeyEnv?: string | null;
  /** Command that prints it, as a shell line or as words. */
  apiKeyCommand?: string | string[] | null;
  /** Headers sent with every call. */
  headers?: { [key: string]: string };
  /** Account to bill, where a provider asks. */
  accountId?: string | null;
};

/** Params of `session/prune`. */
export type PruneParams = {
  /** Id of an open session. */
  sessionId: string;
  /** Old tool outputs, superseded and useless results, or both. Default: `"both"`. */
  mode?: "outputs" | "stale" | "both";
  /** Count without changing anything. Default: `false`. */
  dryRun?: boolean;
};

/** Result of `session/prune`. */
export type PruneResult = {
  /** Tool results blanked. */
  prunedCount: number;
  /** Estimated tokens freed. */
  tokensSaved: number;
  /** Entries rewritten. */
  entryIds: string[];
  /** Whether nothing was changed. Default: `false`. */
  dryRun: boolean;
};

/** Python the user ran. */
export type PythonExecutionMessage = {
  /** Role. */
  role: "pythonExecution";
  /** Source. */
  code: string;
  /** What it printed. */
  output: string;
  /** Exit code, if it ended. */
  exitCode?: number | null;
  /** Whether it was stopped. */
  cancelled?: boolean;
  /** Whether the output was cut. */
  truncated?: boolean;
  /** Facts about cuts and limits. */
  meta?: JsonObject;
  /** Whether the model never sees it. */
  excludeFromContext?: boolean;
  /** Milliseconds since 1970, UTC. */
  timestamp?: number;
};

/** Params of `session/readArtifact`. */
export type ReadArtifactParams = {
  /** Id of an open session. */
  sessionId: string;
  /** Id as it stands in `artifact://<id>`. */
  artifactId: string;
  /** First byte. Default: `0`. */
  offset?: number;
  /** Largest number of bytes to answer. Default: `1000000`. */
  limit?: number;
};

/** Result of `session/readArtifact`. */
export type ReadArtifactResult = {
  /** The artifact. */
  artifactId: string;
  /** Text from `offset`, cut at a character boundary. */
  content: string;
  /** Size of the whole artifact. */
  sizeBytes: number;
  /** Where to go on; absent at the end. */
  nextOffset?: number;
};

/** What opening had to do beyond reading. */
export type Recovered = {
  /** Version on disk, when it was older than the current. */
  migratedFrom?: number;
  /** Stretches that were skipped. */
  damage: Damage[];
  /** Where damaged bytes were (or will be) kept. */
  backupPath?: string;
  /** Orphaned backup that was renamed back. */
  restoredBackup?: string;
  /** Whether the next append rewrites the whole file. Default: `false`. */
  rewritePending: boolean;
};

/** Reasoning a provider hid. */
export type RedactedThinkingBlock = {
  /** Kind of block. */
  type: "redactedThinking";
  /** Opaque data for the provider. */
  data: string;
};

/** Params of `session/reload`. */
export type ReloadParams = {
  /** Id of an open session. */
  sessionId: string;
  /** Read the file again even when it seems unchanged. Default: `false`. */
  force?: boolean;
};

/** Result of `session/reload`. */
export type ReloadResult = {
  /** The session's own id. */
  sessionId: string;
  /** Its file; absent for an ephemeral session. */
  path?: string;
  /** Working directory the session belongs to. */
  cwd: string;
  /** Title, if one was set. */
  title?: string;
  /** Who chose the title. */
  titleSource?: "auto" | "user";
  /** Id or path of the session it came from. */
  parentSession?: string;
  /** Header timestamp, ISO 8601. */
  createdAt?: string;
  /** Format of the file: `pi`, or the foreign format it was read from. */
  format: string;
  /** Version of the entries as they are held now. */
  version: number;
  /** Whether this connection may change it. */
  mode: "write" | "read";
  /** Entries in the whole tree. */
  entryCount: number;
  /** Entries of type `message` in the whole tree. */
  messageCount: number;
  /** Where the next entry goes; absent means a new root. */
  leafId?: string;
  /** Number of the last change; `session/didChange` counts on from here. */
  seq: number;
  /** Identifies the numbering of `seq`; it changes when the daemon opens the file anew. */
  epoch: string;
  /** `provider/id` in force on the branch. */
  model?: string;
  /** Reasoning effort in force on the branch. */
  thinkingLevel?: string;
  /** Whether the host said its agent loop is running. Default: `false`. */
  busy: boolean;
  /** Whether a compaction, handoff or branch summary is running. Default: `false`. */
  compacting: boolean;
  /** Operation ids of results held for preview. */
  heldOperations: string[];
  /** Size of the file; absent for an ephemeral session. */
  sizeBytes?: number;
  /** Folder of the session's side files. */
  artifactsDir?: string;
  /** Tokens and cost over the whole tree. */
  usage: TokenUsage;
  /** Absent when the file was in perfect order. */
  recovered?: Recovered;
  /** Whether the file differed from what the daemon held. */
  changed: boolean;
};

/** Params of `session/rename`. */
export type RenameParams = {
  /** Id of an open session. */
  sessionId: string;
  /** New title; control characters become spaces. */
  title: string;
  /** An `auto` title never replaces a user's. Default: `"user"`. */
  source?: "auto" | "user";
};

/** Result of `session/rename`. */
export type RenameResult = {
  /** False when the title was empty or a user's title stood against an automatic one. */
  applied: boolean;
  /** Title now in force. */
  title?: string;
};

/** Params of `snapcompact/render`. */
export type RenderParams = {
  /** Token under which `$/progress` reports this request; absent means no reports. */
  workDoneToken?: string | number | null;
  /** `provider/id` that will read the frames. */
  model?: string | null;
  /** API that carries the request, when the model is not registered. */
  api?: string | null;
  /** Shape by name; absent or `auto` means the model's. */
  shape?: string | null;
  /** Width of a frame in px, instead of the shape's. */
  frameSize?: number | null;
  /** Normalisation and paging; absent means `snapcompact.layout`. */
  layout?: "octavo" | "seed" | null;
  /** Text to draw; any script. */
  text: string;
  /** Stop after so many frames. */
  maxFrames?: number | null;
};

/** Result of `snapcompact/render`. */
export type RenderResult = {
  /** Frames in reading order. */
  frames: Frame[];
  /** Shape they are drawn in. */
  shape: ShapeInfo;
  /** Characters beyond `maxFrames`. Default: `0`. */
  droppedChars: number;
  /** Tokens of all frames. */
  frameTokens: number;
  /** Tokens of the same text as text. */
  textTokens: number;
  /** Sentences that tell a model how to read them. */
  guide: string;
};

/** Repeating failed model calls. */
export type RetrySettings = {
  /** Whether transient failures are tried again. Default: `true`. */
  enabled?: boolean;
  /** Repetitions with one model. Default: `10`. */
  maxRetries?: number;
  /** First delay; it doubles. Default: `500`. */
  baseDelayMs?: number;
  /** Longest delay a provider may ask for before the call fails; 0 means any. Default: `300000`. */
  maxDelayMs?: number;
  /** Whether another model may take over. Default: `true`. */
  modelFallback?: boolean;
  /** Models by role, in the order they take over. */
  fallbackChains?: { [key: string]: string[] };
  /** When the first model is used again. Default: `"cooldown-expiry"`. */
  fallbackRevertPolicy?: "cooldown-expiry" | "never";
};

/** Params of `session/runIdleCompaction`. */
export type RunIdleCompactionParams = {
  /** Token under which `$/progress` reports this request; absent means no reports. */
  workDoneToken?: string | number | null;
  /** Id of an open session. */
  sessionId: string;
};

/** Result of `session/runIdleCompaction`. */
export type RunIdleCompactionResult = {
  /** Whether anything was done. */
  ran: boolean;
  /** Why not, in a sentence. */
  reason?: string;
  /** The compaction, if there was one. */
  result?: CompactionResult;
};

/** One entry that matches. */
export type SearchHit = {
  /** The entry. */
  entryId: string;
  /** Its type. */
  type: string;
  /** Message role, for entries of type `message`. */
  role?: string;
  /** Entry timestamp, ISO 8601. */
  timestamp?: string;
  /** Text around the first match, at most 300 characters. */
  snippet: string;
  /** Matches within the snippet. */
  matches: Match[];
  /** Whether it lies on the path from the root to the leaf. */
  onBranch: boolean;
  /** Whether compaction took it out of the context. */
  archived: boolean;
};

/** Params of `session/search`. */
export type SearchParams = {
  /** Largest number of items in one answer. */
  limit?: number | null;
  /** `nextCursor` of the previous page; absent means from the start. */
  cursor?: string | null;
  /** Id of an open session. */
  sessionId: string;
  /** Words that must all occur, or a regular expression. */
  query: string;
  /** Take `query` as a regular expression. Default: `false`. */
  regex?: boolean;
  /** Tell capitals from small letters. Default: `false`. */
  caseSensitive?: boolean;
  /** The branch, every branch, or what compaction took out of the context. Default: `"branch"`. */
  scope?: "branch" | "tree" | "archived";
};

/** Result of `session/search`, newest first. */
export type SearchResult = {
  /** The page. */
  hits: SearchHit[];
  /** Pass as `cursor` for more; absent on the last page. */
  nextCursor?: string;
};

/** The connection. */
export type ServerSettings = {
  /** Largest frame taken; a larger one is refused and skipped. Default: `268435456`. */
  maxMessageBytes?: number;
  /** Most bytes waiting for one client before it is hung up. Default: `67108864`. */
  maxQueueBytes?: number;
  /** Time without clients and work after which a shared daemon ends; 0 means never. Default: `900`. */
  idleExitSeconds?: number;
};

/** The service tier from here on. */
export type ServiceTierChangeEntry = {
  /** Id within the session. */
  id: string;
  /** Entry before it; null for a root. */
  parentId: string | null;
  /** When it was appended, ISO 8601. */
  timestamp: string;
  /** Kind of entry. */
  type: "service_tier_change";
  /** Tier; null means the provider's usual one. */
  serviceTier: string | null;
};

/** Params of `hook/sessionBeforeCompact`. */
export type SessionBeforeCompactParams = {
  /** The session. */
  sessionId: string;
  /** The run, as named in events. */
  operationId: string;
  /** What set it off. */
  reason: "manual" | "threshold" | "overflow" | "incomplete" | "midTurn" | "idle";
  /** What is planned. */
  preparation: HookPreparation;
  /** The whole branch. */
  branchEntries: Entry[];
  /** The user's instructions. */
  customInstructions?: string;
};

/** Result of `hook/sessionBeforeCompact`; null or nothing set lets the compaction run. */
export type SessionBeforeCompactResult = {
  /** Do not compact. Default: `false`. */
  cancel?: boolean;
  /** Write this instead. */
  compaction?: HookCompaction | null;
};

/** Params of `hook/sessionBeforeTree`. */
export type SessionBeforeTreeParams = {
  /** The session. */
  sessionId: string;
  /** What is planned. */
  preparation: TreePreparation;
};

/** Result of `hook/sessionBeforeTree`; null or nothing set lets the navigation happen. */
export type SessionBeforeTreeResult = {
  /** Stay where we are. Default: `false`. */
  cancel?: boolean;
  /** Used only when a summary was asked for. */
  summary?: HookTreeSummary | null;
};

/** Payload of `hook/sessionCompact`. */
export type SessionCompact = {
  /** The session. */
  sessionId: string;
  /** The run, as named in events. */
  operationId: string;
  /** The entry as it was written. */
  compactionEntry: Entry;
  /** Whether a hook supplied the result. */
  fromExtension: boolean;
};

/** Params of `hook/sessionCompacting`. */
export type SessionCompactingParams = {
  /** The session. */
  sessionId: string;
  /** The run, as named in events. */
  operationId: string;
  /** What will be summarised, the split turn's beginning included. */
  messages: Message[];
};

/** Result of `hook/sessionCompacting`; null or nothing set changes nothing. */
export type SessionCompactingResult = {
  /** Lines for the summariser's additional context. */
  context?: string[] | null;
  /** Prompt instead of the standard one. */
  prompt?: string | null;
  /** Stored with the entry and carried on. */
  preserveData?: JsonObject | null;
};

/** First line of a session file; not an entry. */
export type SessionHeader = {
  /** Kind of line. */
  type: "session";
  /** Version of the entries; absent means 1. */
  version?: number;
  /** Session id. */
  id: string;
  /** Creation, ISO 8601. */
  timestamp: string;
  /** Working directory. */
  cwd: string;
  /** Title. */
  title?: string;
  /** Who chose the title. */
  titleSource?: "auto" | "user";
  /** Id or path of the session it came from. */
  parentSession?: string;
};

/** What there is to know about an open session without its entries. */
export type SessionInfo = {
  /** The session's own id. */
  sessionId: string;
  /** Its file; absent for an ephemeral session. */
  path?: string;
  /** Working directory the session belongs to. */
  cwd: string;
  /** Title, if one was set. */
  title?: string;
  /** Who chose the title. */
  titleSource?: "auto" | "user";
  /** Id or path of the session it came from. */
  parentSession?: string;
  /** Header timestamp, ISO 8601. */
  createdAt?: string;
  /** Format of the file: `pi`, or the foreign format it was read from. */
  format: string;
  /** Version of the entries as they are held now. */
  version: number;
  /** Whether this connection may change it. */
  mode: "write" | "read";
  /** Entries in the whole tree. */
  entryCount: number;
  /** Entries of type `message` in the whole tree. */
  messageCount: number;
  /** Where the next entry goes; absent means a new root. */
  leafId?: string;
  /** Number of the last change; `session/didChange` counts on from here. */
  seq: number;
  /** Identifies the numbering of `seq`; it changes when the daemon opens the file anew. */
  epoch: string;
  /** `provider/id` in force on the branch. */
  model?: string;
  /** Reasoning effort in force on the branch. */
  thinkingLevel?: string;
  /** Whether the host said its agent loop is running. Default: `false`. */
  busy: boolean;
  /** Whether a compaction, handoff or branch summary is running. Default: `false`. */
  compacting: boolean;
  /** Operation ids of results held for preview. */
  heldOperations: string[];
  /** Size of the file; absent for an ephemeral session. */
  sizeBytes?: number;
  /** Folder of the session's side files. */
  artifactsDir?: string;
  /** Tokens and cost over the whole tree. */
  usage: TokenUsage;
};

/** How a sub-agent's session was started. */
export type SessionInitEntry = {
  /** Id within the session. */
  id: string;
  /** Entry before it; null for a root. */
  parentId: string | null;
  /** When it was appended, ISO 8601. */
  timestamp: string;
  /** Kind of entry. */
  type: "session_init";
  /** System prompt. */
  systemPrompt: string;
  /** Task. */
  task: string;
  /** Names of the tools. */
  tools: string[];
  /** JSON schema of the answer. */
  outputSchema?: unknown;
  /** Agents it may start. */
  spawns?: string;
  /** Whether its reads are summarised. */
  readSummarize?: boolean;
};

/** Payload of `session/notice`. */
export type SessionNotice = {
  /** The session; absent when it concerns the daemon. */
  sessionId?: string;
  /** How much it matters. */
  level: "info" | "warning" | "error";
  /** One sentence, without secrets. */
  message: string;
  /** Part of the daemon that speaks, for example `compaction` or `hooks`. */
  source: string;
};

/** Params of a request about one open session. */
export type SessionParams = {
  /** Id of an open session. */
  sessionId: string;
};

/** One open session. */
export type SessionStatus = {
  /** The session. */
  sessionId: string;
  /** Its file; absent when it only lives in memory. */
  path?: string;
  /** Its title. */
  title?: string;
  /** Clients that have it open. */
  clients: number;
  /** Whether a host said that its agent loop runs. */
  busy: boolean;
  /** What runs on it. */
  work?: WorkStatus;
};

/** One line of a session list, from the head and tail of its file. */
export type SessionSummary = {
  /** The session's own id. */
  sessionId: string;
  /** Its file. */
  path: string;
  /** Working directory; empty when the header names none. */
  cwd: string;
  /** Title, or the short summary of an early compaction. */
  title?: string;
  /** Id or path of the session it came from. */
  parentSession?: string;
  /** Header timestamp, ISO 8601. */
  createdAt?: string;
  /** Modification time of the file, ISO 8601. */
  modifiedAt: string;
  /** Size of the file. */
  sizeBytes: number;
  /** Messages seen in the head of the file: a lower bound. */
  messageCount: number;
  /** Text of the first user message, or `(no messages)`. */
  firstMessage: string;
  /** How the last message left it. */
  status: "complete" | "interrupted" | "aborted" | "error" | "pending" | "unknown";
  /** Whether this daemon has it open. Default: `false`. */
  open: boolean;
};

/** Payload of `hook/sessionTree`. */
export type SessionTree = {
  /** The session. */
  sessionId: string;
  /** Leaf now: the summary, if one was written. */
  newLeafId?: string;
  /** Leaf before. */
  oldLeafId?: string;
  /** The stored branch summary. */
  summaryEntry?: Entry;
  /** With a summary: whether a hook supplied it. */
  fromExtension?: boolean;
};

/** `capabilities.experimental.sessionTree` of the `initialize` result. */
export type SessionTreeCapabilities = {
  /** Version of this protocol. Default: `1`. */
  protocolVersion: number;
  /** Requests this daemon answers. */
  methods: string[];
  /** Notifications it sends. */
  notifications: string[];
  /** Compaction strategies it can run. */
  strategies: string[];
  /** Foreign transcripts it can import. */
  formats: string[];
};

/** Session files. */
export type SessionsSettings = {
  /** Folder of session files; unset means the usual. */
  root?: string | null;
  /** Acknowledge when on stable storage, or when the operating system has it. Default: `"fsync"`. */
  durability?: "fsync" | "os";
};

/** Params of `session/setBusy`. */
export type SetBusyParams = {
  /** Id of an open session. */
  sessionId: string;
  /** True when the host's agent loop starts, false when it has ended. */
  busy: boolean;
  /** Host's name for the turn, for its own correlation. */
  turnId?: string | null;
};

/** Result of `session/setBusy`. */
export type SetBusyResult = {
  /** State now. */
  busy: boolean;
  /** State before. */
  wasBusy: boolean;
};

/** Params of `session/setHostContext`; absent fields stay as they are. */
export type SetHostContextParams = {
  /** System prompt, whole or in parts. */
  systemPrompt?: string | string[] | null;
  /** Tools offered to the model: `{name, description, parameters}` with a JSON schema. */
  tools?: JsonObject[] | null;
  /** Paths whose reads are never pruned or shaken, such as the active plan. */
  planFiles?: string[] | null;
  /** Id of an open session. */
  sessionId: string;
};

/** Result of `session/setHostContext`. */
export type SetHostContextResult = {
  /** Estimated tokens of the system prompt now known. */
  systemTokens: number;
  /** Estimated tokens of the tools now known. */
  toolTokens: number;
};

/** Params of `session/setLabel`. */
export type SetLabelParams = {
  /** Id of an open session. */
  sessionId: string;
  /** Entry to label. */
  targetId: string;
  /** The label; empty or absent removes it. */
  label?: string | null;
};

/** Params of `session/setModel`. */
export type SetModelParams = {
  /** Id of an open session. */
  sessionId: string;
  /** `provider/id`. */
  model: string;
  /** Role it serves; absent means the default. */
  role?: string | null;
};

/** Params of `session/setThinkingLevel`. */
export type SetThinkingLevelParams = {
  /** Id of an open session. */
  sessionId: string;
  /** Reasoning effort; null or `off` means none. */
  thinkingLevel: string | null;
};

/** Payload of `$/setTrace`. */
export type SetTrace = {
  /** How much `window/logMessage` says. */
  value: "off" | "messages" | "verbose";
};

/** Every setting with its value. */
export type Settings = {
  /** When and how the context shrinks. */
  compaction?: CompactionSettings;
  /** Leaving a branch. */
  branchSummary?: BranchSummarySettings;
  /** Larger windows. */
  contextPromotion?: ContextPromotionSettings;
  /** How frames are drawn, and for what. */
  snapcompact?: SnapcompactSettings;
  /** Repeated model calls. */
  retry?: RetrySettings;
  /** Where session files are and how safe. */
  sessions?: SessionsSettings;
  /** Limits of a connection. */
  server?: ServerSettings;
  /** Waiting for hooks. */
  hooks?: HooksSettings;
  /** Waiting for clients. */
  client?: ClientSettings;
  /** Waiting for providers. */
  http?: HttpSettings;
  /** What a tree view shows unless it asks for something else. Default: `"default"`. */
  treeFilterMode?: "default" | "no-tools" | "user-only" | "labeled-only" | "all";
  /** Language of summaries, by name or tag; `auto` takes the user's. Default: `"auto"`. */
  language?: string;
  /** `provider/id` by role (`default`, `smol`, `slow`, `vision` …). */
  modelRoles?: { [key: string]: string };
  /** Providers by id. */
  providers?: { [key: string]: ProviderSettings };
  /** Models to know, as `model/register` takes them. */
  models?: ModelInfo[];
};

/** Params of `settings/get`. */
export type SettingsGetParams = {
  /** Session whose own settings count; absent means none. */
  sessionId?: string | null;
  /** Dotted keys or groups; absent means all. */
  keys?: string[] | null;
};

/** Result of `settings/get` and `settings/update`. */
export type SettingsResult = {
  /** Values in force by dotted key. */
  settings: JsonObject;
  /** Layer of each value that is no default: `file`, `environment`, `initialize`, `configuration` or `session`. */
  sources: { [key: string]: string };
};

/** Params of `settings/update`. */
export type SettingsUpdateParams = {
  /** New values, by dotted key or nested; null takes one back. */
  settings: JsonObject;
  /** Whether it holds for every session without a value of its own, or for one session. Default: `"daemon"`. */
  scope?: "daemon" | "session";
  /** The session, for scope `session`. */
  sessionId?: string | null;
};

/** Params of `session/shake`. */
export type ShakeParams = {
  /** Id of an open session. */
  sessionId: string;
  /** Move bulky text into an artifact, or remove images. Default: `"elide"`. */
  mode?: "elide" | "images";
  /** Manual limits; false uses those of the automatic run. Default: `true`. */
  aggressive?: boolean;
  /** Newest tokens left alone, instead of the preset's. */
  protectTokens?: number | null;
  /** Smallest worthwhile saving, instead of the preset's. */
  minSavings?: number | null;
  /** Count without changing anything. Default: `false`. */
  dryRun?: boolean;
};

/** Result of `session/shake`. */
export type ShakeResult = {
  /** What was done. */
  mode: "elide" | "images";
  /** Tool results replaced by a placeholder. Default: `0`. */
  toolResultsDropped: number;
  /** Fenced or tagged blocks replaced by a placeholder. Default: `0`. */
  blocksDropped: number;
  /** Images removed. Default: `0`. */
  imagesDropped: number;
  /** Estimated tokens freed. */
  tokensFreed: number;
  /** Where the text went (`session/readArtifact`). */
  artifactId?: string;
  /** Entries rewritten. */
  entryIds: string[];
  /** Whether nothing was changed. Default: `false`. */
  dryRun: boolean;
};

/** One way to draw frames, with its price for the model asked for. */
export type ShapeInfo = {
  /** Name, as `snapcompact.shape` takes it. */
  name: string;
  /** Bitmap font. */
  font: string;
  /** Advance of a cell in px. */
  cellWidth: number;
  /** Pitch of a cell in px. */
  cellHeight: number;
  /** Black ink, or hues by sentence. */
  variant: "bw" | "sent";
  /** Whether function words are gray. Default: `false`. */
  stopwordDim: boolean;
  /** Columns of text. Default: `1`. */
  columns: number;
  /** How often a line is printed. Default: `1`. */
  lineRepeat: number;
  /** Width of a frame in px. */
  frameSize: number;
  /** Cells in a row (of one column). */
  cols: number;
  /** Rows of text in a full frame. */
  rows: number;
  /** Cells in a full frame. */
  capacity: number;
  /** Tokens a full frame is billed. */
  frameTokens: number;
  /** Detail hint the provider needs. */
  detail?: string;
};

/** Params of `snapcompact/shapes`. */
export type ShapesParams = {
  /** `provider/id` to price for. */
  model?: string | null;
  /** API that carries the request, when the model is not registered. */
  api?: string | null;
};

/** Result of `snapcompact/shapes`. */
export type ShapesResult = {
  /** Every shape, in the order settings list them. */
  shapes: ShapeInfo[];
  /** The one `auto` means for the model asked for. */
  resolved: ShapeInfo;
  /** Who bills. */
  family: "anthropic" | "openai" | "google" | "unknown";
  /** Most frames of an archive the provider gets. */
  frameBudget: number;
};

/** Frames. */
export type SnapcompactSettings = {
  /** Shape of frames; `auto` takes the one the model reads best. Default: `"auto"`. */
  shape?: "auto" | "8x8r-bw" | "8x8r-sent" | "8x8u-bw" | "8x8u-sent" | "6x6u-bw" | "6x6u-sent" | "5x8-bw" | "5x8-sent" | "6x12-dim" | "8x13-bw" | "8on16-bw" | "8on22-bw" | "11on16-bw" | "doc-8on16-bw" | "doc-8on16-sent" | "doc-8on16-sent-dim";
  /** Normalisation and paging that keep indentation and scripts, or the seed's. Default: `"octavo"`. */
  layout?: "octavo" | "seed";
  /** What of the system prompt `snapcompact/inline` draws. Default: `"none"`. */
  systemPrompt?: "none" | "agents-md" | "all";
  /** Whether `snapcompact/inline` draws large tool results. Default: `false`. */
  toolResults?: boolean;
};

/** Params of `daemon/status`. */
export type StatusParams = JsonObject;

/** Result of `daemon/status`. */
export type StatusResult = {
  /** Process of the daemon. */
  pid: number;
  /** Version of octavo. */
  version: string;
  /** Version of the protocol. */
  protocolVersion: number;
  /** Time since it started. */
  uptimeMs: number;
  /** Resident memory, where the system tells. */
  memoryBytes?: number;
  /** Who is connected, in the order they came. */
  clients: ClientStatus[];
  /** What is open. */
  sessions: SessionStatus[];
};

/** What one strategy would cost and bring. */
export type StrategyPlan = {
  /** The strategy. */
  strategy: "context-full" | "snapcompact" | "extractive";
  /** Whether `session/compact` with the same params would take it. Default: `false`. */
  chosen: boolean;
  /** Whether it can run now. */
  available: boolean;
  /** Why not, in a sentence. */
  unavailableReason?: string;
  /** `provider/id` that would be called. */
  model?: string;
  /** Calls to a model it needs. Default: `0`. */
  modelCalls: number;
  /** Estimated tokens those calls read. Default: `0`. */
  inputTokens: number;
  /** Most tokens those calls may write. Default: `0`. */
  outputTokens: number;
  /** Frames it would attach. Default: `0`. */
  frames: number;
  /** Estimated tokens of the context afterwards. */
  tokensAfter: number;
  /** Whether that is below the threshold. */
  fits: boolean;
  /** Estimated US dollars of the calls; absent without prices. */
  cost?: number;
  /** Estimated US dollars of the next request, whose prefix the cache does not know. */
  nextRequestCost?: number;
};

/** Text. */
export type TextBlock = {
  /** Kind of block. */
  type: "text";
  /** Text. */
  text: string;
  /** Provider's id or signature of the text. */
  textSignature?: string;
};

/** Reasoning a model showed. */
export type ThinkingBlock = {
  /** Kind of block. */
  type: "thinking";
  /** Text. */
  thinking: string;
  /** Provider's signature; kept whole or cleared. */
  thinkingSignature?: string;
};

/** The reasoning effort from here on. */
export type ThinkingLevelChangeEntry = {
  /** Id within the session. */
  id: string;
  /** Entry before it; null for a root. */
  parentId: string | null;
  /** When it was appended, ISO 8601. */
  timestamp: string;
  /** Kind of entry. */
  type: "thinking_level_change";
  /** Effort; null means off. */
  thinkingLevel: string | null;
};

/** Params of `maintenance/tick`. */
export type TickParams = {
  /** Idle time a session needs, instead of `compaction.idleTimeoutSeconds`. */
  idleForMs?: number | null;
};

/** Result of `maintenance/tick`. */
export type TickResult = {
  /** Every open session. */
  sessions: TickedSession[];
};

/** What a tick did with one session. */
export type TickedSession = {
  /** The session. */
  sessionId: string;
  /** Whether anything was done. */
  ran: boolean;
  /** Why not, in a sentence. */
  reason?: string;
  /** Tokens before, if it ran. */
  tokensBefore?: number;
  /** Tokens after, if it ran. */
  tokensAfter?: number;
};

/** Tokens and money model calls have cost. */
export type TokenUsage = {
  /** Uncached input tokens. Default: `0`. */
  input: number;
  /** Output tokens, reasoning included. Default: `0`. */
  output: number;
  /** Input tokens read from the provider's cache. Default: `0`. */
  cacheRead: number;
  /** Input tokens written to the provider's cache. Default: `0`. */
  cacheWrite: number;
  /** Premium requests, where a provider bills by request. Default: `0`. */
  premiumRequests: number;
  /** US dollars, as far as prices were known. Default: `0`. */
  cost: number;
};

/** A call of a tool. */
export type ToolCallBlock = {
  /** Kind of block. */
  type: "toolCall";
  /** Id its result names. */
  id: string;
  /** Tool. */
  name: string;
  /** Arguments by name. */
  arguments: JsonObject;
  /** Name on the provider's wire, if another. */
  customWireName?: string;
};

/** What a tool answered. */
export type ToolResultMessage = {
  /** Role. */
  role: "toolResult";
  /** Call it answers. */
  toolCallId: string;
  /** Tool. */
  toolName: string;
  /** What the model reads. */
  content: (TextBlock | ImageBlock)[];
  /** Whether the tool failed. */
  isError?: boolean;
  /** Data for the host; never sent to a model. */
  details?: unknown;
  /** Whether nothing would be lost without it. */
  useless?: boolean;
  /** When its content was blanked, in ms since 1970. */
  prunedAt?: number;
  /** Milliseconds since 1970, UTC. */
  timestamp?: number;
  /** Who speaks. */
  attribution?: "user" | "agent";
};

/** One shown entry; its children follow it, deeper ones first (pre-order). */
export type TreeNode = {
  /** Entry id. */
  id: string;
  /** Nearest shown ancestor; absent for a root. */
  parentId?: string;
  /** Forks between this node and its root: the indentation a view needs. */
  depth: number;
  /** Entry type. */
  type: string;
  /** Message role, for entries of type `message`. */
  role?: string;
  /** Entry timestamp, ISO 8601. */
  timestamp?: string;
  /** One line that stands for the entry, at most 200 characters. */
  text: string;
  /** Label in force. */
  label?: string;
  /** Tools an assistant message calls. */
  toolNames: string[];
  /** Whether it is a failed tool result or a failed turn. Default: `false`. */
  isError: boolean;
  /** Whether it lies on the path from the root to the leaf. Default: `false`. */
  onBranch: boolean;
  /** Whether it is the leaf, or the nearest shown ancestor of it. Default: `false`. */
  isLeaf: boolean;
  /** Children that pass the filter, in this answer or not. */
  childCount: number;
  /** Those of them that this answer leaves out. Default: `0`. */
  hiddenChildren: number;
};

/** A navigation that is about to happen. */
export type TreePreparation = {
  /** Entry to go to. */
  targetId: string;
  /** Leaf now. */
  oldLeafId?: string;
  /** Where the two branches part. */
  commonAncestorId?: string;
  /** What is left behind, oldest first. */
  entriesToSummarize: Entry[];
  /** Whether a summary was asked for. */
  userWantsSummary: boolean;
};

/** Rules that were injected into the talk. */
export type TtsrInjectionEntry = {
  /** Id within the session. */
  id: string;
  /** Entry before it; null for a root. */
  parentId: string | null;
  /** When it was appended, ISO 8601. */
  timestamp: string;
  /** Kind of entry. */
  type: "ttsr_injection";
  /** Names of the rules. */
  injectedRules: string[];
};

/** Params of `session/undoCompaction`. */
export type UndoCompactionParams = {
  /** Id of an open session. */
  sessionId: string;
  /** Refuse with `content-modified` when the leaf is another. */
  expectedLeafId?: string | null;
};

/** Result of `session/undoCompaction`: the entry stays in the tree, on its own branch. */
export type UndoCompactionResult = {
  /** The compaction left behind. */
  compactionEntryId: string;
  /** Leaf before; entries after the compaction stay on that branch. */
  oldLeafId: string;
  /** Leaf now: the entry before the compaction. */
  leafId?: string;
  /** Tokens of the context now. */
  tokens: number;
  /** Number of the change. */
  seq: number;
};

/** Tokens of a model call, as the provider reported them. */
export type Usage = {
  /** Uncached input. */
  input?: number;
  /** Output, reasoning included. */
  output?: number;
  /** Input read from the cache. */
  cacheRead?: number;
  /** Input written to the cache. */
  cacheWrite?: number;
  /** Sum; wins over the parts when not zero. */
  totalTokens?: number;
  /** US dollars. */
  cost?: Cost;
};

/** What the user said. */
export type UserMessage = {
  /** Role. */
  role: "user";
  /** A string, or blocks of text and images. */
  content: string | (TextBlock | ImageBlock)[];
  /** Milliseconds since 1970, UTC. */
  timestamp?: number;
  /** Who speaks. */
  attribution?: "user" | "agent";
  /** Whether it was typed while the agent was running. */
  steering?: boolean;
};

/** Long work on a session. */
export type WorkStatus = {
  /** Names the run in events. */
  operationId: string;
  /** What it is. */
  kind: "compaction" | "handoff" | "branchSummary" | "shake";
  /** Time since it began. */
  runningMs: number;
};
