"""A process that opens a session and appends to it until somebody kills it, told and heard through its pipes.

Run as `python killable.py`. Each line on stdin is `{"path", "round", "seed"}`; for each a child is forked (a fresh
interpreter would spend most of a test on imports) that opens the session and has several clients append at once, with
rewrites, titles and navigations in between. On stdout: `pid N`, then `ack ID` for every acknowledged entry and
`title T` for every acknowledged title, and `dead N` once the child is gone.
"""

import asyncio
import json
import os
import random
import sys
from pathlib import Path

import anyio

from octavo.sessions.library import Library
from octavo.sessions.live import LiveSession

CLIENTS = 5
COMPACTION = "c" * 70_000


def say(line: str) -> None:
    os.write(1, line.encode() + b"\n")


async def client(session: LiveSession, name: str, chance: random.Random) -> None:
    number = 0
    while True:
        number += 1
        ids = [f"{name}-{number}-{part}" for part in range(chance.randint(1, 3))]
        messages = [{"role": "user", "content": "text " * chance.randint(1, 200)} for _ in ids]
        await session.append(messages=messages, ids=ids)
        for entry_id in ids:
            say(f"ack {entry_id}")


async def disturber(session: LiveSession, name: str, chance: random.Random) -> None:
    number = 0
    while True:
        number += 1
        match chance.randrange(5):
            case 0:
                title = f"{name} {number}"
                await session.set_title(title)
                say(f"title {title}")
            case 1:
                entries = [entry for entry in session.tree.entries[-20:] if entry["type"] == "message"]
                await session.rewrite(lambda _, found=entries[:2]: [{**e, "pruned": True} for e in found], "prune")  # type: ignore[misc]
            case 2:
                path = session.branch()
                await session.set_leaf(path[len(path) // 2]["id"] if path else None)
            case 3:
                kept = session.leaf_id or ""
                draft = {"type": "compaction", "summary": COMPACTION, "firstKeptEntryId": kept, "tokensBefore": 1}
                entry_id = f"{name}-c{number}"
                await session.append([{**draft, "id": entry_id}])
                say(f"ack {entry_id}")
            case _:
                await anyio.lowlevel.checkpoint()


async def work(path: Path, name: str, seed: int) -> None:
    chance = random.Random(seed)
    session = await Library(path.parent / "sessions").open_path(path)
    async with anyio.create_task_group() as group:
        for number in range(CLIENTS):
            group.start_soon(client, session, f"{name}.{number}", chance)
        group.start_soon(disturber, session, name, chance)


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            say(f"pid {os.getpid()}")
            asyncio.run(work(Path(order["path"]), str(order["round"]), order["seed"]))
            os._exit(1)
        os.waitpid(child, 0)
        say(f"dead {child}")


if __name__ == "__main__":
    main()
