/** Transports of Node: a daemon as a child process over stdio, or one that listens on a socket. */

import { spawn, type ChildProcess } from "node:child_process";
import { connect } from "node:net";
import type { Readable, Writable } from "node:stream";

import { StreamMessageReader, StreamMessageWriter, createMessageConnection, type Logger } from "vscode-jsonrpc/node";

import { OctavoClient } from "./client.js";
import { ConnectionLostError } from "./errors.js";
import type { ClientOptions, Transport } from "./options.js";

export * from "./index.js";

/** How a daemon is started. */
export interface SpawnOptions {
  /** Program; absent means `octavo` from the path. */
  command?: string;
  /** Its arguments; absent means `serve --stdio`. */
  args?: readonly string[];
  cwd?: string;
  /** Environment; absent means this process's. */
  env?: NodeJS.ProcessEnv;
  /** Where its log goes: this process's stderr (the default), nowhere, or a function that gets the text. */
  stderr?: "inherit" | "ignore" | ((text: string) => void);
  /** Milliseconds it gets to end after the goodbye, and again after SIGTERM. */
  graceMs?: number;
  logger?: Logger;
}

/** Where a daemon listens: a unix socket (or named pipe), or a port on this machine. */
export type SocketAddress = { path: string } | { port: number; host?: string };

const COMMAND = "octavo";
const SERVE = ["serve", "--stdio"];
const GRACE_MS = 5_000;

/** Start a daemon that speaks over stdin and stdout. Throws when the program cannot be started. */
export async function spawnTransport(options: SpawnOptions = {}): Promise<Transport> {
  const { command = COMMAND, args = SERVE, stderr = "inherit" } = options;
  const child = spawn(command, [...args], {
    stdio: ["pipe", "pipe", typeof stderr === "string" ? stderr : "pipe"],
    windowsHide: true,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) =>
      reject(new Error(`${command} cannot be started: ${error.message}`, { cause: error })),
    );
  });
  const [input, output] = [child.stdin as Writable, child.stdout as Readable];
  if (typeof stderr === "function") {
    child.stderr?.setEncoding("utf8").on("data", stderr);
  }
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return {
    connection: stream(output, input, options.logger),
    close: () => end(child, exited, options.graceMs ?? GRACE_MS),
  };
}

/** Connect to a daemon that listens. Throws the system's error when nobody does. */
export async function socketTransport(address: SocketAddress, logger?: Logger): Promise<Transport> {
  const socket = "path" in address ? connect(address.path) : connect(address.port, address.host ?? "127.0.0.1");
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  socket.setNoDelay(true);
  // After this the connection hears of errors itself; without a listener they would end the process.
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  return {
    connection: stream(socket, socket, logger),
    close: async () => {
      socket.end();
      socket.destroySoon();
      await closed;
    },
  };
}

/** Start a daemon and greet it; it ends with the client, or with this process. */
export async function spawnClient(how: SpawnOptions = {}, options: ClientOptions = {}): Promise<OctavoClient> {
  return OctavoClient.connect(await spawnTransport(how), { processId: process.pid, ...options });
}

/** Connect to a daemon that listens and greet it; it stays when the client closes. */
export async function connectClient(address: SocketAddress, options: ClientOptions = {}): Promise<OctavoClient> {
  return OctavoClient.connect(await socketTransport(address), options);
}

function stream(input: Readable, output: Writable, logger?: Logger): Transport["connection"] {
  const writer = new StreamMessageWriter(output);
  // A daemon that dies while it is written to shows as a write error; the end of its output says so as well.
  output.on("error", () => undefined);
  return createMessageConnection(new StreamMessageReader(input), writer, logger);
}

/** Close the child's input and wait for its end, with more and more force. */
async function end(child: ChildProcess, exited: Promise<void>, graceMs: number): Promise<void> {
  child.stdin?.end();
  child.stdout?.resume();
  for (const signal of [undefined, "SIGTERM", "SIGKILL"] as const) {
    if (signal !== undefined) {
      child.kill(signal);
    }
    if (await within(graceMs, exited)) {
      return;
    }
  }
  throw new ConnectionLostError(`Process ${child.pid ?? "?"} does not end.`);
}

async function within(ms: number, done: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([done.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
