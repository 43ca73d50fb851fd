/**
 * The client: greets a daemon over any vscode-jsonrpc connection, and offers its requests and notifications typed.
 *
 * It knows neither processes nor sockets (`node`) and does not reconnect (`reconnect`).
 */

import type { Disposable, MessageConnection } from "vscode-jsonrpc";

import { ConnectionLostError, OctavoError, toFailure } from "./errors.js";
import { Methods, type ClientNotifications, type Requests, type ServerNotifications } from "./generated/methods.js";
import type { SessionTreeCapabilities } from "./generated/types.js";
import { Listeners } from "./listeners.js";
import type { ClientOptions, RequestOptions, Transport } from "./options.js";
import { AsyncQueue } from "./queue.js";
import { sleep } from "./timing.js";
import { cancellation, defects, greeting, reported, serve, type InitializeResult, type Wire } from "./wire.js";

/** Notifications that can be listened to; `$/progress` is heard with a request's `onProgress`. */
export type EventName = Exclude<keyof ServerNotifications, "$/progress">;

/** Milliseconds a daemon gets to answer `shutdown`. */
const GRACE_MS = 5_000;

const NOTHING: SessionTreeCapabilities = {
  protocolVersion: 0,
  methods: [],
  notifications: [],
  strategies: [],
  formats: [],
};

/** A greeted connection to a daemon. */
export class OctavoClient extends Methods {
  /** What the daemon offers; `protocolVersion` is 0 when the peer is no octavo daemon. */
  readonly capabilities: SessionTreeCapabilities;
  /** Name and version of the daemon. */
  readonly serverInfo: { name: string; version?: string };

  private readonly listeners: Listeners<ServerNotifications>;
  private readonly ending: ((error: ConnectionLostError | undefined) => void)[] = [];
  private readonly queues = new Set<AsyncQueue<never>>();
  private transport: Transport | undefined;
  private lost: ConnectionLostError | undefined;
  private closed = false;
  private closes: Promise<void> | undefined;
  private readonly graceMs: number;
  private readonly onDefect: (error: unknown, where: string) => void;

  private constructor(
    private readonly wire: Wire,
    answer: InitializeResult,
    options: ClientOptions,
  ) {
    super();
    this.capabilities = { ...NOTHING, ...answer.capabilities?.experimental?.sessionTree };
    this.serverInfo = answer.serverInfo ?? { name: "" };
    this.graceMs = options.graceMs ?? GRACE_MS;
    this.onDefect = defects(options);
    this.listeners = new Listeners((method, listener) => wire.onNotification(method, listener), this.onDefect);
  }

  /**
   * Listen on a connection and greet the daemon behind it.
   *
   * Throws an `OctavoError` when the daemon refuses, a `ConnectionLostError` when it goes before it answers; the
   * connection is released then.
   */
  static async connect(over: Transport | MessageConnection, options: ClientOptions = {}): Promise<OctavoClient> {
    const transport = "connection" in over ? over : { connection: over, close: () => Promise.resolve() };
    const { connection } = transport;
    serve(connection, options);
    connection.onRequest("window/workDoneProgress/create", () => null);
    connection.onError(() => undefined);
    // The library rejects pending requests when a connection is disposed, not when it closes.
    connection.onClose(() => connection.dispose());
    connection.listen();
    try {
      const answer = await connection.sendRequest<InitializeResult>("initialize", greeting(options));
      await connection.sendNotification("initialized", {});
      const client = new OctavoClient(connection, answer, options);
      client.own(transport);
      return client;
    } catch (error) {
      connection.end();
      connection.dispose();
      await transport.close();
      throw toFailure(error);
    }
  }

  /**
   * Use a connection that somebody else greeted and will end, for example an editor's language client.
   *
   * `answer` is its `initialize` result; what it must say in `initializationOptions` is `initializationOptions(options)`.
   */
  static attach(wire: Wire, answer: InitializeResult, options: ClientOptions = {}): OctavoClient {
    serve(wire, options);
    return new OctavoClient(wire, answer, options);
  }

  /** Whether the daemon answers a request. */
  supports(method: keyof Requests): boolean {
    return this.capabilities.methods.includes(method);
  }

  /** Why the connection ended, once it has; also set after `close`. */
  get ended(): ConnectionLostError | undefined {
    return this.lost;
  }

  /**
   * Send a request and return its result.
   *
   * Throws an `OctavoError` for an error answer and a `ConnectionLostError` when the connection ends before it.
   */
  async request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    options: RequestOptions = {},
  ): Promise<Requests[M]["result"]> {
    if (this.lost !== undefined) {
      throw this.lost;
    }
    if (options.signal?.aborted === true || options.token?.isCancellationRequested === true) {
      throw OctavoError.of("cancelled", `${method} was cancelled before it was sent.`);
    }
    const cleanup: Disposable[] = [];
    try {
      const sent = reported(this.wire, params, options, cleanup);
      return await this.wire.sendRequest<Requests[M]["result"]>(method, sent, cancellation(options, cleanup));
    } catch (error) {
      throw this.lost ?? toFailure(error);
    } finally {
      for (const item of cleanup) {
        item.dispose();
      }
    }
  }

  /** Send a notification. Throws a `ConnectionLostError` when the connection has ended. */
  async notify<N extends keyof ClientNotifications>(method: N, params: ClientNotifications[N]): Promise<void> {
    if (this.lost !== undefined) {
      throw this.lost;
    }
    await this.wire.sendNotification(method, params).catch((error: unknown) => {
      throw this.lost ?? toFailure(error);
    });
  }

  /** Call `listener` with the payload of every such notification, in order. */
  on<N extends EventName>(method: N, listener: (params: ServerNotifications[N]) => void): Disposable {
    return this.listeners.add(method, listener);
  }

  /** The payloads of such notifications from now on; ends with the connection, or when the loop is left. */
  events<N extends EventName>(method: N): AsyncIterableIterator<ServerNotifications[N]> {
    const queue: AsyncQueue<ServerNotifications[N]> = new AsyncQueue(() => {
      subscription.dispose();
      this.queues.delete(queue as AsyncQueue<never>);
    });
    const subscription = this.on(method, (params) => queue.push(params));
    if (this.lost !== undefined) {
      queue.end();
    } else {
      this.queues.add(queue as AsyncQueue<never>);
    }
    return queue;
  }

  /** Call `listener` with this client at once; there will be no other (see `Followable`). */
  onConnected(listener: (client: OctavoClient) => void | Promise<void>): Disposable {
    Promise.resolve(listener(this)).catch((error: unknown) => this.onDefect(error, "A listener to new connections"));
    return { dispose: () => undefined };
  }

  /** Call `listener` when the connection has ended: with the reason, or with nothing after `close`. */
  onEnded(listener: (error: ConnectionLostError | undefined) => void): Disposable {
    if (this.lost !== undefined) {
      listener(this.closed ? undefined : this.lost);
      return { dispose: () => undefined };
    }
    this.ending.push(listener);
    return { dispose: () => void removeFrom(this.ending, listener) };
  }

  /** Say goodbye and release the connection; what `attach` took is left to its owner. Closing again is fine. */
  close(): Promise<void> {
    this.closes ??= this.leave();
    return this.closes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private async leave(): Promise<void> {
    const transport = this.transport;
    if (transport === undefined) {
      this.listeners.dispose();
      this.over(undefined);
      return;
    }
    const { connection } = transport;
    if (this.lost === undefined) {
      const gone = new Promise<void>((resolve) => this.onEnded(() => resolve()));
      const goodbye = async (): Promise<void> => {
        await connection.sendRequest("shutdown");
        await connection.sendNotification("exit", {});
      };
      const enough = new AbortController();
      const grace = sleep(this.graceMs, enough.signal);
      // A daemon that has gone needs no goodbye, and one that hangs gets none.
      await Promise.race([goodbye().catch(() => undefined), gone, grace]);
      enough.abort();
      this.over(undefined);
      connection.end();
      connection.dispose();
    }
    await transport.close();
  }

  private own(transport: Transport): void {
    this.transport = transport;
    transport.connection.onDispose(() => this.over(new ConnectionLostError("The daemon closed the connection.")));
  }

  private over(error: ConnectionLostError | undefined): void {
    if (this.lost !== undefined) {
      return;
    }
    this.closed = error === undefined;
    this.lost = error ?? new ConnectionLostError("The client is closed.");
    for (const queue of this.queues) {
      queue.end();
    }
    for (const listener of this.ending.splice(0)) {
      listener(error);
    }
  }
}

function removeFrom<T>(list: T[], item: T): void {
  const at = list.indexOf(item);
  if (at >= 0) {
    list.splice(at, 1);
  }
}
