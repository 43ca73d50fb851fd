"""Turn-delimited transcripts of Google's families: gemini with Python-like calls, gemma with its own value syntax."""

from typing import Any

from octavo.compaction.dialects.turns import Call, Result, Speech, Turns
from octavo.js_text import properties
from octavo.tokens.js_json import stringify


def gemini(turns: Turns) -> str:
    """Developer text has no turn of its own: it opens the next user turn, or becomes one when none follows."""
    parts = ["<bos>"]
    pending: list[str] = []
    for turn in turns:
        if isinstance(turn, Speech) and turn.role == "developer":
            pending.append(turn.text)
            continue
        if isinstance(turn, Speech) and turn.role == "user":
            parts.append(_gemini_turn("user", "\n".join([*pending, turn.text])))
            pending.clear()
            continue
        if pending:
            parts.append(_gemini_turn("user", "\n".join(pending)))
            pending.clear()
        if isinstance(turn, Speech):
            parts.append(_gemini_turn("model", _gemini_model(turn)))
        else:
            parts.append(_gemini_turn("user", "\n".join(f"```tool_outputs\n{result.text}\n```" for result in turn)))
    if pending:
        parts.append(_gemini_turn("user", "\n".join(pending)))
    return "".join(parts)


def gemma(turns: Turns) -> str:
    """Tool responses belong to the model's turn that called."""
    parts = ["<bos>"]
    open_model_turn = False
    for turn in turns:
        if isinstance(turn, list):
            parts.append(("" if open_model_turn else "<|turn>model\n") + "".join(map(_gemma_response, turn)))
            open_model_turn = True
            continue
        parts.append("<turn|>" if open_model_turn else "")
        open_model_turn = turn.role == "assistant"
        if open_model_turn:
            parts.append(f"<|turn>model\n{_gemma_model(turn)}")
        else:
            parts.append(f"<|turn>{'user' if turn.role == 'user' else 'system'}\n{turn.text}<turn|>")
    parts.append("<turn|>" if open_model_turn else "")
    return "".join(parts)


def _gemini_turn(role: str, body: str) -> str:
    return f"<start_of_turn>{role}\n{body}<end_of_turn>\n"


def _gemini_model(turn: Speech) -> str:
    thinking = f"```thinking\n{turn.thinking}\n```\n" if turn.thinking else ""
    calls = ", ".join(map(_python_call, turn.calls))
    return thinking + turn.text + (f"```tool_code\n[{calls}]\n```" if calls else "")


def _python_call(call: Call) -> str:
    arguments = ", ".join(f"{key}={_literal(value, _PYTHON)}" for key, value in properties(call.arguments))
    return f"default_api.{call.name}({arguments})"


def _gemma_model(turn: Speech) -> str:
    thinking = f"<|channel>thought\n{turn.thinking}<channel|>" if turn.thinking else ""
    calls = "".join(
        f"<|tool_call>call:{call.name}{_literal(call.arguments, _GEMMA)}<tool_call|>" for call in turn.calls
    )
    return thinking + turn.text + calls


def _gemma_response(result: Result) -> str:
    return f"<|tool_response>response:{result.name}{_literal({'output': result.text}, _GEMMA)}<tool_response|>"


class _Syntax:
    """How a value is written: the separators, and whether names and strings look like Python or like gemma."""

    def __init__(self, *, python: bool) -> None:
        self.comma = ", " if python else ","
        self.python = python

    def key(self, name: str) -> str:
        return f"{stringify(name)}: " if self.python else f"{name}:"

    def scalar(self, value: Any) -> str:
        if isinstance(value, str):
            return stringify(value) if self.python else f'<|"|>{value}<|"|>'
        if self.python and (value is None or isinstance(value, bool)):
            return str(value)
        return stringify(value)


_PYTHON = _Syntax(python=True)
_GEMMA = _Syntax(python=False)


class _Raw(str):
    """Text that is already in the wanted syntax."""

    __slots__ = ()


def _literal(value: Any, syntax: _Syntax) -> str:
    pieces: list[str] = []
    # An explicit stack: arguments may be nested deeper than Python has frames.
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, _Raw):
            pieces.append(item)
        elif isinstance(item, dict | list):
            parts: list[Any] = [_Raw("{" if isinstance(item, dict) else "[")]
            pairs = properties(item) if isinstance(item, dict) else [(None, entry) for entry in item]
            for index, (key, entry) in enumerate(pairs):
                lead = syntax.comma if index else ""
                parts += [_Raw(lead if key is None else lead + syntax.key(key)), entry]
            parts.append(_Raw("}" if isinstance(item, dict) else "]"))
            stack.extend(reversed(parts))
        else:
            pieces.append(syntax.scalar(item))
    return "".join(pieces)
