"""The commands of operators against a real daemon and real folders: ps, tick, doctor, service units."""
# ruff: noqa: ASYNC240 - a test may look at small files

import json
import os
import plistlib
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from octavo.cli import main
from octavo.cli.health_sessions import examine
from octavo.snapcompact.journal import JOURNAL
from wire.support import LIMIT_S, dial
from wire.test_attach import attached, environment, home, places

CONTRIB = Path(__file__).parents[2] / "contrib"
HEADER = '{"type":"session","version":3,"id":"s1","timestamp":"2026-03-02T09:00:00.000Z","cwd":"/"}\n'
ENTRY = (
    '{"type":"message","id":"e1","parentId":null,"timestamp":"2026-03-02T09:00:01.000Z",'
    '"message":{"role":"user","content":"hello"}}\n'
)


async def octavo(folder: Path, *arguments: str, **more: str) -> tuple[int, str, str]:
    """Run a command to its end."""
    with anyio.fail_after(LIMIT_S):
        done = await anyio.run_process(
            [sys.executable, "-m", "octavo", *arguments], check=False, env=environment(folder, **more)
        )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


async def test_without_a_daemon_ps_says_so_and_a_tick_has_nothing_to_do() -> None:
    async with home() as folder:
        code, _, errors = await octavo(folder, "ps")
        assert code == 1
        assert "No daemon listens" in errors
        assert await octavo(folder, "tick") == (0, "", "")
        assert json.loads((await octavo(folder, "tick", "--json"))[1]) == {"sessions": []}


async def test_ps_shows_clients_and_sessions_and_the_counters() -> None:
    async with home() as folder, attached(folder) as client:
        await client.initialize()
        session = (await client.request("session/create", {"cwd": "/", "title": "Tide\x1b[31m tables"}))["result"]
        code, shown, _ = await octavo(folder, "ps")
        assert code == 0
        for text in ("unix#", "1 session", " tables", session["sessionId"], "1 client"):
            assert text in shown, shown
        assert "\x1b" not in shown
        status = json.loads((await octavo(folder, "ps", "--json"))[1])
        assert [one["sessionId"] for one in status["sessions"]] == [session["sessionId"]]
        counted = (await octavo(folder, "ps", "--metrics"))[1]
        assert 'octavo_requests_total{method="session/create",outcome="ok"} 1' in counted


async def test_a_tick_reports_every_open_session() -> None:
    async with home() as folder, attached(folder) as client:
        await client.initialize()
        session = (await client.request("session/create", {"cwd": "/"}))["result"]["sessionId"]
        code, shown, errors = await octavo(folder, "tick", "--idle-for", "0", "--json")
        assert (code, errors) == (0, "")
        [ticked] = json.loads(shown)["sessions"]
        assert (ticked["sessionId"], ticked["ran"]) == (session, False)
        code, shown, _ = await octavo(folder, "tick")
        assert code == 0
        assert session in shown


async def examined(folder: Path, *arguments: str, **more: str) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    """Run the doctor; its findings by subject."""
    code, shown, errors = await octavo(folder, "doctor", "--json", *arguments, **more)
    assert errors == ""
    report = json.loads(shown)
    assert report["healthy"] == (code == 0)
    found: dict[str, list[dict[str, Any]]] = {}
    for one in report["findings"]:
        found.setdefault(one["subject"], []).append(one)
    return code, found


NO_KEYS = {name: "" for name in os.environ if name.endswith("_API_KEY")}


async def test_the_doctor_finds_a_sound_installation_healthy() -> None:
    async with home() as folder, attached(folder) as client:
        await client.initialize()
        code, found = await examined(folder, "--offline", **NO_KEYS)
        assert code == 0, found
        assert "answers on" in found["daemon"][0]["text"]
        assert "glyph tables" in found["fonts"][0]["text"]
        assert found["providers"][0]["state"] == "warning"
        assert {"versions", "modules", "settings", "models", "sessions", "disk"} <= set(found)


async def test_the_doctor_names_damaged_files_and_who_writes_which_session() -> None:
    async with home() as folder:
        sessions = folder / "sessions" / "-project"
        sessions.mkdir(parents=True)
        (sessions / "sound.jsonl").write_text(HEADER + ENTRY)
        (sessions / "torn.jsonl").write_text(HEADER + ENTRY + ENTRY[:40])
        (sessions / "garbage.jsonl").write_bytes(os.urandom(2000))
        owner = {"pid": os.getpid(), "host": socket.gethostname(), "startedAt": 0}
        (sessions / ".sound.jsonl.lock").write_text(json.dumps(owner))
        saving = {"ts": 1, "session": "s", "provider": "p", "model": "m", "toolCallId": "c", "savedTokens": 1200}
        (folder / JOURNAL).write_text(json.dumps(saving) + "\n")
        before = {path.name: path.read_bytes() for path in sessions.iterdir()}
        code, found = await examined(folder, "--offline", **NO_KEYS)
        assert code == 1
        states = {Path(one["text"].split(": ")[0].split(" ")[0]).name: one for one in found["damage"]}
        assert states["torn.jsonl"]["state"] == "warning"
        assert "torn-tail" in states["torn.jsonl"]["text"]
        assert any(one["state"] == "failure" and "garbage" in one["text"] for one in found["damage"])
        assert not any("sound.jsonl" in one["text"] for one in found["damage"])
        assert f"sound.jsonl is written by process {os.getpid()}" in found["locks"][0]["text"]
        assert "1 tool result went out as frames and saved 1,200 tokens" in found["savings"][0]["text"]
        assert {path.name: path.read_bytes() for path in sessions.iterdir()} == before


async def test_the_doctor_looks_for_providers_without_showing_their_keys() -> None:
    with socket.create_server(("127.0.0.1", 0)) as provider, socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        there, gone = (f"http://127.0.0.1:{one.getsockname()[1]}/v1" for one in (provider, nobody))
        async with home() as folder:
            config = folder / "config.toml"
            config.write_text(
                f'models = [{{provider="there", id="m", api="openai-completions"}},'
                f' {{provider="gone", id="m", api="openai-completions"}}]\n'
                f'[providers.there]\nbaseUrl = "{there}"\napiKey = "sk-very-secret-value"\n'
                f'[providers.gone]\nbaseUrl = "{gone}"\n'
            )
            code, shown, errors = await octavo(folder, "doctor", "--json", OCTAVO_CONFIG=str(config), **NO_KEYS)
            found = {one["subject"]: one for one in json.loads(shown)["findings"]}
            assert found["provider there"]["state"] == "ok", found
            assert "providers.there.apiKey" in found["provider there"]["text"]
            assert found["provider gone"]["state"] == "failure"
            assert code == 1
            assert "very-secret" not in shown + errors


async def test_the_doctor_tells_of_settings_that_are_left_out_and_a_daemon_that_hangs() -> None:
    async with home() as folder:
        config = folder / "config.toml"
        config.write_text("[server]\nmaxMessageByts = 1\n")
        Path(places(folder).folder).mkdir(parents=True, mode=0o700)
        with socket.socket(socket.AF_UNIX) as mute:
            mute.bind(places(folder).socket)
            mute.listen()
            code, found = await examined(folder, "--offline", OCTAVO_CONFIG=str(config), **NO_KEYS)
        assert code == 1
        assert found["daemon"][0]["state"] == "failure"
        assert "maxMessageByts" in found["settings"][0]["text"]


def test_a_session_of_another_version_or_with_odd_values_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(HEADER + ENTRY + '{"type":"message","id":"e2","parentId":"e1","message":null}\n')
    assert examine(path) is None


# -- service managers --------------------------------------------------------------------------------------------------


async def test_a_daemon_serves_the_socket_that_a_service_manager_passes_it(tmp_path: Path) -> None:
    async with home() as folder:
        where = places(folder)
        Path(where.folder).mkdir(mode=0o700)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(where.socket)
            listener.listen()
            inode = Path(where.socket).stat().st_ino
            start = (
                "import os, sys; os.dup2(int(sys.argv[1]), 3); os.environ['LISTEN_PID'] = str(os.getpid()); "
                "os.environ['LISTEN_FDS'] = '1'; os.execv(sys.executable, [sys.executable, *sys.argv[2:]])"
            )
            command = ["-m", "octavo", "serve", "--daemon"]
            process = await anyio.open_process(
                [sys.executable, "-c", start, str(listener.fileno()), *command],
                env=environment(folder),
                pass_fds=(listener.fileno(),),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            async with dial(Path(where.socket)) as client:
                assert "result" in await client.initialize()
                assert json.loads(Path(where.record).read_text())["pid"] == process.pid
            process.terminate()
            with anyio.fail_after(LIMIT_S):
                assert await process.wait() == 0
            await process.aclose()
            assert Path(where.socket).stat().st_ino == inode, "the socket belongs to the service manager"


def exec_start(unit: Path) -> list[str]:
    line = next(line for line in unit.read_text().splitlines() if line.startswith("ExecStart="))
    return shlex.split(line.removeprefix("ExecStart="))


def test_units_and_agents_call_commands_that_exist() -> None:
    calls = [exec_start(unit) for unit in sorted((CONTRIB / "systemd").glob("*.service"))]
    for agent in sorted((CONTRIB / "launchd").glob("*.plist")):
        loaded = plistlib.loads(agent.read_bytes())
        assert loaded["Label"] == agent.name.removesuffix(".plist")
        calls.append(loaded["ProgramArguments"][1:])
    assert len(calls) == 4
    for program, command, *options in calls:
        assert Path(program).name == "octavo"
        assert main.parser_of(command).parse_args(options)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_the_units_pass_systemds_own_check(tmp_path: Path) -> None:
    program = tmp_path / "octavo"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for unit in (CONTRIB / "systemd").iterdir():
        (tmp_path / unit.name).write_text(unit.read_text().replace("%h/.local/bin/octavo", str(program)))
    units = sorted(str(path) for path in tmp_path.glob("octavo*.*"))
    assert len(units) == 4
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", "--man=no", *units],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
    )
    complaints = [line for line in done.stderr.splitlines() if "octavo" in line]
    assert (done.returncode, complaints) == (0, []), done.stderr
