"""Every parameter of every request with values nobody should send: a real daemon answers each with a result or a typed
error, never with a defect, and keeps the session it holds."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from octavo_client import Client, OctavoClientError
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind
from octavo_protocol.methods import METHODS, Direction
from octavo_protocol.methods.spec import MethodSpec
from wire.sessions import content, daemon, refused

HOSTILE: list[Any] = [
    "\ud800",
    "\udc80x",
    "a\0b",
    "/x\0",
    "/\ud800",
    "",
    "\n",
    "x" * 5000,
    "/" + "y" * 5000,
    "../../x",
    "\u202e\x1b[31m",
    "(a+)+$",
    None,
    -1,
    10**30,
    True,
    [],
    {},
    ["\ud800"],
    {"\ud800": 1},
]
MODEL = "anthropic/claude-sonnet-4-5"
TURN = [
    {"role": "user", "content": "Are the tide tables of Osaka an hour off?"},
    {"role": "assistant", "content": [{"type": "text", "text": "They are in standard time."}], "stopReason": "stop"},
]


async def start(client: Client, folder: Path) -> tuple[str, str]:
    """A new session on disk with one turn; its id and its leaf."""
    session = await client.session_create(cwd=str(folder), model=MODEL)
    await client.session_append(session_id=session.session_id, messages=TURN)
    return session.session_id, str((await client.session_get_info(session_id=session.session_id)).leaf_id)


def requests() -> Iterator[tuple[str, JsonObject]]:
    """Every request with one hostile value in one place; `{session}` and `{leaf}` are filled in by the test."""
    usual: JsonObject = {
        "sessionId": "{session}",
        "targetId": "{leaf}",
        "cwd": "/p",
        "title": "t",
        "model": MODEL,
        "thinkingLevel": "low",
        "query": "tide",
        "text": "tide",
        "busy": False,
        "artifactId": "0",
        "at": "turnEnd",
        "models": [],
        "settings": {},
        "messages": TURN,
        "operationId": "none",
        "format": "pi",
    }
    needed = {
        "session/append": {"messages": TURN},
        "session/delete": {},
        "session/import": {"messages": TURN},
        "session/open": {"sessionId": "{session}"},
    }
    for name, spec in METHODS.items():
        if spec.direction is not Direction.CLIENT_TO_DAEMON:
            continue
        given = {field: usual[field] for field in _required(spec)} | needed.get(name, {})
        if "model" in _fields(spec) and name.startswith("snapcompact/"):
            given["model"] = MODEL
        for field in _fields(spec):
            others = {key: value for key, value in given.items() if {key, field} != {"sessionId", "path"}}
            for value in HOSTILE:
                yield name, {**others, field: value}


def _fields(spec: MethodSpec) -> dict[str, Any]:
    return {field.alias or name: field for name, field in spec.params.model_fields.items()}


def _required(spec: MethodSpec) -> list[str]:
    return [name for name, field in _fields(spec).items() if field.is_required()]


async def test_no_value_of_any_parameter_is_answered_with_a_defect(tmp_path: Path) -> None:
    defects: list[str] = []
    async with daemon(tmp_path) as client:
        session, leaf = await start(client, tmp_path)
        for name, params in requests():
            filled = {
                key: {"{session}": session, "{leaf}": leaf}.get(value, value) if isinstance(value, str) else value
                for key, value in params.items()
            }
            try:
                await client.request(name, filled)
            except OctavoClientError as error:
                if error.kind is ErrorKind.INTERNAL_ERROR:
                    defects.append(f"{name} {json.dumps(params)[:120]}: {error.message}")
            if name in {"session/close", "session/delete"} and params.get("sessionId") == "{session}":
                session, leaf = await start(client, tmp_path)
        assert defects == []
        info = await client.session_get_info(session_id=session)
        assert (await client.session_append(session_id=session, messages=TURN)).seq > info.seq


@pytest.mark.parametrize("cwd", ["/a\nb", "/a\0b", "relative", "", "/\ud800"])
async def test_a_working_directory_that_no_header_can_hold_is_refused_when_creating_and_moving(
    tmp_path: Path, cwd: str
) -> None:
    async with daemon(tmp_path) as client:
        async with refused(ErrorKind.INVALID_PARAMS):
            await client.request("session/create", {"cwd": cwd})
        session, _ = await start(client, tmp_path)
        async with refused(ErrorKind.INVALID_PARAMS):
            await client.request("session/move", {"sessionId": session, "cwd": cwd})
        assert (await client.session_get_info(session_id=session)).cwd == str(tmp_path)


async def test_a_working_directory_of_any_length_has_sessions_that_are_stored_listed_and_found(tmp_path: Path) -> None:
    deep = "/" + "/".join(["a-rather-long-folder-name"] * 40)
    async with daemon(tmp_path) as client:
        session = await client.session_create(cwd=deep)
        other = await client.session_create(cwd=f"{deep}/below")
        for one in (session, other):
            await client.session_append(session_id=one.session_id, messages=TURN)
            await client.session_close(session_id=one.session_id)
        listed = await client.session_list(cwd=deep)
        assert [(one.session_id, one.cwd) for one in listed.sessions] == [(session.session_id, deep)]
        assert (await client.session_open(session_id=other.session_id)).cwd == f"{deep}/below"


async def test_a_relative_path_of_a_new_session_is_taken_from_its_working_directory(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    async with daemon(tmp_path) as client:
        session = await client.session_create(cwd=str(tmp_path / "project"), path="notes.jsonl")
        assert session.path == str(tmp_path / "project/notes.jsonl")
        assert (tmp_path / "project/notes.jsonl").is_file()


async def test_half_an_emoji_in_a_title_or_parent_neither_breaks_the_rename_nor_later_appends(tmp_path: Path) -> None:
    async with daemon(tmp_path) as client:
        created = await client.request(
            "session/create", {"cwd": "/p", "title": "cut \ud83d", "parentSession": "/gone/\ud83d.jsonl"}
        )
        session = created["sessionId"]
        await client.session_append(session_id=session, messages=TURN)
        assert (await client.session_get_info(session_id=session)).title == "cut �"
        await client.request("session/rename", {"sessionId": session, "title": "again \udc4d"})
        info = await client.session_get_info(session_id=session)
        header = json.loads(content(info.path).splitlines()[0])
        assert (header["title"], header["parentSession"]) == ("again �", "/gone/�.jsonl")


async def test_a_session_whose_header_names_an_impossible_directory_can_still_be_forked(tmp_path: Path) -> None:
    header = {"type": "session", "version": 3, "id": "odd", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/a\0b"}
    entry = {"type": "message", "id": "a1", "parentId": None, "timestamp": header["timestamp"], "message": TURN[0]}
    path = tmp_path / "odd.jsonl"
    path.write_text(json.dumps(header) + "\n" + json.dumps(entry) + "\n")
    async with daemon(tmp_path) as client:
        await client.session_open(path=str(path))
        whole = await client.session_fork(session_id="odd")
        branch = await client.session_fork(session_id="odd", entry_id="a1")
        for fork in (whole, branch):
            assert (await client.session_get_branch(session_id=fork.session_id)).entries[0]["message"] == TURN[0]
