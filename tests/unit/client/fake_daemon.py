"""A daemon in this process for tests of clients that reconnect and follow: connections that can be cut, one session."""

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup

from octavo_client import Client, DaemonGoneError, Options
from octavo_client.framing import FrameReader, frame, parse
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError

LIMIT_S = 20.0
"""Bound of a whole test: far above what any takes."""

NEVER = object()
"""What an answerer returns for a request that gets no answer."""

Answer = Callable[["Link", str, JsonObject], Awaitable[Any]]


class Link:
    """The daemon's end of one connection."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._out, self.receive = anyio.create_memory_object_stream[bytes](math.inf)
        self.send, self._in = anyio.create_memory_object_stream[bytes](math.inf)
        self.cut_off = False
        self._held: list[bytes] | None = None

    def cut(self) -> None:
        """End the connection, as when a network goes."""
        self.cut_off = True
        self._out.close()
        self._in.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is sent inside arrives at once."""
        held = self._held = []
        yield
        self._held = None
        if not self.cut_off:
            self._out.send_nowait(b"".join(held))

    def tell(self, method: str, params: JsonObject) -> None:
        self._put({"method": method, "params": params})

    async def serve(self) -> None:
        reader = FrameReader(self._in)  # type: ignore[arg-type]
        with self._out, self._in:
            try:
                while not self.cut_off:
                    message = parse(await reader.read())
                    if message.get("method") == "exit":
                        return
                    if "id" in message:
                        await self._take(message)
            except DaemonGoneError:
                return

    async def _take(self, message: JsonObject) -> None:
        try:
            result = await self._answer(self, message["method"], message["params"])
            if result is NEVER:
                return
            answer = {"result": result}
        except OctavoError as error:
            answer = {"error": {"code": error.code, "message": error.message, "data": error.data}}
        self._put({"id": message["id"], **answer})

    def _put(self, message: JsonObject) -> None:
        data = frame({"jsonrpc": "2.0", **message})
        if self._held is not None:
            self._held.append(data)
        elif not self.cut_off:
            self._out.send_nowait(data)


class FakeDaemon:
    """Made by `fake`. Knows the greeting and, unless told otherwise, one session."""

    def __init__(self, tasks: TaskGroup, answer: Answer) -> None:
        self._tasks = tasks
        self._answer = answer
        self.links: list[Link] = []
        self.refuses: OctavoError | None = None

    @asynccontextmanager
    async def dial(self) -> AsyncIterator[Client]:
        link = Link(self._reply)
        self.links.append(link)
        self._tasks.start_soon(link.serve)
        with link.receive, link.send:
            async with Client.over(link.receive, link.send, Options()) as client:  # type: ignore[arg-type]
                yield client

    def cut(self) -> None:
        self.links[-1].cut()

    async def _reply(self, link: Link, method: str, params: JsonObject) -> Any:
        if method == "initialize":
            if self.refuses is not None:
                raise self.refuses
            return {"serverInfo": {"name": "fake"}, "capabilities": {}}
        if method == "shutdown":
            return None
        return await self._answer(link, method, params)


class Session:
    """One session as a daemon has it: its numbered changes, told to whoever has opened it."""

    def __init__(self, changes: int = 0) -> None:
        self.epoch = "one"
        self.changes: list[JsonObject] = []
        self.forgotten = 0
        self.page_size = 1000
        self.calls: list[str] = []
        self.locked_for = 0
        self.before_entries: Callable[[Link], None] = lambda _: None
        self.while_opening: Callable[[Link], None] = lambda _: None
        self.open: list[Link] = []
        for _ in range(changes):
            self.change()

    @property
    def seq(self) -> int:
        return self.forgotten + len(self.changes)

    def change(self, *, tell: bool = True) -> None:
        number = self.seq + 1
        change = {"seq": number, "kind": "appended", "entryIds": [f"e{number}"], "leafId": f"e{number}"}
        self.changes.append(change)
        for link in self.open if tell else ():
            self.tell(link, change)

    def tell(self, link: Link, change: JsonObject) -> None:
        link.tell("session/didChange", {"sessionId": "s", "epoch": self.epoch, **change})

    def restart(self, epoch: str = "two") -> None:
        self.epoch = epoch
        self.changes = []
        self.forgotten = 0

    async def answer(self, link: Link, method: str, params: JsonObject) -> Any:
        if method == "session/open":
            self.calls.append("open")
            if self.locked_for > 0:
                self.locked_for -= 1
                raise OctavoError(ErrorKind.SESSION_LOCKED, "A daemon that is going has it.")
            if link not in self.open:
                self.open.append(link)
            info = self._info()
            self.while_opening(link)
            return info
        if method == "session/getInfo":
            return self._info()
        if method == "session/getEntries":
            self.before_entries(link)
            return self._entries(params)
        raise OctavoError(ErrorKind.METHOD_NOT_FOUND, f"No {method} here.")

    def _info(self) -> JsonObject:
        counts = {"entryCount": self.seq, "messageCount": self.seq}
        place = {"sessionId": "s", "seq": self.seq, "epoch": self.epoch}
        return {**place, **counts, "cwd": "/", "format": "pi", "version": 3, "mode": "write"}

    def _entries(self, params: JsonObject) -> JsonObject:
        ids, since = params.get("ids"), params.get("sinceSeq", 0)
        self.calls.append(f"since {since}" if ids is None else f"ids {','.join(ids)}")
        state = {"seq": self.seq, "epoch": self.epoch, "changes": [], "entries": []}
        if ids is not None:
            return {**state, "entries": [_entry(entry_id) for entry_id in ids]}
        if params["epoch"] != self.epoch or since < self.forgotten:
            return {**state, "reset": True}
        missed = [change for change in self.changes if change["seq"] > since]
        start = int(params.get("cursor") or 0)
        end = start + self.page_size
        page = missed[start:end]
        entries = [_entry(entry_id) for change in page for entry_id in change["entryIds"]]
        following = {"nextCursor": str(end)} if end < len(missed) else {}
        return {**state, "changes": missed if start == 0 else [], "entries": entries, **following}


@asynccontextmanager
async def fake(answer: Answer | None = None) -> AsyncIterator[FakeDaemon]:
    """A fake daemon that answers as `answer` says; everything within is bounded in time."""
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            yield FakeDaemon(tasks, answer or Session().answer)
            tasks.cancel_scope.cancel()


def _entry(entry_id: str) -> JsonObject:
    return {"type": "label", "id": entry_id}
