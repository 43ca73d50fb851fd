/** Held compactions in a diff editor: the summary so far on the left, the new one on the right, to be edited. */

import type { CompactionResult } from "octavo-client";
import * as vscode from "vscode";

import { tokens } from "../figures.ts";
import type { OpenSession } from "../session/session.ts";
import type { Deeds } from "./deeds.ts";

const SCHEME = "octavo-summary";

interface Held {
  session: OpenSession;
  result: CompactionResult;
  before: vscode.Uri;
  after: vscode.Uri;
}

/** Keeps what is being looked at. */
export class Previews implements vscode.Disposable {
  private readonly held = new Map<string, Held>();
  private readonly files = new SummaryFiles();
  private readonly applyItem = statusItem("apply", "$(check) Apply summary", "Write the new summary", "octavo.applyPreview", 2);
  private readonly discardItem = statusItem("discard", "$(discard) Discard", "Drop the new summary", "octavo.discardPreview", 1);
  private readonly disposables: vscode.Disposable[];
  private readonly deeds: Deeds;

  constructor(deeds: Deeds) {
    this.deeds = deeds;
    this.disposables = [
      this.applyItem,
      this.discardItem,
      vscode.workspace.registerFileSystemProvider(SCHEME, this.files, { isCaseSensitive: true }),
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
        for (const tab of closed) {
          this.closed(tab);
        }
      }),
    ];
  }

  /** Whether a result of the session is being looked at; it is shown again then. */
  showHeld(session: OpenSession): boolean {
    const item = this.held.get(session.id);
    if (item !== undefined) {
      void this.open(item);
    }
    return item !== undefined;
  }

  /** Open a held result. */
  async show(session: OpenSession, result: CompactionResult): Promise<void> {
    const path = (side: string): vscode.Uri =>
      vscode.Uri.from({
        scheme: SCHEME,
        path: `/${session.title.replace(/[\\/]/g, " ")}/${side}.md`,
        query: `${session.id} ${result.operationId}`,
      });
    const previous = await this.deeds.attempt(() => previousSummary(session));
    const item: Held = {
      session,
      result,
      before: path(previous === undefined ? "No summary yet" : "Summary so far"),
      after: path("New summary"),
    };
    this.files.put(item.before, previous ?? "", true);
    this.files.put(item.after, result.summary, false);
    this.held.set(session.id, item);
    await this.tellContext();
    await this.open(item);
    const failed = result.checks.filter((check) => check.repaired).map((check) => check.name);
    void vscode.window.showInformationMessage(
      `${tokens(result.tokensBefore)} → ${tokens(result.tokensAfter)} tokens. Edit it as you like, then apply or discard it.` +
        (failed.length > 0 ? ` Repaired: ${failed.join(", ")}.` : ""),
    );
  }

  /** Write the result with the summary as it stands in the editor. */
  async apply(session: OpenSession | undefined): Promise<void> {
    const item = this.find(session);
    if (item === undefined) {
      return;
    }
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === item.after.toString());
    const text = document?.getText() ?? this.files.text(item.after);
    const result = await this.deeds.attempt(
      () =>
        item.session.client.session.applyCompaction({
          sessionId: item.session.id,
          operationId: item.result.operationId,
          ...(text === item.result.summary ? {} : { summary: text }),
        }),
      { retry: () => this.apply(item.session) },
    );
    if (result !== undefined) {
      await this.putAway(item);
      vscode.window.setStatusBarMessage(`$(check) Applied: ${tokens(result.tokensAfter)} tokens now`, 8_000);
    }
  }

  /** Drop the result; the session is as it was. */
  async discard(session: OpenSession | undefined): Promise<void> {
    const item = this.find(session);
    if (item !== undefined) {
      await this.deeds.attempt(() =>
        item.session.client.session.discardCompaction({ sessionId: item.session.id, operationId: item.result.operationId }),
      );
      await this.putAway(item);
      vscode.window.setStatusBarMessage("$(discard) Summary discarded; nothing was changed", 8_000);
    }
  }

  dispose(): void {
    for (const item of this.disposables) {
      item.dispose();
    }
  }

  private find(session: OpenSession | undefined): Held | undefined {
    const active = vscode.window.activeTextEditor?.document.uri.toString();
    const shown = [...this.held.values()].find((item) => item.after.toString() === active || item.before.toString() === active);
    return shown ?? (session === undefined ? undefined : this.held.get(session.id));
  }

  private async open(item: Held): Promise<void> {
    await vscode.commands.executeCommand("vscode.diff", item.before, item.after, diffTitle(item), {
      preview: false,
    });
  }

  private async putAway(item: Held): Promise<void> {
    this.held.delete(item.session.id);
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === item.after.toString());
    if (document?.isDirty === true) {
      await document.save();
    }
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => shows(tab, item));
    await vscode.window.tabGroups.close(tabs);
    this.files.drop(item.before);
    this.files.drop(item.after);
    await this.tellContext();
  }

  private closed(tab: vscode.Tab): void {
    const item = [...this.held.values()].find((held) => shows(tab, held));
    if (item !== undefined) {
      void vscode.window
        .showInformationMessage("The new summary waits for your decision.", "Apply", "Discard", "Show Again")
        .then((choice) => {
          if (choice === "Apply") {
            return this.apply(item.session);
          }
          return choice === "Discard" ? this.discard(item.session) : choice === "Show Again" ? this.open(item) : undefined;
        });
    }
  }

  private async tellContext(): Promise<void> {
    for (const item of [this.applyItem, this.discardItem]) {
      if (this.held.size > 0) {
        item.show();
      } else {
        item.hide();
      }
    }
    await vscode.commands.executeCommand("setContext", "octavo.previewing", this.held.size > 0);
  }
}

function statusItem(id: string, text: string, tooltip: string, command: string, priority: number): vscode.StatusBarItem {
  const item = vscode.window.createStatusBarItem(`octavo.${id}`, vscode.StatusBarAlignment.Left, priority);
  item.name = `octavo: ${tooltip}`;
  item.text = text;
  item.tooltip = tooltip;
  item.command = command;
  return item;
}

function diffTitle({ before, session }: Held): string {
  const left = before.path.split("/").pop()?.replace(/\.md$/, "") ?? "";
  return `${left} ↔ New summary of “${session.title}”`;
}

function shows(tab: vscode.Tab, item: Held): boolean {
  return tab.input instanceof vscode.TabInputTextDiff && tab.input.modified.toString() === item.after.toString();
}

/** The summary in force on the branch. */
async function previousSummary(session: OpenSession): Promise<string | undefined> {
  const { messages } = await session.client.session.buildContext({ sessionId: session.id, format: "agent", includeImages: false });
  const message = messages.find((item) => item["role"] === "compactionSummary");
  return typeof message?.["summary"] === "string" ? message["summary"] : undefined;
}

/** Small files in memory. */
class SummaryFiles implements vscode.FileSystemProvider {
  private readonly changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changes.event;
  private readonly files = new Map<string, { data: Uint8Array; time: number; readonly: boolean }>();

  put(uri: vscode.Uri, text: string, readonly: boolean): void {
    this.files.set(uri.toString(), { data: new TextEncoder().encode(text), time: Date.now(), readonly });
  }

  text(uri: vscode.Uri): string {
    return new TextDecoder().decode(this.readFile(uri));
  }

  drop(uri: vscode.Uri): void {
    this.files.delete(uri.toString());
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const file = this.need(uri);
    return {
      type: vscode.FileType.File,
      ctime: file.time,
      mtime: file.time,
      size: file.data.length,
      ...(file.readonly ? { permissions: vscode.FilePermission.Readonly } : {}),
    };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return this.need(uri).data;
  }

  writeFile(uri: vscode.Uri, data: Uint8Array): void {
    this.files.set(uri.toString(), { ...this.need(uri), data, time: Date.now() });
    this.changes.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(): void {
    throw vscode.FileSystemError.NoPermissions();
  }

  delete(): void {
    throw vscode.FileSystemError.NoPermissions();
  }

  rename(): void {
    throw vscode.FileSystemError.NoPermissions();
  }

  private need(uri: vscode.Uri): { data: Uint8Array; time: number; readonly: boolean } {
    const file = this.files.get(uri.toString());
    if (file === undefined) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    return file;
  }
}
