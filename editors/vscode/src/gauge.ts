/** The context gauge in the status bar; while something runs it is that, and a click cancels it. */

import * as vscode from "vscode";

import { gaugeText, gaugeTooltip, progressLine } from "./figures.ts";
import type { Server, ServerState } from "./server/server.ts";
import type { Sessions } from "./session/sessions.ts";

const AWAY: Partial<Record<ServerState, { text: string; tooltip: string; command: string }>> = {
  starting: { text: "$(sync~spin) octavo", tooltip: "Starting the octavo server", command: "octavo.showLog" },
  waiting: { text: "$(sync~spin) octavo", tooltip: "The octavo server is being started again", command: "octavo.showLog" },
  missing: { text: "$(warning) octavo", tooltip: "The octavo server was not found; click to install it", command: "octavo.installServer" },
  failed: { text: "$(error) octavo", tooltip: "The octavo server stopped; click to restart it", command: "octavo.restartServer" },
  mismatch: { text: "$(warning) octavo", tooltip: "The octavo server is of another version; click to update it", command: "octavo.installServer" },
};

/** Draws the gauge. */
export class Gauge implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("octavo.gauge", vscode.StatusBarAlignment.Right, 95);
  private readonly disposables: vscode.Disposable[];
  private readonly server: Server;
  private readonly sessions: Sessions;

  constructor(server: Server, sessions: Sessions) {
    this.server = server;
    this.sessions = sessions;
    this.item.name = "octavo context gauge";
    const draw = (): void => this.draw();
    this.disposables = [
      this.item,
      server.onDidChangeState(draw),
      sessions.onDidChangeCurrent(draw),
      sessions.onDidHappen(draw),
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("octavo.gauge") && this.draw()),
    ];
    this.draw();
  }

  dispose(): void {
    for (const item of this.disposables) {
      item.dispose();
    }
  }

  private draw(): void {
    const away = AWAY[this.server.state];
    const session = this.sessions.current;
    if (away !== undefined) {
      this.show(away.text, away.tooltip, away.command);
      this.color(this.server.state === "failed" ? "error" : this.server.state === "missing" ? "warning" : undefined);
    } else if (session === undefined) {
      this.item.hide();
    } else if (session.running !== undefined) {
      const { title, progress } = session.running;
      const percent = progress?.percentage === undefined ? "…" : ` ${progress.percentage}%`;
      const line = progress === undefined ? "" : progressLine(progress);
      this.show(`$(sync~spin) ${title}${percent}`, `${title}${line === "" ? "" : `: ${line}`}. Click to cancel.`, "octavo.abort");
      this.color("prominent");
    } else {
      const { usage } = session;
      const tooltip = new vscode.MarkdownString(usage === undefined ? "Measuring…" : gaugeTooltip(usage, session.title));
      this.show(gaugeText(usage), tooltip, "octavo.gauge");
      const warnAt = vscode.workspace.getConfiguration("octavo").get("gauge.warnAt", 80);
      const percent = usage?.percent ?? 0;
      this.color(percent >= 100 ? "error" : percent >= warnAt ? "warning" : undefined);
      if (usage?.percent !== undefined) {
        this.item.accessibilityInformation = { label: `Context ${Math.round(usage.percent)} percent full`, role: "button" };
      }
    }
  }

  private show(text: string, tooltip: string | vscode.MarkdownString, command: string): void {
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.command = command;
    this.item.show();
  }

  private color(level: "error" | "warning" | "prominent" | undefined): void {
    this.item.backgroundColor =
      level === "error" || level === "warning" ? new vscode.ThemeColor(`statusBarItem.${level}Background`) : undefined;
  }
}
