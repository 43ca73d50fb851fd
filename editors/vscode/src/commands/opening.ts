/** Opening sessions: from the list, from a file, from the explorer; and the gauge's menu. */

import type { SessionSummary } from "octavo-client";
import * as vscode from "vscode";

import { ago, bytes } from "../figures.ts";
import type { Server } from "../server/server.ts";
import type { OpenSession } from "../session/session.ts";
import type { SessionName, Sessions } from "../session/sessions.ts";
import type { Transcripts } from "../transcript/transcripts.ts";
import type { Deeds } from "./deeds.ts";

const LISTED = 200;

/** The commands that open. */
export class Opening {
  private readonly server: Server;
  private readonly sessions: Sessions;
  private readonly deeds: Deeds;
  private readonly transcripts: Transcripts;

  constructor(server: Server, sessions: Sessions, deeds: Deeds, transcripts: Transcripts) {
    this.server = server;
    this.sessions = sessions;
    this.deeds = deeds;
    this.transcripts = transcripts;
  }

  /** Open a session and show its transcript. */
  async open(name: SessionName, mode: "write" | "read" = "write"): Promise<OpenSession | undefined> {
    const session = await this.openQuietly(name, mode);
    if (session !== undefined) {
      this.transcripts.show(session);
    }
    return session;
  }

  /** Open a session without a transcript of its own. */
  async openQuietly(name: SessionName, mode: "write" | "read" = "write"): Promise<OpenSession | undefined> {
    if (this.server.client === undefined) {
      await vscode.commands.executeCommand("octavo.sessions.focus");
      void vscode.window.showWarningMessage("The octavo server is not running.", "Start It").then((choice) => choice && this.server.start());
      return undefined;
    }
    return this.deeds.attempt(() => this.sessions.show(name, mode), {
      retry: () => this.open(name, mode),
      openReadOnly: () => this.open(name, "read"),
      chooseAnother: () => this.choose(),
      ...("path" in name
        ? { openAsText: () => vscode.commands.executeCommand("vscode.openWith", vscode.Uri.file(name.path), "default") }
        : {}),
    });
  }

  /** Choose a session from the list. */
  async choose(everywhere = false): Promise<void> {
    const client = this.server.client;
    if (client === undefined) {
      await vscode.commands.executeCommand("octavo.sessions.focus");
      return;
    }
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const local = !everywhere && folder !== undefined;
    const answer = await this.deeds.attempt(() => client.session.list({ limit: LISTED, ...(local ? { cwd: folder } : {}) }));
    if (answer === undefined) {
      return;
    }
    type Item = vscode.QuickPickItem & { session?: SessionSummary; deed?: () => Promise<void> };
    const items: Item[] = answer.sessions.map((session) => ({
      label: `$(comment-discussion) ${session.title ?? session.firstMessage}`,
      description: [ago(session.modifiedAt, Date.now()), bytes(session.sizeBytes), local ? "" : session.cwd].filter((part) => part !== "").join(" · "),
      ...(session.title === undefined ? {} : { detail: session.firstMessage }),
      session,
    }));
    items.push({ label: "", kind: vscode.QuickPickItemKind.Separator });
    if (local) {
      items.push({ label: "$(globe) Sessions of all folders…", deed: () => this.choose(true) });
    }
    items.push({ label: "$(folder-opened) A session file…", deed: () => this.chooseFile() });
    const picked = await vscode.window.showQuickPick(items, { title: "Open Session", placeHolder: "Which one?", matchOnDetail: true });
    await (picked?.session === undefined ? picked?.deed?.() : this.open({ path: picked.session.path }));
  }

  /** Choose a file. */
  async chooseFile(): Promise<void> {
    const [file] = (await vscode.window.showOpenDialog({ title: "Open Session File", filters: { Sessions: ["jsonl"] } })) ?? [];
    await this.resource(file);
  }

  /** Open a file of the explorer, or that of the active editor. */
  async resource(uri: vscode.Uri | undefined): Promise<void> {
    const file = uri ?? vscode.window.activeTextEditor?.document.uri;
    if (file?.scheme === "file") {
      await this.open({ path: file.fsPath });
    }
  }

  /** What one can do about a full context. */
  async actions(session: OpenSession): Promise<void> {
    const writable = session.writable;
    const items: (vscode.QuickPickItem & { command: string })[] = [
      ...(writable
        ? [
            { label: "$(fold) Compact", command: "octavo.compact" },
            { label: "$(comment) Compact with instructions…", command: "octavo.compactWith" },
            { label: "$(diff) Preview a compaction…", description: "look and edit before anything is written", command: "octavo.preview" },
            { label: "$(redo) Undo the last compaction", command: "octavo.undo" },
            { label: "$(clear-all) Prune old tool outputs…", command: "octavo.prune" },
            { label: "$(arrow-right) Hand off to a new session…", command: "octavo.handoff" },
          ]
        : []),
      { label: "$(search) Search…", command: "octavo.search" },
      { label: "$(book) Show the transcript", command: "octavo.transcript" },
      { label: "$(folder-opened) Open another session…", command: "octavo.open" },
    ];
    const picked = await vscode.window.showQuickPick(items, { title: session.title, placeHolder: "What to do about the context" });
    if (picked !== undefined) {
      await vscode.commands.executeCommand(picked.command);
    }
  }
}
