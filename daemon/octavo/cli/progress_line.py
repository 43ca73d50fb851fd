"""One line that says how far a long request is, on a terminal; nothing at all elsewhere."""

from types import TracebackType
from typing import IO, Self

from octavo.cli.terminal import Terminal, clean, fit
from octavo_protocol.notifications import ProgressValue


class ProgressLine:
    """Overwrites its own line and takes it away at the end."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._shown = out.isatty()
        self._width = Terminal.of(out).width

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=self._out, flush=True)

    def show(self, value: ProgressValue) -> None:
        """Show a report of the daemon."""
        if not self._shown or value.kind != "report":
            return
        percent = f"{value.percentage:3d} %  " if value.percentage is not None else ""
        text = fit(f"  {percent}{clean(value.message or value.phase or '')}", self._width - 1)
        print(f"\r\x1b[K{text}", end="", file=self._out, flush=True)
