"""What `octavo doctor` looks at in the sessions folder: room, rights, damage, who writes what, and what was saved."""

import json
import os
import shutil
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from octavo.cli.health import Finding
from octavo.cli.terminal import count, size
from octavo.sessions.paths import project_folders, session_files
from octavo.sessions.reading import load_session
from octavo.snapcompact.journal import JOURNAL, read_savings
from octavo_protocol.base import JsonObject
from octavo_protocol.errors import OctavoError
from octavo_protocol.settings import Settings

NEWEST = 200
"""Sessions read whole unless all are asked for."""
LOW_BYTES = 1 << 30
"""Free space below which a warning is due."""
SHOWN = 20
"""Damaged files named one by one."""
_CHUNK = 4 << 20


def session_findings(settings: Settings, root: Path | None, *, everything: bool) -> list[Finding]:
    """Look at the sessions folder: `root`, or the one the settings name."""
    if root is None:
        named = settings.sessions.root
        root = Path(named).expanduser() if named else Path(platformdirs.user_data_dir("octavo")) / "sessions"
    if not root.exists():
        return [Finding("sessions", "ok", f"{root} does not exist yet; the first session makes it"), *_room(root)]
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        return [Finding("sessions", "failure", f"{root} cannot be read and written", f"chmod u+rwx {root}")]
    files = sorted(
        (path for folder in (root, *project_folders(root)) for path in session_files(folder)), key=_age, reverse=True
    )
    total = sum(_size(path) for path in files)
    findings = [Finding("sessions", "ok", f"{count(len(files), 'session')}, {size(total)} in {root}"), *_room(root)]
    looked = files if everything else files[:NEWEST]
    findings += _damage(looked)
    if len(looked) < len(files):
        text = f"the newest {NEWEST} were read; {count(len(files) - NEWEST, 'older one')} not"
        findings.append(Finding("sessions", "ok", text, "octavo doctor --all reads all."))
    return [*findings, *_owners(root), *_savings(root.parent / JOURNAL)]


def _savings(journal: Path) -> list[Finding]:
    savings = read_savings(journal)
    if not savings:
        return []
    tokens = sum(saving.saved_tokens for saving in savings)
    text = f"{count(len(savings), 'tool result')} went out as frames and saved {tokens:,} tokens ({journal})"
    return [Finding("savings", "ok", text)]


def _room(root: Path) -> list[Finding]:
    place = next(parent for parent in (root, *root.parents) if parent.exists())
    free = shutil.disk_usage(place).free
    if free >= LOW_BYTES:
        return [Finding("disk", "ok", f"{free / 1e9:.1f} GB are free")]
    return [
        Finding(
            "disk", "warning", f"only {free / 1e9:.1f} GB are free for {root}", "Make room: appends fail when it ends."
        )
    ]


def _damage(files: list[Path]) -> list[Finding]:
    found = []
    for path in files:
        finding = examine(path)
        if finding is not None:
            found.append(finding)
    if len(found) > SHOWN:
        more = Finding("damage", "warning", f"{count(len(found) - SHOWN, 'more session')} with damage")
        return [*found[:SHOWN], more]
    return found or [Finding("damage", "ok", f"{count(len(files), 'session')} read, none damaged")]


def examine(path: Path) -> Finding | None:
    """Read a session whole; None when it is sound.

    What reading can recover is a warning, for the next write repairs it and keeps a backup; what is no session any more
    is a failure.
    """
    try:
        loaded = load_session(_pieces(path), on_object=lambda value, _offset, _length: _light(value))
    except OctavoError as error:
        remedy = "It was left untouched; restore it from a backup or move it away."
        return Finding("damage", "failure", f"{path}: {error.message}", remedy)
    except OSError as error:
        return Finding("damage", "failure", f"{path} cannot be read: {error.strerror}")
    if not loaded.damaged:
        return None
    kinds = Counter(one.kind.value for one in loaded.damage)
    what = ", ".join(f"{kind} × {number}" for kind, number in sorted(kinds.items()))
    return Finding("damage", "warning", f"{path}: {what}", "Opening it recovers the rest and keeps what was cut.")


def _light(value: JsonObject) -> JsonObject:
    """Keep of an entry only what the tree needs, so that a session of any size fits into memory."""
    return {key: value[key] for key in ("type", "id", "parentId", "version", "timestamp", "cwd") if key in value}


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(_CHUNK):
            yield piece


def _owners(root: Path) -> list[Finding]:
    """Say who writes which session; a lock whose owner is gone does no harm."""
    held, left = [], 0
    for folder in (root, *project_folders(root)):
        for sidecar in sorted(folder.glob(".*.jsonl.lock")):
            owner = _owner(sidecar)
            here = owner.get("host") == socket.gethostname()
            if here and not _lives(owner.get("pid")):
                left += 1
                continue
            who = f"process {owner.get('pid', 'unknown')} on {owner.get('host', 'an unknown host')}"
            held.append(Finding("locks", "ok", f"{sidecar.name[1:].removesuffix('.lock')} is written by {who}"))
    if left:
        held.append(Finding("locks", "ok", f"{count(left, 'lock file')} of ended processes, which keep nobody out"))
    return held or [Finding("locks", "ok", "no session is being written")]


def _owner(sidecar: Path) -> JsonObject:
    try:
        owner = json.loads(sidecar.read_bytes()[:4096])
    except (OSError, ValueError):
        return {}
    return owner if isinstance(owner, dict) else {}


def _lives(pid: object) -> bool:
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _age(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
