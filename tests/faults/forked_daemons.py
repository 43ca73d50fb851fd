"""Forks real daemons from a process that has everything imported, so that hundreds of them cost milliseconds each.

Run as `python forked_daemons.py`. Each line on stdin is the path of a socket; a child is forked that serves it until
somebody kills it. On stdout: `pid N` when it listens, `dead N` once it is gone.
"""

import logging
import os
import sys
from pathlib import Path

from octavo.server import handlers, listening, rpc, serving

handlers.load()
assert rpc


def say(line: str) -> None:
    os.write(1, line.encode() + b"\n")


class Announcer(logging.Handler):
    """Says the pid when the daemon logs that it listens."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("listening on"):
            say(f"pid {os.getpid()}")


def main() -> None:
    logging.getLogger("octavo.server.listening").setLevel(logging.INFO)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            logging.getLogger("octavo.server.listening").addHandler(Announcer())
            os._exit(serving.run(listening.ServeOptions(socket=Path(line.strip()))))
        os.waitpid(child, 0)
        say(f"dead {child}")


if __name__ == "__main__":
    main()
