/** Writes the session the story runs on: 1,000 entries about an invented harbour, with a branch, labels and an error. */

import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** A sentence that only the archived part has. */
export const NEEDLE = "the spare key of the lighthouse hangs under the third step";
/** The message the story goes back to. */
export const OLD_MESSAGE = "Let us try the ferry timetable as one table instead";

const PARTS = ["berths", "tides", "pilots", "buoys", "ferry timetable", "crane bookings", "customs slips", "fog horn", "dredging log", "mooring fees"];
const WISHES = [
  "Please look at the %s module and tell me what is odd about it.",
  "The %s report is empty on Sundays. Can you find out why?",
  "Add a test for %s when the clock changes.",
  "Rename the columns of %s so that the pilots understand them.",
  "Why does %s take four seconds to load?",
  "Make %s survive a missing file, with a sentence for the user.",
];
const FINDINGS = [
  "The query joined every arrival with every departure. It now joins on the berth alone and takes **40 ms** instead of four seconds.",
  "Sundays were dropped by a filter on `weekday < 6`. I changed it to `weekday <= 6` and added a test that fails without it.",
  "The file was opened before its folder was made. Now the folder is made first, and a missing file is a sentence, not a trace.",
  "Two places rounded the draught, one up and one down. Both use `round_draught` now; three old figures change by a centimetre.",
  "The columns were named after the old paper form. They are now called what the pilots call them, with the old names kept for exports.",
];

type Entry = Record<string, unknown>;

/** Write the session and return its path. */
export function writeSession(path: string, cwd: string, entries = 1_000): void {
  const lines: Entry[] = [];
  let leaf: string | null = null;
  let now = Date.parse("2026-03-02T08:30:00.000Z");
  const add = (type: string, fields: Entry, parent = leaf): string => {
    now += 37_000;
    const id = ((lines.length + 1) * 2654435761 % 2 ** 32).toString(16).padStart(8, "0");
    lines.push({ type, id, parentId: parent, timestamp: new Date(now).toISOString(), ...fields });
    leaf = id;
    return id;
  };
  const say = (message: Entry): string => add("message", { message: { ...message, timestamp: now } });
  const user = (text: string): string => say({ role: "user", content: text });
  const assistant = (...content: Entry[]): string =>
    say({
      role: "assistant",
      content,
      api: "openai-completions",
      provider: "local",
      model: "small",
      stopReason: content.some((part) => part["type"] === "toolCall") ? "toolUse" : "stop",
    });
  add("model_change", { model: "local/small" });
  user("Good morning. This is the harbour office's software. Have a look around, please.");
  assistant({ type: "text", text: `It is a small service in five parts: berths, tides, pilots, buoys and the ferry timetable. A note in the README says that ${NEEDLE}.` });
  let task = 0;
  while (lines.length < entries - 6) {
    const part = PARTS[task % PARTS.length] ?? "";
    const question = task === 30 ? OLD_MESSAGE + "." : (WISHES[task % WISHES.length] ?? "").replace("%s", part);
    const asked = user(question);
    const file = `src/${part.replace(/ /g, "_")}.py`;
    const call = `call_${task}`;
    assistant(
      ...(task % 4 === 0 ? [{ type: "thinking", thinking: `The user speaks of ${part}. I read the module before I say anything.` }] : []),
      { type: "text", text: `I will read \`${file}\` first.` },
      { type: "toolCall", id: call, name: task % 3 === 0 ? "bash" : "read", arguments: task % 3 === 0 ? { command: `grep -n "def " ${file} && pytest -q tests/${part.split(" ")[0]}` } : { path: file } },
    );
    const failed = task % 17 === 11;
    say({
      role: "toolResult",
      toolCallId: call,
      toolName: task % 3 === 0 ? "bash" : "read",
      content: [{ type: "text", text: failed ? `grep: ${file}: No such file or directory` : listing(part, task) }],
      isError: failed,
    });
    assistant({ type: "text", text: FINDINGS[task % FINDINGS.length] ?? "" });
    if (task === 12) {
      add("label", { targetId: asked, label: "before the refactoring" });
    }
    if (task === 60) {
      const main: string | null = leaf;
      user("What if we kept the buoys in a spreadsheet?");
      assistant({ type: "text", text: "It would work for a dozen buoys. For the eighty we have, the positions would be typed twice, and one of them would be wrong." });
      user("Fair. Forget the spreadsheet.");
      assistant({ type: "text", text: "Forgotten. The branch is here if you want it back." });
      leaf = main;
    }
    task += 1;
  }
  user("Where are we, and what is left for tomorrow?");
  assistant({
    type: "text",
    text: "## Where we are\n\n- Sunday reports are fixed, and tested\n- The ferry timetable loads in **40 ms**\n- `round_draught` is the only place that rounds\n\n## Left for tomorrow\n\n1. Ask the pilots about the column names\n2. Measure the crane bookings\n\n```sh\nmake test   # 214 passed\n```",
  });
  const header = { type: "session", version: 3, id: `019cad3e-7a00-7c11-9f3e-${entries.toString(16).padStart(12, "0")}`, timestamp: "2026-03-02T08:30:00.000Z", cwd, title: "Harbour office: berths, tides and ferries", titleSource: "user" };
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, [header, ...lines].map((line) => JSON.stringify(line)).join("\n") + "\n");
}

/** Write a session of so many megabytes: few entries, each with a large output. */
export function writeLarge(path: string, cwd: string, megabytes: number): void {
  const header = { type: "session", version: 3, id: "019cad3e-7a00-7c11-9f3e-000000000100", timestamp: "2026-03-02T08:30:00.000Z", cwd, title: "A long night at the harbour" };
  const output = Array.from({ length: 2_500 }, (_, i) => `${String(i).padStart(6, "0")} berth ${i % 40} free from ${i % 24}:00`).join("\n");
  const file = openSync(path, "w");
  writeSync(file, `${JSON.stringify(header)}\n`);
  let leaf: string | null = null;
  let size = 0;
  for (let n = 1; size < megabytes * 1_000_000; n++) {
    const id = n.toString(16).padStart(8, "0");
    const message =
      n % 4 === 1
        ? { role: "user", content: `Watch ${(n + 3) / 4}: which berths are free?` }
        : n % 4 === 2
          ? { role: "assistant", content: [{ type: "toolCall", id: `call_${n}`, name: "bash", arguments: { command: "berths --all" } }], stopReason: "toolUse" }
          : n % 4 === 3
            ? { role: "toolResult", toolCallId: `call_${n - 1}`, toolName: "bash", content: [{ type: "text", text: output }], isError: false }
            : { role: "assistant", content: [{ type: "text", text: `Berth ${n % 40} is free.` }], stopReason: "stop" };
    const line: string = JSON.stringify({ type: "message", id, parentId: leaf, timestamp: new Date(Date.parse(header.timestamp) + n * 9_000).toISOString(), message });
    size += writeSync(file, `${line}\n`);
    leaf = id;
  }
  closeSync(file);
}

function listing(part: string, task: number): string {
  const name = part.replace(/ /g, "_");
  const lines = Array.from({ length: 8 + (task % 9) }, (_, i) =>
    `${12 + i * 7}: def ${["load", "check", "round", "write", "merge", "send", "close"][(task + i) % 7]}_${name}(day: date, berth: str = "B${(task * 3 + i) % 40}") -> list[Row]:`,
  );
  return `${lines.join("\n")}\n${(task * 7) % 90 + 3} passed in ${(task % 13) / 10 + 0.2}s`;
}

/** Title and first message of sessions that the list shows. */
export const LISTED = [
  ["Pilots: a rota that survives holidays", "The rota forgets public holidays. Please find out where."],
  ["Fog horn protocol", "Write down how the fog horn is switched on by hand."],
] as const;


/** A server that greets with another protocol version. */
export const OLD_SERVER = `#!${process.execPath}
let data = "";
process.stdin.on("data", (chunk) => {
  data += chunk;
  for (let match; (match = /^Content-Length: (\\d+)\\r\\n\\r\\n/.exec(data)) && data.length >= match[0].length + Number(match[1]); ) {
    const request = JSON.parse(data.slice(match[0].length, match[0].length + Number(match[1])));
    data = data.slice(match[0].length + Number(match[1]));
    if (request.method === "exit") {
      process.exit(0);
    } else if (request.id !== undefined) {
      const capabilities = { experimental: { sessionTree: { protocolVersion: 0, methods: [], notifications: [], strategies: [], formats: [] } } };
      const result = request.method === "initialize" ? { capabilities, serverInfo: { name: "octavo", version: "0.0.1" } } : null;
      const body = JSON.stringify({ jsonrpc: "2.0", id: request.id, result });
      process.stdout.write("Content-Length: " + Buffer.byteLength(body) + "\\r\\n\\r\\n" + body);
    }
  }
});
process.stdin.on("end", () => process.exit(0));
`;
