"""The functions that answer methods, one module per group; see `octavo.server.registry` for how to write one.

A module is imported at start, before `initialize` is answered: what is heavy (numpy, Pillow, httpx, the tokenizer) is
imported inside the functions that need it.
"""

from importlib import import_module

MODULES: tuple[str, ...] = (
    "sessions",
    "writing",
    "tree",
    "context",
    "models",
    "settings",
    "snapcompact",
    "compaction",
    "navigation",
    "reducing",
    "maintenance",
    "daemon",
)
"""Every handler module, in the order of loading."""


def load() -> None:
    """Import every handler module, which binds its functions."""
    for name in MODULES:
        import_module(f"{__name__}.{name}")
