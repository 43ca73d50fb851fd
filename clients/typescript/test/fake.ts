/** A scripted daemon in this process, on the far end of a pair of pipes. */

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";

import {
  StreamMessageReader,
  StreamMessageWriter,
  createMessageConnection,
  type DataCallback,
  type Disposable,
  type MessageConnection,
} from "vscode-jsonrpc/node";

import { OctavoClient, type ClientOptions, type SessionTreeCapabilities, type Transport } from "../src/node.js";

export interface Pair {
  /** The daemon's end; listening. */
  daemon: MessageConnection;
  /** What `initialize` said, and every notification the daemon got, by name. */
  greeting: Record<string, unknown>;
  heard: [string, unknown][];
  transport: Transport;
  /** End the connection from the daemon's side, as a crash would. */
  cut(): void;
  /** How often the transport was closed. */
  closes: number;
}

export const CAPABILITIES: SessionTreeCapabilities = {
  protocolVersion: 1,
  methods: ["session/open", "session/getEntries"],
  notifications: ["session/didChange"],
  strategies: ["extractive"],
  formats: ["pi"],
};

/** Refuses what the daemon would: params that are not one object. */
class StrictReader extends StreamMessageReader {
  override listen(callback: DataCallback): Disposable {
    return super.listen((message) => {
      const params: unknown = Reflect.get(message, "params");
      assert(params === undefined || (typeof params === "object" && params !== null && !Array.isArray(params)));
      callback(message);
    });
  }
}

/** Make both ends; `script` adds the daemon's answers before it listens. */
export function pair(script: (daemon: MessageConnection) => void = () => undefined): Pair {
  const [up, down] = [new PassThrough(), new PassThrough()];
  const daemon = createMessageConnection(new StrictReader(up), new StreamMessageWriter(down));
  const made: Pair = {
    daemon,
    greeting: {},
    heard: [],
    closes: 0,
    cut: () => {
      down.end();
      up.destroy();
    },
    transport: {
      connection: createMessageConnection(new StreamMessageReader(down), new StreamMessageWriter(up)),
      close: () => {
        made.closes += 1;
        return Promise.resolve();
      },
    },
  };
  up.on("error", () => undefined);
  down.on("error", () => undefined);
  daemon.onRequest("initialize", (params: Record<string, unknown>) => {
    made.greeting = params;
    return {
      capabilities: { experimental: { sessionTree: CAPABILITIES } },
      serverInfo: { name: "fake", version: "1" },
    };
  });
  daemon.onRequest("shutdown", () => null);
  daemon.onNotification((method, params) => void made.heard.push([method, params]));
  daemon.onError(() => undefined);
  script(daemon);
  daemon.listen();
  return made;
}

/** A client greeted by a scripted daemon. */
export async function greeted(
  script?: (daemon: MessageConnection) => void,
  options: ClientOptions = {},
): Promise<Pair & { client: OctavoClient }> {
  const made = pair(script);
  return Object.assign(made, { client: await OctavoClient.connect(made.transport, options) });
}

/** Collect from an iteration until `enough` says so, or it ends. */
export async function collect<T>(source: AsyncIterable<T>, enough: (all: readonly T[]) => boolean): Promise<T[]> {
  const all: T[] = [];
  for await (const item of source) {
    all.push(item);
    if (enough(all)) {
      break;
    }
  }
  return all;
}
