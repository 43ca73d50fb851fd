/**
 * Turns entries of a session into what the transcript draws. Pure; tolerates entries that lack anything.
 *
 * Large texts are cut here, so that a page with a megabyte of output is as light as any; the rest is fetched on demand.
 */

/** An entry as it is stored, perhaps malformed. */
export type Stored = Readonly<Record<string, unknown>>;

/** Part of a message; `at` is its place in the stored content. Pictures are fetched when they come into sight. */
export type Part =
  | { kind: "text" | "thinking"; at: number; text: Cut }
  | { kind: "image"; at: number }
  | { kind: "call"; at: number; callId: string; tool: string; gist: string; args: Cut }
  | { kind: "note"; text: string };

/** A text with how much of it there is; `full` counts UTF-16 units. */
export interface Cut {
  text: string;
  full: number;
}

/** Something the transcript draws. */
export type Block = { id: string; time: string; label?: string } & (
  | { kind: "user" | "assistant" | "other"; who: string; parts: Part[]; error?: string }
  | { kind: "result"; callId: string; tool: string; gist: string; text: Cut; images: Part[]; failed: boolean }
  | { kind: "compaction"; summary: string; short: string; tokensBefore: number; frames: number; fileCount: number }
  | { kind: "branch"; summary: string }
  | { kind: "setting"; text: string }
);

/** Most UTF-16 units of one text shown before the reader asks for more. */
export const SHOWN = 6_000;
const GIST = 120;

/** What an entry looks like; undefined for what only bookkeeping needs. */
export function block(entry: Stored, label?: string): Block | undefined {
  const base = { id: string(entry["id"]), time: string(entry["timestamp"]), ...(label === undefined ? {} : { label }) };
  switch (entry["type"]) {
    case "message":
      return messageBlock(base, object(entry["message"]));
    case "custom_message":
      return entry["display"] === false
        ? undefined
        : { ...base, kind: "other", who: string(entry["customType"]), parts: contentParts(entry["content"]) };
    case "compaction":
      return { ...base, kind: "compaction", ...compactionFacts(entry) };
    case "branch_summary":
      return { ...base, kind: "branch", summary: string(entry["summary"]) };
    default: {
      const text = setting(entry);
      return text === undefined ? undefined : { ...base, kind: "setting", text };
    }
  }
}

/** The whole text of a part that was cut: `text:N`, `args:N` or `result`. */
export function detail(entry: Stored, part: string): string {
  const message = object(entry["message"]);
  if (part === "result") {
    return resultText(message);
  }
  const at = Number(part.split(":")[1]);
  const content = message["content"] ?? entry["content"];
  if (typeof content === "string") {
    return content;
  }
  const item = object(array(content)[at]);
  return part.startsWith("args:") ? pretty(item["arguments"]) : string(item["text"] ?? item["thinking"]);
}

/** A picture of a message as a data URI; empty when it is gone. */
export function picture(entry: Stored, at: number): string {
  const content = object(entry["message"])["content"] ?? entry["content"];
  const part = object(array(content)[at]);
  const source = object(part["source"]);
  return dataUri(part["data"] ?? source["data"], part["mimeType"] ?? source["media_type"]);
}

/** The frames of a compaction as data URIs, oldest first. */
export function frames(entry: Stored): string[] {
  return frameList(entry).flatMap((frame) => dataUri(frame["data"], frame["mimeType"]) || []);
}

function dataUri(data: unknown, mimeType: unknown): string {
  return typeof data === "string" && /^[A-Za-z0-9+/=]+$/.test(data) ? `data:${imageType(mimeType)};base64,${data}` : "";
}

type Base = { id: string; time: string; label?: string };

function messageBlock(base: Base, message: Stored): Block | undefined {
  const role = message["role"];
  switch (role) {
    case "user":
      return { ...base, kind: "user", who: "You", parts: contentParts(message["content"]) };
    case "assistant": {
      const error = failure(message);
      const parts = contentParts(message["content"]);
      return { ...base, kind: "assistant", who: string(message["model"]) || "Assistant", parts, ...(error === "" ? {} : { error }) };
    }
    case "toolResult": {
      const text = resultText(message);
      return {
        ...base,
        kind: "result",
        callId: string(message["toolCallId"]),
        tool: string(message["toolName"]) || "tool",
        gist: lineCount(text),
        text: cut(text),
        images: contentParts(message["content"]).filter((part) => part.kind === "image"),
        failed: message["isError"] === true,
      };
    }
    case "bashExecution":
    case "pythonExecution": {
      const text = string(message["output"]);
      const code = message["exitCode"];
      return {
        ...base,
        kind: "result",
        callId: "",
        tool: role === "bashExecution" ? "You ran" : "You ran Python",
        gist: oneLine(string(message["command"] ?? message["code"])),
        text: cut(text),
        images: [],
        failed: typeof code === "number" && code !== 0,
      };
    }
    case "fileMention": {
      const paths = array(message["files"]).map((file) => string(object(file)["path"])).filter((path) => path !== "");
      return { ...base, kind: "setting", text: `Files: ${paths.join(", ")}` };
    }
    default: {
      const parts = contentParts(message["content"]);
      return { ...base, kind: "other", who: string(role) || "message", parts };
    }
  }
}

function contentParts(content: unknown): Part[] {
  if (typeof content === "string") {
    return content === "" ? [] : [{ kind: "text", at: 0, text: cut(content) }];
  }
  return array(content).flatMap((item, at): Part[] => {
    const part = object(item);
    switch (part["type"]) {
      case "text":
        return string(part["text"]) === "" ? [] : [{ kind: "text", at, text: cut(string(part["text"])) }];
      case "thinking":
        return string(part["thinking"]) === "" ? [] : [{ kind: "thinking", at, text: cut(string(part["thinking"])) }];
      case "redactedThinking":
        return [{ kind: "note", text: "Reasoning the provider keeps to itself" }];
      case "toolCall":
        return [
          {
            kind: "call",
            at,
            callId: string(part["id"]),
            tool: string(part["name"]) || "tool",
            gist: callGist(part["arguments"]),
            args: cut(pretty(part["arguments"])),
          },
        ];
      case "image":
        return [{ kind: "image", at }];
      default:
        return [];
    }
  });
}

function compactionFacts(entry: Stored): { summary: string; short: string; tokensBefore: number; frames: number; fileCount: number } {
  const details = object(entry["details"]);
  const before = entry["tokensBefore"];
  return {
    summary: string(entry["summary"]),
    short: string(entry["shortSummary"]),
    tokensBefore: typeof before === "number" ? before : 0,
    frames: frameList(entry).length,
    fileCount: array(details["readFiles"]).length + array(details["modifiedFiles"]).length,
  };
}

function frameList(entry: Stored): Stored[] {
  const archive = object(object(entry["preserveData"])["snapcompact"]);
  return array(archive["frames"]).map(object);
}

function setting(entry: Stored): string | undefined {
  switch (entry["type"]) {
    case "model_change":
      return `Model: ${string(entry["model"]) || [string(entry["provider"]), string(entry["modelId"])].filter((part) => part !== "").join("/")}`;
    case "thinking_level_change":
      return `Reasoning effort: ${string(entry["thinkingLevel"]) || "off"}`;
    case "service_tier_change":
      return `Service tier: ${string(entry["serviceTier"]) || "usual"}`;
    case "mode_change":
      return `Mode: ${string(entry["mode"])}`;
    default:
      return undefined;
  }
}

function failure(message: Stored): string {
  const reason = message["stopReason"];
  if (reason === "error") {
    return string(message["errorMessage"]) || "The model call failed";
  }
  return reason === "aborted" ? "Stopped" : reason === "length" ? "Cut off at the output limit" : "";
}

function resultText(message: Stored): string {
  if (typeof message["output"] === "string") {
    return message["output"];
  }
  const content = message["content"];
  return typeof content === "string"
    ? content
    : array(content).map((item) => string(object(item)["text"])).filter((text) => text !== "").join("\n");
}

const TELLING = ["command", "file_path", "path", "pattern", "query", "url", "code", "description", "name"];

function callGist(args: unknown): string {
  const given = object(args);
  const key = TELLING.find((name) => typeof given[name] === "string") ?? Object.keys(given).find((name) => typeof given[name] === "string");
  return key === undefined ? "" : oneLine(string(given[key]));
}

function lineCount(text: string): string {
  if (text === "") {
    return "no output";
  }
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < text.length - 1; at = text.indexOf("\n", at + 1)) {
    lines += 1;
  }
  return lines === 1 ? oneLine(text) : `${lines.toLocaleString("en")} lines`;
}

function oneLine(text: string): string {
  const line = text.slice(0, GIST * 4).replace(/\s+/g, " ").trim();
  return line.length > GIST ? `${line.slice(0, GIST - 1)}…` : line;
}

function cut(text: string): Cut {
  if (text.length <= SHOWN) {
    return { text, full: text.length };
  }
  // Not between the halves of a surrogate pair.
  const end = /[\uD800-\uDBFF]/.test(text.charAt(SHOWN - 1)) ? SHOWN - 1 : SHOWN;
  return { text: text.slice(0, end), full: text.length };
}

function imageType(value: unknown): string {
  return typeof value === "string" && /^image\/(png|jpeg|gif|webp)$/.test(value) ? value : "image/png";
}

function pretty(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}

function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function array(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function object(value: unknown): Stored {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Stored) : {};
}
