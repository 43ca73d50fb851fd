"""`Human:` and `Assistant:` paragraphs with XML calls: the anthropic dialect and the general `xml` one."""

from collections.abc import Iterable

from octavo.compaction.dialects.turns import Call, Result, Speech, Turns
from octavo.js_text import properties
from octavo.tokens.js_json import stringify


def anthropic(turns: Turns) -> str:
    """Calls inside `<function_calls>`, results inside `<function_results>`."""
    return "".join(
        _speech(turn, "<function_calls>\n", "\n</function_calls>")
        if isinstance(turn, Speech)
        else f"\n\nHuman: <function_results>\n{chr(10).join(map(_result, turn))}\n</function_results>"
        for turn in turns
    )


def xml(turns: Turns) -> str:
    """Bare `<invoke>` elements, results inside `<tool_response>`."""
    return "".join(
        _speech(turn, "", "") if isinstance(turn, Speech) else f"\n\nHuman: {tool_responses(turn)}" for turn in turns
    )


def tool_responses(results: Iterable[Result]) -> str:
    """Return one `<tool_response>` element per result."""
    return "\n".join(f"<tool_response>\n{result.text}\n</tool_response>" for result in results)


def _speech(turn: Speech, opening: str, closing: str) -> str:
    if turn.role == "user":
        return f"\n\nHuman: {turn.text}"
    if turn.role == "developer":
        return f"\n\n{turn.text}"
    thinking = f"<thinking>\n{turn.thinking}\n</thinking>" if turn.thinking else ""
    calls = opening + "\n".join(map(_invoke, turn.calls)) + closing if turn.calls else ""
    return f"\n\nAssistant: {thinking}{turn.text}{calls}"


def _invoke(call: Call) -> str:
    parameters = "".join(
        f'<parameter name="{key}">{stringify(value)}</parameter>' for key, value in properties(call.arguments)
    )
    return f'<invoke name="{call.name}">{parameters}</invoke>'


def _result(result: Result) -> str:
    return f"<result>\n<tool_name>{result.name}</tool_name>\n<stdout>{result.text}</stdout>\n</result>"
