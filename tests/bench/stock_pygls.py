"""The smallest server stock pygls makes of the probe's methods: what the bench compares octavo with."""

from typing import Any

from pygls.lsp.server import LanguageServer

server = LanguageServer("stock", "1")


@server.feature("probe/ping")
async def ping(_: Any) -> dict[str, bool]:
    return {"ok": True}


@server.feature("probe/count")
async def count(params: Any) -> dict[str, int]:
    return {"count": len(params.entries)}


@server.feature("probe/make")
async def make(params: Any) -> dict[str, Any]:
    entry = {"type": "message", "text": "x" * 1000}
    return {"value": [entry] * (params.bytes // 1030)}


if __name__ == "__main__":
    server.start_io()
