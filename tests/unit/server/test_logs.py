"""Log lines carry no secrets, and a reader that does not read them stops nothing."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from octavo.server import logs


@contextmanager
def configured(file: Path) -> Iterator[None]:
    """Configure the root logger for a test and give it back as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers = []
    try:
        logs.configure("info", file)
        yield
    finally:
        for handler in root.handlers:
            handler.flush()
        root.handlers, root.level = handlers, level
        logging.captureWarnings(capture=False)


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("key sk-ant-REDACTED used", "key *** used"),
        ("Authorization: Bearer abc.def-123== sent", "Authorization: *** *** sent"),
        ('{"api_key": "hunter2hunter2", "model": "m"}', '{"api_key": "***", "model": "m"}'),
        ("token=0123456789abcdef&x=1", "token=***"),
        ("ghp_0123456789abcdefABCDEF", "***"),
        ("password: correcthorse", "password: ***"),
        ("12 tokens were freed by session/prune", "12 tokens were freed by session/prune"),
        ("the token budget is 5", "the token budget is 5"),
    ],
)
def test_credentials_are_taken_out_and_other_words_stay(line: str, kept: str) -> None:
    assert logs.redact(line) == kept


def test_lines_go_to_a_private_file_without_secrets_even_from_tracebacks(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with configured(file):
        try:
            int("refused sk-0123456789abcdefghij")
        except ValueError:
            logging.getLogger("octavo").exception("it failed")
    text = file.read_text()
    assert "it failed" in text
    assert "'refused ***'" in text
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_full_pipe_nobody_reads_does_not_block_the_one_who_logs() -> None:
    read, write = os.pipe()
    handler = logs._Writer(write)
    handler.setFormatter(logging.Formatter("%(message)s"))
    record = logging.makeLogRecord({"msg": "x" * 10_000})
    for _ in range(20_000):
        handler.emit(record)
    assert handler._lines.full()
    os.close(read)
    handler.flush()
