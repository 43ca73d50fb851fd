"""Tool results beside the calls that asked for them, and which of them must never be blanked.

Shared by pruning and shaking; decides nothing about sizes or timing. Source: engine.md §11.1, §12.
"""

import posixpath
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from octavo.compaction.entry_messages import blocks, stored_message, tool_calls
from octavo.compaction.file_operations import strip_read_selector
from octavo_protocol.base import JsonObject


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool result of a history: where it is, its message, and its call if one came before it."""

    index: int
    entry: JsonObject
    message: JsonObject
    call: JsonObject | None

    @property
    def is_pruned(self) -> bool:
        """Whether its content was blanked before."""
        return self.message.get("prunedAt") is not None

    @property
    def is_useless(self) -> bool:
        """Whether the tool said that nothing came of it; errors never count as that."""
        return self.message.get("useless") is True and not self.message.get("isError")

    @property
    def read_path(self) -> str | None:
        """The path of a `read` call, selector and all; None for other tools and without a call."""
        return call_path(self.call, "read")


Protection: TypeAlias = Callable[[ToolResult], bool]
"""Whether a result must stay as it is."""


def tool_results(entries: Sequence[JsonObject]) -> list[ToolResult]:
    """Return the tool results of the entries in order, each with the nearest earlier call of its id."""
    calls: dict[str, JsonObject] = {}
    found = []
    for index, entry in enumerate(entries):
        message = stored_message(entry)
        if message.get("role") == "toolResult":
            called = message.get("toolCallId")
            found.append(ToolResult(index, entry, message, calls.get(called) if isinstance(called, str) else None))
        else:
            calls.update((call["id"], call) for call in tool_calls(message))
    return found


def call_path(call: JsonObject | None, name: str) -> str | None:
    """Return the `path` argument of a call of the named tool."""
    arguments = call.get("arguments") if call is not None and call.get("name") == name else None
    path = arguments.get("path") if isinstance(arguments, dict) else None
    return path if isinstance(path, str) else None


def skills_protected(result: ToolResult) -> bool:
    """The seed's rule: results of the `skill` tool and reads of `skill://` paths stay."""
    return result.message.get("toolName") == "skill" or (result.read_path or "").startswith("skill://")


def plans_protected(plan_paths: Iterable[str]) -> Protection:
    """Return the rule that reads of these plan files stay; paths compare normalised, without selectors."""
    plans = {posixpath.normpath(path) for path in plan_paths if path}
    return lambda result: (
        result.read_path is not None and posixpath.normpath(strip_read_selector(result.read_path)) in plans
    )


def any_of(*rules: Protection) -> Protection:
    """Return the rule that holds when one of the rules does."""
    return lambda result: any(rule(result) for rule in rules)


def blanked(result: ToolResult, text: str, now_ms: int, *, keep_images: bool = False) -> JsonObject:
    """Return a new entry whose result is one text block, marked with the time; nothing else differs.

    With `keep_images` the image blocks stay behind it.
    """
    kept: list[Any] = blocks(result.message.get("content"), "image") if keep_images else []
    content = [{"type": "text", "text": text}, *kept]
    return {**result.entry, "message": {**result.message, "content": content, "prunedAt": now_ms}}


def result_text(message: JsonObject, joined_by: str = "\n") -> str:
    """Return the text of a result, its blocks joined."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    texts = (block.get("text") for block in blocks(content, "text"))
    return joined_by.join(text for text in texts if isinstance(text, str))
