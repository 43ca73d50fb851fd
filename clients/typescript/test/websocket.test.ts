import assert from "node:assert/strict";
import { test } from "node:test";

import { ConnectionLostError, OctavoClient, webSocketTransport, type WebSocketLike } from "../src/index.js";
// Installs the runtime of vscode-jsonrpc; in a browser, `vscode-jsonrpc/browser` does.
import "vscode-jsonrpc/node";

/** A WebSocket whose other end is a function. */
class FakeSocket implements WebSocketLike {
  readyState = 0;
  readonly sent: string[] = [];
  private readonly listeners = new Map<string, ((event: { data: unknown }) => void)[]>();

  constructor(private readonly answer: (text: string) => string | undefined) {}

  addEventListener(type: string, listener: (event: never) => void): void {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), listener as never]);
  }

  send(data: string): void {
    this.sent.push(data);
    const text = this.answer(data);
    if (text !== undefined) {
      queueMicrotask(() => this.fire("message", text));
    }
  }

  close(): void {
    this.readyState = 3;
    queueMicrotask(() => this.fire("close"));
  }

  fire(type: string, data?: unknown): void {
    if (type === "open") {
      this.readyState = 1;
    }
    for (const listener of this.listeners.get(type) ?? []) {
      listener({ data });
    }
  }
}

const polite = (text: string): string | undefined => {
  const { id, method } = JSON.parse(text) as { id?: number; method: string };
  return id === undefined ? undefined : JSON.stringify({ jsonrpc: "2.0", id, result: { method } });
};

test("one text message is one JSON-RPC message, both ways", async () => {
  const socket = new FakeSocket(polite);
  queueMicrotask(() => socket.fire("open"));
  const client = await OctavoClient.connect(await webSocketTransport(socket), { token: "t" });
  assert.deepEqual(await client.settings.get(), { method: "settings/get" });
  const titles: unknown[] = [];
  client.on("session/didChange", ({ title }) => titles.push(title));
  socket.fire("message", '{"jsonrpc":"2.0","method":"session/didChange","params":{"title":"漢"}}');
  await client.settings.get();
  assert.deepEqual(titles, ["漢"]);
  await client.close();
  const methods = socket.sent.map((text) => (JSON.parse(text) as { method: string }).method);
  assert.deepEqual(methods, ["initialize", "initialized", "settings/get", "settings/get", "shutdown", "exit"]);
});

test("a WebSocket that does not open is a lost connection", async () => {
  const socket = new FakeSocket(polite);
  queueMicrotask(() => socket.close());
  await assert.rejects(webSocketTransport(socket), ConnectionLostError);
});

test("a WebSocket that closes ends what was asked over it", async () => {
  const socket = new FakeSocket((text) => (text.includes("settings/get") ? void socket.close() : polite(text)));
  queueMicrotask(() => socket.fire("open"));
  const client = await OctavoClient.connect(await webSocketTransport(socket));
  await assert.rejects(client.settings.get(), ConnectionLostError);
  await client.close();
});
