/**
 * What a user reads when something fails: one sentence and the buttons that help. Never a stack trace.
 *
 * Knows the error kinds of the protocol, not the editor: an action is a word that `commands` turns into a deed.
 */

import { ConnectionLostError, OctavoError } from "octavo-client";

/** A button under a message. */
export type Remedy = "retry" | "openReadOnly" | "openAsText" | "showLog" | "chooseStrategy" | "openSettings" | "chooseAnother";

/** What to show. */
export interface Failure {
  level: "info" | "warning" | "error";
  message: string;
  remedies: Remedy[];
}

export const REMEDY_TITLES: Readonly<Record<Remedy, string>> = {
  retry: "Try Again",
  openReadOnly: "Open Read-Only",
  openAsText: "Open as Text",
  showLog: "Show Log",
  chooseStrategy: "Choose Another Way",
  openSettings: "Open Settings",
  chooseAnother: "Choose Another Session",
};

const QUIET: Readonly<Record<string, Failure["level"]>> = {
  "nothing-to-compact": "info",
  "already-compacted": "info",
  "compaction-in-progress": "info",
  "agent-busy": "warning",
  "content-modified": "warning",
  "session-locked": "warning",
};

const REMEDIES: Readonly<Record<string, Remedy[]>> = {
  "session-locked": ["openReadOnly", "retry"],
  "session-unreadable": ["openAsText", "chooseAnother"],
  "session-not-found": ["chooseAnother"],
  "content-modified": ["retry"],
  "storage-failed": ["retry", "showLog"],
  "no-model": ["chooseStrategy", "openSettings"],
  "provider-error": ["retry", "chooseStrategy"],
  "context-overflow": ["chooseStrategy"],
  "strategy-unavailable": ["chooseStrategy"],
  "check-failed": ["chooseStrategy", "retry"],
  "internal-error": ["showLog"],
};

/** Return what to show for an error; undefined when the user asked for it by cancelling. */
export function explain(error: unknown): Failure | undefined {
  if (error instanceof OctavoError) {
    const kind = error.kind ?? error.data.kind ?? "";
    if (kind === "cancelled") {
      return undefined;
    }
    return { level: QUIET[kind] ?? "error", message: sentence(inTheEditor(error.message)), remedies: REMEDIES[kind] ?? ["showLog"] };
  }
  if (error instanceof ConnectionLostError) {
    return {
      level: "warning",
      message: "The octavo server went away before it answered. What was saved is safe; look whether it was done before you try again.",
      remedies: ["retry", "showLog"],
    };
  }
  return { level: "error", message: "Something went wrong in the octavo extension; its log has the details.", remedies: ["showLog"] };
}

/** The words of the protocol as this editor's. */
function inTheEditor(message: string): string {
  return message.replace(/open it with mode `?read`?/g, "open it read-only");
}

/** The first lines of a message as one sentence, without what looks like a trace. */
export function sentence(message: string): string {
  const text = (message.split(/\n\s*(?:at |File "|Traceback)/, 1)[0] ?? "").replace(/\s+/g, " ").trim();
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  const short = capital.length > 400 ? `${capital.slice(0, 399)}…` : capital;
  return short === "" ? "The octavo server gave no reason." : /[.!?…]$/.test(short) ? short : `${short}.`;
}
