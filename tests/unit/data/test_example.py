"""The example session is what its script says, and fit to be shown."""

import itertools
import json
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).parents[2] / "data"


def entries() -> list[dict[str, object]]:
    return [json.loads(line) for line in (DATA / "tidewatch.jsonl").read_text(encoding="utf-8").splitlines()[1:]]


def test_the_example_is_what_its_script_writes(tmp_path: Path) -> None:
    for name in ("build_example.py", "story.py", "week.py", "bulk.py"):
        (tmp_path / name).write_text((DATA / name).read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([sys.executable, tmp_path / "build_example.py"], check=True, timeout=60)
    assert (tmp_path / "tidewatch.jsonl").read_bytes() == (DATA / "tidewatch.jsonl").read_bytes()


def test_the_example_has_everything_a_reader_should_meet() -> None:
    found = entries()
    messages = [e["message"] for e in found if e["type"] == "message"]
    assert len(found) >= 300
    assert any(m["role"] == "toolResult" and m["isError"] for m in messages)
    assert any("ありがとう" in json.dumps(m, ensure_ascii=False) for m in messages)
    assert {"label", "branch_summary", "model_change"} <= {e["type"] for e in found}


def test_every_call_of_the_example_has_its_result_right_after_it() -> None:
    found = entries()
    for before, after in itertools.pairwise(found):
        content = before["message"]["content"] if before["type"] == "message" else []
        calls = [b["id"] for b in content if isinstance(b, dict) and b["type"] == "toolCall"]
        if calls:
            assert after["message"]["toolCallId"] == calls[0]
            assert after["parentId"] == before["id"]
