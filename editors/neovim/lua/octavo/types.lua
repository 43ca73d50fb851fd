---@meta
-- Generated from the protocol models by `python -m octavo_protocol.generate`; do not edit.

---JSON's null: `vim.NIL`.
---@alias octavo.Null
---| userdata

---Result of the abort methods.
---@class octavo.AbortResult
---@field aborted boolean False when there was nothing to abort.

---Params of `agent/abort`.
---@class octavo.AgentAbortParams
---@field sessionId string Session whose running operation must stop.
---@field reason "compaction"|"handoff" What is about to begin.

---Result of `agent/abort`, sent once the host has stopped.
---@class (exact) octavo.AgentAbortResult
---@field stopped? boolean False when nothing was running.

---Params of `session/append`: exactly one of `messages` and `entries`.
---@class (exact) octavo.AppendParams
---@field sessionId string Id of an open session.
---@field messages? octavo.Message[]|octavo.Null Messages, each stored as one entry of type `message`.
---@field entries? table<string, any>[]|octavo.Null Entries of any type; `id`, `parentId` and `timestamp` are filled in where absent.
---@field parentId? string|octavo.Null Entry to hang them under: absent means the leaf, null means a new root.
---@field expectedLeafId? string|octavo.Null Refuse with `content-modified` when the leaf is another; null expects an empty tree.
---@field ids? string[]|octavo.Null Ids for the new entries, one each; repeating one that exists is a no-op.

---Result of `session/append`: everything named here is durable.
---@class octavo.AppendResult
---@field entryIds string[] Ids in the order given.
---@field repeatedIds string[] Those that were there before and left alone.
---@field leafId string Leaf now.
---@field seq integer Number of the change.

---Params of `session/applyCompaction`.
---@class (exact) octavo.ApplyCompactionParams
---@field sessionId string Id of an open session.
---@field operationId string A held result.
---@field summary? string|octavo.Null Edited summary; it is checked again.
---@field shortSummary? string|octavo.Null Edited short summary.

---What the model answered.
---@class octavo.AssistantMessage
---@field role "assistant" Role.
---@field content (octavo.TextBlock|octavo.ThinkingBlock|octavo.RedactedThinkingBlock|octavo.ToolCallBlock)[] Text, reasoning and tool calls in the order they came.
---@field api? string Wire that was spoken.
---@field provider? string Provider.
---@field model? string Model id.
---@field usage? octavo.Usage Tokens.
---@field stopReason? "stop"|"length"|"toolUse"|"error"|"aborted" Why it stopped.
---@field errorMessage? string Provider's text, for `error`.
---@field errorStatus? integer HTTP status, for `error`.
---@field stopDetails? table<string, any> Further facts about why it stopped.
---@field providerPayload? table<string, any> Native history for the same provider.
---@field timestamp? integer Milliseconds since 1970, UTC.

---A command the user ran.
---@class octavo.BashExecutionMessage
---@field role "bashExecution" Role.
---@field command string Command line.
---@field output string What it printed.
---@field exitCode? integer|octavo.Null Exit code, if it ended.
---@field cancelled? boolean Whether it was stopped.
---@field truncated? boolean Whether the output was cut.
---@field meta? table<string, any> Facts about cuts and limits.
---@field excludeFromContext? boolean Whether the model never sees it.
---@field timestamp? integer Milliseconds since 1970, UTC.

---Payload of `session/branchSummaryEnd`: exactly one for every start, whatever happened.
---@class octavo.BranchSummaryEnd
---@field sessionId string The session.
---@field operationId string Names the run; its start and its end carry the same.
---@field entryId? string The stored summary, when there is one.
---@field aborted boolean Whether it was cancelled or aborted.
---@field errorMessage? string Why it failed, in a sentence.
---@field model? string `provider/id` that was asked.
---@field durationMs integer Time since the start.

---What was left behind when the session went to another branch.
---@class octavo.BranchSummaryEntry
---@field id string Id within the session.
---@field parentId string|octavo.Null Entry before it; null for a root.
---@field timestamp string When it was appended, ISO 8601.
---@field type "branch_summary" Kind of entry.
---@field fromId string Entry it hangs at, or `root`.
---@field summary string What the model reads.
---@field details? any Data beside the text, such as `{readFiles, modifiedFiles}`.
---@field fromExtension? boolean Whether an extension supplied it.

---Summary of a branch that was left, as built into a context.
---@class octavo.BranchSummaryMessage
---@field role "branchSummary" Role.
---@field summary string Text.
---@field fromId string Entry the summary hangs at, or `root`.
---@field timestamp? integer Milliseconds since 1970, UTC.

---Summaries of branches that are left.
---@class (exact) octavo.BranchSummarySettings
---@field enabled? boolean Whether a client should offer a summary when leaving a branch.
---@field reserveTokens? integer Tokens of the window its input leaves free.

---Payload of `session/branchSummaryStart`.
---@class octavo.BranchSummaryStart
---@field sessionId string The session.
---@field operationId string Names the run; its start and its end carry the same.
---@field targetId string Entry navigated to.
---@field entries integer Entries left behind.

---Where the tokens of a context go; every figure is an estimate in tokens.
---@class octavo.Breakdown
---@field system integer System prompt.
---@field tools integer Tool names, descriptions and schemas.
---@field summary integer Text of the compaction summary and branch summaries.
---@field frames integer Frames of archived history.
---@field user integer User, developer and custom messages and file mentions.
---@field assistant integer Assistant text, reasoning and tool calls.
---@field toolResults integer Tool results and command executions.

---Params of `session/buildContext`.
---@class (exact) octavo.BuildContextParams
---@field sessionId string Id of an open session.
---@field leafId? string|octavo.Null End of the branch; absent means the leaf.
---@field transcript? boolean Whole branch with compactions inline, for display; never sent to a model.
---@field format? "agent"|"llm"|"anthropic"|"openai-chat"|"openai-responses"|"google"|octavo.Null Shape of the messages; absent means `llm`, or `agent` for a transcript.
---@field includeImages? boolean False replaces image data by a short note.
---@field systemPrompt? string|string[]|octavo.Null System prompt for this context instead of the session's.
---@field dropEntryIds? string[] Entries to leave out, such as a failed turn (`Directive.dropEntryId`).

---Result of `session/buildContext`.
---@class octavo.BuildContextResult
---@field messages table<string, any>[] Messages in order, in the format asked for.
---@field format "agent"|"llm"|"anthropic"|"openai-chat"|"openai-responses"|"google" Shape of the messages.
---@field systemPrompt string[] System prompt parts that go with them.
---@field model? string `provider/id` in force.
---@field models table<string, string> `provider/id` by role.
---@field thinkingLevel string Reasoning effort in force.
---@field serviceTier? string Service tier in force.
---@field mode string Mode in force; `none` outside of one.
---@field leafId? string End of the branch that was built.
---@field usage? octavo.ContextUsage How full it is; absent for a transcript.
---@field seq integer State of the session the answer shows.

---Payload of `$/cancelRequest`.
---@class (exact) octavo.CancelRequest
---@field id string|integer Id of the request that shall stop; it is still answered.

---One change of a session.
---@class octavo.Change
---@field seq integer Its number; numbers count up by one.
---@field kind "appended"|"rewritten"|"leaf"|"title"|"label"|"closed" What happened.
---@field entryIds string[] Entries appended or rewritten.
---@field leafId? string Leaf after it; absent when there is none.

---One condition a result met, or not, before it was written.
---@class octavo.Check
---@field name string `shrinks`, `pairs`, `api-valid`, `last-request`, `files`, `open-question`, `no-invented-user`, `no-markup` or `no-boundary-tags`.
---@field ok boolean Whether the condition holds for what was (or would be) written.
---@field repaired boolean Whether it holds only after a deterministic repair.
---@field figures table<string, any> The numbers and names behind the verdict.

---Params of `session/checkMaintenance`.
---@class (exact) octavo.CheckMaintenanceParams
---@field workDoneToken? string|integer|octavo.Null Token under which `$/progress` reports this request; absent means no reports.
---@field sessionId string Id of an open session.
---@field at "turnEnd"|"prePrompt"|"midTurn" Where the host stands: after a turn, before a prompt, or between tool calls.
---@field pendingMessages? octavo.Message[] Messages about to be appended, counted in (`prePrompt`).
---@field queued? boolean Whether the host has user messages waiting for the next turn.
---@field allowDefer? boolean|octavo.Null Whether a handoff may run later; absent means only at `turnEnd`.
---@field autoContinue? boolean|octavo.Null Whether to continue by itself afterwards; absent means `compaction.autoContinue`.

---What the client can do for the daemon.
---@class (exact) octavo.ClientOptions
---@field complete? boolean Answers `llm/complete`.
---@field agent? boolean Answers `agent/abort`.
---@field hooks? string[] Hooks it answers or wants to hear of, for example `sessionBeforeCompact`.

---What the daemon asks of clients.
---@class (exact) octavo.ClientSettings
---@field abortTimeoutMs? integer Longest wait for `agent/abort`.
---@field completeTimeoutMs? integer Longest wait for `llm/complete`.

---One client of the daemon.
---@class octavo.ClientStatus
---@field name string Transport and number, and what the client calls itself.
---@field asking boolean Whether this is the client that asks.
---@field sessions string[] Ids of the sessions it has open.
---@field requests string[] Methods of its requests that are not answered yet.
---@field queuedBytes integer Bytes that wait for it to read.

---Result of `session/close`.
---@class octavo.CloseResult
---@field closed boolean False when other connections still have it open.

---Params of `session/compact`.
---@class (exact) octavo.CompactParams
---@field workDoneToken? string|integer|octavo.Null Token under which `$/progress` reports this request; absent means no reports.
---@field sessionId string Id of an open session.
---@field customInstructions? string|octavo.Null What the summary should look at; only a model's summary can, so it implies one.
---@field strategy? "context-full"|"snapcompact"|"extractive"|octavo.Null Strategy by name; absent means the configured one.
---@field model? string|octavo.Null `provider/id` that summarises; absent means the session's.
---@field hold? boolean Keep the result for preview instead of writing it.
---@field expectedLeafId? string|octavo.Null Refuse with `content-modified` when the leaf is another.

---Payload of `session/compactionEnd`: exactly one for every start, whatever happened.
---@class octavo.CompactionEnd
---@field sessionId string The session.
---@field operationId string Names the run; its start and its end carry the same.
---@field reason "manual"|"threshold"|"overflow"|"incomplete"|"midTurn"|"idle" What set it off.
---@field action "context-full"|"handoff"|"shake"|"snapcompact"|"extractive" What was done or tried last.
---@field result? octavo.CompactionResult The compaction, when there is one.
---@field entryId? string The compaction entry, when one was written.
---@field aborted boolean Whether it was cancelled or aborted.
---@field willRetry boolean Whether the failed turn is tried again.
---@field skipped boolean Whether there was nothing to do.
---@field skipReason? string Why there was nothing to do, in a sentence.
---@field errorMessage? string Why it failed, in a sentence.
---@field tokensBefore? integer Tokens of the context before.
---@field tokensAfter? integer Estimated tokens of the context after.
---@field model? string `provider/id` that was asked last.
---@field durationMs integer Time since the start.

---History before `firstKeptEntryId` is replaced by a summary.
---@class octavo.CompactionEntry
---@field id string Id within the session.
---@field parentId string|octavo.Null Entry before it; null for a root.
---@field timestamp string When it was appended, ISO 8601.
---@field type "compaction" Kind of entry.
---@field summary string What the model reads instead.
---@field shortSummary? string Two or three sentences for lists and dividers.
---@field firstKeptEntryId string First entry that stays verbatim.
---@field tokensBefore integer Tokens of the context before.
---@field details? any Data beside the text, such as `{readFiles, modifiedFiles}`.
---@field preserveData? table<string, any> Data carried on by later compactions: frames, native history.
---@field fromExtension? boolean Whether an extension supplied it.

---What a compaction made; `session/applyCompaction` and `session/getHeldCompaction` answer with it too.
---@class octavo.CompactionResult
---@field operationId string Names this run in events, and in apply or discard.
---@field reason "manual"|"threshold"|"overflow"|"incomplete"|"midTurn"|"idle" What set it off.
---@field action "context-full"|"handoff"|"shake"|"snapcompact"|"extractive" What was done.
---@field held boolean Whether it waits for apply or discard.
---@field entryId? string The compaction entry; absent while held.
---@field leafId? string Leaf afterwards.
---@field firstKeptEntryId string First entry that stays verbatim.
---@field summary string Text that replaces the discarded part.
---@field shortSummary? string Two or three sentences for lists and dividers.
---@field tokensBefore integer Tokens of the context before.
---@field tokensAfter integer Estimated tokens of the context after.
---@field model? string `provider/id` that wrote the summary; absent when none did.
---@field frames integer Frames attached.
---@field fromExtension boolean Whether a hook supplied the result.
---@field usage? octavo.TokenUsage What the model calls cost.
---@field durationMs integer Time from start to commit.
---@field checks octavo.Check[] Every check with its figures, in the order they were made.
---@field notices octavo.Notice[] What a user should know about this run.
---@field details? table<string, any> Details stored with the entry, such as the file lists.

---When and how the context is made smaller.
---@class (exact) octavo.CompactionSettings
---@field enabled? boolean Whether automatic maintenance compacts at all.
---@field strategy? "context-full"|"handoff"|"shake"|"snapcompact"|"extractive"|"off" What automatic maintenance does: a model's summary, a handoff to a new session, moving bulk out, frames, a local summary without a model, or nothing.
---@field model? string|octavo.Null `provider/id` that writes summaries, tried before the session's model.
---@field thresholdPercent? number Percentage of the window above which maintenance starts, 1 to 99; 0 or less means by reserve.
---@field thresholdTokens? number Tokens above which maintenance starts; above 0 it wins over the percentage.
---@field reserveTokens? integer Tokens kept free for the answer; at least 15 % of the window are.
---@field keepRecentTokens? integer Newest tokens that stay verbatim.
---@field autoContinue? boolean Whether the agent is told to go on after a compaction.
---@field midTurnEnabled? boolean Whether long tool loops are maintained between calls.
---@field localFallback? "overflow"|"always"|"never" When the local summary steps in because no model answers: in overflow recovery, always, or never.
---@field remoteEnabled? boolean Whether summaries may be made by a remote endpoint.
---@field remoteEndpoint? string|octavo.Null URL that takes `{systemPrompt, prompt}` and answers `{summary}`, or ends in `/chat/completions`.
---@field remoteTimeoutMs? integer Longest wait for a remote summary; 0 means without limit.
---@field handoffSaveToDisk? boolean Whether automatic handoff documents are saved.
---@field idleEnabled? boolean Whether an idle session is compacted.
---@field idleThresholdTokens? integer Tokens an idle session needs for that.
---@field idleTimeoutSeconds? number Idle time before it; taken as 60 to 3600.
---@field supersedeReads? boolean Whether a newer read of a file blanks the older ones.
---@field dropUseless? boolean Whether results flagged useless are blanked.

---Payload of `session/compactionStart`.
---@class octavo.CompactionStart
---@field sessionId string The session.
---@field operationId string Names the run; its start and its end carry the same.
---@field reason "manual"|"threshold"|"overflow"|"incomplete"|"midTurn"|"idle" What set it off.
---@field action "context-full"|"handoff"|"shake"|"snapcompact"|"extractive" What is about to be done.
---@field tokensBefore? integer Tokens of the context now.

---Summary of compacted history, as built into a context.
---@class octavo.CompactionSummaryMessage
---@field role "compactionSummary" Role.
---@field summary string Text.
---@field tokensBefore integer Tokens of the context before.
---@field shortSummary? string Two or three sentences.
---@field images? octavo.ImageBlock[] Frames of archived history.
---@field providerPayload? table<string, any> Native history for the same provider.
---@field timestamp? integer Milliseconds since 1970, UTC.

---@alias octavo.ContentBlock
---| octavo.TextBlock
---| octavo.ImageBlock
---| octavo.ThinkingBlock
---| octavo.RedactedThinkingBlock
---| octavo.ToolCallBlock

---Switching to a larger window instead of compacting.
---@class (exact) octavo.ContextPromotionSettings
---@field enabled? boolean Whether a model's `contextPromotionTarget` is tried first.

---How full the context is.
---@class octavo.ContextUsage
---@field tokens integer Tokens of the context as it would be sent now.
---@field source "usage"|"estimate" `usage`: anchored on what the provider reported; `estimate`: counted locally.
---@field contextWindow integer Window of the session's model in tokens; 0 when unknown.
---@field threshold integer Tokens above which automatic maintenance starts; 0 when the window is unknown.
---@field percent? number Tokens as a percentage of the window; absent when the window is unknown.
---@field model? string `provider/id` of the model the figures are for.
---@field windowSource "client"|"settings"|"catalogue"|"unknown" Who said how large the window is.
---@field rejected? string Why what the provider last reported is not used; absent when it is, or none is there.
---@field opaqueTokens integer Encrypted reasoning in the estimate, counted by its own rule.
---@field requestBytes integer About how many bytes the next request takes as JSON.
---@field imageBytes integer Share of images in those bytes.
---@field breakdown octavo.Breakdown Local estimate by kind of content; need not add up to `tokens`.

---Params of `session/contextUsage`.
---@class (exact) octavo.ContextUsageParams
---@field sessionId string Id of an open session.
---@field leafId? string|octavo.Null End of the branch; absent means the leaf.
---@field model? string|octavo.Null `provider/id` to measure for; absent means the session's.
---@field pendingMessages? octavo.Message[] Messages about to be appended, counted in.

---Payload of `session/continue`.
---@class octavo.Continue
---@field sessionId string The session.
---@field kind "retry"|"autoContinue" Repeat the failed turn, or go on with a prompt.
---@field prompt? string Developer prompt to go on with.
---@field model? string `provider/id` to call.
---@field dropEntryId? string Failed turn to leave out of the request.

---US dollars of a model call.
---@class octavo.Cost
---@field input? number Uncached input.
---@field output? number Output.
---@field cacheRead? number Input read from the cache.
---@field cacheWrite? number Input written to the cache.
---@field total? number Sum.

---Params of `session/create`.
---@class (exact) octavo.CreateParams
---@field systemPrompt? string|string[]|octavo.Null System prompt, whole or in parts.
---@field tools? table<string, any>[]|octavo.Null Tools offered to the model: `{name, description, parameters}` with a JSON schema.
---@field planFiles? string[]|octavo.Null Paths whose reads are never pruned or shaken, such as the active plan.
---@field cwd string Working directory of the session, absolute.
---@field title? string|octavo.Null Title; counts as chosen by the user.
---@field model? string|octavo.Null `provider/id`, written as the first model change.
---@field thinkingLevel? string|octavo.Null Reasoning effort, written as the first change.
---@field parentSession? string|octavo.Null Id or path of the session this one continues.
---@field path? string|octavo.Null File to create, absolute or relative to `cwd`; absent means its sessions folder.
---@field ephemeral? boolean Keep the session in memory only.

---An extension's own record; no model sees it.
---@class octavo.CustomEntry
---@field id string Id within the session.
---@field parentId string|octavo.Null Entry before it; null for a root.
---@field timestamp string When it was appended, ISO 8601.
---@field type "custom" Kind of entry.
---@field customType string Kind, by the extension's choice.
---@field data? any The record.

---What an extension put into the talk; models read it as developer.
---@class octavo.CustomMessage
---@field role "custom"|"hookMessage" Role; `hookMessage` is the old name.
---@field customType string Kind, by the extension's choice.
---@field content string|(octavo.TextBlock|octavo.ImageBlock)[] A string, or blocks of text and images.
---@field display? boolean Whether a transcript shows it.
---@field details? any Data for the extension.
---@field attribution? "user"|"agent" Who speaks.
---@field timestamp? integer Milliseconds since 1970, UTC.

---What an extension put into the talk.
---@class octavo.CustomMessageEntry
---@field id string Id within the session.
---@field parentId string|octavo.Null Entry before it; null for a root.
---@field timestamp string When it was appended, ISO 8601.
---@field type "custom_message" Kind of entry.
---@field customType string Kind, by the extension's choice.
---@field content string|(octavo.TextBlock|octavo.ImageBlock)[] What the model reads.
---@field display boolean Whether a transcript shows it.
---@field details? any Data beside the text, such as `{readFiles, modifiedFiles}`.
---@field attribution? "user"|"agent" Who speaks.

---One stretch of a file that could not be read as an entry.
---@class octavo.Damage
---@field line integer Line number in the file, from 1.
---@field offset integer First byte of the stretch.
---@field length integer Bytes.
---@field reason string What is wrong with it.

---Params of `session/delete`: exactly one of `sessionId` and `path`.
---@class (exact) octavo.DeleteParams
---@field sessionId? string|octavo.Null Id of the session, open or not.
---@field path? string|octavo.Null Its file.

---Result of `session/delete`.
---@class octavo.DeleteResult
---@field deleted boolean False when there was nothing to delete.
---@field removed string[] Paths that are gone: the file and its artifacts.

---What the host told the model.
---@class octavo.DeveloperMessage
---@field role "developer" Role.
---@field content string|(octavo.TextBlock|octavo.ImageBlock)[] A string, or blocks of text and images.
---@field timestamp? integer Milliseconds since 1970, UTC.
---@field attribution? "user"|"agent" Who speaks.

---Payload of `session/didChange`.
---@class octavo.DidChange
---@field seq integer Its number; numbers count up by one.
---@field kind "appended"|"rewritten"|"leaf"|"title"|"label"|"closed" What happened.
---@field entryIds string[] Entries appended or rewritten.
---@field leafId? string Leaf after it; absent when there is none.
---@field sessionId string The session.
---@field epoch string Numbering `seq` belongs to.
---@field title? string New title, for kind `title`.

---Payload of `workspace/didChangeConfiguration`.
---@class (exact) octavo.DidChangeConfiguration
---@field settings table<string, any> Settings, by dotted key or nested; perhaps under the key `octavo`.

---What was done and what the host does next (protocol.md §5).
---@class octavo.Directive
---@field action "none"|"pruned"|"compacted"|"promoted"|"handoff"|"deferred" What the daemon did.
---@field next "proceed"|"retry"|"autoContinue"|"wait"|"stop" What the host does now.
---@field reason? "manual"|"threshold"|"overflow"|"incomplete"|"midTurn"|"idle" What set the action off.
---@field skipped? string Why nothing was done although something was due.
---@field dropEntryId? string Failed or cut-off turn to leave out of the next request; it stays in the tree.
---@field prompt? string Developer prompt to continue with (`autoContinue`).
---@field model? string `provider/id` to use from now on, after a promotion.
---@field newSessionId? string Session that takes over, after a handoff.
---@field operationId? string The run, as named in events.
---@field delayMs integer Time to wait before doing it.
---@field tokensFreed integer Tokens pruning and shaking made room for.
---@field result? octavo.CompactionResult The compaction, if there was one.
---@field usage octavo.ContextUsage How full the context is now.
---@field notices octavo.Notice[] What a user should know.

---Params of `session/discardCompaction`.
---@class (exact) octavo.DiscardCompactionParams
---@field sessionId string Id of an open session.
---@field operationId string A held result.

---Result of `session/discardCompaction`.
---@class octavo.DiscardCompactionResult
---@field discarded boolean Always true; an unknown operation is an error.

---A result that says nothing beyond having arrived.
---@class octavo.Empty

---@alias octavo.Entry
---| octavo.MessageEntry
---| octavo.ThinkingLevelChangeEntry
---| octavo.ModelChangeEntry
---| octavo.ServiceTierChangeEntry
---| octavo.CompactionEntry
---| octavo.BranchSummaryEntry
---| octavo.CustomEntry
---| octavo.CustomMessageEntry
---| octavo.LabelEntry
---| octavo.TtsrInjectionEntry
---| octavo.McpToolSelectionEntry
---| octavo.SessionInitEntry
---| octavo.ModeChangeEntry

---Result of a request that appended one entry.
---@class octavo.EntryResult
---@field entryId string The new entry.
---@field leafId string Leaf now.
---@field seq integer Number of the change.

---`error.data` on the wire.
---@class octavo.ErrorData
---@field kind octavo.ErrorKind What to switch on.
---@field sessionId? string Session it is about.
---@field entryId? string Entry it is about.
---@field provider? string Provider that failed.
---@field status? integer HTTP status of the provider.
---@field retryAfterMs? integer Time the provider asked to wait.
---@field details? any Further facts: a list of `{loc, msg}` for invalid params, else an object.

---The stable name a client switches on (`error.data.kind`).
---@alias octavo.ErrorKind
---| "parse-error"
---| "invalid-request"
---| "method-not-found"
---| "invalid-params"
---| "internal-error"
---| "not-initialized"
---| "cancelled"
---| "content-modified"
---| "not-available"
---| "session-not-found"
---| "entry-not-found"
---| "session-locked"
---| "session-unreadable"
---| "session-read-only"
---| "storage-failed"
---| "already-compacted"
---| "nothing-to-compact"
---| "compaction-in-progress"
---| "agent-busy"
---| "strategy-unavailable"
---| "check-failed"
---| "operation-not-found"
---| "no-model"
---| "provider-error"
---| "context-overflow"
---| "hook-failed"

---Params of `snapcompact/estimate`.
---@class (exact) octavo.EstimateParams
---@field model? string|octavo.Null `provider/id` that will read the frames.
---@field api? string|octavo.Null API that carries the request, when the model is not registered.
---@field shape? string|octavo.Null Shape by name; absent or `auto` means the model's.
---@field frameSize? integer|octavo.Null Width of a frame in px, instead of the shape's.
---@field layout? "octavo"|"seed"|octavo.Null Normalisation and paging; absent means `snapcompact.layout`.
---@field text string Text to price; any script.

---Result of `snapcompact/estimate`.
---@class octavo.EstimateResult
---@field shape octavo.ShapeInfo Shape the figures are for.
---@field frames integer Frames needed.
---@field chars integer Characters left after normalisation, in UTF-16 units.
---@field cells integer Cells they take.
---@field frameTokens integer Tokens of all frames, by the size they would really have.
---@field textTokens integer Tokens of the same text as text.
---@field savedTokens integer Difference; negative when frames cost more.

---Params of `session/export`.
---@class (exact) octavo.ExportParams
---@field sessionId string Id of an open session.
---@field format "pi"|"anthropic"|"openai-chat"|"openai-responses"|"google"|"markdown"|"html" What to write.
---@field path? string|octavo.Null File to write; absent means to answer with the content.
---@field leafId? string|octavo.Null End of the branch; absent means the current leaf.
---@field transcript? boolean Whole branch with dividers rather than the model's context.
---@field includeImages? boolean False replaces images by a short note.

---Result of `session/export`.
---@class octavo.ExportResult
---@field format "pi"|"anthropic"|"openai-chat"|"openai-responses"|"google"|"markdown"|"html" What was written.
---@field mediaType string Media type of the content.
---@field sizeBytes integer Size of the content as UTF-8.
---@field content? string The content, when no path was given.
---@field path? string The file, when one was given.

---Files the discarded part of a session touched.
---@class octavo.FileLists
---@field readFiles string[] Read and not modified, sorted.
---@field modifiedFiles string[] Written or edited, sorted.

---Files the user mentioned.
---@class octavo.FileMentionMessage
---@field role "fileMention" Role.
---@field files octavo.MentionedFile[] The files.
---@field timestamp? integer Milliseconds since 1970, UTC.

---Files tool calls touched, before they are sorted into read and modified.
---@class octavo.FileOperations
---@field read string[] Paths read, without selectors.
---@field written string[] Paths written.
---@field edited string[] Paths edited.

---Params of `session/fork`.
---@class (exact) octavo.ForkParams
---@field sessionId string Id of an open session.
---@field entryId? string|octavo.Null Keep only the path from the root to this entry; absent means every entry.
---@field ephemeral? boolean Keep the new session in memory only.

---One drawn frame.
---@class octavo.Frame
---@field data string PNG, base64.
---@field mimeType "image/png" Media type of the data.
---@field width integer Pixels.
---@field height integer Pixels; only as high as the rows printed.
---@field cols integer Cells in a row.
---@field rows integer Rows printed.
---@field chars integer Characters drawn, in UTF-16 units.
---@field tokens integer Tokens it is billed.
---@field detail? string Detail hint the provider needs.

---Params of `session/getBranch`.
---@class (exact) octavo.GetBranchParams
---@field limit? integer|octavo.Null Largest number of items in one answer.
---@field cursor? string|octavo.Null `nextCursor` of the previous page; absent means from the start.
---@field sessionId string Id of an open session.
---@field leafId? string|octavo.Null End of the branch; absent means the leaf.
---@field order? "rootFirst"|"newestFirst" Which end the first page is from; a page itself always runs root to leaf.

---Result of `session/getBranch`.
---@class octavo.GetBranchResult
---@field entries octavo.Entry[] The page, root to leaf.
---@field total integer Entries of the whole branch.
---@field leafId? string End of the branch; absent when the session is empty.
---@field nextCursor? string Pass as `cursor` for more; absent on the last page.
---@field seq integer State of the session the answer shows.

---Params of `session/getEntries`: `ids`, `sinceSeq`, or neither for all entries in file order.
---@class (exact) octavo.GetEntriesParams
---@field limit? integer|octavo.Null Largest number of items in one answer.
---@field cursor? string|octavo.Null `nextCursor` of the previous page; absent means from the start.
---@field sessionId string Id of an open session.
---@field ids? string[]|octavo.Null Entries to read.
---@field sinceSeq? integer|octavo.Null Last change the client knows of.
---@field epoch? string|octavo.Null Numbering `sinceSeq` belongs to (`SessionInfo.epoch`).

---Result of `session/getEntries`.
---@class octavo.GetEntriesResult
---@field entries octavo.Entry[] Entries in the order asked for, or in file order.
---@field missing string[] Ids asked for that do not exist.
---@field changes octavo.Change[] With `sinceSeq`: every change after it, in order.
---@field reset boolean With `sinceSeq`: the changes are no longer known; read everything again.
---@field seq integer State of the session the answer shows.
---@field epoch string Numbering `seq` belongs to.
---@field leafId? string Leaf now; absent when the session is empty.
---@field nextCursor? string Pass as `cursor` for more; absent on the last page.

---Params of `session/getHeldCompaction`.
---@class (exact) octavo.GetHeldCompactionParams
---@field sessionId string Id of an open session.
---@field operationId string A held result, as `session/getInfo` lists them.

---Params of `session/getTree`.
---@class (exact) octavo.GetTreeParams
---@field sessionId string Id of an open session.
---@field filter? "default"|"no-tools"|"user-only"|"labeled-only"|"all"|octavo.Null Entries to show; absent means `treeFilterMode`.
---@field maxDepth? integer|octavo.Null Generations of shown nodes below each root (or below `around`).
---@field around? string|octavo.Null Entry the window is centred on; absent means the leaf.
---@field window? integer Largest number of nodes to answer.

---Result of `session/getTree`: a window of the tree in display order.
---@class octavo.GetTreeResult
---@field nodes octavo.TreeNode[] Shown nodes in pre-order; children sorted by timestamp.
---@field hiddenBefore integer Nodes that pass the filter before the first one shown.
---@field hiddenAfter integer Nodes that pass the filter after the last one shown.
---@field matching integer Nodes of the whole tree that pass the filter.
---@field total integer Entries of the whole tree.
---@field leafId? string The leaf itself, shown or not.
---@field filter "default"|"no-tools"|"user-only"|"labeled-only"|"all" Filter that was applied.
---@field seq integer State of the session the answer shows.

---Payload of `session/handoffEnd`: exactly one for every start, whatever happened.
---@class octavo.HandoffEnd
---@field sessionId string The session.
---@field operationId string Names the run; its start and its end carry the same.
---@field reason "manual"|"threshold"|"overflow"|"incomplete"|"midTurn"|"idle" What set it off.
---@field result? octavo.HandoffResult The handoff, when there is one.
---@field aborted boolean Whether it was cancelled or aborted.
---@field errorMessage? string Why it failed, in a sentence.
---@field durationMs integer Time since the start.

---Params of `session/handoff`.
---@class (exact) octavo.HandoffParams
---@field workDoneToken? string|integer|octavo.Null Token under which `$/progress` reports this request; absent means no reports.
---@field sessionId string Id of an open session.
---@field customInstructions? string|octavo.Null What the document should look at.
---@field model? string|octavo.Null `provider/id` that writes it; absent means the session's.
---@field saveToDisk? boolean Also write the document beside the old session.

---Result of `session/handoff`.
---@class octavo.HandoffResult
---@field operationId string Names this run in events.
---@field document? string The document; absent when the model wrote nothing.
---@field savedPath? string Where it was saved.
---@field newSession? octavo.SessionInfo Session that takes over, opened for this client.
---@field model? string `provider/id` that wrote it.

---Payload of `session/handoffStart`.
---@class octavo.HandoffStart
---@field sessionId string The session.
---@field operationId string Names the run; its start and its end carry the same.
---@field reason "manual"|"threshold"|"overflow"|"incomplete"|"midTurn"|"idle" What set it off.

---A compaction a hook made instead of the daemon.
---@class (exact) octavo.HookCompaction
---@field summary string Text that replaces the discarded part.
---@field shortSummary? string|octavo.Null Two or three sentences for lists and dividers.
---@field firstKeptEntryId? string|octavo.Null Absent means the planned one.
---@field tokensBefore? integer|octavo.Null Absent means the measured figure.
---@field details? table<string, any>|octavo.Null Stored with the entry.
---@field preserveData? table<string, any>|octavo.Null Stored with the entry and carried on.

---A compaction that is about to run.
---@class octavo.HookPreparation
---@field firstKeptEntryId string First entry that stays verbatim.
---@field messagesToSummarize octavo.Message[] What the summary replaces.
---@field turnPrefixMessages octavo.Message[] Beginning of a split turn.
---@field recentMessages octavo.Message[] What stays.
---@field isSplitTurn boolean Whether the cut falls inside a turn.
---@field tokensBefore integer Tokens of the context now.
---@field previousSummary? string Summary that is carried on.
---@field fileOps octavo.FileOperations Files touched so far.

---A branch summary a hook made instead of the daemon.
---@class (exact) octavo.HookTreeSummary
---@field summary string Its text.
---@field details? table<string, any>|octavo.Null Stored with the entry.

---Hooks of clients.
---@class (exact) octavo.HooksSettings
---@field timeoutMs? integer Longest wait for a hook's answer.

---Calls to providers.
---@class (exact) octavo.HttpSettings
---@field connectTimeoutMs? integer Longest wait for a connection.
---@field stallTimeoutMs? integer Longest silence of a provider while it answers.

---An image.
---@class octavo.ImageBlock
---@field type "image" Kind of block.
---@field data string Base64, or `blob:sha256:<hex>` on disk.
---@field mimeType string Media type.
---@field detail? string Detail hint for the provider.

---Params of `session/import`: exactly one of `path` and `messages`.
---@class (exact) octavo.ImportParams
---@field workDoneToken? string|integer|octavo.Null Token under which `$/progress` reports this request; absent means no reports.
---@field path? string|octavo.Null Foreign transcript.
---@field messages? table<string, any>[]|octavo.Null A provider's message array instead of a file.
---@field format? string|octavo.Null Name of the format; absent means by looking at the content.
---@field cwd? string|octavo.Null Working directory of the new session; absent means the source's.
---@field targetPath? string|octavo.Null File to create; absent means the sessions folder.
---@field ephemeral? boolean Keep the new session in memory only.

---Result of `session/import`.
---@class octavo.ImportResult
---@field sessions octavo.SessionInfo[] New sessions: the main one first, then those of sub-agents.
---@field format string Format the source was read as.
---@field imported integer Records that became entries.
---@field skipped integer Records that did not.
---@field warnings string[] What could not be carried over, in sentences.

---`initialize.initializationOptions`.
---@class (exact) octavo.InitializationOptions
---@field settings? table<string, any>|octavo.Null Settings, by dotted key or nested.
---@field models? octavo.ModelInfo[]|octavo.Null Models to register.
---@field client? octavo.ClientOptions What the client can do.
---@field token? string|octavo.Null Token of the daemon, needed over TCP and WebSocket.

---One candidate and what was decided.
---@class octavo.InlineItem
---@field target "systemPrompt"|"toolResult" What it is.
---@field toolCallId? string Call whose result it is.
---@field imaged boolean Whether it is drawn.
---@field reason? string Why not: `empty`, `small`, `latest`, `error`, `has-image`, `budget`, `margin`, `no-user`.
---@field frames integer Frames it takes.
---@field textTokens integer Tokens as text.
---@field frameTokens integer Tokens as frames.

---Params of `snapcompact/inline`.
---@class (exact) octavo.InlineParams
---@field workDoneToken? string|integer|octavo.Null Token under which `$/progress` reports this request; absent means no reports.
---@field model? string|octavo.Null `provider/id` that will read the frames.
---@field api? string|octavo.Null API that carries the request, when the model is not registered.
---@field shape? string|octavo.Null Shape by name; absent or `auto` means the model's.
---@field frameSize? integer|octavo.Null Width of a frame in px, instead of the shape's.
---@field layout? "octavo"|"seed"|octavo.Null Normalisation and paging; absent means `snapcompact.layout`.
---@field systemPrompt? string[] System prompt in parts.
---@field messages octavo.Message[] LLM messages of the request about to be sent.
---@field systemPromptMode? "none"|"agents-md"|"all"|octavo.Null What of the system prompt to draw; absent means `snapcompact.systemPrompt`.
---@field toolResults? boolean|octavo.Null Whether to draw large tool results; absent means `snapcompact.toolResults`.
---@field planOnly? boolean Answer with the plan and draw nothing.
---@field sessionId? string|octavo.Null Session whose savings journal records it.

---Result of `snapcompact/inline`.
---@class octavo.InlineResult
---@field items octavo.InlineItem[] Every candidate.
---@field systemPrompt string[] System prompt to send.
---@field messages octavo.Message[] Messages to send; absent parts unchanged.
---@field images integer Frames added.
---@field savedTokens integer Tokens saved against plain text.

---A label for another entry.
---@class octavo.LabelEntry
---@field id string Id within the session.
---@field parentId string|octavo.Null Entry before it; null for a root.
---@field timestamp string When it was appended, ISO 8601.
---@field type "label" Kind of entry.
---@field targetId string Entry that is labelled.
---@field label? string The label; empty or absent removes it.

---Params of `session/list`.
---@class (exact) octavo.ListParams
---@field limit? integer|octavo.Null Largest number of items in one answer.
---@field cursor? string|octavo.Null `nextCursor` of the previous page; absent means from the start.
---@field cwd? string|octavo.Null Only sessions of this working directory.
---@field root? string|octavo.Null Sessions folder to list instead of the configured one.
---@field query? string|octavo.Null Words that must occur in title, id, path or first message.

---Result of `session/list`, newest first.
---@class octavo.ListResult
---@field sessions octavo.SessionSummary[] The page.
---@field nextCursor? string Pass as `cursor` for more; absent on the last page.

---A model of the catalogue.
---@class octavo.ListedModel
---@field provider string Provider id, the part of `provider/id` before the slash.
---@field id string Model id as the provider spells it.
---@field api string Wire it speaks; an unknown one is reachable through the client only.
---@field contextWindow integer Tokens; 0 when unknown.
---@field maxOutput integer Tokens; 0 when unknown.
---@field inputs ("text"|"image")[] Kinds of content it reads.
---@field reasoning boolean Whether it has an effort dial.
---@field baseUrl? string Endpoint instead of the provider's own.
---@field prices? octavo.Prices Absent when unknown.
---@field contextPromotionTarget? string Model with a larger window to switch to (`provider/id`, or an id of this provider).
---@field source "builtin"|"settings"|"registered" Who told the daemon about it.
---@field usable boolean Whether a credential or a delegating client is there for it.

---Params of `llm/complete`.
---@class octavo.LlmCompleteParams
---@field requestId string Names the call in logs and progress.
---@field sessionId? string Session it is for.
---@field purpose string What it is for: `summary`, `turnPrefix`, `shortSummary`, `branchSummary`, `handoff`.
---@field model octavo.ModelInfo Model to call.
---@field systemPrompt string[] System prompt in parts.
---@field messages octavo.Message[] LLM messages.
---@field tools? table<string, any>[] Tools of the live context, for handoff documents.
---@field toolChoice? "auto"|"none" Whether the model may call them.
---@field maxTokens? integer Output limit in tokens.
---@field reasoning? string Effort; absent means none.

---Result of `llm/complete`.
---@class (exact) octavo.LlmCompleteResult
---@field content table<string, any>[] Content blocks: text, thinking, toolCall.
---@field stopReason "stop"|"length"|"toolUse"|"error"|"aborted" Why it stopped.
---@field usage? table<string, any>|octavo.Null Tokens: input, output, cacheRead, cacheWrite.
---@field model? string|octavo.Null `provider/id` that answered, if another.
---@field errorMessage? string|octavo.Null Provider's text, for `error`.
---@field errorStatus? integer|octavo.Null HTTP status, for `error`.
---@field retryAfterMs? integer|octavo.Null Time the provider asked to wait.

---Payload of `window/logMessage`.
---@class octavo.LogMessage
---@field type integer 1 error, 2 warning, 3 info, 4 log, 5 debug.
---@field message string One line for a log.

---Where in a snippet the query was found, in UTF-16 units.
---@class octavo.Match
---@field start integer First unit.
---@field end integer Unit after the last.

---The tools that are offered from here on.
---@class octavo.McpToolSelectionEntry
---@field id string Id within the session.
---@field parentId string|octavo.Null Entry before it; null for a root.
---@field timestamp string When it was appended, ISO 8601.
---@field type "mcp_tool_selection" Kind of entry.
---@field selectedToolNames string[] Names of the tools.

---A file the user mentioned.
---@class octavo.MentionedFile
---@field path string Path.
---@field content string Its text.
---@field lineCount? integer Lines.
---@field byteSize? integer Bytes.
---@field skippedReason? string Why the text is not here.
---@field image? octavo.ImageBlock The file, when it is an image.

---@alias octavo.Message
---| octavo.UserMessage
---| octavo.DeveloperMessage
---| octavo.AssistantMessage
---| octavo.ToolResultMessage
---| octavo.BashExecutionMessage
---| octavo.PythonExecutionMessage
---| octavo.CustomMessage
---| octavo.BranchSummaryMessage
---| octavo.CompactionSummaryMessage
---| octavo.FileMentionMessage

---A message of the talk.
---@class octavo.MessageEntry
---@field id string Id within the session.
---@field parentId string|octavo.Null Entry before it; null for a root.
---@field timestamp string When it was appended, ISO 8601.
---@field type "message" Kind of entry.
---@field message octavo.UserMessage|octavo.DeveloperMessage|octavo.AssistantMessage|octavo.ToolResultMessage|octavo.BashExecutionMessage|octavo.PythonExecutionMessage|octavo.CustomMessage|octavo.BranchSummaryMessage|octavo.CompactionSummaryMessage|octavo.FileMentionMessage The message.

---Params of `daemon/metrics`.
---@class (exact) octavo.MetricsParams

---Result of `daemon/metrics`.
---@class octavo.MetricsResult
---@field text string Counters and gauges in Prometheus's text format, version 0.0.4.

---The mode from here on.
---@class octavo.ModeChangeEntry
---@field id string Id within the session.
---@field parentId string|octavo.Null Entry before it; null for a root.
---@field timestamp string When it was appended, ISO 8601.
---@field type "mode_change" Kind of entry.
---@field mode string Mode; `none` leaves it.
---@field data? any Data of the mode.

---The model from here on.
---@class octavo.ModelChangeEntry
---@field id string Id within the session.
---@field parentId string|octavo.Null Entry before it; null for a root.
---@field timestamp string When it was appended, ISO 8601.
---@field type "model_change" Kind of entry.
---@field model string `provider/id`.
---@field role? string Role it serves; absent means `default`.

---A model: what it takes, what it costs and how it is reached.
---@class (exact) octavo.ModelInfo
---@field provider string Provider id, the part of `provider/id` before the slash.
---@field id string Model id as the provider spells it.
---@field api? string Wire it speaks; an unknown one is reachable through the client only.
---@field contextWindow? integer Tokens; 0 when unknown.
---@field maxOutput? integer Tokens; 0 when unknown.
---@field inputs? ("text"|"image")[] Kinds of content it reads.
---@field reasoning? boolean Whether it has an effort dial.
---@field baseUrl? string|octavo.Null Endpoint instead of the provider's own.
---@field prices? octavo.Prices|octavo.Null Absent when unknown.
---@field contextPromotionTarget? string|octavo.Null Model with a larger window to switch to (`provider/id`, or an id of this provider).

---Params of `model/list`.
---@class (exact) octavo.ModelListParams
---@field provider? string|octavo.Null Only models of this provider.

---Result of `model/list`.
---@class octavo.ModelListResult
---@field models octavo.ListedModel[] The catalogue, sorted by provider and id.

---Payload of `session/modelPromoted`.
---@class octavo.ModelPromoted
---@field sessionId string The session.
---@field from string `provider/id` before.
---@field to string `provider/id` from now on.
---@field reason "manual"|"threshold"|"overflow"|"incomplete"|"midTurn"|"idle" What set it off.

---Params of `model/register`.
---@class (exact) octavo.ModelRegisterParams
---@field models octavo.ModelInfo[] Models to add, or to replace by `provider/id`.

---Result of `model/register`.
---@class octavo.ModelRegisterResult
---@field registered string[] Their `provider/id`.

---Params of `session/move`.
---@class (exact) octavo.MoveParams
---@field sessionId string Id of an open session.
---@field cwd string Working directory the session shall belong to.

---Params of `session/navigateTree`.
---@class (exact) octavo.NavigateTreeParams
---@field workDoneToken? string|integer|octavo.Null Token under which `$/progress` reports this request; absent means no reports.
---@field sessionId string Id of an open session.
---@field targetId string Entry to go to; a user's message goes back into the editor.
---@field summarize? boolean Summarise what is left behind before going.
---@field customInstructions? string|octavo.Null Prompt for that summary instead of the standard one.
---@field label? string|octavo.Null Label to put on the entry arrived at.
---@field expectedLeafId? string|octavo.Null Refuse with `content-modified` when the leaf is another.
---@field includeContext? boolean Answer with the context of the new branch.

---Result of `session/navigateTree`.
---@class octavo.NavigateTreeResult
---@field cancelled boolean True when a hook or an abort kept the session where it was.
---@field aborted? boolean True when it was the summary that was aborted.
---@field editorText? string Text of the user message navigated to, for the editor.
---@field leafId? string Leaf now; absent means the next entry becomes a root.
---@field oldLeafId? string Leaf before.
---@field summaryEntry? octavo.Entry The stored branch summary.
---@field context? octavo.BuildContextResult Context of the new branch, if asked for.
---@field seq integer State of the session afterwards.

---A sentence a user should see.
---@class octavo.Notice
---@field level "info"|"warning"|"error" How much it matters.
---@field message string One sentence, without secrets.
---@field source string Part of the daemon that speaks, for example `compaction` or `hooks`.

---Params of `session/open`: exactly one of `sessionId` and `path`.
---@class (exact) octavo.OpenParams
---@field systemPrompt? string|string[]|octavo.Null System prompt, whole or in parts.
---@field tools? table<string, any>[]|octavo.Null Tools offered to the model: `{name, description, parameters}` with a JSON schema.
---@field planFiles? string[]|octavo.Null Paths whose reads are never pruned or shaken, such as the active plan.
---@field sessionId? string|octavo.Null Id or unambiguous prefix of an id or file name, searched in the sessions folder.
---@field path? string|octavo.Null File to open, absolute or relative to `cwd`.
---@field cwd? string|octavo.Null Directory whose sessions are searched first.
---@field mode? "write"|"read" `write` takes the file's lease; `read` follows it beside another writer.

---Result of `session/open` and `session/reload`.
---@class octavo.OpenResult
---@field sessionId string The session's own id.
---@field path? string Its file; absent for an ephemeral session.
---@field cwd string Working directory the session belongs to.
---@field title? string Title, if one was set.
---@field titleSource? "auto"|"user" Who chose the title.
---@field parentSession? string Id or path of the session it came from.
---@field createdAt? string Header timestamp, ISO 8601.
---@field format string Format of the file: `pi`, or the foreign format it was read from.
---@field version integer Version of the entries as they are held now.
---@field mode "write"|"read" Whether this connection may change it.
---@field entryCount integer Entries in the whole tree.
---@field messageCount integer Entries of type `message` in the whole tree.
---@field leafId? string Where the next entry goes; absent means a new root.
---@field seq integer Number of the last change; `session/didChange` counts on from here.
---@field epoch string Identifies the numbering of `seq`; it changes when the daemon opens the file anew.
---@field model? string `provider/id` in force on the branch.
---@field thinkingLevel? string Reasoning effort in force on the branch.
---@field busy boolean Whether the host said its agent loop is running.
---@field compacting boolean Whether a compaction, handoff or branch summary is running.
---@field heldOperations string[] Operation ids of results held for preview.
---@field sizeBytes? integer Size of the file; absent for an ephemeral session.
---@field artifactsDir? string Folder of the session's side files.
---@field usage octavo.TokenUsage Tokens and cost over the whole tree.
---@field recovered? octavo.Recovered Absent when the file was in perfect order.

---A stretch of the branch and what happens to it.
---@class octavo.PlanPart
---@field entries integer Entries in it.
---@field messages integer Those of them that reach the model.
---@field tokens integer Estimated tokens.
---@field firstEntryId? string First entry; absent when the stretch is empty.
---@field lastEntryId? string Last entry.

---Params of `session/prepareCompaction`.
---@class (exact) octavo.PrepareCompactionParams
---@field sessionId string Id of an open session.
---@field strategy? "context-full"|"snapcompact"|"extractive"|octavo.Null Strategy to plan for; absent means the configured one.
---@field customInstructions? string|octavo.Null Instructions the compaction would be given.
---@field model? string|octavo.Null `provider/id` that would summarise.

---Result of `session/prepareCompaction`: a plan; nothing was written and no model was asked.
---@class octavo.PrepareCompactionResult
---@field possible boolean Whether there is anything to compact.
---@field reason? "already-compacted"|"nothing-to-compact" Error kind `session/compact` would answer with.
---@field tokensBefore integer Tokens of the context now.
---@field contextWindow integer Window of the session's model in tokens; 0 when unknown.
---@field threshold integer Tokens above which automatic maintenance starts.
---@field keepRecentTokens integer `compaction.keepRecentTokens` after adaption to measured usage.
---@field firstKeptEntryId? string First entry that stays verbatim.
---@field splitTurn boolean Whether the cut falls inside a turn.
---@field summarized? octavo.PlanPart What a summary replaces.
---@field turnPrefix? octavo.PlanPart Beginning of the split turn, summarised apart.
---@field kept? octavo.PlanPart What stays.
---@field previousSummary boolean Whether an earlier summary is carried on.
---@field files octavo.FileLists Files the summary would list.
---@field strategies octavo.StrategyPlan[] Every strategy, side by side.
---@field details table<string, any> Figures for a curious reader; names may change.

---US dollars per million tokens.
---@class (exact) octavo.Prices
---@field input? number Uncached input.
---@field output? number Output.
---@field cacheRead? number Input read from the cache.
---@field cacheWrite? number Input written to the cache.

---Payload of `$/progress`.
---@class octavo.Progress
---@field token string|integer `workDoneToken` of the request.
---@field value octavo.ProgressValue Where it stands.

---Value of `$/progress`: LSP's work-done progress with our figures beside it.
---@class octavo.ProgressValue
---@field kind "begin"|"report"|"end" Place in the sequence.
---@field title? string What is being done; with `begin`.
---@field message? string What is being done now.
---@field percentage? integer How much is done, where that is known.
---@field cancellable? boolean Whether `$/cancelRequest` stops it.
---@field phase? string `prepare`, `hooks`, `summary`, `turnPrefix`, `shortSummary`, `frames`, `checks`, `write`.
---@field tokensIn? integer Tokens the model was given so far, estimated.
---@field tokensOut? integer Tokens the model wrote so far, estimated.
---@field framesDone? integer Frames drawn.
---@field framesTotal? integer Frames to draw.

---How one provider is reached.
---@class (exact) octavo.ProviderSettings
---@field api? string|octavo.Null Wire it speaks, when the models do not say.
---@field baseUrl? string|octavo.Null Endpoint instead of the usual one.
---@field apiKey? string|octavo.Null Credential; never logged, never stored.
---@field apiKeyEnv? string|octavo.Null Environment variable that holds it.
---@field apiKeyCommand? string|string[]|octavo.Null Command that prints it, as a shell line or as words.
---@field headers? table<string, string> Headers sent with every call.
---@field accountId? string|octavo.Null Account to bill, where a provider asks.

---Params of `session/prune`.
---@class (exact) octavo.PruneParams
---@field sessionId string Id of an open session.
---@field mode? "outputs"|"stale"|"both" Old tool outputs, superseded and useless results, or both.
---@field dryRun? boolean Count without changing anything.

---Result of `session/prune`.
---@class octavo.PruneResult
---@field prunedCount integer Tool results blanked.
---@field tokensSaved integer Estimated tokens freed.
---@field entryIds string[] Entries rewritten.
---@field dryRun boolean Whether nothing was changed.

---Python the user ran.
---@class octavo.PythonExecutionMessage
---@field role "pythonExecution" Role.
---@field code string Source.
---@field output string What it printed.
---@field exitCode? integer|octavo.Null Exit code, if it ended.
---@field cancelled? boolean Whether it was stopped.
---@field truncated? boolean Whether the output was cut.
---@field meta? table<string, any> Facts about cuts and limits.
---@field excludeFromContext? boolean Whether the model never sees it.
---@field timestamp? integer Milliseconds since 1970, UTC.

---Params of `session/readArtifact`.
---@class (exact) octavo.ReadArtifactParams
---@field sessionId string Id of an open session.
---@field artifactId string Id as it stands in `artifact://<id>`.
---@field offset? integer First byte.
---@field limit? integer Largest number of bytes to answer.

---Result of `session/readArtifact`.
---@class octavo.ReadArtifactResult
---@field artifactId string The artifact.
---@field content string Text from `offset`, cut at a character boundary.
---@field sizeBytes integer Size of the whole artifact.
---@field nextOffset? integer Where to go on; absent at the end.

---What opening had to do beyond reading.
---@class octavo.Recovered
---@field migratedFrom? integer Version on disk, when it was older than the current.
---@field damage octavo.Damage[] Stretches that were skipped.
---@field backupPath? string Where damaged bytes were (or will be) kept.
---@field restoredBackup? string Orphaned backup that was renamed back.
---@field rewritePending boolean Whether the next append rewrites the whole file.

---Reasoning a provider hid.
---@class octavo.RedactedThinkingBlock
---@field type "redactedThinking" Kind of block.
---@field data string Opaque data for the provider.

---Params of `session/reload`.
---@class (exact) octavo.ReloadParams
---@field sessionId string Id of an open session.
---@field force? boolean Read the file again even when it seems unchanged.

---Result of `session/reload`.
---@class octavo.ReloadResult
---@field sessionId string The session's own id.
---@field path? string Its file; absent for an ephemeral session.
---@field cwd string Working directory the session belongs to.
---@field title? string Title, if one was set.
---@field titleSource? "auto"|"user" Who chose the title.
---@field parentSession? string Id or path of the session it came from.
---@field createdAt? string Header timestamp, ISO 8601.
---@field format string Format of the file: `pi`, or the foreign format it was read from.
---@field version integer Version of the entries as they are held now.
---@field mode "write"|"read" Whether this connection may change it.
---@field entryCount integer Entries in the whole tree.
---@field messageCount integer Entries of type `message` in the whole tree.
---@field leafId? string Where the next entry goes; absent means a new root.
---@field seq integer Number of the last change; `session/didChange` counts on from here.
---@field epoch string Identifies the numbering of `seq`; it changes when the daemon opens the file anew.
---@field model? string `provider/id` in force on the branch.
---@field thinkingLevel? string Reasoning effort in force on the branch.
---@field busy boolean Whether the host said its agent loop is running.
---@field compacting boolean Whether a compaction, handoff or branch summary is running.
---@field heldOperations string[] Operation ids of results held for preview.
---@field sizeBytes? integer Size of the file; absent for an ephemeral session.
---@field artifactsDir? string Folder of the session's side files.
---@field usage octavo.TokenUsage Tokens and cost over the whole tree.
---@field recovered? octavo.Recovered Absent when the file was in perfect order.
---@field changed boolean Whether the file differed from what the daemon held.

---Params of `session/rename`.
---@class (exact) octavo.RenameParams
---@field sessionId string Id of an open session.
---@field title string New title; control characters become spaces.
---@field source? "auto"|"user" An `auto` title never replaces a user's.

---Result of `session/rename`.
---@class octavo.RenameResult
---@field applied boolean False when the title was empty or a user's title stood against an automatic one.
---@field title? string Title now in force.

---Params of `snapcompact/render`.
---@class (exact) octavo.RenderParams
---@field workDoneToken? string|integer|octavo.Null Token under which `$/progress` reports this request; absent means no reports.
---@field model? string|octavo.Null `provider/id` that will read the frames.
---@field api? string|octavo.Null API that carries the request, when the model is not registered.
---@field shape? string|octavo.Null Shape by name; absent or `auto` means the model's.
---@field frameSize? integer|octavo.Null Width of a frame in px, instead of the shape's.
---@field layout? "octavo"|"seed"|octavo.Null Normalisation and paging; absent means `snapcompact.layout`.
---@field text string Text to draw; any script.
---@field maxFrames? integer|octavo.Null Stop after so many frames.

---Result of `snapcompact/render`.
---@class octavo.RenderResult
---@field frames octavo.Frame[] Frames in reading order.
---@field shape octavo.ShapeInfo Shape they are drawn in.
---@field droppedChars integer Characters beyond `maxFrames`.
---@field frameTokens integer Tokens of all frames.
---@field textTokens integer Tokens of the same text as text.
---@field guide string Sentences that tell a model how to read them.

---Repeating failed model calls.
---@class (exact) octavo.RetrySettings
---@field enabled? boolean Whether transient failures are tried again.
---@field maxRetries? integer Repetitions with one model.
---@field baseDelayMs? integer First delay; it doubles.
---@field maxDelayMs? integer Longest delay a provider may ask for before the call fails; 0 means any.
---@field modelFallback? boolean Whether another model may take over.
---@field fallbackChains? table<string, string[]> Models by role, in the order they take over.
---@field fallbackRevertPolicy? "cooldown-expiry"|"never" When the first model is used again.

---Params of `session/runIdleCompaction`.
---@class (exact) octavo.RunIdleCompactionParams
---@field workDoneToken? string|integer|octavo.Null Token under which `$/progress` reports this request; absent means no reports.
---@field sessionId string Id of an open session.

---Result of `session/runIdleCompaction`.
---@class octavo.RunIdleCompactionResult
---@field ran boolean Whether anything was done.
---@field reason? string Why not, in a sentence.
---@field result? octavo.CompactionResult The compaction, if there was one.

---One entry that matches.
---@class octavo.SearchHit
---@field entryId string The entry.
---@field type string Its type.
---@field role? string Message role, for entries of type `message`.
---@field timestamp? string Entry timestamp, ISO 8601.
---@field snippet string Text around the first match, at most 300 characters.
---@field matches octavo.Match[] Matches within the snippet.
---@field onBranch boolean Whether it lies on the path from the root to the leaf.
---@field archived boolean Whether compaction took it out of the context.

---Params of `session/search`.
---@class (exact) octavo.SearchParams
---@field limit? integer|octavo.Null Largest number of items in one answer.
---@field cursor? string|octavo.Null `nextCursor` of the previous page; absent means from the start.
---@field sessionId string Id of an open session.
---@field query string Words that must all occur, or a regular expression.
---@field regex? boolean Take `query` as a regular expression.
---@field caseSensitive? boolean Tell capitals from small letters.
---@field scope? "branch"|"tree"|"archived" The branch, every branch, or what compaction took out of the context.

---Result of `session/search`, newest first.
---@class octavo.SearchResult
---@field hits octavo.SearchHit[] The page.
---@field nextCursor? string Pass as `cursor` for more; absent on the last page.

---The connection.
---@class (exact) octavo.ServerSettings
---@field maxMessageBytes? integer Largest frame taken; a larger one is refused and skipped.
---@field maxQueueBytes? integer Most bytes waiting for one client before it is hung up.
---@field idleExitSeconds? integer Time without clients and work after which a shared daemon ends; 0 means never.

---The service tier from here on.
---@class octavo.ServiceTierChangeEntry
---@field id string Id within the session.
---@field parentId string|octavo.Null Entry before it; null for a root.
---@field timestamp string When it was appended, ISO 8601.
---@field type "service_tier_change" Kind of entry.
---@field serviceTier string|octavo.Null Tier; null means the provider's usual one.

---Params of `hook/sessionBeforeCompact`.
---@class octavo.SessionBeforeCompactParams
---@field sessionId string The session.
---@field operationId string The run, as named in events.
---@field reason "manual"|"threshold"|"overflow"|"incomplete"|"midTurn"|"idle" What set it off.
---@field preparation octavo.HookPreparation What is planned.
---@field branchEntries octavo.Entry[] The whole branch.
---@field customInstructions? string The user's instructions.

---Result of `hook/sessionBeforeCompact`; null or nothing set lets the compaction run.
---@class (exact) octavo.SessionBeforeCompactResult
---@field cancel? boolean Do not compact.
---@field compaction? octavo.HookCompaction|octavo.Null Write this instead.

---Params of `hook/sessionBeforeTree`.
---@class octavo.SessionBeforeTreeParams
---@field sessionId string The session.
---@field preparation octavo.TreePreparation What is planned.

---Result of `hook/sessionBeforeTree`; null or nothing set lets the navigation happen.
---@class (exact) octavo.SessionBeforeTreeResult
---@field cancel? boolean Stay where we are.
---@field summary? octavo.HookTreeSummary|octavo.Null Used only when a summary was asked for.

---Payload of `hook/sessionCompact`.
---@class octavo.SessionCompact
---@field sessionId string The session.
---@field operationId string The run, as named in events.
---@field compactionEntry octavo.Entry The entry as it was written.
---@field fromExtension boolean Whether a hook supplied the result.

---Params of `hook/sessionCompacting`.
---@class octavo.SessionCompactingParams
---@field sessionId string The session.
---@field operationId string The run, as named in events.
---@field messages octavo.Message[] What will be summarised, the split turn's beginning included.

---Result of `hook/sessionCompacting`; null or nothing set changes nothing.
---@class (exact) octavo.SessionCompactingResult
---@field context? string[]|octavo.Null Lines for the summariser's additional context.
---@field prompt? string|octavo.Null Prompt instead of the standard one.
---@field preserveData? table<string, any>|octavo.Null Stored with the entry and carried on.

---First line of a session file; not an entry.
---@class octavo.SessionHeader
---@field type "session" Kind of line.
---@field version? integer Version of the entries; absent means 1.
---@field id string Session id.
---@field timestamp string Creation, ISO 8601.
---@field cwd string Working directory.
---@field title? string Title.
---@field titleSource? "auto"|"user" Who chose the title.
---@field parentSession? string Id or path of the session it came from.

---What there is to know about an open session without its entries.
---@class octavo.SessionInfo
---@field sessionId string The session's own id.
---@field path? string Its file; absent for an ephemeral session.
---@field cwd string Working directory the session belongs to.
---@field title? string Title, if one was set.
---@field titleSource? "auto"|"user" Who chose the title.
---@field parentSession? string Id or path of the session it came from.
---@field createdAt? string Header timestamp, ISO 8601.
---@field format string Format of the file: `pi`, or the foreign format it was read from.
---@field version integer Version of the entries as they are held now.
---@field mode "write"|"read" Whether this connection may change it.
---@field entryCount integer Entries in the whole tree.
---@field messageCount integer Entries of type `message` in the whole tree.
---@field leafId? string Where the next entry goes; absent means a new root.
---@field seq integer Number of the last change; `session/didChange` counts on from here.
---@field epoch string Identifies the numbering of `seq`; it changes when the daemon opens the file anew.
---@field model? string `provider/id` in force on the branch.
---@field thinkingLevel? string Reasoning effort in force on the branch.
---@field busy boolean Whether the host said its agent loop is running.
---@field compacting boolean Whether a compaction, handoff or branch summary is running.
---@field heldOperations string[] Operation ids of results held for preview.
---@field sizeBytes? integer Size of the file; absent for an ephemeral session.
---@field artifactsDir? string Folder of the session's side files.
---@field usage octavo.TokenUsage Tokens and cost over the whole tree.

---How a sub-agent's session was started.
---@class octavo.SessionInitEntry
---@field id string Id within the session.
---@field parentId string|octavo.Null Entry before it; null for a root.
---@field timestamp string When it was appended, ISO 8601.
---@field type "session_init" Kind of entry.
---@field systemPrompt string System prompt.
---@field task string Task.
---@field tools string[] Names of the tools.
---@field outputSchema? any JSON schema of the answer.
---@field spawns? string Agents it may start.
---@field readSummarize? boolean Whether its reads are summarised.

---Payload of `session/notice`.
---@class octavo.SessionNotice
---@field sessionId? string The session; absent when it concerns the daemon.
---@field level "info"|"warning"|"error" How much it matters.
---@field message string One sentence, without secrets.
---@field source string Part of the daemon that speaks, for example `compaction` or `hooks`.

---Params of a request about one open session.
---@class (exact) octavo.SessionParams
---@field sessionId string Id of an open session.

---One open session.
---@class octavo.SessionStatus
---@field sessionId string The session.
---@field path? string Its file; absent when it only lives in memory.
---@field title? string Its title.
---@field clients integer Clients that have it open.
---@field busy boolean Whether a host said that its agent loop runs.
---@field work? octavo.WorkStatus What runs on it.

---One line of a session list, from the head and tail of its file.
---@class octavo.SessionSummary
---@field sessionId string The session's own id.
---@field path string Its file.
---@field cwd string Working directory; empty when the header names none.
---@field title? string Title, or the short summary of an early compaction.
---@field parentSession? string Id or path of the session it came from.
---@field createdAt? string Header timestamp, ISO 8601.
---@field modifiedAt string Modification time of the file, ISO 8601.
---@field sizeBytes integer Size of the file.
---@field messageCount integer Messages seen in the head of the file: a lower bound.
---@field firstMessage string Text of the first user message, or `(no messages)`.
---@field status "complete"|"interrupted"|"aborted"|"error"|"pending"|"unknown" How the last message left it.
---@field open boolean Whether this daemon has it open.

---Payload of `hook/sessionTree`.
---@class octavo.SessionTree
---@field sessionId string The session.
---@field newLeafId? string Leaf now: the summary, if one was written.
---@field oldLeafId? string Leaf before.
---@field summaryEntry? octavo.Entry The stored branch summary.
---@field fromExtension? boolean With a summary: whether a hook supplied it.

---`capabilities.experimental.sessionTree` of the `initialize` result.
---@class octavo.SessionTreeCapabilities
---@field protocolVersion integer Version of this protocol.
---@field methods string[] Requests this daemon answers.
---@field notifications string[] Notifications it sends.
---@field strategies string[] Compaction strategies it can run.
---@field formats string[] Foreign transcripts it can import.

---Session files.
---@class (exact) octavo.SessionsSettings
---@field root? string|octavo.Null Folder of session files; unset means the usual.
---@field durability? "fsync"|"os" Acknowledge when on stable storage, or when the operating system has it.

---Params of `session/setBusy`.
---@class (exact) octavo.SetBusyParams
---@field sessionId string Id of an open session.
---@field busy boolean True when the host's agent loop starts, false when it has ended.
---@field turnId? string|octavo.Null Host's name for the turn, for its own correlation.

---Result of `session/setBusy`.
---@class octavo.SetBusyResult
---@field busy boolean State now.
---@field wasBusy boolean State before.

---Params of `session/setHostContext`; absent fields stay as they are.
---@class (exact) octavo.SetHostContextParams
---@field systemPrompt? string|string[]|octavo.Null System prompt, whole or in parts.
---@field tools? table<string, any>[]|octavo.Null Tools offered to the model: `{name, description, parameters}` with a JSON schema.
---@field planFiles? string[]|octavo.Null Paths whose reads are never pruned or shaken, such as the active plan.
---@field sessionId string Id of an open session.

---Result of `session/setHostContext`.
---@class octavo.SetHostContextResult
---@field systemTokens integer Estimated tokens of the system prompt now known.
---@field toolTokens integer Estimated tokens of the tools now known.

---Params of `session/setLabel`.
---@class (exact) octavo.SetLabelParams
---@field sessionId string Id of an open session.
---@field targetId string Entry to label.
---@field label? string|octavo.Null The label; empty or absent removes it.

---Params of `session/setModel`.
---@class (exact) octavo.SetModelParams
---@field sessionId string Id of an open session.
---@field model string `provider/id`.
---@field role? string|octavo.Null Role it serves; absent means the default.

---Params of `session/setThinkingLevel`.
---@class (exact) octavo.SetThinkingLevelParams
---@field sessionId string Id of an open session.
---@field thinkingLevel string|octavo.Null Reasoning effort; null or `off` means none.

---Payload of `$/setTrace`.
---@class (exact) octavo.SetTrace
---@field value "off"|"messages"|"verbose" How much `window/logMessage` says.

---Every setting with its value.
---@class (exact) octavo.Settings
---@field compaction? octavo.CompactionSettings When and how the context shrinks.
---@field branchSummary? octavo.BranchSummarySettings Leaving a branch.
---@field contextPromotion? octavo.ContextPromotionSettings Larger windows.
---@field snapcompact? octavo.SnapcompactSettings How frames are drawn, and for what.
---@field retry? octavo.RetrySettings Repeated model calls.
---@field sessions? octavo.SessionsSettings Where session files are and how safe.
---@field server? octavo.ServerSettings Limits of a connection.
---@field hooks? octavo.HooksSettings Waiting for hooks.
---@field client? octavo.ClientSettings Waiting for clients.
---@field http? octavo.HttpSettings Waiting for providers.
---@field treeFilterMode? "default"|"no-tools"|"user-only"|"labeled-only"|"all" What a tree view shows unless it asks for something else.
---@field language? string Language of summaries, by name or tag; `auto` takes the user's.
---@field modelRoles? table<string, string> `provider/id` by role (`default`, `smol`, `slow`, `vision` …).
---@field providers? table<string, octavo.ProviderSettings> Providers by id.
---@field models? octavo.ModelInfo[] Models to know, as `model/register` takes them.

---Params of `settings/get`.
---@class (exact) octavo.SettingsGetParams
---@field sessionId? string|octavo.Null Session whose own settings count; absent means none.
---@field keys? string[]|octavo.Null Dotted keys or groups; absent means all.

---Result of `settings/get` and `settings/update`.
---@class octavo.SettingsResult
---@field settings table<string, any> Values in force by dotted key.
---@field sources table<string, string> Layer of each value that is no default: `file`, `environment`, `initialize`, `configuration` or `session`.

---Params of `settings/update`.
---@class (exact) octavo.SettingsUpdateParams
---@field settings table<string, any> New values, by dotted key or nested; null takes one back.
---@field scope? "daemon"|"session" Whether it holds for every session without a value of its own, or for one session.
---@field sessionId? string|octavo.Null The session, for scope `session`.

---Params of `session/shake`.
---@class (exact) octavo.ShakeParams
---@field sessionId string Id of an open session.
---@field mode? "elide"|"images" Move bulky text into an artifact, or remove images.
---@field aggressive? boolean Manual limits; false uses those of the automatic run.
---@field protectTokens? integer|octavo.Null Newest tokens left alone, instead of the preset's.
---@field minSavings? integer|octavo.Null Smallest worthwhile saving, instead of the preset's.
---@field dryRun? boolean Count without changing anything.

---Result of `session/shake`.
---@class octavo.ShakeResult
---@field mode "elide"|"images" What was done.
---@field toolResultsDropped integer Tool results replaced by a placeholder.
---@field blocksDropped integer Fenced or tagged blocks replaced by a placeholder.
---@field imagesDropped integer Images removed.
---@field tokensFreed integer Estimated tokens freed.
---@field artifactId? string Where the text went (`session/readArtifact`).
---@field entryIds string[] Entries rewritten.
---@field dryRun boolean Whether nothing was changed.

---One way to draw frames, with its price for the model asked for.
---@class octavo.ShapeInfo
---@field name string Name, as `snapcompact.shape` takes it.
---@field font string Bitmap font.
---@field cellWidth integer Advance of a cell in px.
---@field cellHeight integer Pitch of a cell in px.
---@field variant "bw"|"sent" Black ink, or hues by sentence.
---@field stopwordDim boolean Whether function words are gray.
---@field columns integer Columns of text.
---@field lineRepeat integer How often a line is printed.
---@field frameSize integer Width of a frame in px.
---@field cols integer Cells in a row (of one column).
---@field rows integer Rows of text in a full frame.
---@field capacity integer Cells in a full frame.
---@field frameTokens integer Tokens a full frame is billed.
---@field detail? string Detail hint the provider needs.

---Params of `snapcompact/shapes`.
---@class (exact) octavo.ShapesParams
---@field model? string|octavo.Null `provider/id` to price for.
---@field api? string|octavo.Null API that carries the request, when the model is not registered.

---Result of `snapcompact/shapes`.
---@class octavo.ShapesResult
---@field shapes octavo.ShapeInfo[] Every shape, in the order settings list them.
---@field resolved octavo.ShapeInfo The one `auto` means for the model asked for.
---@field family "anthropic"|"openai"|"google"|"unknown" Who bills.
---@field frameBudget integer Most frames of an archive the provider gets.

---Frames.
---@class (exact) octavo.SnapcompactSettings
---@field shape? "auto"|"8x8r-bw"|"8x8r-sent"|"8x8u-bw"|"8x8u-sent"|"6x6u-bw"|"6x6u-sent"|"5x8-bw"|"5x8-sent"|"6x12-dim"|"8x13-bw"|"8on16-bw"|"8on22-bw"|"11on16-bw"|"doc-8on16-bw"|"doc-8on16-sent"|"doc-8on16-sent-dim" Shape of frames; `auto` takes the one the model reads best.
---@field layout? "octavo"|"seed" Normalisation and paging that keep indentation and scripts, or the seed's.
---@field systemPrompt? "none"|"agents-md"|"all" What of the system prompt `snapcompact/inline` draws.
---@field toolResults? boolean Whether `snapcompact/inline` draws large tool results.

---Params of `daemon/status`.
---@class (exact) octavo.StatusParams

---Result of `daemon/status`.
---@class octavo.StatusResult
---@field pid integer Process of the daemon.
---@field version string Version of octavo.
---@field protocolVersion integer Version of the protocol.
---@field uptimeMs integer Time since it started.
---@field memoryBytes? integer Resident memory, where the system tells.
---@field clients octavo.ClientStatus[] Who is connected, in the order they came.
---@field sessions octavo.SessionStatus[] What is open.

---What one strategy would cost and bring.
---@class octavo.StrategyPlan
---@field strategy "context-full"|"snapcompact"|"extractive" The strategy.
---@field chosen boolean Whether `session/compact` with the same params would take it.
---@field available boolean Whether it can run now.
---@field unavailableReason? string Why not, in a sentence.
---@field model? string `provider/id` that would be called.
---@field modelCalls integer Calls to a model it needs.
---@field inputTokens integer Estimated tokens those calls read.
---@field outputTokens integer Most tokens those calls may write.
---@field frames integer Frames it would attach.
---@field tokensAfter integer Estimated tokens of the context afterwards.
---@field fits boolean Whether that is below the threshold.
---@field cost? number Estimated US dollars of the calls; absent without prices.
---@field nextRequestCost? number Estimated US dollars of the next request, whose prefix the cache does not know.

---Text.
---@class octavo.TextBlock
---@field type "text" Kind of block.
---@field text string Text.
---@field textSignature? string Provider's id or signature of the text.

---Reasoning a model showed.
---@class octavo.ThinkingBlock
---@field type "thinking" Kind of block.
---@field thinking string Text.
---@field thinkingSignature? string Provider's signature; kept whole or cleared.

---The reasoning effort from here on.
---@class octavo.ThinkingLevelChangeEntry
---@field id string Id within the session.
---@field parentId string|octavo.Null Entry before it; null for a root.
---@field timestamp string When it was appended, ISO 8601.
---@field type "thinking_level_change" Kind of entry.
---@field thinkingLevel string|octavo.Null Effort; null means off.

---Params of `maintenance/tick`.
---@class (exact) octavo.TickParams
---@field idleForMs? integer|octavo.Null Idle time a session needs, instead of `compaction.idleTimeoutSeconds`.

---Result of `maintenance/tick`.
---@class octavo.TickResult
---@field sessions octavo.TickedSession[] Every open session.

---What a tick did with one session.
---@class octavo.TickedSession
---@field sessionId string The session.
---@field ran boolean Whether anything was done.
---@field reason? string Why not, in a sentence.
---@field tokensBefore? integer Tokens before, if it ran.
---@field tokensAfter? integer Tokens after, if it ran.

---Tokens and money model calls have cost.
---@class octavo.TokenUsage
---@field input integer Uncached input tokens.
---@field output integer Output tokens, reasoning included.
---@field cacheRead integer Input tokens read from the provider's cache.
---@field cacheWrite integer Input tokens written to the provider's cache.
---@field premiumRequests number Premium requests, where a provider bills by request.
---@field cost number US dollars, as far as prices were known.

---A call of a tool.
---@class octavo.ToolCallBlock
---@field type "toolCall" Kind of block.
---@field id string Id its result names.
---@field name string Tool.
---@field arguments table<string, any> Arguments by name.
---@field customWireName? string Name on the provider's wire, if another.

---What a tool answered.
---@class octavo.ToolResultMessage
---@field role "toolResult" Role.
---@field toolCallId string Call it answers.
---@field toolName string Tool.
---@field content (octavo.TextBlock|octavo.ImageBlock)[] What the model reads.
---@field isError? boolean Whether the tool failed.
---@field details? any Data for the host; never sent to a model.
---@field useless? boolean Whether nothing would be lost without it.
---@field prunedAt? integer When its content was blanked, in ms since 1970.
---@field timestamp? integer Milliseconds since 1970, UTC.
---@field attribution? "user"|"agent" Who speaks.

---One shown entry; its children follow it, deeper ones first (pre-order).
---@class octavo.TreeNode
---@field id string Entry id.
---@field parentId? string Nearest shown ancestor; absent for a root.
---@field depth integer Forks between this node and its root: the indentation a view needs.
---@field type string Entry type.
---@field role? string Message role, for entries of type `message`.
---@field timestamp? string Entry timestamp, ISO 8601.
---@field text string One line that stands for the entry, at most 200 characters.
---@field label? string Label in force.
---@field toolNames string[] Tools an assistant message calls.
---@field isError boolean Whether it is a failed tool result or a failed turn.
---@field onBranch boolean Whether it lies on the path from the root to the leaf.
---@field isLeaf boolean Whether it is the leaf, or the nearest shown ancestor of it.
---@field childCount integer Children that pass the filter, in this answer or not.
---@field hiddenChildren integer Those of them that this answer leaves out.

---A navigation that is about to happen.
---@class octavo.TreePreparation
---@field targetId string Entry to go to.
---@field oldLeafId? string Leaf now.
---@field commonAncestorId? string Where the two branches part.
---@field entriesToSummarize octavo.Entry[] What is left behind, oldest first.
---@field userWantsSummary boolean Whether a summary was asked for.

---Rules that were injected into the talk.
---@class octavo.TtsrInjectionEntry
---@field id string Id within the session.
---@field parentId string|octavo.Null Entry before it; null for a root.
---@field timestamp string When it was appended, ISO 8601.
---@field type "ttsr_injection" Kind of entry.
---@field injectedRules string[] Names of the rules.

---Params of `session/undoCompaction`.
---@class (exact) octavo.UndoCompactionParams
---@field sessionId string Id of an open session.
---@field expectedLeafId? string|octavo.Null Refuse with `content-modified` when the leaf is another.

---Result of `session/undoCompaction`: the entry stays in the tree, on its own branch.
---@class octavo.UndoCompactionResult
---@field compactionEntryId string The compaction left behind.
---@field oldLeafId string Leaf before; entries after the compaction stay on that branch.
---@field leafId? string Leaf now: the entry before the compaction.
---@field tokens integer Tokens of the context now.
---@field seq integer Number of the change.

---Tokens of a model call, as the provider reported them.
---@class octavo.Usage
---@field input? integer Uncached input.
---@field output? integer Output, reasoning included.
---@field cacheRead? integer Input read from the cache.
---@field cacheWrite? integer Input written to the cache.
---@field totalTokens? integer Sum; wins over the parts when not zero.
---@field cost? octavo.Cost US dollars.

---What the user said.
---@class octavo.UserMessage
---@field role "user" Role.
---@field content string|(octavo.TextBlock|octavo.ImageBlock)[] A string, or blocks of text and images.
---@field timestamp? integer Milliseconds since 1970, UTC.
---@field attribution? "user"|"agent" Who speaks.
---@field steering? boolean Whether it was typed while the agent was running.

---Long work on a session.
---@class octavo.WorkStatus
---@field operationId string Names the run in events.
---@field kind "compaction"|"handoff"|"branchSummary"|"shake" What it is.
---@field runningMs integer Time since it began.

---Name of a request a client sends.
---@alias octavo.Request
---| "session/create"
---| "session/open"
---| "session/list"
---| "session/close"
---| "session/delete"
---| "session/rename"
---| "session/move"
---| "session/fork"
---| "session/import"
---| "session/export"
---| "session/append"
---| "session/setModel"
---| "session/setThinkingLevel"
---| "session/setLabel"
---| "session/setBusy"
---| "session/setHostContext"
---| "session/readArtifact"
---| "session/reload"
---| "session/getInfo"
---| "session/getTree"
---| "session/getBranch"
---| "session/getEntries"
---| "session/search"
---| "session/navigateTree"
---| "session/abortBranchSummary"
---| "session/buildContext"
---| "session/contextUsage"
---| "session/prepareCompaction"
---| "session/compact"
---| "session/getHeldCompaction"
---| "session/applyCompaction"
---| "session/discardCompaction"
---| "session/abortCompaction"
---| "session/undoCompaction"
---| "session/checkMaintenance"
---| "session/runIdleCompaction"
---| "session/prune"
---| "session/shake"
---| "session/handoff"
---| "maintenance/tick"
---| "snapcompact/shapes"
---| "snapcompact/estimate"
---| "snapcompact/render"
---| "snapcompact/inline"
---| "model/list"
---| "model/register"
---| "settings/get"
---| "settings/update"
---| "daemon/status"
---| "daemon/metrics"

---Name of a request the daemon sends.
---@alias octavo.ServerRequest
---| "llm/complete"
---| "agent/abort"
---| "hook/sessionBeforeCompact"
---| "hook/sessionCompacting"
---| "hook/sessionBeforeTree"

---Name of a notification the daemon sends.
---@alias octavo.Notification
---| "session/compactionStart"
---| "session/compactionEnd"
---| "session/branchSummaryStart"
---| "session/branchSummaryEnd"
---| "session/handoffStart"
---| "session/handoffEnd"
---| "session/didChange"
---| "session/continue"
---| "session/modelPromoted"
---| "session/notice"
---| "$/progress"
---| "window/logMessage"
---| "hook/sessionCompact"
---| "hook/sessionTree"
