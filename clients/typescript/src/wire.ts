/** How options become what is said over a connection: the greeting, handlers, progress and cancellation. */

import { CancellationToken, CancellationTokenSource, ProgressType, type Disposable } from "vscode-jsonrpc";

import type { InitializationOptions, ProgressValue, SessionTreeCapabilities } from "./generated/types.js";
import { answering } from "./handlers.js";
import type { ClientOptions, RequestOptions } from "./options.js";

/** What the client needs of a connection: a `MessageConnection` or an editor's `LanguageClient` has it. */
export interface Wire {
  sendRequest<R>(method: string, params: unknown, token: CancellationToken): Promise<R>;
  sendNotification(method: string, params: unknown): Promise<void>;
  onRequest(method: string, handler: (params: unknown, token: CancellationToken) => unknown): Disposable;
  onNotification(method: string, handler: (params: unknown) => void): Disposable;
  onProgress<P>(type: ProgressType<P>, token: string | number, handler: (value: P) => void): Disposable;
}

/** The part of an `initialize` result that the client reads. */
export interface InitializeResult {
  capabilities?: { experimental?: { sessionTree?: Partial<SessionTreeCapabilities> } };
  serverInfo?: { name: string; version?: string };
}

const PROGRESS = new ProgressType<ProgressValue>();

let tokens = 0;

/** `initializationOptions` that say what `options` say, for clients that greet by themselves. */
export function initializationOptions(options: ClientOptions): InitializationOptions {
  const handled = Object.keys(options.handlers ?? {});
  const hooks = handled.filter((name) => name.startsWith("hook/")).map((name) => name.slice("hook/".length));
  return {
    ...(options.settings === undefined ? {} : { settings: options.settings }),
    ...(options.models === undefined ? {} : { models: [...options.models] }),
    ...(options.token === undefined ? {} : { token: options.token }),
    client: {
      complete: handled.includes("llm/complete"),
      agent: handled.includes("agent/abort"),
      hooks: [...hooks, ...(options.hooks ?? [])],
    },
  };
}

/** The params of `initialize`. */
export function greeting(options: ClientOptions): object {
  return {
    processId: options.processId ?? null,
    rootUri: null,
    clientInfo: options.clientInfo ?? { name: "octavo-client" },
    capabilities: { window: { workDoneProgress: true } },
    initializationOptions: initializationOptions(options),
  };
}

/** Answer the requests of the daemon that there are handlers for. */
export function serve(wire: Wire, options: ClientOptions): void {
  for (const [method, handler] of Object.entries(options.handlers ?? {})) {
    wire.onRequest(method, answering(method, handler as never, defects(options)));
  }
}

/** Where the mistakes of listeners and handlers are told. */
export function defects(options: ClientOptions): (error: unknown, where: string) => void {
  return options.onDefect ?? ((error, where) => console.error(`${where} failed`, error));
}

/** Return the params to send, and listen to their progress while the request runs. */
export function reported(wire: Wire, params: object, options: RequestOptions, cleanup: Disposable[]): object {
  if (options.onProgress === undefined) {
    return params;
  }
  const given: unknown = Reflect.get(params, "workDoneToken");
  const token = typeof given === "string" || typeof given === "number" ? given : `octavo-client-${++tokens}`;
  cleanup.push(wire.onProgress(PROGRESS, token, options.onProgress));
  return { ...params, workDoneToken: token };
}

/** Return a token that is cancelled when the signal or the token of `options` is. */
export function cancellation(options: RequestOptions, cleanup: Disposable[]): CancellationToken {
  const { signal, token } = options;
  if (signal === undefined && token === undefined) {
    // Not undefined, which a connection would send as a second, positional parameter.
    return CancellationToken.None;
  }
  const source = new CancellationTokenSource();
  const cancel = (): void => source.cancel();
  if (signal !== undefined) {
    signal.addEventListener("abort", cancel, { once: true });
    cleanup.push({ dispose: () => signal.removeEventListener("abort", cancel) });
  }
  if (token !== undefined) {
    cleanup.push(token.onCancellationRequested(cancel));
  }
  cleanup.push(source);
  return source.token;
}
