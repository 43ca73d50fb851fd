"""Write `tidewatch.jsonl`: a week of work on an invented project, the session that `make run` compacts.

The story is ours and so is every line of it: a small tide-forecast service, five working days, one abandoned idea
(a branch), failures with their real-looking output, and a colleague in Osaka who writes in Japanese. The text lives in
`story.py` and `week.py`, long outputs in `bulk.py`; this script turns it into entries with deterministic ids and times,
so that the file can be rebuilt and compared.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from story import FILES, Branch, Step, Task
from week import DAYS

HERE = Path(__file__).parent
TARGET = HERE / "tidewatch.jsonl"
START = datetime(2026, 3, 2, 8, 40, tzinfo=UTC)
MODEL = {"api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-4-5"}


class Recorder:
    """Append entries the way an agent would: each a child of the leaf, time moving forward."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self.leaf: str | None = None
        self.now = START
        self.context = 4200
        self.calls = 0
        self.files = dict(FILES)

    def add(self, kind: str, seconds: int = 1, **fields: Any) -> str:
        self.now += timedelta(seconds=seconds)
        entry_id = f"{(len(self.entries) + 1) * 2654435761 % 2**32:08x}"
        stamp = self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.entries.append({"type": kind, "id": entry_id, "parentId": self.leaf, "timestamp": stamp, **fields})
        self.leaf = entry_id
        return entry_id

    def message(self, role: str, seconds: int, **fields: Any) -> str:
        self.now += timedelta(seconds=seconds)
        return self.add("message", 0, message={"role": role, **fields, "timestamp": int(self.now.timestamp() * 1000)})

    def user(self, text: str) -> None:
        self.context += len(text) // 3
        self.message("user", 140, content=text)

    def assistant(self, text: str, call: tuple[str, dict[str, Any]] | None = None) -> str | None:
        content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        call_id = None
        if call:
            self.calls += 1
            call_id = f"toolu_{self.calls:04d}"
            content.append({"type": "toolCall", "id": call_id, "name": call[0], "arguments": call[1]})
        output = 20 + len(json.dumps(content)) // 4
        usage = {
            "input": 12,
            "output": output,
            "cacheRead": self.context,
            "cacheWrite": 300,
            "totalTokens": self.context + output + 312,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
        }
        self.context += output
        stop = "toolUse" if call else "stop"
        self.message("assistant", 6, content=content, **MODEL, usage=usage, stopReason=stop)
        return call_id

    def result(self, call_id: str | None, tool: str, output: str, *, error: bool) -> None:
        self.context += len(output) * 10 // 26
        content = [{"type": "text", "text": output}] if output else []
        self.message("toolResult", 2, toolCallId=call_id, toolName=tool, content=content, isError=error)

    def step(self, step: Step) -> None:
        call_id = self.assistant(step.say, (step.tool, step.arguments))
        self.result(call_id, step.tool, self.output_of(step), error=step.error)

    def output_of(self, step: Step) -> str:
        path = step.arguments.get("path", "")
        if step.tool == "write":
            self.files[path] = step.arguments["content"]
        elif step.tool == "edit" and not step.error:
            old, new = step.arguments["oldText"], step.arguments["newText"]
            assert old in self.files[path], f"{path} does not contain {old!r}"
            self.files[path] = self.files[path].replace(old, new, 1)
        elif step.tool == "read" and not step.error:
            return self.files[path]
        return step.output

    def task(self, task: Task) -> None:
        self.user(task.ask)
        for step in task.steps:
            self.step(step)
        self.assistant(task.answer)

    def branch(self, branch: Branch) -> None:
        fork, files = self.leaf, dict(self.files)
        for task in branch.tasks:
            self.task(task)
        self.leaf, self.files = fork, files
        self.add("branch_summary", 60, fromId=fork, summary=branch.summary, details=branch.details)


def record() -> Iterator[dict[str, Any]]:
    """Yield the header and every entry of the week."""
    yield {
        "type": "session",
        "version": 3,
        "id": "019cad3e-7a00-7c11-9f3e-71de0a7c4e55",
        "timestamp": START.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "cwd": "/home/mira/tidewatch",
        "title": "tidewatch: forecasts for Osaka, from parser to release",
        "titleSource": "user",
    }
    recorder = Recorder()
    recorder.add("model_change", model=f"{MODEL['provider']}/{MODEL['model']}")
    recorder.add("thinking_level_change", thinkingLevel="medium")
    for day in DAYS:
        for item in day.items:
            if isinstance(item, Branch):
                recorder.branch(item)
            else:
                recorder.task(item)
        if day.label:
            recorder.add("label", 30, targetId=recorder.leaf, label=day.label)
        recorder.now = recorder.now.replace(hour=8, minute=35) + timedelta(days=1)
    yield from recorder.entries


def main() -> None:
    """Rebuild the file beside this script."""
    lines = [json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in record()]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
