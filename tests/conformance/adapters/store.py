"""Adapters for what is kept on disk: the persistence transform, lazy creation, and session lists."""

import asyncio
import base64
import os
import tempfile
from pathlib import Path
from typing import Any

from conformance.support import Vector, adapter
from octavo.sessions.blobs import BlobStore
from octavo.sessions.library import Library
from octavo.sessions.listing import SessionSummary, list_sessions
from octavo.sessions.live import LiveSession
from octavo.sessions.persistence import NOTICE, OCTAVO, SEED, PersistRules, prepare_entry
from octavo.sessions.reading import parse_lines
from octavo.sessions.store.writer import WriterThreads

LIMIT = 500_000


def _shown(text: str) -> str:
    return f"len={len(text)} head={text[:12]} tail={text[-8 - len(NOTICE) :]}" if len(text) > 1000 else text


def _image(data: str) -> dict[str, Any]:
    return {"type": "image", "data": data, "mimeType": "image/png"}


def _described_entry() -> dict[str, Any]:
    """The entry that the vector's note describes in words."""
    long = "y" * (LIMIT + 1)
    big = base64.b64encode(b"x" * 1200).decode()
    content = [_image(big), _image("dGlueQ=="), {"type": "text", "text": long}]
    details = {
        "content": "a\n" + long,
        "lineCount": 2,
        "image_url": "data:image/png;base64,AAAA",
    }
    message = {"role": "toolResult", "content": content, "details": details, "partialJson": "p", "jsonlEvents": ["e"]}
    return {"type": "message", "id": "a", "parentId": None, "timestamp": "t", "message": message}


def _signed_entry() -> dict[str, Any]:
    long = "s" * (LIMIT + 1)
    content = [
        {"type": "thinking", "thinking": "t", "thinkingSignature": long},
        {"type": "text", "text": "x", "textSignature": long},
    ]
    message = {"role": "assistant", "content": content}
    return {"type": "message", "id": "b", "parentId": "a", "timestamp": "t", "message": message}


def _persisted(rules: PersistRules) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        blobs = BlobStore(Path(folder), durability="os")
        message = prepare_entry(_described_entry(), blobs, rules)["message"]
        thinking, text = prepare_entry(_signed_entry(), blobs, rules)["message"]["content"]
        details = message["details"]
        return {
            "image1": message["content"][0]["data"],
            "image2": message["content"][1]["data"],
            "text": _shown(message["content"][2]["text"]),
            "hasPartialJson": "partialJson" in message,
            "hasJsonlEvents": "jsonlEvents" in message,
            "details": {**details, "content": _shown(details["content"])},
            "sig": thinking["thinkingSignature"],
            "textSig": text["textSignature"],
            "blobFiles": sorted(path.name for path in Path(folder).iterdir()),
        }


@adapter("prepareEntryForPersistence")
def prepare_for_persistence(vector: Vector) -> None:
    if "same" in vector.expected:
        entry = {"type": "message", "id": "a", "message": {"role": "user", "content": "short"}}
        for rules in (SEED, OCTAVO):
            with tempfile.TemporaryDirectory() as folder:
                assert (prepare_entry(entry, BlobStore(Path(folder)), rules) is entry) == vector.expected["same"]
        return
    seed, ours = _persisted(SEED), _persisted(OCTAVO)
    assert seed == vector.expected
    # Ours keeps what a provider verifies, and is otherwise the same.
    assert ours["sig"] == ours["textSig"] == "s" * (LIMIT + 1)
    assert {**ours, "sig": "", "textSig": ""} == seed


def _kind(line: dict[str, Any]) -> str:
    return f"message:{line['message']['role']}" if line["type"] == "message" else str(line["type"])


def _state(step: str, session: LiveSession) -> dict[str, Any]:
    assert session.path is not None
    exists = session.path.exists()
    kinds = [_kind(line) for line in parse_lines(session.path.read_bytes()).objects] if exists else []
    return {"step": step, "fileExists": exists, "lines": len(kinds), "kinds": kinds}


async def _walk(folder: Path) -> list[dict[str, Any]]:
    session = await Library(folder / "sessions").create("/p", lazy=True)
    states = [_state("new", session)]
    await session.set_model("p/m")
    states.append(_state("model_change", session))
    first = await session.append(messages=[{"role": "user", "content": "q"}])
    states.append(_state("user message", session))
    await session.append(messages=[{"role": "assistant", "content": []}])
    states.append(_state("assistant message (materializes whole file)", session))
    await session.append(messages=[{"role": "user", "content": "r"}])
    states.append(_state("append", session))
    await session.set_title("T")
    states.append(_state("set name (atomic rewrite)", session))
    await session.append(messages=[{"role": "user", "content": "s"}], parent_id=first.entry_ids[0])
    states.append(_state("branched append", session))
    await session.close()
    return states


@adapter("SessionManager persistence")
def lazy_creation(vector: Vector) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert asyncio.run(_walk(Path(folder))) == vector.expected


def _info(summary: SessionSummary) -> dict[str, Any]:
    return {
        "file": summary.path.name,
        "id": summary.id,
        "cwd": summary.cwd,
        "title": summary.title,
        "parent": summary.parent_session,
        "messageCount": summary.message_count,
        "firstMessage": summary.first_message,
        "allMessagesText": summary.all_text,
        "status": summary.status,
    }


@adapter("listSessions")
def session_list(vector: Vector) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, (stem, lines) in enumerate(vector.input["files"].items()):
            path = folder / f"{stem}.jsonl"
            path.write_text("\n".join(lines) + "\n")
            os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
        found = asyncio.run(list_sessions([folder], WriterThreads()))
        assert [_info(summary) for summary in found] == vector.expected
