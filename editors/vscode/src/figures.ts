/** Numbers as people read them: tokens, sizes, times, and the gauge's text and tooltip. */

import type { ContextUsage, ProgressValue } from "octavo-client";

/** Tokens with one significant decimal: 950, 8.2k, 84k, 1.2M. */
export function tokens(count: number): string {
  if (count < 1000) {
    return String(Math.round(count));
  }
  const [value, unit] = count < 999_500 ? [count / 1000, "k"] : [count / 1_000_000, "M"];
  return `${value < 10 ? trimmed(value.toFixed(1)) : String(Math.round(value))}${unit}`;
}

/** Bytes: 512 B, 3.4 kB, 99 MB. */
export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let value = count;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 && unit > 0 ? trimmed(value.toFixed(1)) : String(Math.round(value))} ${units[unit] ?? "B"}`;
}

/** Milliseconds: 0.4 s, 12 s, 2 min 5 s. */
export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) {
    return `${seconds < 10 ? trimmed(seconds.toFixed(1)) : String(Math.round(seconds))} s`;
  }
  const whole = Math.round(seconds);
  return whole % 60 === 0 ? `${whole / 60} min` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** How long ago, in one unit. */
export function ago(iso: string, nowMs: number): string {
  const seconds = Math.max(0, (nowMs - Date.parse(iso)) / 1000);
  if (!Number.isFinite(seconds)) {
    return "";
  }
  const steps: [number, string][] = [[60, "s"], [60, "min"], [24, "h"], [7, "d"], [4.35, "wk"], [12, "mo"]];
  let value = seconds;
  for (const [size, unit] of steps) {
    if (value < size) {
      return unit === "s" ? "just now" : `${Math.floor(value)} ${unit} ago`;
    }
    value /= size;
  }
  return `${Math.floor(value)} yr ago`;
}

const CELLS = 5;

/** A bar of five cells; a cell is full when more than half of it is. */
export function bar(percent: number): string {
  const full = Math.max(0, Math.min(CELLS, Math.round((percent / 100) * CELLS)));
  return "▰".repeat(full) + "▱".repeat(CELLS - full);
}

/** The gauge's text while nothing runs. */
export function gaugeText(usage: ContextUsage | undefined): string {
  if (usage === undefined) {
    return "$(loading~spin) context";
  }
  return usage.percent === undefined
    ? `$(layers) ${tokens(usage.tokens)} tokens`
    : `${bar(usage.percent)} ${Math.round(usage.percent)}%`;
}

const KINDS: readonly (readonly [keyof ContextUsage["breakdown"], string])[] = [
  ["system", "System prompt"],
  ["tools", "Tools"],
  ["summary", "Summaries"],
  ["frames", "Frames"],
  ["user", "Your messages"],
  ["assistant", "Assistant"],
  ["toolResults", "Tool results"],
];

/** The tooltip in Markdown: the figure, where automatic maintenance starts, and a row for each kind of content. */
export function gaugeTooltip(usage: ContextUsage, title: string): string {
  const window = usage.contextWindow > 0 ? ` of ${tokens(usage.contextWindow)}` : "";
  const lines = [
    `**${escapeMarkdown(title)}**`,
    "",
    `${usage.source === "estimate" ? "About " : ""}**${tokens(usage.tokens)}**${window} tokens` +
      (usage.model === undefined ? "" : ` · ${escapeMarkdown(usage.model)}`),
  ];
  if (usage.threshold > 0) {
    const left = usage.threshold - usage.tokens;
    lines.push("", left > 0 ? `${tokens(left)} until automatic maintenance` : "Automatic maintenance is due");
  }
  const total = KINDS.reduce((sum, [kind]) => sum + usage.breakdown[kind], 0);
  const rows = KINDS.filter(([kind]) => usage.breakdown[kind] > 0).map(([kind, name]) => {
    const count = usage.breakdown[kind];
    return `| ${name} | ${tokens(count)} | ${Math.round((count / total) * 100)}% |`;
  });
  if (rows.length > 0) {
    lines.push("", "| | tokens | |", "|:--|--:|--:|", ...rows);
  }
  return lines.join("\n");
}

const PHASES: Readonly<Record<string, string>> = {
  prepare: "looking at the session",
  hooks: "asking hooks",
  summary: "writing the summary",
  turnPrefix: "summarising the turn under way",
  shortSummary: "writing the short summary",
  frames: "drawing frames",
  checks: "checking the result",
  write: "saving",
};

/** One line for a progress report. */
export function progressLine(value: ProgressValue): string {
  const parts = [PHASES[value.phase ?? ""] ?? value.message ?? ""];
  if (value.framesTotal !== undefined && value.framesTotal > 0) {
    parts.push(`${value.framesDone ?? 0} of ${value.framesTotal}`);
  }
  if (value.tokensOut !== undefined && value.tokensOut > 0) {
    parts.push(`${tokens(value.tokensOut)} tokens written`);
  }
  return parts.filter((part) => part !== "").join(" · ");
}

/** Text that Markdown shows as it is. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-.!|<>~]/g, "\\$&");
}

function trimmed(decimal: string): string {
  return decimal.replace(/\.0$/, "");
}
