// Against the real daemon. OCTAVO_COMMAND is a JSON array that starts `octavo`; absent means the checkout's own.

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import {
  ConnectionLostError,
  ReconnectingClient,
  SessionFollower,
  connectClient,
  isKind,
  socketTransport,
  spawnClient,
  spawnTransport,
  type ClientOptions,
  type Followed,
  type Message,
  type OctavoClient,
  type ProgressValue,
  type Requests,
  type SessionInfo,
} from "../src/node.js";
import * as golden from "./golden.generated.js";
import { collect } from "./fake.js";

const OURS = JSON.stringify([fileURLToPath(new URL("../../../../.venv/bin/python", import.meta.url)), "-m", "octavo"]);
const COMMAND = JSON.parse(process.env["OCTAVO_COMMAND"] ?? OURS) as [string, ...string[]];
const FOLDER = mkdtempSync(join(tmpdir(), "octavo-ts-"));
const ENV = { ...process.env, HOME: FOLDER, XDG_DATA_HOME: FOLDER, XDG_CONFIG_HOME: FOLDER, XDG_STATE_HOME: FOLDER };
const daemons: ChildProcess[] = [];
const clients: { close(): Promise<void> }[] = [];

// A test that fails must not leave anything behind that keeps this process alive.
after(async () => {
  await Promise.all(clients.map((client) => client.close()));
  for (const daemon of daemons) {
    daemon.kill("SIGKILL");
  }
  rmSync(FOLDER, { recursive: true, force: true });
});

const how = (...args: string[]): { command: string; args: string[]; env: NodeJS.ProcessEnv; stderr: "ignore" } => ({
  command: COMMAND[0],
  args: [...COMMAND.slice(1), ...args],
  env: ENV,
  stderr: "ignore",
});
const kept = <T extends { close(): Promise<void> }>(client: T): T => {
  clients.push(client);
  return client;
};
const start = async (options?: ClientOptions): Promise<OctavoClient> =>
  kept(await spawnClient(how("serve", "--stdio"), options));

const probe = await start();
const { capabilities } = probe;
await probe.close();

/** Why a test cannot run with this daemon yet, as it says itself; false when it can. */
function lacking(...methods: (keyof Requests)[]): { skip: string | false } {
  const missing = methods.filter((method) => !capabilities.methods.includes(method));
  return { skip: missing.length > 0 && `this daemon does not offer ${missing.join(", ")}` };
}

const user = (text: string): Message => ({ role: "user", content: text, timestamp: 1 });
const assistant = (text: string): Message => ({
  role: "assistant",
  content: [{ type: "text", text }],
  stopReason: "stop",
  timestamp: 2,
});

test("the daemon greets as octavo and offers only what the client knows", async () => {
  const client = await start();
  assert.equal(client.serverInfo.name, "octavo");
  assert.equal(client.capabilities.protocolVersion, 1);
  const known = new Set(golden.requests.filter((one) => one.direction === "clientToDaemon").map((one) => one.method));
  assert.deepEqual(client.capabilities.methods.filter((method) => !known.has(method)), []);
  await client.close();
});

test("a refused request is an error with a kind and the fields that are wrong", lacking("session/open"), async () => {
  const client = await start();
  await assert.rejects(client.session.open({ path: join(FOLDER, "absent.jsonl") }), (error) =>
    isKind(error, "session-not-found"),
  );
  await assert.rejects(client.session.open({ nonsense: 1 } as object), (error: unknown) => {
    assert(isKind(error, "invalid-params"));
    assert.match(JSON.stringify(error.data.details), /nonsense/);
    return true;
  });
  await assert.rejects(client.request("session/compress" as keyof Requests, {}), (error) =>
    isKind(error, "method-not-found"),
  );
  await client.close();
});

test("a program that is not there, or ends at once, is an error", async () => {
  await assert.rejects(spawnClient({ command: join(FOLDER, "octavo") }), /cannot be started/);
  await assert.rejects(spawnClient({ command: process.execPath, args: ["-e", ""] }), ConnectionLostError);
});

test("a program that neither answers nor ends is ended", async () => {
  const stubborn = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.error('ready')";
  let ready: () => void = () => undefined;
  const started = new Promise<void>((resolve) => (ready = resolve));
  const transport = await spawnTransport({
    command: process.execPath,
    args: ["-e", stubborn],
    stderr: () => ready(),
    graceMs: 50,
  });
  await started;
  await transport.close();
});

test("a session is created, appended to, read and closed", lacking("session/create", "session/append"), async () => {
  const client = await start();
  const changes = client.events("session/didChange");
  const info = await client.session.create({ cwd: FOLDER, title: "Tide tables", ephemeral: true });
  const { sessionId } = info;
  const first = await client.session.append({ sessionId, messages: [user("漢字 🙂"), assistant("Found it.")] });
  assert.equal(first.entryIds.length, 2);
  // The change is told before it is acknowledged.
  const told = await collect(changes, (all) => all.some((change) => change.seq === first.seq));
  assert.deepEqual(told.at(-1)?.entryIds, first.entryIds);
  const again = { sessionId, messages: [user("once")], ids: ["feed0001"] };
  assert.deepEqual((await client.session.append(again)).repeatedIds, []);
  assert.deepEqual((await client.session.append(again)).repeatedIds, ["feed0001"]);
  await assert.rejects(
    client.session.append({ sessionId, messages: [user("late")], expectedLeafId: "00000000" }),
    (error) => isKind(error, "content-modified"),
  );
  const now = await client.session.getInfo({ sessionId });
  assert.deepEqual([now.title, now.messageCount, now.leafId], ["Tide tables", 3, "feed0001"]);
  await client.session.close({ sessionId });
  await assert.rejects(client.session.getInfo({ sessionId }), (error) => isKind(error, "session-not-found"));
  await client.close();
});

test(
  "a context is built from what was appended",
  lacking("session/create", "session/append", "session/buildContext"),
  async () => {
    const client = await start();
    const { sessionId } = await client.session.create({ cwd: FOLDER, ephemeral: true });
    await client.session.append({ sessionId, messages: [user("Where is the tide?"), assistant("Coming in.")] });
    const context = await client.session.buildContext({ sessionId });
    assert.deepEqual(
      context.messages.map((message) => (message as { role?: unknown }).role),
      ["user", "assistant"],
    );
    await client.close();
  },
);

test(
  "a compaction asks the host for its model, reports progress and ends with its event",
  lacking("session/create", "session/append", "session/compact", "model/register"),
  async () => {
    const asked: string[] = [];
    const client = await start({
      models: [{ provider: "harbour", id: "pilot", contextWindow: 100_000, maxOutput: 8_000, inputs: ["text"] }],
      settings: { "compaction.keepRecentTokens": 50 },
      handlers: {
        "llm/complete": ({ purpose, model }) => {
          asked.push(`${purpose} ${model.provider}/${model.id}`);
          const text = "## Goal\nCorrect the tide tables.\n\n## Progress\nThe offset is found.";
          return { content: [{ type: "text", text }], stopReason: "stop" };
        },
      },
    });
    const { sessionId } = await client.session.create({ cwd: FOLDER, model: "harbour/pilot", ephemeral: true });
    const talk = Array.from({ length: 12 }, (_, turn) => [
      user(`Question ${turn}: ${"why is the table an hour off? ".repeat(30)}`),
      assistant(`Answer ${turn}: ${"the offset is added twice in winter. ".repeat(30)}`),
    ]);
    await client.session.append({ sessionId, messages: talk.flat() });
    const [starts, ends] = [client.events("session/compactionStart"), client.events("session/compactionEnd")];
    const heard: ProgressValue[] = [];
    const result = await client.session.compact(
      { sessionId, strategy: "context-full" },
      { onProgress: (value) => heard.push(value) },
    );
    const started = (await starts.next()).value;
    const ended = (await ends.next()).value;
    assert.equal(started.operationId, result.operationId);
    assert.equal(ended.operationId, result.operationId);
    assert.deepEqual([ended.aborted, ended.entryId], [false, result.entryId]);
    assert(asked.length > 0 && asked.every((one) => one.endsWith(" harbour/pilot")));
    assert.equal(heard[0]?.kind, "begin");
    assert.equal(heard.at(-1)?.kind, "end");
    await client.close();
  },
);

test(
  "an abort signal stops a compaction, and the host's model calls with it",
  lacking("session/create", "session/append", "session/compact"),
  async () => {
    const abort = new AbortController();
    let [asked, stopped] = [0, 0];
    const client = await start({
      models: [{ provider: "harbour", id: "pilot", contextWindow: 100_000, maxOutput: 8_000, inputs: ["text"] }],
      settings: { "compaction.keepRecentTokens": 50 },
      handlers: {
        "llm/complete": (_, { signal }) => {
          asked += 1;
          signal.addEventListener("abort", () => (stopped += 1));
          abort.abort();
          return new Promise(() => undefined);
        },
      },
    });
    const { sessionId } = await client.session.create({ cwd: FOLDER, model: "harbour/pilot", ephemeral: true });
    const talk = [user("why? ".repeat(500)), assistant("so. ".repeat(500)), user("why? ".repeat(500)), assistant("so.")];
    await client.session.append({ sessionId, messages: talk });
    const before = await client.session.getInfo({ sessionId });
    const ends = client.events("session/compactionEnd");
    await assert.rejects(
      client.session.compact({ sessionId, strategy: "context-full" }, { signal: abort.signal }),
      (error) => isKind(error, "cancelled"),
    );
    assert.equal((await ends.next()).value.aborted, true);
    assert(asked > 0);
    assert.equal(stopped, asked);
    assert.equal((await client.session.getInfo({ sessionId })).leafId, before.leafId);
    await client.close();
  },
);

test("two clients of one daemon see the same session", lacking("session/create", "session/append"), async () => {
  const path = join(FOLDER, "shared.sock");
  const daemon = await listening(path);
  const [one, two] = [kept(await connectClient({ path })), kept(await connectClient({ path }))];
  const info = await one.session.create({ cwd: FOLDER, path: join(FOLDER, "shared.jsonl") });
  const follower = new SessionFollower(two, { path: join(FOLDER, "shared.jsonl") });
  const got = collect(follower, (all) => all.length === 6);
  await opened(follower);
  for (let count = 0; count < 5; count++) {
    await one.session.append({ sessionId: info.sessionId, messages: [user(`message ${count}`)] });
  }
  const seqs = (await got).map((item) => item.cursor.seq);
  assert.deepEqual(seqs, [0, 1, 2, 3, 4, 5].map((step) => seqs[0]! + step));
  await Promise.all([one.close(), two.close()]);
  await stopped(daemon, "SIGTERM");
});

test(
  "a connection that was cut catches up exactly with what another client did meanwhile",
  lacking("session/create", "session/append", "session/getEntries"),
  async () => {
    const path = join(FOLDER, "cut.sock");
    const daemon = await listening(path);
    const writer = kept(await connectClient({ path }));
    const info = await writer.session.create({ cwd: FOLDER, path: join(FOLDER, "cut.jsonl") });
    const { sessionId } = info;
    let paused: Promise<void> = Promise.resolve();
    const sockets: Socket[] = [];
    const client = kept(
      new ReconnectingClient(
        async () => {
          await paused;
          return cuttable(path, sockets);
        },
        { backoff: { initialMs: 1 } },
      ),
    );
    const follower = new SessionFollower(client, { path: join(FOLDER, "cut.jsonl") }, { entries: true });
    const all: Followed[] = [];
    const enough = collect(follower, (items) => {
      all.splice(0, all.length, ...items);
      return items.at(-1)?.cursor.seq === info.seq + 25;
    });
    await client.ready();
    const append = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index++) {
        await writer.session.append({ sessionId, messages: [user(`m${index}`)] });
      }
    };
    await append(5);
    let resume: () => void = () => undefined;
    paused = new Promise((resolve) => (resume = resolve));
    sockets[0]!.destroy();
    await append(15);
    resume();
    await client.ready();
    await append(5);
    await enough;
    assert.deepEqual(
      all.map((item) => item.cursor.seq - info.seq),
      Array.from({ length: 26 }, (_, index) => index),
    );
    assert.deepEqual(all.slice(1).map((item) => item.kind), Array(25).fill("change"));
    assert(all.every((item) => item.kind !== "change" || item.entries?.length === 1));
    await Promise.all([writer.close(), client.close()]);
    await stopped(daemon, "SIGTERM");
  },
);

test(
  "a follower outlives a daemon that is killed, and is told to read again",
  lacking("session/create", "session/append", "session/getEntries"),
  async () => {
    const path = join(FOLDER, "killed.sock");
    const file = join(FOLDER, "killed.jsonl");
    const first = await listening(path);
    const backoff = { initialMs: 20, maxMs: 100, attempts: 1000 };
    const client = kept(new ReconnectingClient(() => socketTransport({ path }), { backoff }));
    const info = await client.request("session/create", { cwd: FOLDER, path: file });
    const follower = new SessionFollower(client, { path: file });
    const items: Followed[] = [];
    const got = collect(follower, (all) => {
      items.splice(0, items.length, ...all);
      return all.filter((item) => item.kind === "reset").length === 2 && all.at(-1)?.kind === "change";
    });
    await opened(follower);
    const ids = await client.session.append({ sessionId: info.sessionId, messages: [user("kept")] });
    await stopped(first, "SIGKILL");
    const second = await listening(path);
    const after: SessionInfo = await client.request("session/open", { path: file }, { resend: true });
    assert.equal(after.leafId, ids.leafId);
    await client.session.append({ sessionId: after.sessionId, messages: [user("after")] });
    await got;
    assert.deepEqual(
      items.map((item) => (item.kind === "reset" ? item.reason : "change")),
      ["opened", "change", "epoch", "change"],
    );
    await client.close();
    await stopped(second, "SIGTERM");
  },
);

/** A daemon on a socket, once it accepts connections. */
async function listening(path: string): Promise<ChildProcess> {
  const { command, args } = how("serve", "--socket", path);
  const daemon = spawn(command, args, { env: ENV, stdio: "ignore" });
  daemons.push(daemon);
  const exited = new Promise<never>((_, reject) =>
    daemon.once("exit", (code) => reject(new Error(`the daemon ended with ${code}`))),
  );
  exited.catch(() => undefined);
  const dial = async (): Promise<void> => {
    for (;;) {
      const socket = connect(path);
      const open = await new Promise<boolean>((resolve) => {
        socket.once("connect", () => resolve(true));
        socket.on("error", () => resolve(false));
      });
      socket.destroy();
      if (open) {
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  await Promise.race([dial(), exited]);
  return daemon;
}

async function stopped(daemon: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exit = new Promise((resolve) => daemon.once("exit", resolve));
  daemon.kill(signal);
  await exit;
}

/** A transport whose socket can be destroyed, as when a network goes. */
async function cuttable(path: string, sockets: Socket[]): ReturnType<typeof socketTransport> {
  const { StreamMessageReader, StreamMessageWriter, createMessageConnection } = await import("vscode-jsonrpc/node");
  const socket = connect(path);
  socket.on("error", () => undefined);
  sockets.push(socket);
  return {
    connection: createMessageConnection(new StreamMessageReader(socket), new StreamMessageWriter(socket)),
    close: () => Promise.resolve(void socket.destroy()),
  };
}

/** Wait until a follower has its session open. */
async function opened(follower: SessionFollower): Promise<void> {
  while (follower.cursor === undefined) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
