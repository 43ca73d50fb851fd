"""One line that stands for an entry in a tree, a list or a search result.

Pure text; at most `PREVIEW_CHARS` characters, found without reading more of a large entry than that needs.
"""

from typing import Any

from octavo import templates
from octavo_protocol.base import JsonObject

PREVIEW_CHARS = 200
_SCAN = 4 * PREVIEW_CHARS  # white space is collapsed, so look a little further than what is shown


def one_line(text: str) -> str:
    """Return the beginning of a text on one line, with an ellipsis when there is more."""
    line = " ".join(text[:_SCAN].split())
    if len(line) > PREVIEW_CHARS:
        return line[: PREVIEW_CHARS - 1] + "…"
    return line + "…" if len(text) > _SCAN and len(line) < PREVIEW_CHARS else line


def preview(entry: JsonObject, *, tools: bool = True) -> str:
    """Return the line for an entry; with `tools` false, tool calls do not stand in for missing text."""
    kind = entry.get("type")
    message = entry.get("message")
    if kind == "message" and isinstance(message, dict):
        return _message(message, entry, tools)
    if kind == "compaction":
        return one_line(_string(entry.get("shortSummary")) or _string(entry.get("summary")))
    if kind == "branch_summary":
        # The preamble is the same for every branch; the line is for what tells this one apart.
        return one_line(_string(entry.get("summary")).removeprefix(templates.text("branch-summary-preamble").strip()))
    if kind == "custom_message":
        return one_line(_content(entry.get("content"))) or _string(entry.get("customType"))
    return one_line(_setting(entry))


_SHOWN_FIELD = {
    "model_change": "model",
    "thinking_level_change": "thinkingLevel",
    "service_tier_change": "serviceTier",
    "mode_change": "mode",
    "label": "label",
    "custom": "customType",
    "session_init": "task",
    "session_info": "name",
    "title_change": "title",
}


def _setting(entry: JsonObject) -> str:
    kind = _string(entry.get("type"))
    if kind == "model_change" and "model" not in entry:
        return f"{_string(entry.get('provider'))}/{_string(entry.get('modelId'))}"
    return _string(entry.get(_SHOWN_FIELD.get(kind, "type")))


def _message(message: JsonObject, entry: JsonObject, tools: bool) -> str:
    role = message.get("role")
    if role == "bashExecution":
        return one_line(_string(message.get("command")))
    if role == "pythonExecution":
        return one_line(_string(message.get("code")))
    if role == "fileMention":
        files = message.get("files")
        paths = [_string(f.get("path")) for f in files if isinstance(f, dict)] if isinstance(files, list) else []
        return one_line(", ".join(paths))
    text = one_line(_content(message.get("content")))
    if text or not tools:
        return text
    return one_line(", ".join(tool_names(entry)) or _string(message.get("errorMessage")))


def _content(content: Any) -> str:
    """Return the beginning of a content's text."""
    if isinstance(content, str):
        return content
    found: list[str] = []
    size = 0
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text" and (text := _string(block.get("text"))):
            found.append(text)
            size += len(text)
        elif block.get("type") == "image":
            found.append("[image]")
        if size > _SCAN:
            break
    return " ".join(found)


def tool_names(entry: JsonObject) -> list[str]:
    """Return the names of the tools that an assistant message calls, in order."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) and message.get("role") == "assistant" else None
    return [
        _string(block.get("name"))
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict) and block.get("type") == "toolCall"
    ]


def is_error(entry: JsonObject) -> bool:
    """Whether an entry is a failed tool result or a turn that ended in an error."""
    message = entry.get("message")
    if not isinstance(message, dict):
        return False
    return message.get("isError") is True or message.get("stopReason") == "error"


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
