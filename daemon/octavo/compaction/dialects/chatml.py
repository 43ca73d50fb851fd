"""`<|im_start|>role` … `<|im_end|>` transcripts: qwen3, hermes and pi."""

from collections.abc import Callable
from typing import Any

from octavo.compaction.dialects.prose import tool_responses
from octavo.compaction.dialects.turns import Call, Speech, Turns
from octavo.js_text import properties
from octavo.tokens.js_json import stringify


def qwen3(turns: Turns) -> str:
    """JSON calls; results come back as the user."""
    return _transcript(turns, "think", _json_call, results_as="user")


def hermes(turns: Turns) -> str:
    """JSON calls; results have the role `tool`."""
    return _transcript(turns, "think", _json_call, results_as="tool")


def pi(turns: Turns) -> str:
    """Calls as elements named after the tool and its arguments; results have the role `tool`."""
    return _transcript(turns, "thinking", _element_call, results_as="tool")


def _transcript(turns: Turns, think: str, render_call: Callable[[Call], str], *, results_as: str) -> str:
    parts = []
    for turn in turns:
        if isinstance(turn, Speech):
            role: str = "system" if turn.role == "developer" else turn.role
            thinking = f"<{think}>\n{turn.thinking}\n</{think}>" if turn.thinking else ""
            body = thinking + turn.text + "\n".join(map(render_call, turn.calls))
        else:
            role, body = results_as, tool_responses(turn)
        parts.append(f"<|im_start|>{role}\n{body}<|im_end|>\n")
    return "".join(parts)


def _json_call(call: Call) -> str:
    return f"<tool_call>\n{stringify({'name': call.name, 'arguments': call.arguments})}\n</tool_call>"


def _element_call(call: Call) -> str:
    body = "".join(_element(key, value) for key, value in properties(call.arguments))
    return f"<call:{call.name}>\n{body}</call:{call.name}>"


def _element(name: str, value: Any) -> str:
    # Explicit stack of (closing text) and (name, value): arguments may be nested deeper than Python has frames.
    pieces: list[str] = []
    stack: list[str | tuple[str, Any]] = [(name, value)]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        tag, content = item
        if isinstance(content, dict):
            pieces.append(f"<{tag}>\n")
            stack.append(f"</{tag}>\n")
            stack.extend(reversed(properties(content)))
        elif isinstance(content, list) and content:
            stack.extend((tag, entry) for entry in reversed(content))
        else:
            text = content if isinstance(content, str) else stringify(content)
            pieces.append(f"<{tag}>{text}</{tag}>\n")
    return "".join(pieces)
