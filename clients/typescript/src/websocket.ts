/** A transport over a WebSocket: one text message is one JSON-RPC message, without headers. */

import {
  AbstractMessageReader,
  AbstractMessageWriter,
  createMessageConnection,
  type DataCallback,
  type Disposable,
  type Logger,
  type Message,
  type MessageReader,
  type MessageWriter,
} from "vscode-jsonrpc";

import { ConnectionLostError } from "./errors.js";
import type { Transport } from "./options.js";

/** What is needed of a WebSocket: those of browsers, of Node and of the package `ws` have it. */
export interface WebSocketLike {
  readonly readyState: number;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "open" | "close" | "error", listener: (event: unknown) => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
}

const CONNECTING = 0;
const OPEN = 1;
const CLOSED = 3;

/** Wait until `socket` is open and return a transport over it. Throws a `ConnectionLostError` when it does not open. */
export async function webSocketTransport(socket: WebSocketLike, logger?: Logger): Promise<Transport> {
  const closed = new Promise<void>((resolve) => {
    if (socket.readyState === CLOSED) {
      resolve();
    }
    socket.addEventListener("close", () => resolve());
  });
  const reader = new Reader(socket);
  const writer = new Writer(socket);
  if (socket.readyState === CONNECTING) {
    const opened = new Promise<void>((resolve) => socket.addEventListener("open", () => resolve()));
    await Promise.race([opened, closed]);
  }
  if (socket.readyState !== OPEN) {
    throw new ConnectionLostError("The WebSocket did not open; check the address, the token and the origin.");
  }
  return {
    connection: createMessageConnection(reader, writer, logger),
    close: async () => {
      socket.close();
      await closed;
    },
  };
}

class Reader extends AbstractMessageReader implements MessageReader {
  private callback: DataCallback | undefined;
  private readonly early: Message[] = [];

  constructor(socket: WebSocketLike) {
    super();
    socket.addEventListener("message", (event) => this.take(event.data));
    socket.addEventListener("error", () => this.fireError(new Error("The WebSocket failed.")));
    socket.addEventListener("close", () => this.fireClose());
  }

  listen(callback: DataCallback): Disposable {
    this.callback = callback;
    for (const message of this.early.splice(0)) {
      callback(message);
    }
    return { dispose: () => void (this.callback = undefined) };
  }

  private take(data: unknown): void {
    let message: Message;
    try {
      message = JSON.parse(String(data)) as Message;
    } catch (error) {
      this.fireError(error);
      return;
    }
    if (this.callback === undefined) {
      this.early.push(message);
    } else {
      this.callback(message);
    }
  }
}

class Writer extends AbstractMessageWriter implements MessageWriter {
  private errors = 0;

  constructor(private readonly socket: WebSocketLike) {
    super();
    socket.addEventListener("close", () => this.fireClose());
  }

  write(message: Message): Promise<void> {
    try {
      if (this.socket.readyState !== OPEN) {
        throw new ConnectionLostError("The WebSocket is closed.");
      }
      this.socket.send(JSON.stringify(message));
      this.errors = 0;
      return Promise.resolve();
    } catch (error) {
      this.fireError(error, message, ++this.errors);
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  end(): void {
    // The transport closes the socket.
  }
}
