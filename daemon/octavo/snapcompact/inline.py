"""Send the system prompt and large tool results of one request as frames (snapcompact.md §8).

A transform of an outgoing request: what it is given is never changed and nothing is stored, except frames in a cache
of the session and, if asked for, a line in the savings journal. `inline_plan` decides; this module measures, draws and
rewrites. Redaction happens before, sending after.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio.to_thread

from octavo.snapcompact.budgets import provider_image_budget
from octavo.snapcompact.compact import count_undrawable
from octavo.snapcompact.context_sections import extract_sections
from octavo.snapcompact.inline_plan import (
    TOOL_RESULT_MIN_TOKENS,
    Candidate,
    Decision,
    InlinePlan,
    SystemPromptMode,
    plan_inline,
)
from octavo.snapcompact.journal import SavingsRecorder
from octavo.snapcompact.layout import Layout, count_cells, paginate
from octavo.snapcompact.normalize import normalize, normalize_seed
from octavo.snapcompact.plan import page_height
from octavo.snapcompact.shapes import Shape, check_frame_size, resolve_shape
from octavo.snapcompact.terms import UNDRAWABLE_SHARE, Draw
from octavo.templates import render
from octavo_protocol.base import JsonObject
from octavo_protocol.completion import Model

_SYSTEM = ""
"""The system prompt's key among tool call ids."""


@dataclass(frozen=True, slots=True)
class InlineSettings:
    """`snapcompact.systemPrompt`, `.toolResults`, `.shape`, `.layout`; `frame_size` in px, the shape's own if None."""

    system_prompt: SystemPromptMode = "none"
    tool_results: bool = False
    shape: str = "auto"
    layout: Layout = "octavo"
    frame_size: int | None = None

    def shape_for(self, model: Model) -> Shape:
        """The shape to draw in.

        Raises:
            OctavoError: `invalid-params` for an unknown shape or an impossible size.
        """
        shape = resolve_shape(model, self.shape)
        if self.frame_size is None:
            return shape
        check_frame_size(shape, self.frame_size)
        return shape.sized(self.frame_size)

    @property
    def off(self) -> bool:
        """Whether nothing is to be imaged."""
        return self.system_prompt == "none" and not self.tool_results


@dataclass(frozen=True, slots=True)
class InlineResult:
    """The request as it goes out, and why. Without anything imaged both parts are the very objects given."""

    system_prompt: tuple[str, ...]
    messages: tuple[JsonObject, ...]
    plan: InlinePlan


@dataclass(slots=True)
class InlineCache:
    """Frames of one session: per tool call the text they show, plus one slot for the system prompt."""

    _frames: dict[str, tuple[str, tuple[JsonObject, ...]]] = field(default_factory=dict)

    def get(self, key: str, digest: str) -> tuple[JsonObject, ...] | None:
        """Image blocks drawn for this key, if they show the same text in the same shape."""
        found = self._frames.get(key)
        return found[1] if found and found[0] == digest else None

    def put(self, key: str, digest: str, blocks: tuple[JsonObject, ...]) -> None:
        """Keep the blocks of a key instead of what it had."""
        self._frames[key] = (digest, blocks)

    def keep_only(self, keys: set[str]) -> None:
        """Forget calls that left the context."""
        for key in set(self._frames) - keys - {_SYSTEM}:
            del self._frames[key]

    def __len__(self) -> int:
        return len(self._frames)


@dataclass(frozen=True, slots=True)
class _Measured:
    """A text with its pages and its place; `index` is that of the message, None for the system prompt."""

    candidate: Candidate
    pages: tuple[str, ...] = ()
    index: int | None = None


@dataclass(frozen=True, slots=True)
class _Job:
    """One request under measurement."""

    shape: Shape
    settings: InlineSettings
    count_tokens: Callable[[str], int]

    def measure(self, key: str, text: str, *, floor: int = 0, is_error: bool = False, image: bool = False) -> _Measured:
        tokens = self.count_tokens(text)
        if tokens < floor or is_error or image:
            return _Measured(Candidate(key, tokens, 0, is_error, image))
        shape, size = self.shape, self.shape.frame_size
        is_seed = self.settings.layout == "seed"
        clean = normalize_seed(text) if is_seed else normalize(text)
        if not is_seed and count_undrawable(clean) > UNDRAWABLE_SHARE * len(clean):
            return _Measured(Candidate(key, tokens, 0))  # boxes are no text (BR-079)
        pages = tuple(paginate(clean, shape, size, self.settings.layout))
        price = sum(shape.tokens_for(size, page_height(page, shape, size, count_cells(page))) for page in pages)
        return _Measured(Candidate(key, tokens, len(pages), frame_tokens=price), pages)

    def digest(self, pages: Sequence[str]) -> str:
        shape = self.shape
        key = f"{shape.name}/{shape.font}/{shape.frame_size}/{shape.detail}/{self.settings.layout}\0" + "\f".join(pages)
        return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class _Survey:
    """Everything measured in a request."""

    results: tuple[_Measured, ...]
    system: _Measured | None
    stubbed_prompt: tuple[str, ...]
    plan: InlinePlan


async def inline_images(
    system_prompt: Sequence[str],
    messages: Sequence[JsonObject],
    *,
    model: Model,
    settings: InlineSettings,
    count_tokens: Callable[[str], int],
    draw: Draw,
    cache: InlineCache,
    recorder: SavingsRecorder | None = None,
) -> InlineResult:
    """Image what pays off; a model that cannot see, or a request full of images, is left as it is.

    Raises:
        OctavoError: `invalid-params` for an unknown shape.
    """
    untouched = InlineResult(tuple(system_prompt), tuple(messages), InlinePlan((), None))
    if settings.off or not model.accepts_images:
        return untouched
    job = _Job(settings.shape_for(model), settings, count_tokens)
    survey = await anyio.to_thread.run_sync(_survey, job, model, system_prompt, messages, None, abandon_on_cancel=True)
    sent = list(messages)
    for measured, decision in zip(survey.results, survey.plan.tool_results, strict=True):
        if decision.imaged and measured.index is not None:
            blocks = await _frames(measured, job, draw, cache)
            sent[measured.index] = _imaged_result(sent[measured.index], blocks)
            _record(recorder, model, decision)
    prompt = tuple(system_prompt)
    if survey.system and survey.plan.system_prompt and survey.plan.system_prompt.imaged:
        blocks = await _frames(survey.system, job, draw, cache)
        first = next(index for index, message in enumerate(sent) if _role(message) == "user")
        sent[first] = _with_prompt_frames(sent[first], blocks, whole=settings.system_prompt == "all")
        prompt = survey.stubbed_prompt
    cache.keep_only({measured.candidate.id for measured in survey.results})
    return InlineResult(prompt, tuple(sent), survey.plan)


def estimate_inline(
    system_prompt: Sequence[str],
    messages: Sequence[JsonObject],
    *,
    model: Model,
    settings: InlineSettings,
    count_tokens: Callable[[str], int],
    assume_user: bool = True,
) -> InlinePlan:
    """What `inline_images` would do, without drawing; `assume_user` takes it that a user message will be there."""
    if settings.off or not model.accepts_images:
        return InlinePlan((), None)
    job = _Job(settings.shape_for(model), settings, count_tokens)
    return _survey(job, model, system_prompt, messages, True if assume_user else None).plan


def _survey(
    job: _Job, model: Model, system_prompt: Sequence[str], messages: Sequence[JsonObject], has_user: bool | None
) -> _Survey:
    budget = max(0, provider_image_budget(model.provider) - sum(map(_images, messages)))
    if has_user is None:
        has_user = any(_role(message) == "user" for message in messages)
    results = tuple(_measure_results(job, messages)) if job.settings.tool_results else ()
    text, stubbed = _prompt_text(system_prompt, job.settings.system_prompt)
    system = job.measure(_SYSTEM, text) if text else None
    plan = plan_inline(
        tool_results=[measured.candidate for measured in results],
        system_prompt=system.candidate if system else None,
        budget=budget,
        frame_token_estimate=job.shape.frame_tokens,
        has_user_message=has_user,
        images_tool_results=job.settings.tool_results,
        images_system_prompt=job.settings.system_prompt,
    )
    return _Survey(results, system, stubbed, plan)


def _measure_results(job: _Job, messages: Sequence[JsonObject]) -> list[_Measured]:
    places = [index for index, message in enumerate(messages) if _role(message) == "toolResult"]
    measured: list[_Measured] = []
    for index in places:
        message = messages[index]
        key = message.get("toolCallId")
        key = key if isinstance(key, str) and key else f"message-{index}"
        # The last result always stays text: it is counted, but not laid out.
        floor = TOOL_RESULT_MIN_TOKENS if index != places[-1] else 2**53
        found = job.measure(
            key,
            _result_text(message),
            floor=floor,
            is_error=bool(message.get("isError")),
            image=_images(message) > 0,
        )
        measured.append(_Measured(found.candidate, found.pages, index))
    return measured


def _prompt_text(system_prompt: Sequence[str], mode: SystemPromptMode) -> tuple[str, tuple[str, ...]]:
    if mode == "all":
        stub = render("snapcompact-inline-system-stub").strip()
        return "\n\n".join(system_prompt), (stub,)
    if mode == "agents-md":
        return extract_sections(system_prompt, render("snapcompact-inline-context-stub").strip())
    return "", tuple(system_prompt)


async def _frames(measured: _Measured, job: _Job, draw: Draw, cache: InlineCache) -> tuple[JsonObject, ...]:
    from octavo.snapcompact.ink import dim_stopwords  # noqa: PLC0415 - numpy

    key, digest = measured.candidate.id, job.digest(measured.pages)
    cached = cache.get(key, digest)
    if cached is not None:
        return cached
    shape = job.shape
    printed = [dim_stopwords(page) if shape.stopword_dim else page for page in measured.pages]
    blocks = tuple(
        {"type": "image", "data": picture.data, "mimeType": picture.mime_type}
        | ({"detail": shape.detail} if shape.detail else {})
        for picture in await draw(printed, shape, shape.frame_size)
    )
    cache.put(key, digest, blocks)
    return blocks


def _imaged_result(message: JsonObject, blocks: Sequence[JsonObject]) -> JsonObject:
    note = render("snapcompact-inline-tool-result", frames=len(blocks), one=len(blocks) == 1).strip()
    return message | {"content": [{"type": "text", "text": note}, *blocks]}


def _with_prompt_frames(message: JsonObject, blocks: Sequence[JsonObject], *, whole: bool) -> JsonObject:
    one = len(blocks) == 1
    note = render("snapcompact-inline-system-note", frames=len(blocks), one=one, whole=whole).strip()
    content = message.get("content")
    original = [{"type": "text", "text": content}] if isinstance(content, str) else content
    original = original if isinstance(original, list) else []
    return message | {"content": [{"type": "text", "text": note}, *blocks, *original]}


def _record(recorder: SavingsRecorder | None, model: Model, decision: Decision) -> None:
    if recorder is not None:
        recorder.record(
            provider=model.provider,
            model=model.id,
            tool_call_id=decision.candidate.id,
            saved_tokens=decision.saved_tokens,
        )


def _role(message: Any) -> object:
    return message.get("role") if isinstance(message, dict) else None


def _images(message: Any) -> int:
    content = message.get("content") if isinstance(message, dict) else None
    return (
        sum(isinstance(block, dict) and block.get("type") == "image" for block in content)
        if isinstance(content, list)
        else 0
    )


def _result_text(message: JsonObject) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else ()
    texts = (block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))
