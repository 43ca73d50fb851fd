"""The real process on its own stdin and stdout."""

import asyncio
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from wire.support import LIMIT_S, frame, spawn

PROBE = (str(Path(__file__).with_name("probe_daemon.py")), "--stdio")


async def gone(pid: int) -> None:
    """Wait until a process that is not our child has ended."""
    with anyio.fail_after(LIMIT_S):
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        try:
            await anyio.wait_readable(handle)
        finally:
            os.close(handle)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def test_a_stock_client_can_start_and_stop_the_daemon() -> None:
    async with spawn() as daemon:
        result = (await daemon.initialize(os.getpid()))["result"]
        assert result["serverInfo"]["name"] == "octavo"
        assert (await daemon.request("shutdown"))["result"] is None
        await daemon.notify("exit")
        assert await daemon.exit_code() == 0
        assert await daemon.stderr() == ""


async def test_exit_ends_the_process_although_the_pipe_stays_open() -> None:
    """BR-103."""
    async with spawn() as daemon:
        await daemon.initialize()
        await daemon.request("shutdown")
        await daemon.notify("exit")
        assert await daemon.exit_code() == 0


async def test_exit_without_shutdown_has_exit_code_one() -> None:
    async with spawn() as daemon:
        await daemon.notify("exit")
        assert await daemon.exit_code() == 1


async def test_the_end_of_input_ends_the_process_even_while_a_request_hangs() -> None:
    """BR-101, BR-106."""
    async with spawn(*PROBE) as daemon:
        await daemon.initialize()
        await daemon.start("probe/hang")
        assert (await daemon.receive())["method"] == "probe/hanging"
        daemon.writer.write_eof()
        assert await daemon.exit_code() == 0


async def test_the_process_ends_without_spinning_after_the_end_of_input() -> None:
    """BR-106."""
    earlier = children_cpu_seconds()
    async with spawn(*PROBE) as daemon:
        await daemon.initialize()
        await daemon.start("probe/hang")
        await daemon.receive()
        before = cpu_seconds(daemon.pid)
        # It waits a second for the hanging request; whoever reads the end of input in a loop burns that second.
        daemon.writer.write_eof()
        await daemon.exit_code()
    assert children_cpu_seconds() - earlier - before < 0.6


async def test_requests_under_way_are_answered_when_the_client_closes_its_half_after_asking() -> None:
    async with spawn(*PROBE) as daemon:
        await daemon.initialize()
        ids = [await daemon.start("probe/ping") for _ in range(50)]
        daemon.writer.write_eof()
        assert [(await daemon.receive())["id"] for _ in ids] == ids
        assert await daemon.at_end()


async def test_the_daemon_ends_when_the_process_named_in_initialize_is_killed() -> None:
    """BR-101: stdin stays open, only the process is gone."""
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(600)")
    try:
        async with spawn(*PROBE) as daemon:
            await daemon.initialize(parent.pid)
            await daemon.start("probe/hang")
            await daemon.receive()
            parent.kill()
            await parent.wait()
            assert await daemon.exit_code() == 0
    finally:
        if parent.returncode is None:
            parent.kill()
            await parent.wait()


async def test_the_daemon_ends_when_its_parent_is_killed_with_the_pipe_open_elsewhere() -> None:
    """BR-101: kill -9 on the editor that started it, while another process still holds the write end."""
    script = """
import json, os, subprocess, sys
child = subprocess.Popen([sys.executable, *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
holder = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, pass_fds=(child.stdin.fileno(),))
body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                   "params": {"processId": os.getpid(), "capabilities": {}}}).encode()
child.stdin.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
child.stdin.flush()
child.stdout.read(20)
print(child.pid, holder.pid, flush=True)
holder.wait()
"""
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", script, *PROBE, stdout=asyncio.subprocess.PIPE)
    assert parent.stdout is not None
    child, holder = map(int, (await parent.stdout.readline()).split())
    try:
        os.kill(parent.pid, signal.SIGKILL)
        await gone(child)
    finally:
        os.kill(holder, signal.SIGKILL)
        await parent.communicate()


async def test_stray_prints_and_children_write_to_stderr_and_never_into_the_frames() -> None:
    async with spawn(*PROBE) as daemon:
        await daemon.initialize()
        assert (await daemon.request("probe/shout"))["result"] == {"ok": True}
        assert (await daemon.request("probe/ping"))["result"] == {"ok": True}
        await daemon.request("shutdown")
        await daemon.notify("exit")
        assert await daemon.exit_code() == 0
        text = await daemon.stderr()
        assert "a stray line" in text
        assert "a child's line" in text


async def test_a_client_that_closes_its_read_end_ends_the_daemon_quietly() -> None:
    """BR-104."""
    read, write = os.pipe()
    process = await asyncio.create_subprocess_exec(
        sys.executable, *PROBE, stdin=asyncio.subprocess.PIPE, stdout=write, stderr=asyncio.subprocess.PIPE
    )
    os.close(write)
    assert process.stdin is not None
    try:
        process.stdin.write(
            frame(
                {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}}}
            )
        )
        await process.stdin.drain()
        with anyio.fail_after(LIMIT_S):
            await anyio.wait_readable(read)
        os.close(read)
        process.stdin.write(
            frame({"jsonrpc": "2.0", "id": 2, "method": "probe/flood", "params": {"bytes": 10_000_000}})
        )
        with anyio.fail_after(LIMIT_S):
            # stdin is left open: it is the broken stdout that ends the process.
            assert process.stderr is not None
            assert await process.stderr.read() == b""
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_large_params_and_results_pass() -> None:
    """BR-098."""
    entry = {"type": "message", "id": "e", "parentId": None, "text": "x" * 1000}
    async with spawn(*PROBE) as daemon:
        await daemon.initialize()
        for megabytes in (1, 50):
            entries = [entry] * (megabytes * 1_000_000 // 1050)
            answer = await daemon.request("probe/count", {"entries": entries})
            assert answer["result"] == {"count": len(entries)}
        answer = await daemon.request("probe/make", {"bytes": 20_000_000})
        assert len(json.dumps(answer["result"])) > 19_000_000


async def test_a_message_above_the_limit_is_refused_by_its_id_and_the_connection_lives() -> None:
    """BR-098."""
    async with spawn(*PROBE) as daemon:
        await daemon.initialize()
        await daemon.send_bytes(b"Content-Length: 10000000000\r\n\r\n")
        error = (await daemon.receive())["error"]
        assert error["data"]["kind"] == "invalid-request"
        assert error["data"]["details"] == {"length": 10_000_000_000, "limit": 268_435_456}
    async with spawn(*PROBE) as daemon:
        await daemon.initialize()
        big = 300_000_000
        start = b'{"jsonrpc":"2.0","id":"big","method":"probe/count","params":"'
        await daemon.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (big, start))
        assert (await daemon.receive())["id"] == "big"
        rest = big - len(start)
        while rest:
            step = min(rest, 2**22)
            await daemon.send_bytes(b"x" * step)
            rest -= step
        assert (await daemon.request("probe/ping"))["result"] == {"ok": True}


@pytest.mark.parametrize(
    "junk",
    [
        b"log line\r\nContent: x\r\n",
        b"Content-Length: nonsense\r\n\r\n",
        b"Content-Length: 2\r\n\r\n\xff\xfe",
        b"\x00" * 1000 + b"\r\n",
    ],
)
async def test_bad_bytes_are_answered_with_a_parse_error_and_the_next_frame_works(junk: bytes) -> None:
    """BR-097, BR-100."""
    async with spawn(*PROBE) as daemon:
        await daemon.initialize()
        await daemon.send_bytes(junk)
        answer = await daemon.request("probe/ping")
        assert answer["result"] == {"ok": True}
        (complaint,) = daemon.seen
        assert complaint["id"] is None
        assert complaint["error"]["data"]["kind"] == "parse-error"


async def test_endless_junk_ends_the_process() -> None:
    async with spawn(*PROBE) as daemon:
        with suppress(BrokenPipeError, ConnectionResetError):
            await daemon.send_bytes(b"no frame at all " * 100_000)
        assert await daemon.exit_code() == 0


async def test_lower_case_headers_split_anywhere_are_read() -> None:
    async with spawn(*PROBE) as daemon:
        await daemon.initialize()
        body = b'{"jsonrpc":"2.0","id":9,"method":"probe/ping"}'
        data = b"content-length: %d\r\n\r\n%b" % (len(body), body)
        for at in range(len(data)):
            await daemon.send_bytes(data[at : at + 1])
        assert (await daemon.receive())["id"] == 9


async def test_sigterm_lets_a_running_write_finish_and_ends_with_zero() -> None:
    async with spawn(*PROBE) as daemon:
        await daemon.initialize()
        await daemon.start("probe/stubborn")
        assert (await daemon.receive())["method"] == "probe/writing"
        daemon.process.terminate()
        assert (await daemon.receive())["method"] == "probe/written"
        daemon.process.terminate()
        assert await daemon.exit_code() == 0


async def test_ndjson_framing_serves_an_agent_without_headers() -> None:
    async with spawn(*PROBE, "--framing", "ndjson") as daemon:
        for message in (
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}},
            {"jsonrpc": "2.0", "id": 2, "method": "probe/echo", "params": {"text": "a\nb"}},
        ):
            await daemon.send_bytes(json.dumps(message).encode() + b"\n")
            with anyio.fail_after(LIMIT_S):
                answer = json.loads(await daemon.reader.readline())
            assert answer["id"] == message["id"]
        assert answer["result"] == {"text": "a\nb"}


@pytest.mark.parametrize("source", ["file", "/dev/null"])
async def test_stdin_may_be_a_file(tmp_path: Path, source: str) -> None:
    frames = tmp_path / "frames"
    frames.write_bytes(
        frame({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
        + frame({"jsonrpc": "2.0", "id": 2, "method": "probe/ping"})
    )
    output = tmp_path / "out"
    with (frames if source == "file" else Path(source)).open("rb") as stdin, output.open("wb") as stdout:
        process = await asyncio.create_subprocess_exec(sys.executable, *PROBE, stdin=stdin, stdout=stdout)
        with anyio.fail_after(LIMIT_S):
            assert await process.wait() == 0
    assert output.read_bytes().count(b'"result"') == (2 if source == "file" else 0)


async def test_nothing_heavy_is_imported_to_answer_initialize() -> None:
    script = """
import sys
from octavo.server import serving
from octavo.server.registry import table
table()
heavy = {"pygls", "lsprotocol", "numpy", "PIL", "httpx", "cattrs"}
print(sorted(heavy & set(sys.modules)))
"""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    with anyio.fail_after(LIMIT_S):
        output, _ = await process.communicate()
    assert output.decode().strip() == "[]"
