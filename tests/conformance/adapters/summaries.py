"""Adapters for what summaries are made of: file operations, serialisation, requests, branch summaries, handoff."""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import anyio
import pytest

from conformance.support import Vector, adapter, fixture_entries, other_vector, referred
from octavo.compaction import file_operations as files
from octavo.compaction.branch_summary import BranchOptions, BranchSummary, prepare_branch_entries, summarize_branch
from octavo.compaction.cut_point import CutRules
from octavo.compaction.handoff import HandoffOptions, generate_handoff
from octavo.compaction.native import NativeCompactor, native_history, without_native_history
from octavo.compaction.neutralise import boundaries
from octavo.compaction.prepare import Preparation, prepare_compaction
from octavo.compaction.remote import RemoteSummarizer, request_remote_compaction
from octavo.compaction.requests import SummaryRules, output_budgets, reasoning_effort
from octavo.compaction.serialize import serialize_conversation, serialize_for_summary, text_of
from octavo.compaction.summarize import SummaryOptions, summarize
from octavo.js_text import utf16_length
from octavo.providers.http import Answer
from octavo.sessions.llm_messages import to_llm_messages
from octavo.templates import render
from octavo_protocol.completion import CompletionRequest, CompletionResult, Model, OnProgress
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.settings import CompactionSettings


def _split(path: str) -> dict[str, Any]:
    base, selector = files.split_read_selector(path)
    return {"path": base} if selector is None else {"path": base, "sel": selector}


@adapter("splitReadSelector / stripReadSelector / readToolSupersedeKey")
def read_selectors(vector: Vector) -> None:
    ours = []
    for path in vector.input:
        key = files.read_supersede_key(path)
        stripped = files.strip_read_selector(path)
        # The vectors show NUL as its escape, written out.
        ours.append({"split": _split(path), "stripped": stripped, "key": key and key.replace("\0", "\\u0000")})
    assert ours == vector.expected


@adapter("formatFileOperations")
def format_files(vector: Vector) -> None:
    given = vector.input
    lists = given.get("readFiles") or [], given.get("modifiedFiles") or []
    assert files.format_files(*lists, given.get("readSet") or ()) == vector.expected


@adapter("formatGroupedPaths")
def grouped_paths(vector: Vector) -> None:
    assert [files.format_grouped_paths(paths) for paths in vector.input] == vector.expected


@adapter("upsertFileOperations")
def upsert(vector: Vector) -> None:
    for case, expected in zip(vector.input, vector.expected, strict=True):
        lists = case.get("readFiles") or [], case.get("modifiedFiles") or []
        assert files.upsert_files(case["summary"], *lists, case.get("readSet") or ()) == expected, case


@adapter("extractFileOpsFromMessage + computeFileLists")
def extract_operations(vector: Vector) -> None:
    ops = files.FileOps()
    for message in vector.input["messages"]:
        files.collect_from_message(message, ops)
    sets = {"read": sorted(ops.read), "written": sorted(ops.written), "edited": sorted(ops.edited)}
    expected = {**vector.expected, **{key: sorted(vector.expected[key]) for key in sets}}
    assert {**sets, **files.file_lists(ops, files.FileRules.SEED).to_details()} == expected


@adapter("extractFileOpsFromMessage+computeFileLists+formatFileOperations")
def file_lists_of_a_session(vector: Vector) -> None:
    ops = files.FileOps()
    for entry in fixture_entries(vector.input["fixture"]):
        if entry["type"] == "message":
            files.collect_from_message(entry["message"], ops)
    lists = files.file_lists(ops, files.FileRules.SEED)
    rendered = files.format_files(lists.read_files, lists.modified_files, ops.read)
    assert {**lists.to_details(), "rendered": rendered} == vector.expected


@adapter("computeFileLists + formatFileOperations")
def later_file_lists(vector: Vector) -> None:
    # Adopted: scheme:// paths are no files. Not adopted: the wording of the line that counts what was left out.
    ops = files.FileOps(read={"src/a.ts", "https://example.com/a"}, edited={"src/b.ts", "local://plan.md"})
    lists = files.file_lists(ops)
    rendered = files.format_files(lists.read_files, lists.modified_files)
    assert {**lists.to_details(), "rendered": rendered} == {
        key: vector.expected[key] for key in ("readFiles", "modifiedFiles", "rendered")
    }
    capped = files.format_files([f"f{i:02}" for i in range(22)], []).splitlines()[-3:]
    assert capped[::2] == vector.expected["capped"][::2]
    assert capped[1] == "… (2 more files omitted)"


@adapter("snapcompact:file_operations")
def frame_file_lists(vector: Vector) -> None:
    for case in vector.data["vectors"]:
        ops = files.FileOps(set(case["read"]), set(case["written"]), set(case["edited"]))
        for rules, generation in ((files.FileRules.SEED, "seed"), (files.FileRules.OCTAVO, "v18")):
            lists = files.file_lists(ops, rules)
            assert lists.to_details() == case[f"{generation}_lists"], case["name"]
        lists = files.file_lists(ops, files.FileRules.SEED)
        ours = files.upsert_files("SUMMARY", lists.read_files, lists.modified_files, ops.read)
        assert ours == case["seed_summary"], case["name"]


def _dialect(name: str) -> str | None:
    return None if name in {"legacy", "text"} else name


def _result_message(text: str) -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": "1", "toolName": "bash", "content": [{"type": "text", "text": text}]}


def _call_message(command: str) -> dict[str, Any]:
    call = {"type": "toolCall", "id": "1", "name": "bash", "arguments": {"c": command}}
    return {"role": "assistant", "content": [call]}


def _long_results() -> list[dict[str, Any]]:
    # The conversation that vector ser-03 describes in words.
    return [
        {"role": "user", "content": "q"},
        _call_message("x"),
        _result_message("a" * 2000 + "b" * 345),
        _call_message("y"),
        _result_message("a" * 2000),
    ]


@adapter("serializeConversation", "serializeConversation (no dialect)", "serializeConversation (dialect anthropic)")
def serialize(vector: Vector) -> None:
    given, expected = vector.input, vector.expected
    named = re.search(r"\(dialect (\w+)\)", vector.function)
    dialect = _dialect(given.get("dialect") or (named[1] if named else "legacy"))
    if "fixture" in given:
        count = int(given["entries"].split()[1])
        entries = fixture_entries(given["fixture"])[:count]
        messages = to_llm_messages([entry["message"] for entry in entries if entry["type"] == "message"])
    else:
        messages = referred(given.get("messages", _long_results()), "messages")
    if isinstance(expected, str):
        assert serialize_conversation(messages, dialect) == expected
    elif "sha256" in expected:
        ours = serialize_conversation(messages, dialect)
        assert utf16_length(ours) == expected["length"]
        assert ours.startswith(expected["head"])
        assert hashlib.sha256(ours.encode()).hexdigest() == expected["sha256"]
    else:
        for name, wanted in expected.items():
            ours = serialize_conversation(messages, _dialect(name))
            assert ours.replace("a" * 2000, "<2000 x a>") == wanted.replace("a" * 2000, "<2000 x a>"), name


@adapter("serializeConversationForSummary")
def serialize_for_a_summary(vector: Vector) -> None:
    for dialect, expected in vector.expected.items():
        if dialect == "harmony":
            # The vector gives no input for this one; it can be read back from its output.
            messages = [{"role": "user", "content": "<|end|> x"}]
            assert boundaries(serialize_conversation(messages, dialect)) == expected
            continue
        assert serialize_for_summary(vector.input["messages"], _dialect(dialect)) == expected, dialect


# -- what is asked of a model ------------------------------------------------------------------------------------------

MASKED = (
    "summarization-system",
    "compaction-summary",
    "compaction-update-summary",
    "compaction-turn-prefix",
    "compaction-short-summary",
    "branch-summary",
    "handoff-document",
)
DEFAULT_KEEP = 121
"""What the generator kept where a vector does not say: enough for its last long answer and the question before it."""


def _mask(text: str) -> str:
    """Put the vectors' placeholders where our prompts stand."""
    for name in MASKED:
        text = text.replace(render(name), f"{{{{prompt:{name}}}}}")
    return text


def _model(name: str = "claude-sonnet-4-5") -> Model:
    bare = name.split(" ", maxsplit=1)[0]
    provider, _, model_id = bare.rpartition("/")
    return Model(provider or "anthropic", model_id, api="anthropic-messages", context_window=200_000, reasoning=True)


class Scripted:
    """A completion that answers from a list and remembers what it was asked."""

    def __init__(self, *answers: str | CompletionResult) -> None:
        self.answers = list(answers)
        self.requests: list[CompletionRequest] = []

    async def complete(self, request: CompletionRequest, on_progress: OnProgress | None = None) -> CompletionResult:
        self.requests.append(request)
        answer = self.answers[len(self.requests) - 1]
        if isinstance(answer, CompletionResult):
            return answer
        return CompletionResult(({"type": "text", "text": answer},), "stop")

    def calls(self) -> list[dict[str, Any]]:
        """The requests as the vectors show them; who initiated a call is not part of ours."""
        return [
            {
                "model": request.model.id,
                "systemPrompt": [_mask(part) for part in request.system_prompt],
                "messages": [self._message(message) for message in request.messages],
                "toolsCount": len(request.tools) or None,
                "maxTokens": request.max_tokens,
                "reasoning": request.reasoning,
                "toolChoice": request.tool_choice,
            }
            for request in self.requests
        ]

    def _message(self, message: dict[str, Any]) -> dict[str, Any]:
        shown = {"role": message["role"], "text": _mask(text_of(message["content"]))}
        return shown | ({"attribution": message["attribution"]} if "attribution" in message else {})


class RemoteScript:
    """A network that answers every POST from a list and remembers what it was sent."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[dict[str, Any]] = []

    async def __call__(self, url: str, body: dict[str, Any], headers: Mapping[str, str]) -> Answer:
        self.requests.append({"url": url, "method": "POST", "headers": dict(headers), "body": body})
        answer = self.answers[len(self.requests) - 1]
        if isinstance(answer, int):
            return Answer(answer, "", {}, b"")
        return Answer(200, "OK", {"content-type": "application/json"}, json.dumps(answer).encode())


def _without(calls: list[dict[str, Any]], *keys: str) -> list[dict[str, Any]]:
    return [{key: value for key, value in call.items() if key not in keys} for call in calls]


def _replies(vector: Vector) -> Iterator[str]:
    """The scripted replies of the generator: numbered, and the numbers run on from vector to vector."""
    first = min((int(found) for found in re.findall(r"REPLY(\d+)", json.dumps(vector.expected))), default=1)
    return (f"REPLY{number}\nline2" for number in range(first, first + 100))


def _context_and_focus(prompt: str) -> tuple[list[str], str | None]:
    """What the generator passed and the vector shows only in its prompts."""
    context = re.search(r"<additional-context>\n(.*?)\n</additional-context>", prompt, re.DOTALL)
    focus = re.search(r"Additional focus: (.*)\Z", prompt, re.DOTALL)
    return [line[2:] for line in context[1].split("\n")] if context else [], focus[1] if focus else None


def _preparation(vector: Vector) -> Preparation:
    given = vector.input
    entries = referred(given["entries"], "entries")
    keep = {"keepRecentTokens": given.get("keepRecentTokens", DEFAULT_KEEP)}
    settings = CompactionSettings.model_validate({**keep, **given.get("settings", {})})
    preparation = prepare_compaction(entries, settings, CutRules.SEED)
    assert preparation is not None
    return preparation


@adapter("compact")
def compact(vector: Vector) -> None:
    if isinstance(vector.expected, list):
        _request_table(vector)
    elif "prompts" in vector.expected:
        _compact_with_endpoint(vector)
    else:
        _compact_with_model(vector)


def _request_table(vector: Vector) -> None:
    for row in vector.expected:
        level = row.get("thinkingLevel", row.get("level"))
        model = _model(row["model"]) if isinstance(row.get("model"), str) else _model()
        if "reasoning" in row:
            efforts = row["reasoning"] if isinstance(row["reasoning"], list) else [row["reasoning"]]
            if level != "off" and not any(efforts):
                model = replace(model, reasoning=False)  # a model without an effort dial, which the row only names
            assert set(efforts) == {reasoning_effort(level, model)}, row
        if "maxTokens" in row:
            reserve = row.get("reserveTokens", CompactionSettings().reserve_tokens)
            budgets = output_budgets(reserve, model, SummaryRules.SEED)
            assert [budgets.history, budgets.turn_prefix, budgets.short] == row["maxTokens"]
            ours = output_budgets(reserve, model, SummaryRules.OCTAVO)
            assert [ours.history, ours.turn_prefix, ours.short] == [min(tokens, 16384) for tokens in row["maxTokens"]]
        assert "reasoning" in row or "maxTokens" in row, row


def _options(vector: Vector, prompts: list[str]) -> SummaryOptions:
    """What the generator passed to compact(), from the vector's input or else from what its prompts show."""
    context, focus = _context_and_focus(prompts[0]) if prompts else ([], None)
    given = vector.input
    return SummaryOptions(
        custom_instructions=given.get("customInstructions", focus),
        extra_context=given.get("extraContext", context),
        prompt_override=given.get("promptOverride"),
        thinking_level=given.get("thinkingLevel"),
        rules=SummaryRules.SEED,
    )


def _compact_with_endpoint(vector: Vector) -> None:
    prompts, result = vector.expected["prompts"], vector.expected["result"]
    shown = [prompt if isinstance(prompt, str) else prompt["prompt"] for prompt in prompts]
    # The short summary comes last and is asked for with the summary before it.
    found = re.search(r"<previous-summary>\n(.*)\n</previous-summary>", shown[-1], re.DOTALL)
    assert found
    short = "I did it." if isinstance(result, str) else result["shortSummary"]
    network = RemoteScript(*[{"summary": found[1]}] * (len(prompts) - 1), {"summary": short})
    endpoint = RemoteSummarizer(network, "https://r/x")
    model, options = _model(vector.input.get("model", "unknown-model")), _options(vector, shown)
    outcome = anyio.run(
        lambda: summarize(_preparation(vector), Scripted(), model, options, remote=endpoint), backend="asyncio"
    )
    for request, prompt in zip(network.requests, prompts, strict=True):
        body = {key: _mask(value) for key, value in request["body"].items()}
        if isinstance(prompt, str):
            assert body["prompt"].endswith(prompt)
        else:
            assert body == prompt
    assert (outcome.summary if isinstance(result, str) else outcome.to_wire()) == result


def _compact_with_model(vector: Vector) -> None:
    calls, result = vector.expected.get("calls"), vector.expected["result"]
    shown = [call["messages"][0]["text"] for call in calls] if isinstance(calls, list) else []
    script = Scripted(*islice(_replies(vector), len(shown) or 3))
    model, options = _model(vector.input.get("model", "claude-sonnet-4-5")), _options(vector, shown)
    outcome = anyio.run(lambda: summarize(_preparation(vector), script, model, options), backend="asyncio")
    if isinstance(calls, list):
        assert script.calls() == _without(calls, "initiatorOverride")
    elif calls is not None:
        assert len(script.requests) == calls
    made = {"summary": outcome.summary, **outcome.to_wire()}
    assert (made["summary"] if isinstance(result, str) else {key: made[key] for key in made if key in result}) == result


@adapter("generateHandoff")
def handoff(vector: Vector) -> None:
    replies = _replies(vector)
    for case in vector.expected:
        (call,) = case["calls"]
        script = Scripted(next(replies))
        shown = call["messages"][-1]["text"]
        contained = re.fullmatch(r'contains "(.*)": true', shown)
        options = HandoffOptions(
            system_prompt=call["systemPrompt"],
            tools=[{"name": "tool"}] * (call["toolsCount"] or 0),
            custom_instructions=contained[1].removeprefix("Additional focus: ") if contained else None,
            rules=SummaryRules.SEED,
        )
        made = anyio.run(lambda: generate_handoff(vector.input["messages"], script, _model(), options))  # noqa: B023
        ours = script.calls()[0]
        if contained:
            assert contained[1] in ours["messages"][-1]["text"]
            ours["messages"][-1]["text"] = shown
        # Whose words an assistant's are is not in question; the vector shows none either.
        assert ours == _without([call], "initiatorOverride")[0]
        assert made.document == case["result"]


def _branch_result(made: BranchSummary) -> dict[str, Any]:
    return {"summary": made.summary, **made.details}


@adapter("generateBranchSummary")
def branch_summary(vector: Vector) -> None:
    entries, expected = vector.input["entries"], vector.expected
    replies = _replies(vector)

    def run(
        given: list[dict[str, Any]], prompt: str | None = None, rules: SummaryRules = SummaryRules.SEED
    ) -> tuple[Scripted, BranchSummary]:
        script = Scripted(next(replies) if rules is SummaryRules.SEED else "An answer that is long enough to be used.")
        options = BranchOptions(custom_instructions=prompt, rules=rules)
        return script, anyio.run(lambda: summarize_branch(given, script, _model(), options))

    preamble = render("branch-summary-preamble").rstrip("\n")
    script, made = run(entries)
    assert script.calls() == _without(expected["default"]["calls"], "initiatorOverride")
    result = _branch_result(made)
    assert result["summary"].startswith(preamble)
    result["summary"] = "{{preamble}}" + result["summary"].removeprefix(preamble)
    assert result == expected["default"]["result"]

    custom = expected["custom"][0]["messages"][0]["text"].rsplit("\n\n", maxsplit=1)[-1]
    script, _ = run(entries, custom)
    assert script.calls() == _without(expected["custom"], "initiatorOverride")

    script, made = run([])
    assert (script.requests, {"summary": made.summary}) == ([], expected["empty"]["result"])

    # Ours: tool results are shown, and the text does not share the preamble's line.
    script, made = run(entries, rules=SummaryRules.OCTAVO)
    results = [entry["message"] for entry in entries if entry.get("message", {}).get("role") == "toolResult"]
    assert all(text_of(message["content"]) in script.calls()[0]["messages"][0]["text"] for message in results)
    assert made.summary.startswith(f"{preamble}\n\nAn answer")


def _prepared(entries: list[dict[str, Any]], budget: int, rules: SummaryRules) -> dict[str, Any]:
    prepared = prepare_branch_entries(entries, budget, rules)
    ops = prepared.file_ops
    sets = {"read": sorted(ops.read), "edited": sorted(ops.edited), "written": sorted(ops.written)}
    return {"roles": [m["role"] for m in prepared.messages], "totalTokens": prepared.total_tokens, **sets}


def _sorted_sets(expected: dict[str, Any]) -> dict[str, Any]:
    return {**expected, **{key: sorted(expected[key]) for key in ("read", "edited", "written")}}


@adapter("prepareBranchEntries")
def branch_entries(vector: Vector) -> None:
    if isinstance(vector.expected, list):
        for expected in vector.expected:
            budget = expected["tokenBudget"]
            ours = _prepared(vector.input["entries"], budget, SummaryRules.SEED)
            assert {"tokenBudget": budget, **ours} == _sorted_sets(expected)
        everything = _prepared(vector.input["entries"], 0, SummaryRules.OCTAVO)
        useful = [e for e in vector.input["entries"] if e.get("message", {}).get("role") == "toolResult"]
        assert everything["roles"].count("toolResult") == len(useful)
        return
    entries = list(fixture_entries(vector.input["fixture"]))
    compaction = max(i for i, entry in enumerate(entries) if entry["type"] == "compaction")
    for name, expected in vector.expected.items():
        budget = 0 if name.endswith("noBudget") else int(re.findall(r"\d+\Z", name)[0])
        if name.startswith("last"):
            chosen = entries[-int(re.findall(r"\d+", name)[0]) :]
            ours = _prepared(chosen, budget, SummaryRules.SEED)
            assert {"messages": len(ours["roles"]), **ours} == _sorted_sets(expected), name
        else:
            assert _around(entries, compaction, budget, expected), name


def _around(entries: list[dict[str, Any]], compaction: int, budget: int, expected: dict[str, Any]) -> bool:
    # The vector does not say how far around the compaction it looks.
    wanted = _sorted_sets({key: value for key, value in expected.items() if key != "messages"})
    windows = (
        entries[max(0, compaction - before) : compaction + after] for before in (5, 10, 20) for after in range(1, 60)
    )
    return any(_prepared(window, budget, SummaryRules.SEED) == wanted for window in windows)


@adapter("generateBranchSummary / compact / generateHandoff")
def failures(vector: Vector) -> None:
    entries = [{"type": "message", "id": "e0", "parentId": None, "message": {"role": "user", "content": "q"}}]
    options = BranchOptions(rules=SummaryRules.OCTAVO)

    def branch(result: CompletionResult) -> OctavoError:
        return _raised(lambda: summarize_branch(entries, Scripted(result), _model(), options))

    assert {"aborted": branch(CompletionResult((), "aborted")).kind is ErrorKind.CANCELLED} == vector.expected[
        "branchAborted"
    ]
    error = branch(CompletionResult((), "error", error_message="boom"))
    assert error.message == f"Branch summarization failed: {vector.expected['branchError']['error']}"
    preparation = _preparation(other_vector("compact-04"))
    seed = SummaryOptions(rules=SummaryRules.SEED)
    for name, result in (
        ("compactError", CompletionResult((), "error", error_message="boom", error_status=403)),
        ("summaryUnknownError", CompletionResult((), "error")),
    ):
        error = _raised(lambda: summarize(preparation, Scripted(result, result), _model(), seed))  # noqa: B023
        assert {"threw": error.message, "status": error.data.get("status")} == vector.expected[name]
    result = CompletionResult((), "error", error_message="boom", error_status=403)
    error = _raised(lambda: generate_handoff([{"role": "user", "content": "q"}], Scripted(result), _model()))
    assert {"threw": error.message, "status": error.data.get("status")} == vector.expected["handoffError"]


def _raised(call: Callable[[], Awaitable[Any]]) -> OctavoError:
    with pytest.raises(OctavoError) as caught:
        anyio.run(call)
    return caught.value


# -- remote compaction -------------------------------------------------------------------------------------------------


@adapter("requestRemoteCompaction")
def remote_compaction(vector: Vector) -> None:
    for case in vector.expected:
        expected = case["result"]
        threw = "threw" in expected
        answer = (expected["status"] or {"other": 1}) if threw else expected
        network = RemoteScript(answer)
        body = case["requests"][0]["body"]
        endpoint = RemoteSummarizer(network, case["requests"][0]["url"])

        def call(endpoint: RemoteSummarizer = endpoint, body: dict[str, Any] = body) -> Awaitable[dict[str, Any]]:
            return request_remote_compaction(endpoint, body["systemPrompt"], body["prompt"])

        if threw:
            error = _raised(call)
            assert {"threw": error.message, "status": error.data.get("status")} == _without([expected], "name")[0]
        else:
            assert anyio.run(call) == expected
        assert network.requests == case["requests"]


NATIVE_BASES = {
    "baseUrl without /v1": "https://proxy.example",
    "no baseUrl": None,
    "codex": "https://chatgpt.com/backend-api",
    "codex base already /codex": "https://chatgpt.com/backend-api/codex",
}
"""Base URLs that the cases of remote-02 name in words."""


@adapter("requestOpenAiRemoteCompaction")
def native_compaction(vector: Vector) -> None:
    for case in vector.expected:
        name, expected = case["case"], case["result"]
        provider = "openai-codex" if name.startswith("codex") else "openai"
        window = 50 if name.startswith("trim") and "no window" not in name else 0
        base = NATIVE_BASES.get(name, "https://api.openai.com/v1")
        model = Model(provider, case["body"]["model"], base_url=base, context_window=window)
        network = RemoteScript(_native_answer(name, expected))

        def call(
            network: RemoteScript = network, model: Model = model, case: dict[str, Any] = case, name: str = name
        ) -> Awaitable[dict[str, Any]]:
            native = NativeCompactor(network, "key")
            return native.request(model, _native_input(vector, name, case), case["body"]["instructions"])

        if "threw" in expected:
            error = _raised(call)
            assert {"threw": error.message, "status": error.data.get("status")} == expected, name
        else:
            assert anyio.run(call) == expected, name
        (request,) = network.requests
        assert (request["url"], request["body"]) == (case["url"], case["body"]), name
        assert sorted(request["headers"]) == case["headerNames"], name


def _native_answer(name: str, expected: dict[str, Any]) -> Any:
    if "threw" in expected:
        if expected["status"]:
            return expected["status"]
        without = {"type": "compaction"} if "encrypted_content" in name else {"type": "message", "role": "assistant"}
        return {"output": [without]}
    # What must be filtered out stands between what must stay.
    noise = [{"type": "reasoning", "id": "r"}, {"type": "message", "role": "developer"}, {"type": "function_call"}]
    return {"output": [*noise, *expected["replacementHistory"], *noise]}


def _native_input(vector: Vector, name: str, case: dict[str, Any]) -> list[Any]:
    if name.startswith("trim: window"):
        # The untrimmed input is the one that the case without a window shows.
        return next(other for other in vector.expected if "no window" in other["case"])["body"]["input"]
    return case["body"]["input"]


@adapter("getPreservedOpenAiRemoteCompactionData / withOpenAiRemoteCompactionPreserveData(x, undefined)")
def preserved_native_data(vector: Vector) -> None:
    ours = [{"get": native_history(data), "strip": without_native_history(data)} for data in vector.input]
    assert ours == vector.expected
