"""The command line as people and scripts use it: real processes and files, what is printed and what is left behind."""

import asyncio
import hashlib
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from octavo_protocol.methods.compaction import CompactionResult
from octavo_protocol.methods.context import BuildContextResult, PrepareCompactionResult
from octavo_protocol.methods.snapcompact import ShapeInfo
from octavo_protocol.methods.tree import GetTreeResult

EXAMPLE = Path(__file__).parents[1] / "data" / "tidewatch.jsonl"
ESCAPE = "\x1b["


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


async def octavo(*arguments: str | Path, cwd: Path, stdin: bytes = b"", **environment: str) -> Ran:
    """Run `octavo` with a home of its own, so that nobody's settings or sessions count."""
    home = cwd / "home"
    home.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OCTAVO_", "XDG_"))}
    with anyio.fail_after(60):
        done = await anyio.run_process(
            [sys.executable, "-m", "octavo", *map(str, arguments)],
            input=stdin,
            cwd=cwd,
            check=False,
            env={**kept, "HOME": str(home), "COLUMNS": "100", **environment},
        )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def content(path: Path) -> bytes:
    return path.read_bytes()


def digest(path: Path) -> str:
    return hashlib.sha256(content(path)).hexdigest()


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "home" not in path.relative_to(folder).parts}


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """The example in a folder of its own, apart from where commands run."""
    place = tmp_path / "theirs" / "week.jsonl"
    place.parent.mkdir()
    shutil.copy(EXAMPLE, place)
    return place


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Where commands run."""
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


# -- tree and context ----------------------------------------------------------------------------------------------


async def test_tree_shows_every_entry_and_leaves_the_file_and_its_folder_alone(session: Path, here: Path) -> None:
    before = digest(session)
    ran = await octavo("tree", session, cwd=here)
    assert ran.code == 0
    assert "Morning! New repo for me" in ran.out
    assert "◀ leaf" in ran.out
    assert ESCAPE not in ran.out
    assert len(ran.out.splitlines()) > 300
    assert all(len(line) <= 100 for line in ran.out.splitlines())
    assert digest(session) == before
    assert files_in(session.parent) == {"week.jsonl"}
    assert files_in(here) == set()


async def test_tree_as_json_is_the_answer_of_the_protocol(session: Path, here: Path) -> None:
    ran = await octavo("tree", session, "--filter", "user-only", "--window", "5", "--json", cwd=here)
    tree = GetTreeResult.model_validate(ran.json(), extra="forbid")
    assert [node.role for node in tree.nodes] == ["user"] * 5
    assert tree.hidden_before + tree.hidden_after + 5 == tree.matching


async def test_tree_in_turns_says_when_and_how_much(session: Path, here: Path) -> None:
    ran = await octavo("tree", session, "--turns", cwd=here)
    lines = [line for line in ran.out.splitlines() if "›" in line]
    assert len(lines) == 29
    assert re.search(r"Mon 02 Mar 08:42 +› Morning!.* 5 calls$", lines[0])
    assert sum("├─›" in line for line in lines) == 1


async def test_context_shows_the_gauge_and_every_message(session: Path, here: Path) -> None:
    ran = await octavo("context", session, cwd=here)
    assert ran.code == 0
    assert re.search(r"[\d,]+ of 200,000 +[\d.]+ %", ran.out)
    assert "maintenance above 170,000" in ran.out
    assert "tool results" in ran.out
    assert digest(session) == digest(EXAMPLE)


async def test_context_as_json_is_the_answer_of_the_protocol_in_the_format_asked_for(session: Path, here: Path) -> None:
    llm = BuildContextResult.model_validate((await octavo("context", session, "--json", cwd=here)).json())
    assert llm.format == "llm"
    assert llm.usage is not None
    assert llm.usage.tokens > 0
    ran = await octavo("context", session, "--format", "anthropic", cwd=here)
    assert {message["role"] for message in ran.json()["messages"]} == {"user", "assistant"}


async def test_context_of_another_leaf_is_shorter(session: Path, here: Path) -> None:
    tree = (
        await octavo(
            "tree", session, "--filter", "user-only", "--window", "3", "--around", "daa66d13", "--json", cwd=here
        )
    ).json()
    leaf = tree["nodes"][1]["id"]
    ran = await octavo("context", session, "--leaf", leaf, "--json", cwd=here)
    assert 1 < len(ran.json()["messages"]) < 40


# -- compact -------------------------------------------------------------------------------------------------------


async def test_compact_works_on_a_copy_right_here_and_says_where(session: Path, here: Path) -> None:
    ran = await octavo("compact", session, "--strategy", "extractive", cwd=here)
    assert ran.code == 0, ran.err
    copy = here / "week.compacted.jsonl"
    assert str(copy) in ran.out
    assert digest(session) == digest(EXAMPLE)
    assert files_in(session.parent) == {"week.jsonl"}
    lines = copy.read_bytes().splitlines()
    assert json.loads(lines[-1])["type"] == "compaction"
    assert lines[: len(lines) - 1] == content(session).splitlines()
    assert "every call has its result" in ran.out
    again = await octavo("compact", session, "--strategy", "extractive", cwd=here)
    assert str(here / "week.compacted-2.jsonl") in again.out


async def test_compact_in_place_appends_to_the_file_itself(session: Path, here: Path) -> None:
    before = content(session)
    ran = await octavo("compact", session, "--in-place", "--strategy", "extractive", "--json", cwd=here)
    document = ran.json()
    assert document["inPlace"] is True
    assert document["path"] == str(session)
    result = CompactionResult.model_validate(document["result"], extra="forbid")
    assert result.tokens_after < result.tokens_before
    assert all(check.ok for check in result.checks)
    after = content(session)
    assert after.startswith(before)
    assert json.loads(after[len(before) :])["id"] == result.entry_id
    assert files_in(here) == set()
    refused = await octavo("compact", session, "--in-place", "--strategy", "extractive", cwd=here)
    assert refused.code == 1
    assert content(session) == after


async def test_frames_of_a_compacted_copy_are_found_by_the_next_command(session: Path, here: Path) -> None:
    ran = await octavo("compact", session, "--strategy", "snapcompact", "--out", "framed.jsonl", "--json", cwd=here)
    frames = ran.json()["result"]["frames"]
    assert frames > 0
    context = (await octavo("context", "framed.jsonl", "--json", cwd=here)).json()
    blocks = [block for message in context["messages"][:1] for block in message["content"]]
    assert sum(block["type"] == "image" for block in blocks) == frames
    assert context["usage"]["breakdown"]["frames"] > 0
    shown = await octavo("context", "framed.jsonl", "--transcript", cwd=here)
    assert re.search(r"── compacted · [\d,]+ tokens → summary ──", shown.out)


async def test_a_plan_changes_nothing_and_names_every_strategy(session: Path, here: Path) -> None:
    ran = await octavo("compact", session, "--plan", "--strategy", "extractive", cwd=here)
    assert all(name in ran.out for name in ("context-full", "snapcompact", "● extractive"))
    plan = PrepareCompactionResult.model_validate(
        (await octavo("compact", session, "--plan", "--keep", "3000", "--json", cwd=here)).json()["plan"],
        extra="forbid",
    )
    assert plan.possible
    assert plan.keep_recent_tokens == 3000
    assert digest(session) == digest(EXAMPLE)
    assert files_in(here) == set()


async def test_a_held_result_without_anyone_to_ask_is_shown_and_not_written(session: Path, here: Path) -> None:
    ran = await octavo("compact", session, "--hold", "--strategy", "extractive", cwd=here)
    assert ran.code == 0
    assert "## Goal" in ran.out
    assert "Nothing was written." in ran.out
    assert files_in(here) == set()
    assert files_in(session.parent) == {"week.jsonl"}


async def test_a_held_result_is_written_when_the_user_says_so(session: Path, here: Path) -> None:
    code, shown = await on_a_terminal("compact", session, "--hold", "--strategy", "extractive", cwd=here, answer=b"y\n")
    assert code == 0
    assert "Write it? [y/N]" in shown
    assert (here / "week.compacted.jsonl").is_file()


async def test_an_interrupted_question_ends_at_once_and_leaves_no_copy(session: Path, here: Path) -> None:
    code, shown = await on_a_terminal(
        "compact", session, "--hold", "--strategy", "extractive", cwd=here, answer=b"\x03"
    )
    assert code == 130
    assert "Traceback" not in shown
    assert files_in(here) == set()


async def test_a_failed_compaction_leaves_no_copy_behind(session: Path, here: Path) -> None:
    ran = await octavo("compact", session, "--strategy", "context-full", cwd=here)
    assert_one_sentence(ran, "compact")
    assert files_in(here) == set()


# -- render --------------------------------------------------------------------------------------------------------


async def test_render_writes_pictures_a_sheet_and_the_guide_and_prints_what_they_cost(here: Path) -> None:
    from PIL import Image

    text = "The pump ran all night and the level fell by two centimetres an hour.\n" * 400
    (here / "log.txt").write_text(text)
    ran = await octavo("render", "log.txt", "--model", "anthropic/claude-sonnet-4-5", cwd=here)
    assert ran.code == 0, ran.err
    made = files_in(here)
    assert made == {"log.txt", "log-frames"} | {
        f"log-frames/{name}" for name in ("01.png", "02.png", "03.png", "contact-sheet.png", "guide.md")
    }
    with Image.open(here / "log-frames" / "01.png") as frame:
        assert frame.width == 1568
    assert all(
        word in ran.out for word in ("cells", "characters", "bytes", "as frames", "as text", "log-frames/01.png")
    )
    assert "3 image frames" in (here / "log-frames" / "guide.md").read_text()


async def test_render_reads_stdin_and_its_json_adds_up(here: Path) -> None:
    ran = await octavo(
        "render", "-", "--shape", "8x13-bw", "--out", "pics", "--json", cwd=here, stdin="Größe 漢字\n".encode() * 50
    )
    document = ran.json()
    ShapeInfo.model_validate(document["shape"], extra="forbid")
    assert document["shape"]["name"] == "8x13-bw"
    assert [(here / frame["path"]).stat().st_size for frame in document["frames"]] == [
        frame["bytes"] for frame in document["frames"]
    ]
    assert document["frameTokens"] == sum(frame["tokens"] for frame in document["frames"])
    assert (here / document["contactSheet"]).is_file()


# -- demo ----------------------------------------------------------------------------------------------------------


async def test_demo_shows_every_step_on_a_copy_and_needs_neither_key_nor_network(session: Path, here: Path) -> None:
    ran = await octavo("demo", session, cwd=here, http_proxy="http://127.0.0.1:9", https_proxy="http://127.0.0.1:9")
    assert ran.code == 0, ran.err
    assert ran.err == ""
    assert digest(session) == digest(EXAMPLE)
    order = ["Session ─", "Tree ─", "Context before ─", "Plan ─", "Transcript ─", "── compacted · ", "Checks ─"]
    order += ["Context after ─", "Files ─", "Go on ─"]
    places = [ran.out.index(title) for title in order]
    assert places == sorted(places)
    assert re.search(r"── compacted · [\d,]+ tokens → [\d,]+ ──", ran.out)
    assert all(len(line) <= 100 for line in ran.out.splitlines())
    assert ESCAPE not in ran.out
    copy = here / "build/demo/sessions/demo/week.jsonl"
    assert copy.read_bytes().startswith(content(session))
    assert str(copy.relative_to(here)) in ran.out
    assert (here / "build/demo/week-contact-sheet.png").is_file()
    assert (here / "build/demo/week-frames/01.png").is_file()
    follow = await octavo("context", copy, "--json", cwd=here)
    assert follow.json()["usage"]["breakdown"]["frames"] > 0, "the pictures of the copy are found later"


async def test_demo_can_be_repeated_and_takes_the_local_summary_where_frames_cannot_be_read(here: Path) -> None:
    blind = here / "blind.jsonl"
    blind.write_text(EXAMPLE.read_text().replace("anthropic", "deepseek").replace("claude-sonnet-4-5", "deepseek-chat"))
    for _ in range(2):
        ran = await octavo("demo", blind, cwd=here)
        assert ran.code == 0, ran.err
        assert "● extractive" in ran.out
        assert "contact-sheet" not in ran.out


async def test_demo_says_so_when_there_is_nothing_to_compact(here: Path) -> None:
    small = here / "small.jsonl"
    small.write_bytes(b"".join(EXAMPLE.read_bytes().splitlines(keepends=True)[:5]))
    ran = await octavo("demo", small, cwd=here)
    assert ran.code == 0, ran.err
    assert "nothing to compact" in ran.out


# -- errors --------------------------------------------------------------------------------------------------------


def assert_one_sentence(ran: Ran, command: str) -> None:
    assert ran.code == 1
    assert ran.out == ""
    lines = ran.err.splitlines()
    assert len(lines) == 1, ran.err
    assert lines[0].startswith(f"octavo {command}: ")
    assert lines[0].endswith(".")
    assert "Traceback" not in ran.err


HOSTILE: dict[str, bytes | None] = {
    "missing": None,
    "empty": b"",
    "binary": bytes(range(256)) * 64,
    "prose": b"Dear diary, this is no session.\n",
    "json": b'{"type":"message","message":{"role":"user"}}\n',
    "list": b"[1,2,3]\n",
}


@pytest.mark.parametrize("command", ["tree", "context", "compact", "demo"])
async def test_files_that_are_no_session_are_refused_in_one_sentence_and_left_alone(command: str, here: Path) -> None:
    (here / "folder").mkdir()
    for name, data in HOSTILE.items():
        if data is not None:
            (here / name).write_bytes(data)
    before = files_in(here)

    async def check(name: str) -> None:
        assert_one_sentence(await octavo(command, name, cwd=here), command)

    # Every command finds its file in the same way; one of them is shown them all.
    names = ("folder", *HOSTILE) if command == "compact" else ("missing", "prose")
    async with anyio.create_task_group() as tasks:
        for name in names:
            tasks.start_soon(check, name)
    assert files_in(here) == before
    assert all((here / name).read_bytes() == data for name, data in HOSTILE.items() if data is not None)


async def test_what_text_cannot_be_drawn_from_is_refused_in_one_sentence(here: Path) -> None:
    (here / "binary").write_bytes(b"\0" * 100)
    (here / "blank").write_bytes(b" \n" * 100)
    for name in ("missing", ".", "binary", "blank"):
        assert_one_sentence(await octavo("render", name, cwd=here), "render")
    (here / "text").write_text("text")
    assert_one_sentence(await octavo("render", "text", "--shape", "7x7", cwd=here), "render")


async def test_damage_is_passed_over_and_reported(here: Path) -> None:
    lines = EXAMPLE.read_bytes().splitlines(keepends=True)
    damaged = here / "damaged.jsonl"
    damaged.write_bytes(b"".join([*lines[:100], b'{"half a rec\n', b"\0" * 64 + b"\n", *lines[100:]]))
    before = digest(damaged)
    ran = await octavo("tree", damaged, "--turns", cwd=here)
    assert ran.code == 0
    assert "line 101" in ran.out
    assert digest(damaged) == before


async def test_wrong_use_is_answered_with_the_usage_and_2(here: Path, session: Path) -> None:
    for arguments in (
        [],
        ["compress"],
        ["tree"],
        ["compact", session, "--strategy", "magic"],
        ["tree", session, "--x"],
    ):
        ran = await octavo(*arguments, cwd=here)
        assert ran.code == 2, arguments
        assert "usage: octavo" in ran.err
    ran = await octavo("compact", session, "--in-place", "--out", "x", cwd=here)
    assert ran.code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tree", "--window", "0"), "window: Input should be greater than or equal to 1."),
        (("tree", "--depth", "-1"), "max-depth: Input should be greater than or equal to 0."),
        (("render", "--model", "a/b", "--frame-size", "0"), "frame-size: Input should be greater than or equal to 1."),
        (("compact", "--strategy", "snapcompact", "--instructions", "x"), "snapcompact follows no instructions"),
    ],
)
async def test_a_value_that_no_request_takes_is_refused_in_one_sentence(
    here: Path, session: Path, arguments: tuple[str, ...], words: str
) -> None:
    ran = await octavo(arguments[0], session, *arguments[1:], cwd=here)
    assert_one_sentence(ran, arguments[0])
    assert words in ran.err


async def test_an_existing_file_is_not_overwritten(session: Path, here: Path) -> None:
    (here / "mine").write_text("precious")
    ran = await octavo("compact", session, "--strategy", "extractive", "--out", "mine", cwd=here)
    assert_one_sentence(ran, "compact")
    assert (here / "mine").read_text() == "precious"


async def test_a_folder_called_like_the_copy_is_left_alone_whatever_becomes_of_the_copy(
    session: Path, here: Path
) -> None:
    (here / "project").mkdir()
    (here / "project" / "main.py").write_text("precious")
    ran = await octavo("compact", session, "--strategy", "extractive", "--out", "project.jsonl", cwd=here)
    assert_one_sentence(ran, "compact")
    (here / f"{session.stem}.compacted").mkdir()
    ran = await octavo("compact", session, "--strategy", "extractive", cwd=here)
    assert ran.code == 0
    assert (here / f"{session.stem}.compacted-2.jsonl").is_file()
    assert (here / "project" / "main.py").read_text() == "precious"
    assert not (here / "project.jsonl").exists()


async def test_a_folder_called_like_the_session_is_not_copied_as_its_artifacts(here: Path, session: Path) -> None:
    source = Path(shutil.copy(session, here / "project.jsonl"))
    (here / "project" / "src").mkdir(parents=True)
    (here / "project" / "0.shake.log").write_text("an artifact")
    (here / "project" / "main.py").write_text("precious")
    ran = await octavo("compact", source, "--strategy", "extractive", cwd=here)
    assert ran.code == 0
    assert sorted(path.name for path in (here / "project.compacted").iterdir()) == ["0.shake.log"]
    assert sorted(path.name for path in (here / "project").iterdir()) == ["0.shake.log", "main.py", "src"]


async def test_escape_sequences_in_a_session_do_not_reach_the_terminal(here: Path) -> None:
    text = "harmless \x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil"
    entry = {"type": "message", "id": "a1", "parentId": None, "message": {"role": "user", "content": text}}
    header = {"type": "session", "version": 3, "id": "x1", "timestamp": "2026-03-02T08:40:00.000Z", "cwd": "/\x1b[2J"}
    (here / "bad.jsonl").write_text(f"{json.dumps(header)}\n{json.dumps(entry)}\n")
    for command in ("tree", "context"):
        ran = await octavo(command, "bad.jsonl", cwd=here)
        assert ran.code == 0
        assert "harmless" in ran.out
        assert not set("\x1b\x07\x9b\u202e") & set(ran.out)


# -- terminals and pipes -------------------------------------------------------------------------------------------


async def test_a_reader_that_has_seen_enough_ends_the_command_quietly(session: Path, here: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "octavo", "tree", str(session)),
        cwd=here,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with anyio.fail_after(60):
        await process.stdout.readline()
        process.stdout._transport.close()  # type: ignore[attr-defined]
        errors = await process.stderr.read()
        assert await process.wait() == 0
    assert errors == b""


async def test_a_terminal_gets_colours_unless_it_asks_for_none(session: Path, here: Path) -> None:
    _, shown = await on_a_terminal("tree", session, "--turns", cwd=here)
    assert ESCAPE in shown
    _, plain = await on_a_terminal("tree", session, "--turns", cwd=here, NO_COLOR="1")
    assert ESCAPE not in plain
    assert "›" in plain


async def test_an_encoding_without_the_signs_we_draw_does_not_end_the_command(session: Path, here: Path) -> None:
    ran = await octavo("tree", session, cwd=here, PYTHONIOENCODING="ascii")
    assert ran.code == 0
    assert "Morning!" in ran.out


ON_ITS_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Makes stdin the terminal that a key can interrupt, then becomes the command."""


async def on_a_terminal(*arguments: str | Path, cwd: Path, answer: bytes = b"", **environment: str) -> tuple[int, str]:
    """Run `octavo` on a pseudo terminal, type `answer` when it asks; returns the exit code and what was shown."""
    base = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    terminal, side = pty.openpty()
    process = subprocess.Popen(  # noqa: ASYNC220 - a pseudo terminal has no asynchronous form
        [sys.executable, "-c", ON_ITS_TERMINAL, "-m", "octavo", *map(str, arguments)],
        stdin=side,
        stdout=side,
        stderr=side,
        cwd=cwd,
        env={**base, "HOME": str(cwd.parent / "home"), "TERM": "xterm", "COLUMNS": "100", **environment},
        start_new_session=True,
    )
    os.close(side)

    def talk() -> bytes:
        shown, asked = b"", False
        try:
            while piece := os.read(terminal, 65536):
                shown += piece
                if answer and not asked and b"[y/N] " in shown:
                    asked = True
                    os.write(terminal, answer)
        except OSError:  # Linux says EIO when the other side has closed
            pass
        return shown

    try:
        with anyio.fail_after(60):
            shown = await anyio.to_thread.run_sync(talk, abandon_on_cancel=True)
            code = await anyio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
    finally:
        process.kill()
        os.close(terminal)
    return code, shown.decode()
