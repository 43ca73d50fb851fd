"""A tiny scripted daemon for the client's tests: `python echo_peer.py` over stdio, or `--socket PATH`.

It knows only the JSON-RPC it needs, and what it does is chosen by the method's params.
"""

import asyncio
import json
import os
import sys
from typing import Any

INFO = {
    "cwd": "/",
    "format": "pi",
    "version": 3,
    "mode": "write",
    "entryCount": 0,
    "messageCount": 0,
    "seq": 0,
    "epoch": "e",
}


class Echo:
    def __init__(self, reader: asyncio.StreamReader, write: Any) -> None:
        self.reader, self.write = reader, write
        self.waiting: dict[int, asyncio.Future[Any]] = {}
        self.cancelled: list[Any] = []
        self.tasks: set[asyncio.Task[None]] = set()

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.write(b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc\r\n\r\n%b" % (len(body), body))

    async def read(self) -> dict[str, Any] | None:
        try:
            header = await self.reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        length = int(header.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        return dict(json.loads(await self.reader.readexactly(length)))

    async def run(self) -> None:
        while (message := await self.read()) is not None:
            if "method" not in message:
                self.waiting.pop(message["id"]).set_result(message)
            elif "id" in message:
                task = asyncio.create_task(self.answer(message["id"], message["method"], message["params"]))
                self.tasks.add(task)
                task.add_done_callback(self.tasks.discard)
            elif message["method"] == "$/cancelRequest":
                self.cancelled.append(message["params"]["id"])
            elif message["method"] == "exit":
                return

    async def ask(self, number: int, method: str, params: Any) -> Any:
        self.waiting[number] = asyncio.get_running_loop().create_future()
        self.send({"id": number, "method": method, "params": params})
        return await self.waiting[number]

    async def answer(self, number: int, method: str, params: dict[str, Any]) -> None:
        if method == "initialize":
            tree = {"protocolVersion": 1, "methods": [], "notifications": [], "strategies": [], "formats": [], "new": 1}
            self.options = params["initializationOptions"]
            self.send(
                {
                    "id": number,
                    "result": {
                        "serverInfo": {"name": "echo", "version": "1"},
                        "capabilities": {"experimental": {"sessionTree": tree}},
                    },
                }
            )
        elif method == "shutdown":
            self.send({"id": number, "result": None})
        elif method == "session/getInfo":
            if params["sessionId"] == "slow":
                return  # answered out of order, by the next one
            self.send({"id": number, "result": {**INFO, "sessionId": params["sessionId"], "addedLater": True}})
            if params["sessionId"] == "fast":
                self.send({"id": number - 1, "result": {**INFO, "sessionId": "slow"}})
        elif method == "session/compact":
            self.send(
                {"method": "$/progress", "params": {"token": params["workDoneToken"], "value": {"kind": "begin"}}}
            )
            self.send(
                {
                    "method": "$/progress",
                    "params": {"token": params["workDoneToken"], "value": {"kind": "report", "tokensOut": 7}},
                }
            )
            self.send({"method": "$/progress", "params": {"token": "somebody else's", "value": {"kind": "end"}}})
            data = {"kind": "provider-error", "provider": "p", "status": 529, "retryAfterMs": 5}
            self.send({"id": number, "error": {"code": -31031, "message": "p answered 529.", "data": data}})
        elif method == "test/notify":
            for name, payload in params["notifications"]:
                self.send({"method": name, "params": payload})
            self.send({"id": number, "result": None})
        elif method == "test/ask":
            self.send({"id": number, "result": await self.ask(params["id"], params["method"], params["params"])})
        elif method == "test/askAndCancel":
            asked = asyncio.create_task(self.ask(params["id"], params["method"], params["params"]))
            await asyncio.sleep(0)
            self.send({"method": "$/cancelRequest", "params": {"id": params["id"]}})
            self.send({"id": number, "result": await asked})
        elif method == "test/cancelled":
            self.send({"id": number, "result": self.cancelled})
        elif method == "test/options":
            self.send({"id": number, "result": self.options})
        elif method == "test/echo":
            self.send({"id": number, "result": params})
        elif method == "test/raw":
            self.write(params["text"].encode())
        elif method == "test/error":
            self.send({"id": number, "error": params["error"]})
        elif method == "test/die":
            os._exit(3)


async def stdio() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    await Echo(reader, out.write).run()


async def socket(path: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Echo(reader, writer.write).run()
        writer.close()

    server = await asyncio.start_unix_server(serve, path)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(socket(sys.argv[2]) if sys.argv[1:2] == ["--socket"] else stdio())
