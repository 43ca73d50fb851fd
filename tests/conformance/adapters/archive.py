"""Compare serialisation, budgets, the compaction skeleton and the inline planner with the vectors.

The seed's columns are compared exactly under the seed's options; what later versions do differently is orientation.
"""

import math
from typing import Any

import anyio

from conformance.support import Vector, adapter
from echo_frames import echo, page_text
from octavo.js_text import utf16_length
from octavo.snapcompact import budgets
from octavo.snapcompact.compact import compact_to_frames
from octavo.snapcompact.inline_plan import Candidate, SystemPromptMode, plan_inline
from octavo.snapcompact.marks import plain_text
from octavo.snapcompact.normalize import normalize
from octavo.snapcompact.serialize import SerializeOptions, serialize_conversation, strip_toggles
from octavo.snapcompact.shapes import Shape, resolve_shape
from octavo.snapcompact.terms import FrameOptions, FrameRequest
from octavo_protocol.completion import Model

_OPTIONS = {
    "toolResultMaxChars": "tool_result_max_chars",
    "toolArgMaxChars": "tool_arg_max_chars",
    "toolCallMaxChars": "tool_call_max_chars",
    "truncateHeadRatio": "truncate_head_ratio",
    "dimToolResults": "dim_tool_results",
}


def _seed_serialisation(options: dict[str, Any] | None) -> SerializeOptions:
    """JSON has no word for infinity: null (or its name) switches a cap off."""
    given = {name: math.inf if value in (None, "Infinity") else value for name, value in (options or {}).items()}
    return SerializeOptions.seed(**{ours: given[theirs] for theirs, ours in _OPTIONS.items() if theirs in given})


def _shape(options: dict[str, Any]) -> Shape:
    record = options.get("shape")
    if record is None:
        model = options.get("model")
        return resolve_shape(
            model and Model(model.get("provider", "any"), model.get("id", ""), model.get("api", "")),
            options.get("variant"),
        )
    return Shape(
        record["font"],
        record["cellWidth"],
        record["cellHeight"],
        record["variant"],
        record["lineRepeat"],
        record["frameSize"],
        record["frameTokenEstimate"],
        stretch=record.get("stretch"),
        stopword_dim=record.get("stopwordDim", False),
        columns=record.get("columns", 1),
        detail=record.get("imageDetail"),
    )


def _file_lists(files: dict[str, list[str]] | None) -> tuple[list[str], list[str]]:
    given = files or {}
    modified = {*given.get("edited", ()), *given.get("written", ())}
    return sorted(set(given.get("read", ())) - modified), sorted(modified)


@adapter("snapcompact:serialize")
def serialisation(vector: Vector) -> None:
    if not vector.section:
        return
    case = vector.case
    assert serialize_conversation(case["messages"], _seed_serialisation(case["options"])) == case["seed"]


@adapter("snapcompact:provider_budgets")
def provider_budgets(vector: Vector) -> None:
    if not vector.section:
        assert vector.data["constants"]["seed"]["MAX_FRAMES"] == budgets.MAX_FRAMES
        assert vector.data["constants"]["v18"]["FRAME_DATA_BYTES_BUDGET"] == budgets.DATA_BYTES_BUDGET
    elif vector.section == "vectors":
        provider, seed, later = vector.case["provider"], vector.case["seed"], vector.case["v18"]
        images, frames = budgets.provider_image_budget(provider), budgets.provider_frame_budget(provider)
        assert (images, frames) == (seed["image"], seed["frame"])
        # Later versions send more frames and re-measured two gateways; the seed's figures stay on the safe side.
        assert images <= later["image"]
        assert frames <= later["frame"]
    else:
        # Later versions divide the byte budget by a flat estimate per frame; we weigh the frames themselves.
        estimate = 170_000
        kept = budgets.newest_within([estimate] * 100, vector.case["bytes"])
        assert len(kept) == vector.case["frames"]


@adapter("snapcompact:compact_seed")
def seed_compaction(vector: Vector) -> None:
    if not vector.section:
        return
    preserved: dict[str, Any] | None = None
    for step in vector.case["steps"]:
        preserved = anyio.run(_check_step, step, preserved)


async def _check_step(step: dict[str, Any], preserved: dict[str, Any] | None) -> dict[str, Any]:
    given = step["input"]
    options = given["options"]
    read, modified = _file_lists(given.get("files"))
    extra = given.get("extraPreserve")
    request = FrameRequest(
        first_kept_entry_id="kept",
        messages=given["messages"] + (given.get("turnPrefixMessages") or []),
        tokens_before=given.get("tokensBefore") or 1000,
        previous_summary=given.get("previousSummary"),
        previous_preserve_data={**(preserved or {}), **extra} if extra else preserved,
        read_files=read,
        modified_files=modified,
    )
    frame_options = FrameOptions.seed(
        _shape(options),
        frame_size=options.get("frameSize"),
        max_frames=options.get("maxFrames", 8),
        serialize=_seed_serialisation(options),
    )
    result = await compact_to_frames(request, frame_options, echo)
    stored = result.preserve_data["snapcompact"]
    ours = {
        "shortSummary": result.short_summary,
        "details": result.details,
        "preserveKeys": list(result.preserve_data),
        "totalChars": stored["totalChars"],
        "truncatedChars": stored["truncatedChars"],
        "textTail": stored.get("textTail"),
        "frames": [
            {**{k: v for k, v in frame.items() if k != "data"}, "page_text": page_text(frame["data"])}
            for frame in stored["frames"]
        ],
    }
    assert ours == {name: step.get(name) for name in ours}
    if step["summary"] != "<own wording>":
        assert result.summary == step["summary"]
    else:
        _check_guide(result.summary, step)
    return result.preserve_data


def _check_guide(guide: str, step: dict[str, Any]) -> None:
    """The wording is ours; the facts and their order are given."""
    facts = [str(len(step["frames"]))]
    if step["truncatedChars"]:
        facts.append(f"{step['truncatedChars']:,} characters")
    facts.append(f"{step['totalChars']:,} characters")
    if step["textTail"]:
        facts.append(plain_text(step["textTail"]))
    at = 0
    for fact in facts:
        at = guide.index(fact, at) + len(fact)


@adapter("snapcompact:compact_v18")
def later_compaction(vector: Vector) -> None:
    """Orientation. Shared: one source text, kept whole; no frame too many; the limit of frames.

    Different: later versions leave the first and last page as text and image the middle, and draw everything again at
    each compaction. Ours images from the start, keeps old frames as they are, and leaves only an overflow as text.
    """
    if not vector.section:
        return
    preserved: dict[str, Any] | None = None
    for step in vector.case["steps"]:
        given = step["input"]
        limit = given["options"].get("maxFrames", budgets.MAX_FRAMES)
        options = FrameOptions(_shape(given["options"]), frame_size=given["options"].get("frameSize"), max_frames=limit)
        request = FrameRequest(
            "kept", given["messages"], 1000, given.get("previousSummary"), previous_preserve_data=preserved
        )
        result = anyio.run(compact_to_frames, request, options, echo)
        archive, preserved = result.archive, result.preserve_data
        assert len(archive.frames) <= limit
        assert not archive.text_dropped
        assert (archive.text or "").endswith(normalize(serialize_conversation(given["messages"])))
        if options.shape.columns == 2:
            continue  # spaces at the ends of wrapped lines are not characters of a frame
        shown = archive.total_chars + utf16_length(strip_toggles(archive.text_tail or ""))
        # Frames of one compaction meet those of the next without a newline cell between them.
        known = utf16_length(strip_toggles(archive.text or ""))
        assert shown + archive.truncated_chars >= known - len(archive.frames)


@adapter("snapcompact:inline_plan")
def inline_plan(vector: Vector) -> None:
    """The vectors come from a later version, which images results that hold an image too; the seed and we do not."""
    if not vector.section:
        return
    given, expected = vector.case["input"], vector.case["plan"]
    assert _planned(given, see_images=False) == expected
    ours = _planned(given, see_images=True)
    with_image = {item["id"] for item in given["toolResults"] if item.get("hasImage")}
    assert not with_image & {item["id"] for item in ours["toolResults"]}
    if not with_image:
        assert ours == expected


def _planned(given: dict[str, Any], *, see_images: bool) -> dict[str, Any]:
    results = [
        Candidate(
            item["id"],
            item["textTokens"],
            item["frames"],
            item.get("isError", False),
            see_images and item.get("hasImage", False),
        )
        for item in given["toolResults"]
    ]
    prompt, options = given.get("systemPrompt"), given["options"]
    modes: dict[Any, SystemPromptMode] = {True: "all", False: "none"}
    plan = plan_inline(
        tool_results=results,
        system_prompt=Candidate("", prompt["textTokens"], prompt["frames"]) if prompt else None,
        budget=given["budget"],
        frame_token_estimate=given["frameTokenEstimate"],
        has_user_message=given["hasUserMessage"],
        images_tool_results=options["renderToolResults"],
        images_system_prompt=modes.get(options["renderSystemPrompt"], options["renderSystemPrompt"]),
    )
    system = plan.system_prompt
    return {
        "toolResults": [
            {"id": d.candidate.id, "textTokens": d.candidate.text_tokens, "frames": d.candidate.frames}
            for d in plan.tool_results
            if d.imaged
        ],
        "systemPrompt": (
            {"textTokens": system.candidate.text_tokens, "frames": system.candidate.frames}
            if system and system.imaged
            else None
        ),
    }
