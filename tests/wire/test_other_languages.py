"""The page for agents in other languages tells the truth: its program compiles and works with the real daemon."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from subprocess import DEVNULL

import anyio
import pytest

from octavo_client import Client
from octavo_protocol.methods import METHODS
from octavo_protocol.notifications import NOTIFICATIONS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "clients" / "README.md").read_text(encoding="utf-8")
SERVE = [sys.executable, "-m", "octavo", "serve", "--stdio"]
LIFECYCLE = {"initialize", "initialized", "shutdown", "exit"}


async def offered() -> set[str]:
    with anyio.fail_after(30):
        async with Client.spawn(SERVE, stderr=DEVNULL) as client:
            return set(client.capabilities.methods)


def program(folder: Path) -> Path:
    """The program of the page, compiled with every warning an error and with the sanitizers."""
    (source,) = re.findall(r"```c\n(.*?)```", PAGE, re.DOTALL)
    (folder / "agent.c").write_text(source, encoding="utf-8")
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-fsanitize=address,undefined"]
    command = ["gcc", *flags, "-o", str(folder / "agent"), str(folder / "agent.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "agent"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
async def test_the_program_of_the_page_appends_and_builds_a_context(tmp_path: Path) -> None:
    if missing := {"session/create", "session/append", "session/buildContext"} - await offered():
        pytest.skip(f"this daemon does not offer {', '.join(sorted(missing))}")
    command = [str(program(tmp_path)), *SERVE]
    environment = {"ASAN_OPTIONS": "detect_leaks=0", "HOME": str(tmp_path)}
    with anyio.fail_after(60):
        done = await anyio.run_process(command, check=False, env=environment)
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
    appended, built = (json.loads(line)["result"] for line in done.stdout.splitlines())
    assert appended["entryIds"] == [appended["leafId"]]
    assert [(m["role"], m["content"]) for m in built["messages"]] == [("user", "Hello")]
    assert built["leafId"] == appended["leafId"]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_the_program_of_the_page_says_so_when_there_is_no_daemon(tmp_path: Path) -> None:
    done = subprocess.run([program(tmp_path), tmp_path / "absent"], capture_output=True, timeout=60, check=False)
    assert done.returncode != 0


def test_the_page_names_only_what_the_protocol_has() -> None:
    named = set(re.findall(r"[`\"]((?:session|hook|model|settings|llm|agent|snapcompact)/\w+|\$/\w+)[`\"]", PAGE))
    assert named
    assert named <= set(METHODS) | set(NOTIFICATIONS)
    lifecycle = set(re.findall(r"ask\(\d, \"(\w+)\"|\"method\\\":\\\"(\w+)\\\"", PAGE))
    assert {name for pair in lifecycle for name in pair if name} <= LIFECYCLE


def test_every_link_of_the_page_leads_somewhere() -> None:
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)]+)\)", PAGE)]
    assert [target for target in targets if not (ROOT / "clients" / target).exists()] == []
