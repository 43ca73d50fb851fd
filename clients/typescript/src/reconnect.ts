/**
 * A client that dials again when its connection ends, with growing pauses.
 *
 * A request whose connection ended is never sent twice by itself: `resend` says that it may be. Sessions that were
 * open are not open on the new connection; `SessionFollower` opens its own again.
 */

import type { Disposable, MessageConnection } from "vscode-jsonrpc";

import { OctavoClient, type EventName } from "./client.js";
import { ConnectionLostError, OctavoError, toFailure } from "./errors.js";
import { Methods, type Requests, type ServerNotifications } from "./generated/methods.js";
import type { ClientOptions, RequestOptions, Transport } from "./options.js";
import { sleep } from "./timing.js";

/** How long to pause between attempts; times in ms. */
export interface Backoff {
  /** Before the first retry. */
  initialMs: number;
  /** At most. */
  maxMs: number;
  /** Growth from one pause to the next. */
  factor: number;
  /** Share of a pause that is random, so that many clients do not come at once: 0 to 1. */
  jitter: number;
  /** Attempts in a row before giving up. */
  attempts: number;
}

/** A quarter of a second at first, ten seconds at most, and up to about two minutes in all. */
export const BACKOFF: Backoff = { initialMs: 250, maxMs: 10_000, factor: 2, jitter: 0.3, attempts: 16 };

/** The pause before retry number `attempt` (from 1), in ms; `random` is from 0 to 1. */
export function pauseMs(backoff: Backoff, attempt: number, random: number): number {
  const full = Math.min(backoff.maxMs, backoff.initialMs * backoff.factor ** (attempt - 1));
  return Math.round(full * (1 - backoff.jitter * random));
}

/** Where a reconnecting client stands. */
export type ConnectionState =
  | { kind: "connecting"; attempt: number }
  | { kind: "connected"; client: OctavoClient }
  | { kind: "waiting"; attempt: number; delayMs: number; error: Error }
  | { kind: "closed"; error?: Error };

/** Options of a reconnecting client. */
export interface ReconnectOptions extends ClientOptions {
  backoff?: Partial<Backoff>;
  /** From 0 to 1, for the jitter. */
  random?: () => number;
  /** Wait; resolves early when the signal aborts. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Options of one request. */
export interface ResendOptions extends RequestOptions {
  /** Send it again on the next connection when this one ends; for reads, and appends that give their `ids`. */
  resend?: boolean;
}

/** What a follower needs: to hear of every new connection, and of the end. */
export interface Followable {
  /** Call `listener` with the present client, if there is one, and with every later one before requests use it. */
  onConnected(listener: (client: OctavoClient) => void | Promise<void>): Disposable;
  /** Call `listener` when no more connections will come. */
  onEnded(listener: (error: Error | undefined) => void): Disposable;
}

/** A client over one connection after another. */
export class ReconnectingClient extends Methods implements Followable {
  private current: ConnectionState = { kind: "connecting", attempt: 1 };
  private readonly backoff: Backoff;
  private readonly closing = new AbortController();
  private readonly stateListeners = new Set<(state: ConnectionState) => void>();
  private readonly connectedListeners = new Set<(client: OctavoClient) => void | Promise<void>>();
  private readonly running: Promise<void>;

  /** Start dialling; `dial` makes a new transport each time, for example `() => connectSocket({ path })`. */
  constructor(
    private readonly dial: () => Promise<Transport | MessageConnection>,
    private readonly options: ReconnectOptions = {},
  ) {
    super();
    this.backoff = { ...BACKOFF, ...options.backoff };
    this.running = this.run();
  }

  /** Where it stands now. */
  get state(): ConnectionState {
    return this.current;
  }

  /** Hear of every new state. */
  onState(listener: (state: ConnectionState) => void): Disposable {
    this.stateListeners.add(listener);
    return { dispose: () => void this.stateListeners.delete(listener) };
  }

  onConnected(listener: (client: OctavoClient) => void | Promise<void>): Disposable {
    this.connectedListeners.add(listener);
    if (this.current.kind === "connected") {
      void this.greet(this.current.client, listener);
    }
    return { dispose: () => void this.connectedListeners.delete(listener) };
  }

  onEnded(listener: (error: Error | undefined) => void): Disposable {
    if (this.current.kind === "closed") {
      listener(this.current.error);
    }
    return this.onState((state) => {
      if (state.kind === "closed") {
        listener(state.error);
      }
    });
  }

  /** Call `listener` with such notifications of the present connection and all later ones. */
  on<N extends EventName>(method: N, listener: (params: ServerNotifications[N]) => void): Disposable {
    let subscription: Disposable | undefined;
    const connected = this.onConnected((client) => {
      subscription = client.on(method, listener);
    });
    return {
      dispose: () => {
        connected.dispose();
        subscription?.dispose();
      },
    };
  }

  /** The present client, or the next one. Throws the reason when no more will come. */
  ready(): Promise<OctavoClient> {
    return new Promise((resolve, reject) => {
      const settled = (state: ConnectionState): boolean => {
        if (state.kind === "connected") {
          resolve(state.client);
        } else if (state.kind === "closed") {
          reject(state.error ?? new ConnectionLostError("The client is closed."));
        } else {
          return false;
        }
        return true;
      };
      if (!settled(this.current)) {
        const waiting = this.onState((state) => {
          if (settled(state)) {
            waiting.dispose();
          }
        });
      }
    });
  }

  /** Wait for a connection and send a request over it. */
  async request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    options: ResendOptions = {},
  ): Promise<Requests[M]["result"]> {
    const { resend = false, ...rest } = options;
    for (;;) {
      const client = await this.ready();
      try {
        return await client.request(method, params, rest);
      } catch (error) {
        if (!(resend && error instanceof ConnectionLostError)) {
          throw error;
        }
      }
    }
  }

  /** End the connection and dial no more. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private async run(): Promise<void> {
    let attempt = 1;
    let failure: Error | undefined;
    while (!this.closing.signal.aborted) {
      this.enter({ kind: "connecting", attempt });
      const outcome = await this.once();
      failure = outcome.error;
      attempt = outcome.connected ? 1 : attempt + 1;
      // A daemon that answered and refused will refuse again.
      if (this.closing.signal.aborted || failure instanceof OctavoError || attempt > this.backoff.attempts) {
        break;
      }
      const delayMs = pauseMs(this.backoff, Math.max(1, attempt - 1), (this.options.random ?? Math.random)());
      this.enter({ kind: "waiting", attempt, delayMs, error: failure });
      await (this.options.sleep ?? sleep)(delayMs, this.closing.signal);
    }
    this.enter(this.closing.signal.aborted ? { kind: "closed" } : { kind: "closed", error: failure });
  }

  /** One connection from dialling to its end. */
  private async once(): Promise<{ connected: boolean; error: Error }> {
    let client: OctavoClient;
    try {
      client = await OctavoClient.connect(await this.dial(), this.options);
    } catch (error) {
      return { connected: false, error: error instanceof Error ? error : toFailure(error) };
    }
    // Wherever it stands when `close` is called: also while listeners are still told of the connection.
    const stop = (): void => void client.close();
    this.closing.signal.addEventListener("abort", stop);
    if (this.closing.signal.aborted) {
      stop();
    }
    const ended = new Promise<ConnectionLostError | undefined>((resolve) => client.onEnded(resolve));
    await Promise.all([...this.connectedListeners].map((listener) => this.greet(client, listener)));
    if (client.ended === undefined) {
      this.enter({ kind: "connected", client });
    }
    const error = client.ended ?? (await ended) ?? new ConnectionLostError("The client is closed.");
    this.closing.signal.removeEventListener("abort", stop);
    await client.close();
    return { connected: true, error };
  }

  private async greet(
    client: OctavoClient,
    listener: (client: OctavoClient) => void | Promise<void>,
  ): Promise<void> {
    try {
      await listener(client);
    } catch (error) {
      if (!(error instanceof ConnectionLostError)) {
        (this.options.onDefect ?? console.error)(error, "A listener to new connections");
      }
    }
  }

  private enter(state: ConnectionState): void {
    this.current = state;
    for (const listener of [...this.stateListeners]) {
      listener(state);
    }
  }
}
