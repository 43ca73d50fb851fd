"""What happened in a stretch of conversation, read off the messages themselves: no model, no guess, no network.

Collects requests, standing rules, commands with their outcome, errors, changes, to-do lists, the last statement and an
open question; how they are told is `extractive`'s subject. One pass, linear, in any language.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from octavo.compaction.serialize import blocks_of, text_of
from octavo_protocol.base import JsonObject

_EXIT_CODE = re.compile(r"\bexit(?:ed)?(?: with)?(?: code| status)?:? +(-?[0-9]{1,10})\b", re.IGNORECASE)
_LOOKING = re.compile(
    r"(?:ls|ll|cd|pwd|cat|bat|head|tail|less|echo|which|wc|tree|file|stat|find|fd|rg|grep|sort|uniq|sed -n"
    r"|git (?:log|diff|show|status|ls-files|branch))\b"
)
_STANDING = re.compile(
    r"\b(?:never|always|from now on|do not ever|don't ever|rule for|as a rule|no matter what|niemals|immer|ab jetzt"
    r"|toujours|jamais|désormais|siempre|nunca|a partir de ahora|sempre|a partir de agora|d'ora in poi|altijd|nooit"
    r"|zawsze|nigdy|vždy|nikdy|alltid|aldrig|aldri|her zaman|asla|всегда|никогда|отныне|завжди|ніколи)\b"
    r"|永远|始终|一律|今后|绝不|必ず|絶対|常に|항상|절대|دائما|أبدا|हमेशा|कभी नहीं",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?。！？\n]{1,600}+(?:[.!?](?=\S)[^.!?。！？\n]{1,600}+){0,20}+[.!?。！？]*+")
_CONNECTIVE = re.compile(r"&&|\|\|?|;|\n")
_HARMLESS_REDIRECT = re.compile(r"[0-9]?>(?:&[0-9]| ?/dev/null)")
_QUESTION_MARKS = ("?", "？", "؟", "՞")
_DONE = {"completed", "complete", "done", "cancelled", "canceled"}
_SUBJECT_KEYS = ("path", "file_path", "file", "pattern", "query", "url", "name", "action")


@dataclass(slots=True)
class Command:
    """A command as it was typed, how often it ran, whether its last run failed (None: unknown), and what it printed."""

    text: str
    runs: int = 1
    failed: bool | None = None
    output: str = ""

    @property
    def only_looks(self) -> bool:
        """Whether the command reads and changes nothing, as far as the first words of its parts tell."""
        text = _HARMLESS_REDIRECT.sub(" ", self.text[:2000])
        parts = [part.strip() for part in _CONNECTIVE.split(text)]
        return ">" not in text and all(_LOOKING.match(part) for part in parts if part)


@dataclass(slots=True)
class Failure:
    """An error as it was printed, and whether the same action succeeded later."""

    action: str
    text: str
    solved: bool = False


@dataclass(slots=True)
class Facts:
    """Everything collected, oldest first; a repeated command or change stands where it happened last."""

    requests: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    commands: dict[str, Command] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    changes: dict[str, int] = field(default_factory=dict)
    todo: list[tuple[str, bool]] = field(default_factory=list)
    branches: list[str] = field(default_factory=list)
    handed_over: list[str] = field(default_factory=list)
    statement: str = ""
    question: str = ""
    calls: int = 0


def collect_facts(messages: Iterable[JsonObject]) -> Facts:
    """Collect the facts of agent messages (any role; malformed ones say nothing)."""
    reader = _Reader()
    for message in messages:
        reader.read(message)
    reader.facts.question = _open_question(reader.facts.statement) if reader.unanswered else ""
    return reader.facts


def is_request(message: JsonObject) -> bool:
    """Whether a message is something the user asked, and not text the agent put in the user's place."""
    return message.get("role") == "user" and message.get("attribution") != "agent"


@dataclass(slots=True)
class _Reader:
    facts: Facts = field(default_factory=Facts)
    unanswered: bool = False
    _pending: dict[str, tuple[str, Command | None]] = field(default_factory=dict)

    def read(self, message: JsonObject) -> None:
        match message.get("role"):
            case "user":
                self.unanswered = False
                text = text_of(message.get("content")).strip()
                if text and is_request(message):
                    self.facts.requests.append(text)
                    self.facts.rules.extend(_standing_rules(text))
            case "assistant":
                self._assistant(message)
            case "toolResult":
                self._result(message)
            case "bashExecution" if not message.get("excludeFromContext"):
                command = self._command(str(message.get("command") or ""))
                code = message.get("exitCode")
                failed = code != 0 if isinstance(code, int) and not isinstance(code, bool) else None
                self._finish(command.text, command, _string(message.get("output")), failed=failed)
            case "branchSummary":
                self.facts.branches.append(_string(message.get("summary")).strip())
            case "custom" if message.get("customType") == "handoff":
                self.facts.handed_over.append(text_of(message.get("content")).strip())

    def _assistant(self, message: JsonObject) -> None:
        content = message.get("content")
        text = content if isinstance(content, str) else "\n\n".join(_texts(message))
        if text.strip():
            self.facts.statement = text.strip()
            self.unanswered = True
        for call in blocks_of(message, "toolCall"):
            arguments = call.get("arguments")
            self._call(
                _string(call.get("id")), _string(call.get("name")), arguments if isinstance(arguments, dict) else {}
            )

    def _call(self, call_id: str, name: str, arguments: JsonObject) -> None:
        self.facts.calls += 1
        path = arguments.get("path")
        if name in {"edit", "write"} and isinstance(path, str) and path:
            self.facts.changes[path] = self.facts.changes.pop(path, 0) + 1
        if isinstance(arguments.get("todos"), list):
            self.facts.todo = list(_todo(arguments["todos"]))
        typed = arguments.get("command", arguments.get("cmd"))
        if isinstance(typed, list):
            typed = " ".join(str(word) for word in typed)
        command = self._command(typed) if isinstance(typed, str) and typed.strip() else None
        action = command.text if command else " ".join([name, *_subject(arguments)])
        self._pending[call_id] = (action, command)

    def _result(self, message: JsonObject) -> None:
        action, command = self._pending.pop(
            _string(message.get("toolCallId")), (_string(message.get("toolName")), None)
        )
        text = text_of(message.get("content"))
        failed = bool(message.get("isError")) or (_exit_failed(text) if command else False)
        self._finish(action, command, text, failed=failed)

    def _command(self, typed: str) -> Command:
        text = typed.strip()
        known = self.facts.commands.pop(text, None)
        command = Command(text, known.runs + 1 if known else 1)
        self.facts.commands[text] = command
        return command

    def _finish(self, action: str, command: Command | None, output: str, *, failed: bool | None) -> None:
        if command is not None:
            command.failed = failed
            command.output = _last_line(output)
        # Search tools say "nothing found" with an exit code; that is an answer.
        if failed and not (command and command.only_looks):
            self.facts.failures.append(Failure(action, output.strip()))
        else:
            self._solve(action)

    def _solve(self, action: str) -> None:
        # Only the newest failures can be of interest, so that a long session stays linear.
        for failure in self.facts.failures[-40:]:
            if failure.action == action:
                failure.solved = True


def _standing_rules(request: str) -> Iterator[str]:
    """Yield the sentences that sound as if they were meant to hold from now on; pasted bulk is not searched."""
    if len(request) > 4000:
        return
    for sentence in _SENTENCE.findall(request):
        if _STANDING.search(sentence):
            yield " ".join(sentence.split())


def _texts(message: JsonObject) -> Iterator[str]:
    yield from (text for block in blocks_of(message, "text") if (text := _string(block.get("text")).strip()))


def _exit_failed(output: str) -> bool:
    found = _EXIT_CODE.findall(output[-400:])
    return bool(found) and int(found[-1]) != 0


def _subject(arguments: JsonObject) -> Iterator[str]:
    named = (arguments[key] for key in _SUBJECT_KEYS if isinstance(arguments.get(key), str) and arguments[key])
    found = next(named, None)
    if found is not None:
        yield found[:200]


def _todo(items: list[Any]) -> Iterator[tuple[str, bool]]:
    for item in items:
        if not isinstance(item, dict):
            continue
        text = next((item[key] for key in ("content", "text", "title", "task") if isinstance(item.get(key), str)), "")
        if text.strip():
            yield " ".join(text.split()), str(item.get("status", "")).lower() in _DONE or item.get("done") is True


def _open_question(statement: str) -> str:
    """Return the paragraphs of the statement's end that hold its last question, "" when it ends without one."""
    paragraphs = [part.strip() for part in statement.split("\n\n") if part.strip()]
    for index in range(len(paragraphs) - 1, max(-1, len(paragraphs) - 4), -1):
        lines = [line.rstrip(" *_`)\"'»”") for line in paragraphs[index].splitlines()]
        if any(line.endswith(_QUESTION_MARKS) for line in lines):
            return "\n\n".join(paragraphs[index:])
    return ""


def _last_line(output: str) -> str:
    tail = output[-2000:].rstrip()
    line = " ".join(tail[tail.rfind("\n") + 1 :].split())
    return "" if line == "(no output)" else line


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
