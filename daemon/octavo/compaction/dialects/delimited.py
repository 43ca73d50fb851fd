"""Transcripts marked by special tokens without line structure: harmony, kimi, deepseek and glm."""

from octavo.compaction.dialects.prose import tool_responses
from octavo.compaction.dialects.turns import Call, Result, Speech, Turns
from octavo.js_text import properties
from octavo.tokens.js_json import stringify


def harmony(turns: Turns) -> str:
    """Reasoning, answer and calls as messages of their own channels."""
    parts: list[str] = []
    for turn in turns:
        if isinstance(turn, list):
            parts.extend(_harmony_result(result) for result in turn)
        elif turn.role == "assistant":
            if turn.thinking:
                parts.append(f"<|start|>assistant<|channel|>analysis<|message|>{turn.thinking}<|end|>")
            if turn.text:
                parts.append(f"<|start|>assistant<|channel|>final<|message|>{turn.text}<|end|>")
            parts.extend(_harmony_call(call) for call in turn.calls)
        else:
            parts.append(f"<|start|>{turn.role}<|message|>{turn.text}<|end|>")
    return "".join(parts)


def kimi(turns: Turns) -> str:
    """Calls are numbered through the whole conversation; every result names the call it answers."""
    parts: list[str] = []
    labels: dict[str, str] = {}
    count = 0
    for turn in turns:
        if isinstance(turn, list):
            for result in turn:
                label = labels.get(result.call_id)
                if label is None:
                    label, count = f"functions.{result.name}:{count}", count + 1
                body = f"## Return of {label}\n{result.text}"
                parts.append(f"<|im_system|>{result.name}<|im_middle|>{body}<|im_end|>")
        elif turn.role == "assistant":
            numbered = [f"functions.{call.name}:{count + index}" for index, call in enumerate(turn.calls)]
            labels.update((call.id, label) for call, label in zip(turn.calls, numbered, strict=True))
            count += len(numbered)
            body = _think(turn) + turn.text + _kimi_calls(turn, numbered)
            parts.append(f"<|im_assistant|>assistant<|im_middle|>{body}<|im_end|>")
        else:
            kind = "user" if turn.role == "user" else "system"
            parts.append(f"<|im_{kind}|>{kind}<|im_middle|>{turn.text}<|im_end|>")
    return "".join(parts)


def deepseek(turns: Turns) -> str:
    """Developer text stands bare between the turns."""
    parts = ["<｜begin▁of▁sentence｜>"]
    for turn in turns:
        if isinstance(turn, list):
            parts.append("\n".join(f"<｜tool▁output▁begin｜>{r.text}<｜tool▁output▁end｜>" for r in turn))
        elif turn.role == "assistant":
            calls = "".join(_deepseek_call(call) for call in turn.calls)
            wrapped = f"<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>" if calls else ""
            parts.append(f"<｜Assistant｜>{_think(turn)}{turn.text}{wrapped}<｜end▁of▁sentence｜>")
        else:
            parts.append(f"<｜User｜>{turn.text}" if turn.role == "user" else turn.text)
    return "".join(parts)


def glm(turns: Turns) -> str:
    """Every argument is a key element followed by a value element; results are observations."""
    parts = ["[gMASK]<sop>"]
    for turn in turns:
        if isinstance(turn, list):
            parts.append(f"<|observation|>\n{tool_responses(turn)}")
        elif turn.role == "assistant":
            thinking = f"\n{_think(turn)}" if turn.thinking else ""
            parts.append(f"<|assistant|>\n{thinking}{turn.text}{chr(10).join(map(_glm_call, turn.calls))}")
        else:
            parts.append(f"<|{'user' if turn.role == 'user' else 'system'}|>\n{turn.text}")
    return "".join(parts)


def _think(turn: Speech) -> str:
    return f"<think>\n{turn.thinking}\n</think>" if turn.thinking else ""


def _harmony_call(call: Call) -> str:
    arguments = stringify(call.arguments)
    return f"<|start|>assistant<|channel|>commentary to=functions.{call.name}<|message|>{arguments}<|call|>"


def _harmony_result(result: Result) -> str:
    return f"<|start|>functions.{result.name} to=assistant<|channel|>commentary<|message|>{result.text}<|end|>"


def _kimi_calls(turn: Speech, labels: list[str]) -> str:
    if not turn.calls:
        return ""
    calls = "".join(
        f"<|tool_call_begin|>{label}<|tool_call_argument_begin|>{stringify(call.arguments)}<|tool_call_end|>"
        for call, label in zip(turn.calls, labels, strict=True)
    )
    return f"<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>"


def _deepseek_call(call: Call) -> str:
    return f"<｜tool▁call▁begin｜>{call.name}<｜tool▁sep｜>{stringify(call.arguments)}<｜tool▁call▁end｜>"


def _glm_call(call: Call) -> str:
    arguments = "".join(
        f"<arg_key>{key}</arg_key>\n<arg_value>{stringify(value)}</arg_value>\n"
        for key, value in properties(call.arguments)
    )
    return f"<tool_call>{call.name}\n{arguments}</tool_call>"
