"""The rules of who may know whom, read from the code's own import statements."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

GROUND = {"octavo_protocol"}
MAY_IMPORT = {
    "sessions": set[str](),
    "tokens": {"sessions"},
    "compaction": {"sessions", "tokens"},
    "snapcompact": {"sessions", "tokens"},
    "providers": set[str](),
    "maintenance": {"sessions", "tokens", "compaction", "snapcompact"},
    "server": {"sessions", "tokens", "compaction", "snapcompact", "providers", "maintenance"},
    "cli": {"sessions", "tokens", "compaction", "snapcompact", "providers", "maintenance", "server"},
}
FREE = {"resources", "templates", "error_text", "js_text", "__version__", "discovery", "starting"}
HEAVY = {"numpy", "PIL", "httpx", "pygls", "lsprotocol"}


def modules(folder: str) -> list[Path]:
    return sorted(p for p in (ROOT / folder).rglob("*.py") if "_data" not in p.parts)


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield (module name, whether it is imported at module level) for every import in the file."""
    tree = ast.parse(path.read_text())
    top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"{node.module}.{alias.name}", id(node) in top) for alias in node.names)


def ours(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] in {"octavo", "octavo_protocol", "octavo_client"}


@pytest.mark.parametrize("path", modules("daemon/octavo"), ids=lambda p: str(p.relative_to(ROOT)))
def test_daemon_modules_import_only_what_lies_below_them(path: Path) -> None:
    parts = path.relative_to(ROOT / "daemon/octavo").parts
    layer = parts[0] if len(parts) > 1 else None
    for name, _ in imports(path):
        if not ours(name) or name.split(".")[0] in GROUND:
            continue
        if layer == "cli" and name.split(".")[0] == "octavo_client":
            continue  # a command is a client of the daemon it starts
        assert name.split(".")[0] == "octavo", f"{path.name} imports {name}: the daemon does not know its clients"
        target = name.split(".")[1]
        if layer is None or target == layer or target in FREE:
            continue
        assert target in MAY_IMPORT[layer], f"{layer} may not import {name}"


@pytest.mark.parametrize("path", modules("protocol"), ids=lambda p: str(p.relative_to(ROOT)))
def test_the_protocol_knows_nothing_above_it(path: Path) -> None:
    assert [n for n, _ in imports(path) if n.split(".")[0] in {"octavo", "octavo_client"}] == []


@pytest.mark.parametrize("path", modules("clients/python"), ids=lambda p: str(p.relative_to(ROOT)))
def test_the_client_knows_only_the_protocol(path: Path) -> None:
    assert [n for n, _ in imports(path) if n.split(".")[0] == "octavo"] == []


@pytest.mark.parametrize("path", modules("daemon/octavo"), ids=lambda p: str(p.relative_to(ROOT)))
def test_pygls_is_known_to_the_rpc_adapter_alone(path: Path) -> None:
    if path.name == "rpc.py" and path.parent.name == "server":
        return
    assert [n for n, _ in imports(path) if n.split(".")[0] in {"pygls", "lsprotocol"}] == []
