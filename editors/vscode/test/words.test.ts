import assert from "node:assert/strict";
import { test } from "node:test";

import { ConnectionLostError, OctavoError, type ContextUsage } from "octavo-client";

import { explain, sentence } from "../src/failure.ts";
import { ago, bar, bytes, duration, escapeMarkdown, gaugeText, gaugeTooltip, progressLine, tokens } from "../src/figures.ts";
import { discover, type Surroundings } from "../src/server/discovery.ts";

const usage = {
  tokens: 84_000,
  source: "estimate",
  contextWindow: 200_000,
  threshold: 170_000,
  percent: 42,
  model: "local/small",
  breakdown: { system: 0, tools: 0, summary: 4_000, frames: 0, user: 20_000, assistant: 20_000, toolResults: 40_000 },
} as ContextUsage;

test("figures are short", () => {
  assert.deepEqual([0, 999, 1_000, 8_240, 84_400, 999_499, 999_500, 1_250_000].map(tokens), ["0", "999", "1k", "8.2k", "84k", "999k", "1M", "1.3M"]);
  assert.deepEqual([512, 3_400, 99_000_000].map(bytes), ["512 B", "3.4 kB", "99 MB"]);
  assert.deepEqual([400, 12_300, 60_000, 125_000].map(duration), ["0.4 s", "12 s", "1 min", "2 min 5 s"]);
  assert.deepEqual(["2026-01-02T00:00:00Z", "2026-01-01T21:30:00Z", "not a time"].map((time) => ago(time, Date.parse("2026-01-02T00:00:30Z"))), ["just now", "2 h ago", ""]);
});

test("the gauge shows a percentage where the window is known, and tokens elsewhere", () => {
  assert.equal(gaugeText(usage), "▰▰▱▱▱ 42%");
  const { percent: _, ...unknown } = usage;
  assert.equal(gaugeText(unknown), "$(layers) 84k tokens");
  assert.deepEqual([bar(0), bar(100), bar(250)], ["▱▱▱▱▱", "▰▰▰▰▰", "▰▰▰▰▰"]);
});

test("the gauge's tooltip says what fills the context, and a title cannot smuggle in Markdown", () => {
  const text = gaugeTooltip(usage, "[click](command:x)");
  assert.match(text, /\| Tool results \| 40k \| 48% \|/);
  assert.match(text, /86k until automatic maintenance/);
  assert.ok(!text.includes("[click](command:x)"));
  assert.ok(!text.includes("Frames"));
  assert.equal(escapeMarkdown("a_b"), "a\\_b");
});

test("progress says what is going on and how far it is", () => {
  assert.equal(progressLine({ kind: "report", phase: "frames", framesDone: 3, framesTotal: 12 }), "drawing frames · 3 of 12");
  assert.equal(progressLine({ kind: "report", phase: "summary", tokensOut: 240 }), "writing the summary · 240 tokens written");
});

test("a failure is one sentence with the buttons that help, and cancelling is none", () => {
  const locked = explain(OctavoError.of("session-locked", "Process 7 has it open"));
  assert.deepEqual(locked, { level: "warning", message: "Process 7 has it open.", remedies: ["openReadOnly", "retry"] });
  assert.equal(explain(OctavoError.of("cancelled", "stopped")), undefined);
  assert.match(explain(new ConnectionLostError("pipe"))?.message ?? "", /went away/);
});

test("a trace never reaches the user", () => {
  const trace = new Error("boom\n    at Object.<anonymous> (/a/b.js:1:1)");
  assert.ok(!JSON.stringify(explain(trace)).includes("b.js"));
  assert.equal(sentence('It broke\nTraceback (most recent call last)\n  File "x.py"'), "It broke.");
  assert.equal(sentence("the disk is full"), "The disk is full.");
  assert.equal(sentence(""), "The octavo server gave no reason.");
});

const around = (programs: string[], platform: NodeJS.Platform = "linux"): Surroundings => ({
  env: { PATH: "/usr/bin:relative:/opt/bin" },
  platform,
  home: "/home/ada",
  isExecutable: (path) => programs.includes(path),
});

test("the server is the one of the setting, else the one on the PATH, else uvx", () => {
  const all = around(["/my/octavo", "/opt/bin/octavo", "/usr/bin/uvx"]);
  assert.deepEqual(discover({ path: "/my/octavo", args: ["attach"] }, all), { command: "/my/octavo", args: ["attach"], source: "setting" });
  assert.deepEqual(discover({ path: "", args: ["attach"] }, all), { command: "/opt/bin/octavo", args: ["attach"], source: "path" });
  assert.deepEqual(discover({ path: "", args: ["attach"] }, around(["/usr/bin/uvx"])), { command: "/usr/bin/uvx", args: ["octavo", "attach"], source: "uvx" });
  assert.equal(discover({ path: "", args: [] }, around([])), undefined);
});

test("a setting that names nothing is not replaced by another program", () => {
  assert.equal(discover({ path: "/nowhere/octavo", args: [] }, around(["/opt/bin/octavo"])), undefined);
});

test("a home folder may be written as a tilde, installers' folders are looked into, relative PATH entries are not", () => {
  assert.equal(discover({ path: "~/bin/octavo", args: [] }, around(["/home/ada/bin/octavo"]))?.command, "/home/ada/bin/octavo");
  assert.equal(discover({ path: "", args: [] }, around(["/home/ada/.local/bin/octavo"]))?.source, "path");
  assert.equal(discover({ path: "", args: [] }, around(["relative/octavo"])), undefined);
});
