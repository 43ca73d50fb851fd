"""Random operations on a live session against a model that is a few dictionaries, with reopening at any point."""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import storekit as kit
from octavo.sessions.live import LiveSession
from octavo_protocol.errors import ErrorKind, OctavoError

picks = st.integers(0, 10**6)


class TreeModel(RuleBasedStateMachine):
    """`parents`, `texts` and `labels` by entry id, the leaf, and the title: all that a session is."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.loop = asyncio.new_event_loop()
        self.library = kit.library(self.folder, durability="os")
        self.session: LiveSession = self.run(self.library.create("/p"))
        self.parents: dict[str, str | None] = {}
        self.texts: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.leaf: str | None = None
        self.title: str | None = None
        self.changes = 0
        self.listen()

    def run(self, call: Any) -> Any:
        return self.loop.run_until_complete(call)

    def listen(self) -> None:
        self.changes = self.session.seq

        def count(change: Any) -> None:
            assert change.seq == self.changes + 1
            self.changes += 1

        self.session.subscribe(count)

    def pick(self, number: int) -> str:
        return sorted(self.parents)[number % len(self.parents)]

    def added(self, ids: tuple[str, ...], texts: list[str], parent: str | None) -> None:
        for entry_id, text in zip(ids, texts, strict=True):
            self.parents[entry_id], self.texts[entry_id] = parent, text
            parent = entry_id
        self.leaf = parent

    @rule(texts=st.lists(st.text(max_size=5), min_size=1, max_size=3))
    def append(self, texts: list[str]) -> None:
        answer = self.run(self.session.append(messages=[kit.user(text) for text in texts], expected_leaf_id=self.leaf))
        self.added(answer.entry_ids, texts, self.leaf)

    @precondition(lambda self: self.parents)
    @rule(number=picks, text=st.text(max_size=5))
    def branch(self, number: int, text: str) -> None:
        parent = self.pick(number)
        answer = self.run(self.session.append(messages=[kit.user(text)], parent_id=parent))
        self.added(answer.entry_ids, [text], parent)

    @rule(counts=st.lists(st.integers(1, 2), min_size=2, max_size=5))
    def append_at_once(self, counts: list[int]) -> None:
        async def together() -> Any:
            calls = (self.session.append(messages=[kit.user("c")] * count) for count in counts)
            return await asyncio.gather(*calls)

        for answer in self.run(together()):
            self.added(answer.entry_ids, ["c"] * len(answer.entry_ids), self.leaf)

    @precondition(lambda self: self.parents)
    @rule(number=picks)
    def repeat(self, number: int) -> None:
        known, seq = self.pick(number), self.session.seq
        answer = self.run(self.session.append(messages=[kit.user("again")], ids=[known]))
        assert (answer.repeated_ids, self.session.seq) == ((known,), seq)

    @precondition(lambda self: self.parents)
    @rule(number=picks)
    def navigate(self, number: int) -> None:
        self.leaf = self.pick(number)
        self.run(self.session.set_leaf(self.leaf))

    @rule()
    def to_root(self) -> None:
        self.leaf = None
        self.run(self.session.set_leaf(None))

    @precondition(lambda self: self.parents)
    @rule(number=picks, label=st.sampled_from(["", "one", "two"]))
    def label(self, number: int, label: str) -> None:
        target = self.pick(number)
        answer = self.run(self.session.set_label(target, label))
        self.parents[answer.entry_ids[0]] = self.leaf
        self.leaf = answer.entry_ids[0]
        self.labels.pop(target, None)
        if label:
            self.labels[target] = label

    @precondition(lambda self: self.texts)
    @rule(number=picks, text=st.text(max_size=5))
    def replace(self, number: int, text: str) -> None:
        target = sorted(self.texts)[number % len(self.texts)]
        self.run(self.session.rewrite(lambda tree: [{**tree.get(target), "message": kit.user(text)}], "prune"))
        self.texts[target] = text

    @rule(title=st.sampled_from(["a", "b c"]))
    def rename(self, title: str) -> None:
        assert self.run(self.session.set_title(title))
        self.title = title

    @rule()
    def refuse_unknown_parent(self) -> None:
        with pytest.raises(OctavoError) as caught:
            self.run(self.session.append(messages=[kit.user("x")], parent_id="unknown"))
        assert caught.value.kind == ErrorKind.ENTRY_NOT_FOUND

    @rule(tear=st.sampled_from([b"", b'{"type":"mess', b"\0\0"]))
    def reopen(self, tear: bytes) -> None:
        path = self.session.path
        assert path is not None
        self.run(self.session.close())
        with path.open("ab") as stream:
            stream.write(tear)
        self.session = self.run(self.library.open_path(path))
        # What an earlier tear left stays reported until something is written.
        assert bool(self.session.recovery) or not tear
        self.listen()

    @rule()
    def fork(self) -> None:
        fork = self.run(self.library.fork(self.session))
        self.run(self.session.close())
        self.session = fork
        self.listen()

    @invariant()
    def same_tree(self) -> None:
        tree = self.session.tree
        assert tree.leaf_id == self.leaf
        assert self.session.title == self.title
        assert tree.labels == self.labels
        path = []
        current = self.leaf
        while current is not None:
            path.append(current)
            current = self.parents[current]
        assert [entry["id"] for entry in self.session.branch()] == path[::-1]
        for entry_id, text in self.texts.items():
            assert tree.get(entry_id)["message"]["content"] == text
            assert tree.parent_of(entry_id) == self.parents[entry_id]
        assert self.changes == self.session.seq

    def teardown(self) -> None:
        self.run(self.session.close())
        self.loop.close()
        shutil.rmtree(self.folder)


TestTreeModel = TreeModel.TestCase
TestTreeModel.settings = settings(
    max_examples=25, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
