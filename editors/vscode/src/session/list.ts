/** The Sessions view: session files of this folder or of all, newest first, page by page. */

import type { SessionSummary } from "octavo-client";
import * as vscode from "vscode";

import { ago, bytes } from "../figures.ts";
import type { Server } from "../server/server.ts";
import type { Sessions } from "./sessions.ts";

const PAGE = 100;

/** A session, or the door to more. */
export type Listed = SessionSummary | "more";

/** Data of the view. */
export class SessionList implements vscode.TreeDataProvider<Listed>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private items: SessionSummary[] | undefined;
  private cursor: string | undefined;
  private everywhere = false;
  private readonly view: vscode.TreeView<Listed>;
  private readonly disposables: vscode.Disposable[];
  private readonly server: Server;
  private readonly sessions: Sessions;

  constructor(server: Server, sessions: Sessions) {
    this.server = server;
    this.sessions = sessions;
    this.view = vscode.window.createTreeView("octavo.sessions", { treeDataProvider: this });
    this.disposables = [
      this.view,
      this.changed,
      server.onDidChangeState((state) => state === "running" && this.refresh()),
      sessions.onDidChangeCurrent((session) => {
        const known = session === undefined || this.items?.some((item) => item.sessionId === session.id);
        if (known === true) {
          this.changed.fire(undefined);
        } else {
          this.refresh();
        }
      }),
    ];
  }

  /** Sessions of all folders, or of this one. */
  async showAll(everywhere: boolean): Promise<void> {
    this.everywhere = everywhere;
    await vscode.commands.executeCommand("setContext", "octavo.allFolders", everywhere);
    this.refresh();
  }

  refresh(): void {
    this.items = undefined;
    this.changed.fire(undefined);
  }

  async more(): Promise<void> {
    await this.load(this.cursor);
    this.changed.fire(undefined);
  }

  async getChildren(element?: Listed): Promise<Listed[]> {
    if (element !== undefined || this.server.state !== "running") {
      return [];
    }
    if (this.items === undefined) {
      this.items = [];
      await this.load(undefined);
    }
    return [...this.items, ...(this.cursor === undefined ? [] : ["more" as const])];
  }

  getTreeItem(element: Listed): vscode.TreeItem {
    if (element === "more") {
      const item = new vscode.TreeItem("More…");
      item.command = { command: "octavo.more", title: "Show More", arguments: ["sessions"] };
      return item;
    }
    return sessionItem(element, this.sessions.current?.id === element.sessionId, this.everywhere);
  }

  dispose(): void {
    for (const item of this.disposables) {
      item.dispose();
    }
  }

  private async load(cursor: string | undefined): Promise<void> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const client = this.server.client;
    if (client === undefined) {
      return;
    }
    const page = await client.session.list({
      limit: PAGE,
      ...(this.everywhere || folder === undefined ? {} : { cwd: folder }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    this.items = [...(cursor === undefined ? [] : (this.items ?? [])), ...page.sessions];
    this.cursor = page.nextCursor;
  }
}

/** A line for a session. */
export function sessionItem(session: SessionSummary, current: boolean, withFolder: boolean): vscode.TreeItem {
  const name = session.title ?? session.firstMessage;
  const item = new vscode.TreeItem(name);
  item.id = session.path;
  item.description = [ago(session.modifiedAt, Date.now()), withFolder ? session.cwd : ""].filter((part) => part !== "").join(" · ");
  item.tooltip = new vscode.MarkdownString();
  item.tooltip.appendText(session.firstMessage);
  item.tooltip.appendMarkdown(`\n\n*${bytes(session.sizeBytes)} · ${STATUS[session.status] ?? session.status}*\n\n`);
  item.tooltip.appendText(session.path);
  item.iconPath = current
    ? new vscode.ThemeIcon("circle-filled", new vscode.ThemeColor("charts.blue"))
    : session.status === "error"
      ? new vscode.ThemeIcon("error", new vscode.ThemeColor("list.errorForeground"))
      : new vscode.ThemeIcon(session.parentSession === undefined ? "comment-discussion" : "repo-forked");
  item.contextValue = "session";
  item.command = { command: "octavo.openListed", title: "Open Session", arguments: [session] };
  return item;
}

const STATUS: Readonly<Record<string, string>> = {
  complete: "answered",
  interrupted: "interrupted",
  aborted: "stopped",
  error: "failed",
  pending: "waiting for an answer",
  unknown: "",
};
