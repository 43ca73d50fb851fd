"""How fast the wire is, beside stock pygls with the same methods, in the same run.

Prints: spawn to the answer of `initialize`, small requests one by one and pipelined, 10 and 50 MB params and results.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

PROBE = (str(Path(__file__).parents[1] / "wire/probe_daemon.py"), "--stdio")
STOCK = (str(Path(__file__).with_name("stock_pygls.py")),)
_MARK = b'"ok"'
_ENTRY = {
    "type": "message",
    "id": "e0000001",
    "parentId": "e0000000",
    "timestamp": "2026-03-02T09:00:00.000Z",
    "message": {"role": "user", "content": [{"type": "text", "text": 'The fox says "jump" \n' * 45}]},
}


def entries(megabytes: int) -> list[dict[str, Any]]:
    return [_ENTRY] * (megabytes * 1_000_000 // len(json.dumps(_ENTRY)))


class Bench:
    """One server process under load."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.writer, self.reader = process.stdin, process.stdout

    def write(self, message_id: int | None, method: str, params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        body = orjson.dumps(message if message_id is None else {**message, "id": message_id})
        self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def read(self) -> bytes:
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.split(b"\r\n") if line.startswith(b"Content-Length"))
        return await self.reader.readexactly(int(length.split(b":")[1]))

    async def sequential(self, method: str, count: int) -> float:
        start = time.perf_counter()
        for n in range(count):
            self.write(n, method, {"a": 1})
            await self.read()
        return count / (time.perf_counter() - start)

    async def pipelined(self, method: str, count: int) -> float:
        start = time.perf_counter()

        async def send() -> None:
            for n in range(count):
                self.write(n, method, {"a": 1})
                if n % 100 == 0:
                    await self.writer.drain()

        sending = asyncio.ensure_future(send())
        # Answers are counted, not parsed, so that the client is not what is measured.
        seen, tail = 0, b""
        while seen < count:
            data = tail + await self.reader.read(2**18)
            seen += data.count(_MARK)
            tail = data[-(len(_MARK) - 1) :]
        await sending
        return count / (time.perf_counter() - start)

    async def bulk_in(self, megabytes: int) -> float:
        expected = entries(megabytes)
        start = time.perf_counter()
        self.write(1, "probe/count", {"entries": expected})
        await self.writer.drain()
        answer = orjson.loads(await self.read())
        assert answer["result"] == {"count": len(expected)}, str(answer)[:200]
        return time.perf_counter() - start

    async def bulk_out(self, megabytes: int) -> float:
        start = time.perf_counter()
        self.write(1, "probe/make", {"bytes": megabytes * 1_000_000})
        assert len(await self.read()) > megabytes * 900_000
        return time.perf_counter() - start


@asynccontextmanager
async def server(command: tuple[str, ...]) -> AsyncIterator[tuple[Bench, float]]:
    start = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, stdin=-1, stdout=-1, stderr=asyncio.subprocess.DEVNULL, limit=2**20
    )
    bench = Bench(process)
    bench.write(0, "initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    await bench.read()
    started = time.perf_counter() - start
    bench.write(None, "initialized", {})
    try:
        yield bench, started
    finally:
        process.kill()
        await process.communicate()


async def measure(command: tuple[str, ...], sizes: tuple[int, ...]) -> dict[str, float]:
    figures: dict[str, float] = {}
    starts = []
    for _ in range(3):
        async with server(command) as (_bench, started):
            starts.append(started)
    figures["spawn to initialize, s"] = min(starts)
    async with server(command) as (bench, _):
        await bench.sequential("probe/ping", 200)
        figures["sequential requests/s"] = await bench.sequential("probe/ping", 2000)
        figures["pipelined requests/s"] = max([await bench.pipelined("probe/ping", 5000) for _ in range(4)])
        if command == PROBE:
            figures["pipelined, plain def, requests/s"] = await bench.pipelined("probe/pingNow", 5000)
        for megabytes in sizes:
            figures[f"{megabytes} MB params, s"] = await bench.bulk_in(megabytes)
        for megabytes in sizes:
            await bench.bulk_out(1)
            figures[f"{megabytes} MB result, s"] = await bench.bulk_out(megabytes)
    return figures


def main() -> None:
    """Measure both and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="let stock pygls take 50 MB as well (half a minute)")
    everything = parser.parse_known_args()[0].all
    ours = asyncio.run(measure(PROBE, (10, 50)))
    stock = asyncio.run(measure(STOCK, (10, 50) if everything else (10,)))
    print(f"{'server':34} {'octavo':>12} {'stock pygls':>12} {'times better':>13}")
    for name, figure in ours.items():
        other = stock.get(name)
        row = f"{name:34} {figure:12.3f} " if figure < 100 else f"{name:34} {figure:12.0f} "
        if other is not None:
            better = figure / other if name.endswith("/s") else other / figure
            row += f"{other:12.3f} {better:13.1f}" if other < 100 else f"{other:12.0f} {better:13.1f}"
        print(row)


if __name__ == "__main__":
    main()
