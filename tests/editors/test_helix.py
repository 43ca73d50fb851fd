"""What Helix can reach: `workspace/executeCommand` with `octavo.<method>`, over the pipes a language server gets."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from wire.support import spawn

ROOT = Path(__file__).parents[2]


async def test_a_session_is_compacted_and_undone_by_commands_alone(tmp_path: Path) -> None:
    session = tmp_path / "tidewatch.jsonl"
    shutil.copy(ROOT / "tests" / "data" / "tidewatch.jsonl", session)
    async with spawn() as helix:
        hello = await helix.initialize()

        async def command(name: str, **params: Any) -> Any:
            answer = await helix.request("workspace/executeCommand", {"command": name, "arguments": [params]})
            return answer.get("result") or answer["error"]

        offered = hello["result"]["capabilities"]["executeCommandProvider"]["commands"]
        assert {"octavo.session/open", "octavo.session/compact", "octavo.session/undoCompaction"} <= set(offered)
        opened = await command("octavo.session/open", path=str(session))
        done = await command("octavo.session/compact", sessionId=opened["sessionId"], strategy="extractive")
        assert done["tokensAfter"] < done["tokensBefore"]
        undone = await command("octavo.session/undoCompaction", sessionId=opened["sessionId"])
        assert undone["compactionEntryId"] == done["entryId"]
        refused = await command("octavo.session/compact", sessionId=opened["sessionId"], strategy="magic")
        assert refused["data"]["kind"] == "invalid-params"


@pytest.mark.parametrize("page", ["helix", "emacs"])
def test_the_page_names_only_methods_that_exist(page: str) -> None:
    from octavo_protocol.methods import METHODS
    from octavo_protocol.notifications import NOTIFICATIONS

    words = (ROOT / "editors" / page / "README.md").read_text()
    named = set(re.findall(r"\b((?:session|model|settings)/[a-z]\w+)", words))
    assert named
    assert named <= set(METHODS) | set(NOTIFICATIONS)
