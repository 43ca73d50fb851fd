/** The Session Tree view: loads windows of `session/getTree` as the user asks for more, never a whole large tree. */

import type { TreeNode } from "octavo-client";
import * as vscode from "vscode";

import type { OpenSession } from "../session/session.ts";
import type { Sessions } from "../session/sessions.ts";
import { Rows, outline, size, type Outline, type OutlineItem, type TreeFilter } from "./outline.ts";

/** Rows of the first window, and how many more each step shows. */
const WINDOW = 500;
const LARGEST = 10_000;
const SETTLE_MS = 120;

/** An element of the view: an entry, or the door to more of them. */
export type TreeElement = { kind: "entry"; item: OutlineItem } | { kind: "more"; where: "before" | "after"; count: number };

const EMPTY: Outline = { roots: [], byId: new Map() };

/** Data and behaviour of the view. */
export class SessionTree implements vscode.TreeDataProvider<TreeElement>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<TreeElement | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  readonly view: vscode.TreeView<TreeElement>;
  private rows = new Rows();
  private lines: Outline = EMPTY;
  private elements = new Map<string, TreeElement>();
  private loaded: OpenSession | undefined;
  private timer: NodeJS.Timeout | undefined;
  private generation = 0;
  private followLeaf = true;
  private mode: TreeFilter;
  private readonly disposables: vscode.Disposable[];
  private readonly sessions: Sessions;
  private readonly onFailure: (error: unknown) => void;

  constructor(sessions: Sessions, onFailure: (error: unknown) => void) {
    this.sessions = sessions;
    this.onFailure = onFailure;
    this.mode = vscode.workspace.getConfiguration("octavo").get<TreeFilter>("tree.filter", "default");
    void vscode.commands.executeCommand("setContext", "octavo.filter", this.mode);
    this.view = vscode.window.createTreeView("octavo.tree", { treeDataProvider: this, showCollapseAll: true });
    this.disposables = [
      this.view,
      this.changed,
      sessions.onDidChangeCurrent(() => this.load(true)),
      sessions.onDidHappen((event) => {
        if (event.kind === "reset" || event.kind === "change") {
          this.soon(event.kind === "reset" || event.change.kind !== "rewritten");
        } else if (event.kind === "usage" || event.kind === "info") {
          this.describe();
        }
      }),
      this.view.onDidChangeVisibility(({ visible }) => visible && this.followLeaf && void this.revealLeaf()),
    ];
  }

  get filter(): TreeFilter {
    return this.mode;
  }

  /** Show other entries. */
  async setFilter(filter: TreeFilter): Promise<void> {
    this.mode = filter;
    await vscode.commands.executeCommand("setContext", "octavo.filter", filter);
    await this.load(true);
  }

  /** Load the next rows before or after the window. */
  async more(where: "before" | "after"): Promise<void> {
    const edge = where === "before" ? this.rows.rows[0] : this.rows.rows.at(-1);
    if (edge !== undefined) {
      this.followLeaf = false;
      await this.fetch({ around: edge.id, window: WINDOW * 2 });
      const element = this.elements.get(edge.id);
      if (element !== undefined) {
        await this.view.reveal(element, { select: true, focus: true });
      }
    }
  }

  /** Show the entry the session stands at. */
  async revealLeaf(): Promise<void> {
    this.followLeaf = true;
    const leaf = this.rows.rows.find((row) => row.isLeaf);
    if (leaf === undefined && this.rows.leafId !== undefined) {
      await this.load(true);
    } else if (leaf !== undefined) {
      await this.reveal(leaf.id);
    }
  }

  /** Show an entry, loading its surroundings when they are not here yet. */
  async reveal(id: string): Promise<void> {
    if (!this.lines.byId.has(id)) {
      await this.fetch({ around: id, window: WINDOW });
    }
    const element = this.elements.get(id);
    if (element !== undefined && this.view.visible) {
      await this.view.reveal(element, { select: true, focus: false });
    }
  }

  getChildren(element?: TreeElement): TreeElement[] {
    if (element?.kind === "entry") {
      return element.item.children.map((item) => this.element(item));
    }
    if (element !== undefined || this.loaded === undefined) {
      return [];
    }
    const entries = this.lines.roots.map((item) => this.element(item));
    const { hiddenBefore, hiddenAfter } = this.rows;
    return [
      ...(hiddenBefore > 0 ? [{ kind: "more", where: "before", count: hiddenBefore } as const] : []),
      ...entries,
      ...(hiddenAfter > 0 ? [{ kind: "more", where: "after", count: hiddenAfter } as const] : []),
    ];
  }

  getParent(element: TreeElement): TreeElement | undefined {
    return element.kind === "entry" && element.item.parent !== undefined ? this.element(element.item.parent) : undefined;
  }

  getTreeItem(element: TreeElement): vscode.TreeItem {
    return element.kind === "more" ? moreItem(element) : entryItem(element.item);
  }

  resolveTreeItem(item: vscode.TreeItem, element: TreeElement): vscode.TreeItem {
    if (element.kind === "entry") {
      item.tooltip = tooltip(element.item.row);
    }
    return item;
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const item of this.disposables) {
      item.dispose();
    }
  }

  private element(item: OutlineItem): TreeElement {
    const known = this.elements.get(item.row.id);
    if (known?.kind === "entry" && known.item === item) {
      return known;
    }
    const element: TreeElement = { kind: "entry", item };
    this.elements.set(item.row.id, element);
    return element;
  }

  private soon(followLeaf: boolean): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.load(followLeaf && this.followLeaf), SETTLE_MS);
  }

  private async load(revealLeaf: boolean): Promise<void> {
    const session = this.sessions.current;
    const other = session !== this.loaded;
    if (other) {
      this.rows = new Rows();
      this.followLeaf = true;
    }
    this.loaded = session;
    this.describe();
    if (session === undefined) {
      this.lines = EMPTY;
      this.elements.clear();
      this.changed.fire(undefined);
      return;
    }
    await this.fetch({ window: Math.min(LARGEST, Math.max(WINDOW, this.rows.rows.length)) }, true);
    if (revealLeaf) {
      await this.revealLeaf();
    }
  }

  private async fetch(where: { around?: string; window: number }, anew = false): Promise<void> {
    const session = this.loaded;
    if (session === undefined) {
      return;
    }
    const generation = ++this.generation;
    try {
      const answer = await session.client.session.getTree({ sessionId: session.id, filter: this.mode, ...where });
      if (generation !== this.generation || session !== this.loaded) {
        return;
      }
      if (anew) {
        this.rows = new Rows();
      }
      this.rows.take(answer);
      this.lines = outline(this.rows.rows);
      this.elements.clear();
      for (const item of this.lines.byId.values()) {
        this.element(item);
      }
      this.changed.fire(undefined);
    } catch (error) {
      if (session === this.loaded && session.client.state.kind === "connected") {
        this.onFailure(error);
      }
    }
  }

  private describe(): void {
    const session = this.loaded;
    this.view.title = session === undefined ? "Session Tree" : session.title;
    this.view.description = session === undefined ? "" : session.writable ? FILTER_NAMES[this.mode] : "read-only";
  }
}

/** What the filters are called. */
export const FILTER_NAMES: Readonly<Record<TreeFilter, string>> = {
  default: "",
  "no-tools": "without tools",
  "user-only": "your messages",
  "labeled-only": "labelled",
  all: "everything",
};

function moreItem(element: { where: "before" | "after"; count: number }): vscode.TreeItem {
  const many = element.count.toLocaleString("en");
  const item = new vscode.TreeItem(element.where === "before" ? `${many} earlier…` : `${many} later…`);
  item.iconPath = new vscode.ThemeIcon(element.where === "before" ? "fold-up" : "fold-down");
  item.contextValue = "more";
  item.command = { command: "octavo.more", title: "Show More", arguments: [element.where] };
  return item;
}

function entryItem(item: OutlineItem): vscode.TreeItem {
  const { row } = item;
  const text = row.text === "" ? (NAMES[row.type] ?? row.type) : row.text;
  const shown = new vscode.TreeItem(
    { label: text, ...(row.isLeaf ? { highlights: [[0, text.length] as [number, number]] } : {}) },
    item.children.length > 0 ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None,
  );
  shown.id = row.id;
  shown.contextValue = `entry ${row.type}${row.onBranch ? " onBranch" : ""}`;
  shown.iconPath = icon(item);
  shown.description = description(item);
  shown.accessibilityInformation = { label: spoken(item, text) };
  shown.command = { command: "octavo.showEntry", title: "Show in Transcript", arguments: [{ kind: "entry", item }] };
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

function icon({ row, head }: OutlineItem): vscode.ThemeIcon {
  const color = (id: string): vscode.ThemeColor => new vscode.ThemeColor(row.onBranch ? id : "disabledForeground");
  if (row.isError) {
    return new vscode.ThemeIcon("error", new vscode.ThemeColor("list.errorForeground"));
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

function description(item: OutlineItem): string {
  const { row } = item;
  const parts: string[] = [];
  if (row.isLeaf) {
    parts.push("● here");
  }
  if (row.label !== undefined) {
    parts.push(row.label);
  }
  if (item.head) {
    const count = size(item);
    parts.push(count === 1 ? "branch" : `branch of ${count.toLocaleString("en")}`);
  }
  return parts.join(" · ");
}

function spoken(item: OutlineItem, text: string): string {
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

function tooltip(row: TreeNode): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.appendText(row.text);
  const facts = [row.role ?? row.type, row.timestamp === undefined ? "" : new Date(row.timestamp).toLocaleString(), row.id];
  text.appendMarkdown(`\n\n*${facts.filter((fact) => fact !== "").join(" · ")}*`);
  return text;
}
