"""Which file holds what: the list of everything derived, as text in memory."""

from pathlib import Path

from octavo_protocol.generate import (
    client_module,
    golden,
    lua,
    openrpc,
    reference,
    schema,
    settings_page,
    typescript,
)

GOLDEN = Path("tests/wire/golden")


def outputs(root: Path) -> dict[Path, str]:
    """Return every derived file of the checkout at `root` with the text it shall have."""
    bundle = schema.bundle()
    files = {
        "protocol/schema/protocol.schema.json": schema.dump(bundle),
        "protocol/schema/openrpc.json": schema.dump(openrpc.document(bundle)),
        "docs/protocol.md": reference.page(bundle),
        "docs/settings.md": settings_page.page(),
        "clients/python/octavo_client/methods.py": client_module.module(),
        **{f"clients/typescript/src/generated/{name}": text for name, text in typescript.modules(bundle).items()},
        "editors/neovim/lua/octavo/types.lua": lua.module(bundle),
        **{str(GOLDEN / name): schema.dump(value) for name, value in golden.files().items()},
    }
    return {root / name: text for name, text in files.items()}


def stale(root: Path) -> list[Path]:
    """Return the derived files that differ from what they shall be, are missing, or should not be there."""
    wanted = outputs(root)
    differ = [p for p, text in wanted.items() if not p.is_file() or p.read_text(encoding="utf-8") != text]
    extra = [p for p in sorted((root / GOLDEN).rglob("*.json")) if p not in wanted]
    return differ + extra
