"""Turn agent messages into what a model understands: user, developer, assistant and toolResult (engine.md §3.3).

Pure. `to_llm_messages` knows every role of §3.2; `core_llm_messages` is the narrower conversion of the agent core,
which drops what only an application has (shell and Python runs, file mentions). Messages are never mutated, assistant
messages pass by identity, and what is malformed is shown as well as possible rather than refused.
"""

from collections.abc import Callable, Iterable
from typing import Any

from octavo import templates
from octavo.sessions.output_notices import output_notice
from octavo_protocol.base import JsonObject

_TRUNCATED = "[Output truncated]"


def to_llm_messages(messages: Iterable[JsonObject]) -> list[JsonObject]:
    """Convert agent messages; one of an unknown role, or one kept from the context, yields nothing."""
    return list(_converted(messages, _ALL))


def core_llm_messages(messages: Iterable[JsonObject]) -> list[JsonObject]:
    """Convert agent messages as the agent core does (defaultConvertToLlm): application roles yield nothing."""
    return list(_converted(messages, _CORE))


def message_text(message: JsonObject) -> str:
    """Return the text of a message: its string content, or its text blocks joined without separator."""
    return _text_of(message.get("content"))


def bash_execution_text(message: JsonObject) -> str:
    """Return what a model reads about a shell command that the user ran (bashExecutionToText)."""
    text = f"Ran `{_string(message.get('command'))}`\n{_output(message)}"
    if message.get("cancelled"):
        text += "\n\n(command cancelled)"
    elif _failed(message):
        text += f"\n\nCommand exited with code {message['exitCode']}"
    return text + output_notice(message.get("meta"))


def python_execution_text(message: JsonObject) -> str:
    """Return what a model reads about Python code that the user ran."""
    output = _string(message.get("output"))
    shown = f"Output:\n```\n{output}\n```" if output else "(no output)"
    text = f"Ran Python:\n```python\n{_string(message.get('code'))}\n```\n{shown}"
    if message.get("cancelled"):
        text += "\n\n(execution cancelled)"
    elif _failed(message):
        text += f"\n\nExecution failed with code {message['exitCode']}"
    return text + output_notice(message.get("meta"))


def _converted(messages: Iterable[JsonObject], table: dict[str, "_Convert"]) -> Iterable[JsonObject]:
    for message in messages:
        role = message.get("role")
        convert = table.get(role) if isinstance(role, str) else None
        if convert is not None and (converted := convert(message)) is not None:
            yield converted


def _assistant(message: JsonObject) -> JsonObject:
    return message


def _user(message: JsonObject) -> JsonObject:
    return _attributed(message, "user")


def _developer(message: JsonObject) -> JsonObject:
    return _attributed(message, "agent")


def _tool_result(message: JsonObject) -> JsonObject:
    if message.get("prunedAt") is None:
        return _attributed(message, "agent")
    text = _text_of(message.get("content")) or _TRUNCATED
    return _attributed({**message, "content": [_block(text)]}, "agent")


def _custom(message: JsonObject) -> JsonObject:
    content = message.get("content")
    converted = {"role": "developer", "content": content if isinstance(content, list) else [_block(_string(content))]}
    return converted | _kept(message, "attribution", "timestamp")


def _branch_summary(message: JsonObject) -> JsonObject:
    text = templates.render("branch-summary-context", summary=_string(message.get("summary")))
    return {"role": "user", "content": [_block(text)], "attribution": "agent"} | _kept(message, "timestamp")


def _compaction_summary(message: JsonObject) -> JsonObject:
    text = templates.render("compaction-summary-context", summary=_string(message.get("summary")))
    images = message.get("images")
    content = [_block(text), *(images if isinstance(images, list) else ())]
    converted = {"role": "user", "content": content, "attribution": "agent"}
    return converted | _kept(message, "providerPayload", "timestamp")


def _bash(message: JsonObject) -> JsonObject | None:
    return None if message.get("excludeFromContext") else _run(message, bash_execution_text(message))


def _python(message: JsonObject) -> JsonObject | None:
    return None if message.get("excludeFromContext") else _run(message, python_execution_text(message))


def _run(message: JsonObject, text: str) -> JsonObject:
    return {"role": "user", "content": [_block(text)], "attribution": "user"} | _kept(message, "timestamp")


def _file_mention(message: JsonObject) -> JsonObject:
    listed = message.get("files")
    files = [file for file in listed if isinstance(file, dict)] if isinstance(listed, list) else []
    parts = []
    for file in files:
        content = _string(file.get("content"))
        inner = f"\n{content}\n" if content else "\n"
        parts.append(f'<file path="{_string(file.get("path"))}">{inner}</file>')
    images = [file["image"] for file in files if isinstance(file.get("image"), dict)]
    converted = {"role": "developer", "content": [_block("\n".join(parts)), *images], "attribution": "user"}
    return converted | _kept(message, "timestamp")


_Convert = Callable[[JsonObject], JsonObject | None]

_CORE: dict[str, _Convert] = {
    "user": _user,
    "developer": _developer,
    "assistant": _assistant,
    "toolResult": _tool_result,
    "custom": _custom,
    "hookMessage": _custom,
    "branchSummary": _branch_summary,
    "compactionSummary": _compaction_summary,
}
_ALL: dict[str, _Convert] = {
    **_CORE,
    "bashExecution": _bash,
    "pythonExecution": _python,
    "fileMention": _file_mention,
}


def _attributed(message: JsonObject, default: str) -> JsonObject:
    return message if message.get("attribution") is not None else {**message, "attribution": default}


def _block(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _kept(message: JsonObject, *keys: str) -> JsonObject:
    return {key: message[key] for key in keys if message.get(key) is not None}


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(
        _string(block.get("text")) for block in content if isinstance(block, dict) and block.get("type") == "text"
    )


def _output(message: JsonObject) -> str:
    output = _string(message.get("output"))
    return f"```\n{output}\n```" if output else "(no output)"


def _failed(message: JsonObject) -> bool:
    code = message.get("exitCode")
    return code is not None and code != 0


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
