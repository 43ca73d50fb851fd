"""The public transcripts, cut to their first N lines for every N: each opens, compacts, and leaves a valid context.

Entries are read once and their prefixes used, which is what opening the cut file gives (`tests/unit/sessions` proves it
at many places); everything after that runs for every single N.
"""

from pathlib import Path

import pytest

from octavo.compaction.checks import check_compaction
from octavo.compaction.extractive import summarize_locally
from octavo.compaction.prepare import prepare_compaction
from octavo.compaction.validators import pairing_violations
from octavo.sessions.context import build_context
from octavo.sessions.llm_messages import to_llm_messages
from octavo.sessions.reading import load_session
from octavo.sessions.tree import SessionTree
from octavo.tokens.estimate import Estimator
from octavo_protocol.settings import CompactionSettings

SETTINGS = CompactionSettings()


@pytest.mark.samples
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["before-compaction", "large-session"])
def test_every_prefix_compacts_and_every_call_in_its_context_has_its_result(samples: Path, name: str) -> None:
    loaded = load_session((samples / "pi" / f"{name}.jsonl").read_bytes())
    estimator = Estimator()
    tree = SessionTree(loaded.header)
    compacted = 0
    for entry in loaded.entries:
        tree.add(entry)
        path = tree.path(tree.leaf_id)
        preparation = prepare_compaction(path, SETTINGS, estimator=estimator)
        if preparation is not None:
            outcome = summarize_locally(preparation)
            draft = {"type": "compaction", "id": "draft", "parentId": entry["id"], **outcome.to_wire()}
            gate = check_compaction(path, draft, preparation, estimator)
            assert not {"pairs", "api-valid", "last-request", "files"} & set(gate.failed), gate.checks
            path = [*path, {**draft, **gate.entry}]
            compacted += 1
        assert pairing_violations(to_llm_messages(build_context(path).messages)) == []
    assert compacted > len(loaded.entries) / 4
