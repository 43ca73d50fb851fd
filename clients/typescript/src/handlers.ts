/** How a request of the daemon is answered: handler, cancellation, and errors that never show a stack. */

import type { CancellationToken } from "vscode-jsonrpc";

import { OctavoError } from "./errors.js";
import type { HandlerContext } from "./options.js";

type AnyHandler = (params: unknown, context: HandlerContext) => unknown;

/** Return what a connection calls for `method`; a cancelled request is answered at once, whatever its handler does. */
export function answering(
  method: string,
  handler: AnyHandler,
  onDefect: (error: unknown, where: string) => void,
): (params: unknown, token: CancellationToken) => Promise<unknown> {
  return async (params, token) => {
    const abort = new AbortController();
    const cancelled = new Promise<never>((_, reject) => {
      abort.signal.addEventListener("abort", () =>
        reject(OctavoError.of("cancelled", `The daemon cancelled ${method}.`)),
      );
    });
    const subscription = token.onCancellationRequested(() => abort.abort());
    // A token that was cancelled before it got here never fires.
    if (token.isCancellationRequested) {
      abort.abort();
    }
    const answer = (async () => (abort.signal.aborted ? cancelled : handler(params, { signal: abort.signal })))();
    try {
      return (await Promise.race([answer, cancelled])) ?? null;
    } catch (error) {
      if (error instanceof OctavoError) {
        return error.toResponse();
      }
      onDefect(error, `The handler of ${method}`);
      return OctavoError.of("internal-error", `The client's handler of ${method} failed.`).toResponse();
    } finally {
      subscription.dispose();
      // Whichever of the two lost the race may still reject; nobody waits for it any more.
      answer.catch(() => undefined);
      cancelled.catch(() => undefined);
    }
  };
}
