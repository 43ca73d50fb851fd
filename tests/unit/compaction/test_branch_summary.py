from typing import Any

import anyio
import pytest

from octavo.compaction.branch_summary import NOTHING, BranchOptions, prepare_branch_entries, summarize_branch
from octavo.templates import render
from octavo_protocol.completion import CompletionResult
from octavo_protocol.errors import ErrorKind, OctavoError
from support.summariser import GOOD, HANG, Scripted, assistant, call, failed, model, result, user


def entries(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "message", "id": f"e{i}", "message": message} for i, message in enumerate(messages)]


BRANCH = entries(
    user("Try the other parser, please, and tell me whether it is faster."),
    assistant("I try it.", call("1", "read", path="a.py:1-9"), call("2", "bash", command="bench")),
    result("1", "SOURCE"),
    result("2", "x" * 5000),
    assistant("It is slower.", call("3", "grep", pattern="zebra"), call("4", "edit", path="b.py")),
    result("3", "no match", useless=True),
)


async def test_useful_tool_results_take_part_cut_to_size_and_useless_ones_do_not() -> None:
    script = Scripted.of(GOOD)
    made = await summarize_branch(BRANCH, script, model())
    prompt = script.prompt(0)
    assert "SOURCE" in prompt
    assert "x" * 2000 + "\n\n[... 3000 more characters truncated]" in prompt
    assert "zebra" not in prompt
    assert script.requests[0].max_tokens == 2048
    assert made.details == {"readFiles": ["a.py"], "modifiedFiles": ["b.py"]}
    assert made.summary.endswith("<files>\na.py (Read)\nb.py (Write)\n</files>")


async def test_the_text_starts_on_a_line_of_its_own_after_the_preamble() -> None:
    made = await summarize_branch(BRANCH, Scripted.of(GOOD), model())
    assert made.summary.startswith(render("branch-summary-preamble").strip() + "\n\n## Goal")


async def test_the_users_instructions_replace_the_standard_prompt() -> None:
    script = Scripted.of(GOOD)
    await summarize_branch(BRANCH, script, model(), BranchOptions(custom_instructions="ONLY THIS", language="Welsh"))
    assert "</conversation>\n\nONLY THIS" in script.prompt(0)
    assert render("branch-summary") not in script.prompt(0)
    assert "Write in Welsh," in script.prompt(0)


async def test_a_branch_without_content_calls_no_model() -> None:
    script = Scripted.of(GOOD)
    for nothing in ([], [{"type": "label", "id": "l", "label": "x"}], [{"type": "message"}, {"odd": 1}]):
        assert (await summarize_branch(nothing, script, model())).summary == NOTHING
    assert script.requests == []


async def test_the_newest_entries_win_when_the_window_is_small() -> None:
    talk = entries(*(user(f"fact-{i} " + "tide " * 100) for i in range(200)))
    script = Scripted.of(GOOD)
    await summarize_branch(talk, script, model(context_window=16_000), BranchOptions(reserve_tokens=15_000))
    assert "fact-199 " in script.prompt(0)
    assert "fact-0 " not in script.prompt(0)


def test_a_summary_at_the_edge_of_the_budget_is_still_taken() -> None:
    compaction = {"type": "compaction", "id": "c", "summary": "word " * 500}
    prepared = prepare_branch_entries([compaction, *entries(user("x " * 20))], 100)
    assert [message["role"] for message in prepared.messages] == ["compactionSummary", "user"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (failed("boom", error_status=500), ErrorKind.PROVIDER_ERROR),
        (CompletionResult((), "aborted"), ErrorKind.CANCELLED),
        ("no", ErrorKind.CHECK_FAILED),
    ],
)
async def test_every_failure_is_typed(answer: Any, kind: ErrorKind) -> None:
    with pytest.raises(OctavoError) as caught:
        await summarize_branch(BRANCH, Scripted.of(answer), model())
    assert caught.value.kind is kind


async def test_it_can_be_cancelled_while_the_model_hangs() -> None:
    script = Scripted.of(HANG)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(summarize_branch, BRANCH, script, model())
            await script.started.wait()
            group.cancel_scope.cancel()
