/** How entries look in the Session Tree: text, icon, colour, and what a screen reader says. */

import type { TreeNode } from "octavo-client";
import * as vscode from "vscode";

import { STEP, plain, size, type DoorItem, type EntryItem } from "./outline.ts";

/** The line of a door. */
export function doorItem(door: DoorItem): vscode.TreeItem {
  const many = door.count.toLocaleString("en");
  const [text, icon] = {
    before: [door.count > 0 ? `${many} earlier…` : "Earlier…", "fold-up"],
    after: ["Later…", "fold-down"],
    branch: [door.count === 1 ? "One more branch…" : `${many} more branches…`, "git-branch"],
  }[door.where] as [string, string];
  const item = new vscode.TreeItem(text);
  item.id = `${door.where} ${door.beside}`;
  item.iconPath = new vscode.ThemeIcon(icon, new vscode.ThemeColor("descriptionForeground"));
  item.contextValue = "more";
  item.tooltip = `Load up to ${STEP.toLocaleString("en")} more`;
  item.command = { command: "octavo.more", title: "Show More", arguments: [door] };
  return item;
}

/** The line of an entry. */
export function entryItem(item: EntryItem): vscode.TreeItem {
  const { row } = item;
  const text = plain(row.text) || (NAMES[row.type] ?? row.type);
  const shown = new vscode.TreeItem(
    text,
    item.children.length > 0 ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None,
  );
  shown.id = row.id;
  shown.contextValue = `entry ${row.type}${row.onBranch ? " onBranch" : ""}`;
  shown.iconPath = icon(item);
  shown.description = description(item);
  shown.accessibilityInformation = { label: spoken(item, text) };
  shown.command = { command: "octavo.showEntry", title: "Show in Transcript", arguments: [item] };
  return shown;
}

const NAMES: Readonly<Record<string, string>> = {
  compaction: "Compaction",
  branch_summary: "Branch summary",
  model_change: "Model",
  thinking_level_change: "Reasoning effort",
  label: "Label removed",
  message: "(no text)",
};

function icon({ row, head }: EntryItem): vscode.ThemeIcon {
  const color = (id: string): vscode.ThemeColor => new vscode.ThemeColor(row.onBranch ? id : "disabledForeground");
  if (row.isError) {
    return new vscode.ThemeIcon("error", new vscode.ThemeColor("list.errorForeground"));
  }
  if (row.isLeaf && row.onBranch) {
    return new vscode.ThemeIcon("arrow-circle-right", new vscode.ThemeColor("charts.blue"));
  }
  if (row.label !== undefined) {
    return new vscode.ThemeIcon("bookmark", color("charts.yellow"));
  }
  if (row.type === "compaction") {
    return new vscode.ThemeIcon("fold", color("charts.purple"));
  }
  if (row.type === "branch_summary") {
    return new vscode.ThemeIcon("git-merge", color("charts.green"));
  }
  if (head) {
    return new vscode.ThemeIcon("git-branch", new vscode.ThemeColor("charts.green"));
  }
  if (row.type === "message") {
    const [name, tint] = ROLE_ICONS[row.role ?? ""] ?? ["comment", "icon.foreground"];
    return new vscode.ThemeIcon(name, color(tint));
  }
  return new vscode.ThemeIcon(TYPE_ICONS[row.type] ?? "symbol-misc", color("descriptionForeground"));
}

const ROLE_ICONS: Readonly<Record<string, readonly [string, string]>> = {
  user: ["account", "charts.blue"],
  assistant: ["sparkle", "icon.foreground"],
  toolResult: ["output", "descriptionForeground"],
  bashExecution: ["terminal", "descriptionForeground"],
  pythonExecution: ["terminal", "descriptionForeground"],
  fileMention: ["file", "descriptionForeground"],
};

const TYPE_ICONS: Readonly<Record<string, string>> = {
  model_change: "chip",
  thinking_level_change: "lightbulb",
  label: "tag",
  custom: "extensions",
  custom_message: "extensions",
  session_init: "rocket",
  mode_change: "settings",
};

function description(item: EntryItem): string {
  const { row } = item;
  const parts: string[] = [];
  if (row.isLeaf) {
    parts.push("you are here");
  }
  if (row.label !== undefined) {
    parts.push(row.label);
  }
  if (item.head) {
    const count = size(item);
    parts.push(count === undefined || count === 1 ? "branch" : `branch of ${count.toLocaleString("en")}`);
  }
  return parts.join(" · ");
}

function spoken(item: EntryItem, text: string): string {
  const { row } = item;
  const who = row.role ?? NAMES[row.type] ?? row.type;
  const marks = [
    row.isError ? "failed" : "",
    row.label === undefined ? "" : `label ${row.label}`,
    item.head ? "other branch" : "",
    row.isLeaf ? "you are here" : "",
  ];
  return [who, text, ...marks.filter((mark) => mark !== "")].join(", ");
}

/** What hovering over an entry shows. */
export function tooltip(row: TreeNode): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.appendText(row.text);
  const facts = [row.role ?? row.type, row.timestamp === undefined ? "" : new Date(row.timestamp).toLocaleString(), row.id];
  text.appendMarkdown(`\n\n*${facts.filter((fact) => fact !== "").join(" · ")}*`);
  return text;
}
