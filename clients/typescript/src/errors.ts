/**
 * What a request can fail with: an error the other side answered, or a connection that ended.
 *
 * The table of kinds and codes is generated (`generated/errors`).
 */

import { ErrorCodes, ResponseError } from "vscode-jsonrpc";

import { ERRORS } from "./generated/errors.js";
import type { ErrorData, ErrorKind } from "./generated/types.js";

/** `error.data` as it arrived: the kind may be one a newer daemon added. */
export type RawErrorData = Partial<Omit<ErrorData, "kind">> & { kind?: string; [key: string]: unknown };

/** A failure with a kind to switch on; a handler throws one to refuse a request of the daemon. */
export class OctavoError extends Error {
  override readonly name: string = "OctavoError";

  private constructor(
    message: string,
    /** What to switch on; undefined when a newer daemon named a kind this client does not know (see `data.kind`). */
    readonly kind: ErrorKind | undefined,
    /** JSON-RPC error code. */
    readonly code: number,
    /** Further facts: `sessionId`, `entryId`, `provider`, `status`, `retryAfterMs`, `details`. */
    readonly data: RawErrorData,
  ) {
    super(message);
  }

  /** An error of a kind, with one sentence that names the thing and the remedy. */
  static of(kind: ErrorKind, message: string, data: Omit<ErrorData, "kind"> = {}): OctavoError {
    return new OctavoError(message, kind, ERRORS[kind].code, { ...data, kind });
  }

  /** The error a peer answered with; what has no kind gets the one its code stands for. */
  static from(error: ResponseError<unknown>): OctavoError {
    const data: RawErrorData = isObject(error.data) ? { ...error.data } : {};
    const named = data["kind"];
    const kind = typeof named === "string" ? knownKind(named) : kindOfCode(error.code);
    return new OctavoError(error.message, kind, error.code, data);
  }

  /** The error as a connection sends it. */
  toResponse(): ResponseError<RawErrorData> {
    return new ResponseError(this.code, this.message, this.data);
  }
}

/** The connection ended before the answer came; whether the daemon did what was asked is not known. */
export class ConnectionLostError extends Error {
  override readonly name: string = "ConnectionLostError";
}

/** Whether `error` is an answer of the given kind. */
export function isKind(error: unknown, kind: ErrorKind): error is OctavoError {
  return error instanceof OctavoError && error.kind === kind;
}

const LOST: ReadonlySet<number> = new Set([
  ErrorCodes.PendingResponseRejected,
  ErrorCodes.ConnectionInactive,
  ErrorCodes.MessageWriteError,
  ErrorCodes.MessageReadError,
]);

/** Turn whatever a connection threw into an `OctavoError` or a `ConnectionLostError`. */
export function toFailure(error: unknown): Error {
  if (error instanceof OctavoError || error instanceof ConnectionLostError) {
    return error;
  }
  if (isResponseError(error)) {
    return LOST.has(error.code) ? new ConnectionLostError(error.message) : OctavoError.from(error);
  }
  const text = error instanceof Error ? error.message : String(error);
  return new ConnectionLostError(text, { cause: error });
}

function isResponseError(error: unknown): error is ResponseError<unknown> {
  return error instanceof ResponseError || (error instanceof Error && typeof Reflect.get(error, "code") === "number");
}

function knownKind(name: string): ErrorKind | undefined {
  return Object.hasOwn(ERRORS, name) ? (name as ErrorKind) : undefined;
}

function kindOfCode(code: number): ErrorKind | undefined {
  return (Object.keys(ERRORS) as ErrorKind[]).find((kind) => ERRORS[kind].code === code);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
