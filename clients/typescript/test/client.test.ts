import assert from "node:assert/strict";
import { test } from "node:test";

import { CancellationTokenSource, ResponseError, type CancellationToken } from "vscode-jsonrpc";

import {
  ConnectionLostError,
  OctavoClient,
  OctavoError,
  isKind,
  type DidChange,
  type Requests,
} from "../src/node.js";
import { CAPABILITIES, greeted, pair } from "./fake.js";

const any = (method: string): keyof Requests => method as keyof Requests;
const change = (seq: number): DidChange => ({ sessionId: "s", epoch: "e", seq, kind: "leaf", entryIds: [] });
const until = (token: CancellationToken): Promise<void> =>
  new Promise((resolve) => {
    token.onCancellationRequested(() => resolve());
    if (token.isCancellationRequested) {
      resolve();
    }
  });

test("the greeting tells both sides who they are", async () => {
  const { client, greeting } = await greeted(undefined, {
    handlers: { "llm/complete": () => Promise.reject(new Error()), "hook/sessionBeforeTree": () => undefined },
    hooks: ["sessionTree"],
    settings: { language: "de" },
    token: "t",
    clientInfo: { name: "tests", version: "2" },
    processId: 7,
  });
  assert.deepEqual(client.capabilities, CAPABILITIES);
  assert.deepEqual(client.serverInfo, { name: "fake", version: "1" });
  assert.equal(client.supports("session/open"), true);
  assert.equal(client.supports("session/delete"), false);
  assert.equal(greeting["processId"], 7);
  assert.deepEqual(greeting["clientInfo"], { name: "tests", version: "2" });
  assert.deepEqual(greeting["initializationOptions"], {
    settings: { language: "de" },
    token: "t",
    client: { complete: true, agent: false, hooks: ["sessionBeforeTree", "sessionTree"] },
  });
  await client.close();
});

test("a daemon that refuses the greeting is an error of its kind, and the transport is released", async () => {
  const made = pair((daemon) =>
    daemon.onRequest("initialize", () => OctavoError.of("invalid-request", "The token is wrong.").toResponse()),
  );
  await assert.rejects(OctavoClient.connect(made.transport), (error) => isKind(error, "invalid-request"));
  assert.equal(made.closes, 1);
});

test("a peer that goes before it answers the greeting is a lost connection", async () => {
  const made = pair((daemon) => daemon.onRequest("initialize", () => made.cut()));
  await assert.rejects(OctavoClient.connect(made.transport), ConnectionLostError);
});

test("a peer that is no octavo daemon offers nothing", async () => {
  const { client } = await greeted((daemon) => daemon.onRequest("initialize", () => ({ capabilities: {} })));
  assert.equal(client.capabilities.protocolVersion, 0);
  assert.equal(client.supports("session/open"), false);
  await client.close();
});

test("answers find their requests in any order", async () => {
  let release: (value: unknown) => void = () => undefined;
  const held = new Promise((resolve) => (release = resolve));
  const { client } = await greeted((daemon) => {
    daemon.onRequest("test/slow", () => held.then(() => "slow"));
    daemon.onRequest("test/fast", () => "fast");
  });
  const slow = client.request(any("test/slow"), {});
  assert.equal(await client.request(any("test/fast"), {}), "fast");
  release(null);
  assert.equal(await slow, "slow");
  await client.close();
});

for (const [what, error, kind, code] of [
  ["without data", new ResponseError(-31010, "m"), "session-not-found", -31010],
  ["of a kind from the future", new ResponseError(-5, "m", { kind: "from-the-future" }), undefined, -5],
  ["with nonsense as data", new ResponseError(-31012, "m", [1]), "session-locked", -31012],
  ["of no known code", new ResponseError(-7, "m"), undefined, -7],
] as const) {
  test(`an error ${what} is an error too`, async () => {
    const { client } = await greeted((daemon) => daemon.onRequest("test/error", () => error as ResponseError<unknown>));
    await assert.rejects(client.request(any("test/error"), {}), (thrown: unknown) => {
      assert(thrown instanceof OctavoError);
      assert.deepEqual([thrown.kind, thrown.code], [kind, code]);
      return true;
    });
    await client.close();
  });
}

test("aborting the signal cancels the request at the daemon", async () => {
  const { client } = await greeted((daemon) =>
    daemon.onRequest("session/compact", async (_, token: CancellationToken) => {
      await until(token);
      return OctavoError.of("cancelled", "Stopped.").toResponse();
    }),
  );
  const abort = new AbortController();
  const asked = client.session.compact({ sessionId: "s" }, { signal: abort.signal });
  abort.abort();
  await assert.rejects(asked, (error) => isKind(error, "cancelled"));
  await assert.rejects(client.session.compact({ sessionId: "s" }, { signal: abort.signal }), (error) =>
    isKind(error, "cancelled"),
  );
  await client.close();
});

test("an editor's token cancels the request at the daemon", async () => {
  const { client } = await greeted((daemon) =>
    daemon.onRequest("session/compact", async (_, token: CancellationToken) => {
      await until(token);
      return OctavoError.of("cancelled", "Stopped.").toResponse();
    }),
  );
  const source = new CancellationTokenSource();
  const asked = client.session.compact({ sessionId: "s" }, { token: source.token });
  source.cancel();
  await assert.rejects(asked, (error) => isKind(error, "cancelled"));
  await client.close();
});

test("progress is heard before the answer, under the caller's token if there is one, and not afterwards", async () => {
  const tokens: unknown[] = [];
  const { client, daemon } = await greeted((daemon) =>
    daemon.onRequest("session/compact", async ({ workDoneToken }: { workDoneToken: string }) => {
      tokens.push(workDoneToken);
      await daemon.sendNotification("$/progress", { token: workDoneToken, value: { kind: "report", tokensOut: 7 } });
      return {};
    }),
  );
  const heard: unknown[] = [];
  const onProgress = (value: unknown): void => void heard.push(value);
  await client.session.compact({ sessionId: "s" }, { onProgress });
  await client.session.compact({ sessionId: "s", workDoneToken: "mine" }, { onProgress });
  await client.session.compact({ sessionId: "s" });
  assert.equal(heard.length, 2);
  assert.deepEqual([typeof tokens[0], tokens[1], tokens[2]], ["string", "mine", undefined]);
  await daemon.sendNotification("$/progress", { token: "mine", value: { kind: "end" } });
  await client.session.compact({ sessionId: "s" });
  assert.equal(heard.length, 2);
  await client.close();
});

test("notifications reach every listener in order, and a failing one neither silences others nor ends anything", async () => {
  const defects: string[] = [];
  const { client, daemon } = await greeted((daemon) => daemon.onRequest("test/flush", () => null), {
    onDefect: (_, where) => defects.push(where),
  });
  const seen: number[] = [];
  client.on("session/didChange", () => {
    throw new Error("a listener's mistake");
  });
  const subscription = client.on("session/didChange", ({ seq }) => seen.push(seq));
  const events = client.events("session/didChange");
  for (const seq of [1, 2, 3]) {
    await daemon.sendNotification("session/didChange", change(seq));
  }
  await client.request(any("test/flush"), {});
  assert.deepEqual(seen, [1, 2, 3]);
  assert.deepEqual(defects, Array(3).fill("A listener to session/didChange"));
  subscription.dispose();
  await daemon.sendNotification("session/didChange", change(4));
  const streamed: number[] = [];
  for await (const { seq } of events) {
    streamed.push(seq);
    if (seq === 4) {
      break;
    }
  }
  assert.deepEqual(streamed, [1, 2, 3, 4]);
  assert.deepEqual(seen, [1, 2, 3]);
  await client.close();
});

test("the daemon's requests are answered by handlers, and what they throw has a kind and no stack", async () => {
  const defects: unknown[] = [];
  const { client, daemon } = await greeted(undefined, {
    handlers: {
      "agent/abort": ({ sessionId }) => ({ stopped: sessionId === "s" }),
      "hook/sessionBeforeTree": () => undefined,
      "llm/complete": () => {
        throw OctavoError.of("no-model", "No model here.", { provider: "p" });
      },
      "hook/sessionCompacting": () => {
        throw new RangeError("secret detail");
      },
    },
    onDefect: (error) => defects.push(error),
  });
  const failure = async (method: string): Promise<ResponseError<unknown>> =>
    daemon.sendRequest<ResponseError<unknown>>(method, {}).then(assert.fail, (error: ResponseError<unknown>) => error);
  assert.deepEqual(await daemon.sendRequest("agent/abort", { sessionId: "s", reason: "compaction" }), {
    stopped: true,
  });
  assert.equal(await daemon.sendRequest("hook/sessionBeforeTree", {}), null);
  assert.deepEqual((await failure("llm/complete")).data, { kind: "no-model", provider: "p" });
  const internal = await failure("hook/sessionCompacting");
  assert.equal(internal.code, -32603);
  assert.doesNotMatch(JSON.stringify([internal.message, internal.data]), /secret|\.ts|\.js/);
  assert(defects[0] instanceof RangeError);
  assert.equal((await failure("hook/unknown")).code, -32601);
  assert.equal(await daemon.sendRequest("window/workDoneProgress/create", { token: 1 }), null);
  await client.close();
});

test("a handler is told when the daemon cancels, and the answer does not wait for it", async () => {
  const told: string[] = [];
  const source = new CancellationTokenSource();
  const { client, daemon } = await greeted(undefined, {
    handlers: {
      "llm/complete": (_, { signal }) => {
        signal.addEventListener("abort", () => told.push("aborted"));
        source.cancel();
        return new Promise(() => undefined);
      },
    },
  });
  await assert.rejects(daemon.sendRequest("llm/complete", {}, source.token), { code: -32800 });
  assert.deepEqual(told, ["aborted"]);
  await client.close();
});

test("a request that is cancelled before it is looked at never reaches its handler", async () => {
  const told: string[] = [];
  const { client, daemon } = await greeted(undefined, {
    handlers: { "agent/abort": () => void told.push("called") as never },
  });
  const source = new CancellationTokenSource();
  const asked = daemon.sendRequest("agent/abort", {}, source.token);
  source.cancel();
  await assert.rejects(asked, { code: -32800 });
  assert.deepEqual(told, []);
  await client.close();
});

test("the end of the daemon ends requests, streams and later requests, and is told once", async () => {
  const { client, cut } = await greeted((daemon) => daemon.onRequest("test/never", () => new Promise(() => undefined)));
  const ends: unknown[] = [];
  client.onEnded((error) => ends.push(error));
  const events = client.events("session/didChange");
  const asked = client.request(any("test/never"), {});
  cut();
  await assert.rejects(asked, ConnectionLostError);
  assert.deepEqual(await events.next(), { done: true, value: undefined });
  await assert.rejects(client.request(any("test/never"), {}), ConnectionLostError);
  await assert.rejects(client.notify("initialized", {}), ConnectionLostError);
  assert.deepEqual(await client.events("session/didChange").next(), { done: true, value: undefined });
  await client.close();
  assert.equal(ends.length, 1);
  assert(ends[0] instanceof ConnectionLostError);
});

test("closing says goodbye, fails what is pending, and releases the transport", async () => {
  const made = await greeted((daemon) => daemon.onRequest("test/never", () => new Promise(() => undefined)));
  let ended: unknown = "not yet";
  made.client.onEnded((error) => (ended = error));
  const asked = assert.rejects(made.client.request(any("test/never"), {}), ConnectionLostError);
  const exit = new Promise<void>((resolve) => made.daemon.onNotification("exit", () => resolve()));
  await made.client.close();
  await asked;
  await exit;
  assert.equal(ended, undefined);
  assert.equal(made.closes, 1);
});

test("a daemon that does not answer the goodbye is left all the same", async () => {
  const { client, closes } = await greeted(
    (daemon) => daemon.onRequest("shutdown", () => new Promise(() => undefined)),
    { graceMs: 1 },
  );
  assert.equal(closes, 0);
  await client.close();
  assert(client.ended instanceof ConnectionLostError);
});

test("a connection somebody else greeted can be used, and is left to its owner", async () => {
  const made = pair((daemon) => daemon.onRequest("session/close", () => ({ closed: true })));
  const { connection } = made.transport;
  connection.listen();
  const answer = await connection.sendRequest<object>("initialize", {});
  const client = OctavoClient.attach(connection, answer);
  assert.deepEqual(client.capabilities, CAPABILITIES);
  assert.deepEqual(await client.session.close({ sessionId: "s" }), { closed: true });
  await client.close();
  await assert.rejects(client.session.close({ sessionId: "s" }), ConnectionLostError);
  assert.deepEqual(await connection.sendRequest("session/close", { sessionId: "s" }), { closed: true });
  assert.equal(made.closes, 0);
});

test("large and odd text survives the wire", async () => {
  const text = `é漢\u{1f600}\0${"a".repeat(3_000_000)}`;
  const { client } = await greeted((daemon) => daemon.onRequest("test/echo", (params) => params));
  assert.deepEqual(await client.request(any("test/echo"), { text, n: null } as never), { text, n: null });
  await client.close();
});
