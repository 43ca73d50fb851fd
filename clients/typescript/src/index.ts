/** The client without anything that only Node has; see `octavo-client/node` for processes and sockets. */

export { OctavoClient } from "./client.js";
export type { EventName } from "./client.js";
export { ConnectionLostError, OctavoError, isKind } from "./errors.js";
export type { RawErrorData } from "./errors.js";
export { SessionFollower } from "./follower.js";
export type { Cursor, FollowOptions, Followed } from "./follower.js";
export { ERRORS } from "./generated/errors.js";
export * from "./generated/methods.js";
export * from "./generated/types.js";
export type { ClientOptions, HandlerContext, Handlers, RequestOptions, Transport } from "./options.js";
export { BACKOFF, ReconnectingClient, pauseMs } from "./reconnect.js";
export type { Backoff, ConnectionState, Followable, ReconnectOptions, ResendOptions } from "./reconnect.js";
export { webSocketTransport } from "./websocket.js";
export type { WebSocketLike } from "./websocket.js";
export { initializationOptions } from "./wire.js";
export type { InitializeResult, Wire } from "./wire.js";
