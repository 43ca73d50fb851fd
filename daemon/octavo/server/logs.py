"""Where log lines go: stderr or a file, never stdout, with secrets taken out.

Lines are written by a thread of their own: a client that does not read its server's stderr must not stop the server.
"""

import contextlib
import logging
import os
import queue
import re
import sys
import threading
from pathlib import Path

_SECRETS = re.compile(
    r"""(?ix)
    \b(?:sk|pk|rk|ghp|gho|ghs|github_pat|xox[abp]|AIza)[-_A-Za-z0-9]{12,}     # keys that show what they are
    | (?<=bearer\s)[-._~+/A-Za-z0-9]+=*
    | (?<=basic\s)[A-Za-z0-9+/]{8,}=*
    | (?:(?<=api_key)|(?<=api-key)|(?<=apikey)|(?<=token)|(?<=secret)|(?<=password)|(?<=authorization))
      (?P<gap>["']?\s*[:=]\s*["']?)[^\s"',;}]{4,}
    """
)
_HELD = 10_000


def redact(text: str) -> str:
    """Return `text` with what looks like a credential replaced by `***`."""
    return _SECRETS.sub(lambda match: f"{match['gap'] or ''}***", text)


class _Redacting(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


class _Writer(logging.Handler):
    """Hands lines to a thread; drops them while more than `_HELD` wait."""

    def __init__(self, fd: int) -> None:
        super().__init__()
        self._fd = fd
        self._lines: queue.Queue[bytes] = queue.Queue(_HELD)
        threading.Thread(target=self._write, name="octavo-log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record).encode("utf-8", "backslashreplace") + b"\n"
        except Exception:  # noqa: BLE001 - logging's own rule: a bad record must not end the work it tells of
            self.handleError(record)
            return
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(line)

    def flush(self) -> None:
        """Wait until the lines are written, but no longer than a second."""
        with self._lines.all_tasks_done:
            if self._lines.unfinished_tasks:
                self._lines.all_tasks_done.wait(1.0)

    def _write(self) -> None:
        while True:
            line = self._lines.get()
            try:
                while line:
                    line = line[os.write(self._fd, line) :]
            except OSError:
                # Nobody listens any more; there is nowhere left to say so.
                pass
            finally:
                self._lines.task_done()


def configure(level: str, file: Path | None) -> None:
    """Send every log line of `level` and above to `file` (appended, mode 0600) or to stderr.

    Raises:
        OSError: The file cannot be opened.
    """
    if file is None:
        fd = os.dup(sys.stderr.fileno())
    else:
        fd = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    handler = _Writer(fd)
    handler.setFormatter(_Redacting("%(asctime)s %(levelname)-7s %(name)s: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(capture=True)
    for noisy in ("pygls", "asyncio", "httpx", "httpcore", "websockets"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, logging.getLogger().level))
