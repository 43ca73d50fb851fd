/** What callers can say: with one request, with a connection, and as answers to the daemon's requests. */

import type { CancellationToken, MessageConnection } from "vscode-jsonrpc";

import type { ServerRequests } from "./generated/methods.js";
import type { JsonObject, ModelInfo, ProgressValue } from "./generated/types.js";

/** Options of one request. */
export interface RequestOptions {
  /** Aborting it cancels the request at the daemon, which answers with the error kind `cancelled`. */
  signal?: AbortSignal;
  /** The same as an editor's cancellation token. */
  token?: Pick<CancellationToken, "isCancellationRequested" | "onCancellationRequested">;
  /** Hears every `$/progress` of this request; asks for reports with a `workDoneToken` unless the params have one. */
  onProgress?: (value: ProgressValue) => void;
}

/** What a handler gets beside the params. */
export interface HandlerContext {
  /** Aborts when the daemon cancels its request or the connection ends; the answer is then `cancelled`. */
  readonly signal: AbortSignal;
}

/**
 * Answers to the daemon's requests by name: `llm/complete`, `agent/abort`, `hook/…`.
 *
 * A handler may throw an `OctavoError` to refuse. A hook may return nothing, which means no opinion.
 */
export type Handlers = {
  [M in keyof ServerRequests]?: (
    params: ServerRequests[M]["params"],
    context: HandlerContext,
  ) => HandlerAnswer<M> | Promise<HandlerAnswer<M>>;
};

type HandlerAnswer<M extends keyof ServerRequests> = M extends `hook/${string}`
  ? ServerRequests[M]["result"] | null | undefined | void
  : ServerRequests[M]["result"];

/** What a client says in `initialize`, and how it answers the daemon. */
export interface ClientOptions {
  /** Answers to the daemon's requests; the daemon is told which there are. */
  handlers?: Handlers;
  /** Further hooks to hear of: `sessionCompact`, `sessionTree`. */
  hooks?: readonly string[];
  /** Settings by dotted key or nested. */
  settings?: JsonObject;
  /** Models to register. */
  models?: readonly ModelInfo[];
  /** Token of the daemon, needed over TCP and WebSocket. */
  token?: string;
  /** Name and version of the client in the daemon's log. */
  clientInfo?: { name: string; version?: string };
  /** Process whose end ends the connection. */
  processId?: number | null;
  /** Milliseconds the daemon gets to answer the goodbye; absent means 5,000. */
  graceMs?: number;
  /** Hears of listeners and handlers that threw; absent means the console. */
  onDefect?: (error: unknown, where: string) => void;
}

/** A connection and how to put it away. */
export interface Transport {
  /** Not yet listening. */
  readonly connection: MessageConnection;
  /** Release what is below the connection (socket, process); resolves when it is gone. */
  close(): Promise<void>;
}
