/** The transcripts of the window: at most one panel per session, and the custom editor for session files. */

import * as vscode from "vscode";

import type { Deeds } from "../commands/deeds.ts";
import type { OpenSession } from "../session/session.ts";
import type { SessionName, Sessions } from "../session/sessions.ts";
import { Transcript, type Run } from "./panel.ts";

/** Every open transcript. */
export class Transcripts implements vscode.Disposable {
  run: Run = () => undefined;
  private readonly shown = new Map<OpenSession, Transcript>();
  private readonly context: vscode.ExtensionContext;
  private readonly sessions: Sessions;
  private readonly deeds: Deeds;

  constructor(context: vscode.ExtensionContext, sessions: Sessions, deeds: Deeds) {
    this.context = context;
    this.sessions = sessions;
    this.deeds = deeds;
  }

  /** Show a session's transcript. */
  show(session: OpenSession): Transcript {
    const known = this.shown.get(session);
    if (known !== undefined) {
      known.panel.reveal(undefined, true);
      return known;
    }
    const panel = vscode.window.createWebviewPanel(
      "octavo.transcript",
      session.title,
      { viewColumn: vscode.ViewColumn.Active, preserveFocus: true },
      { retainContextWhenHidden: true, enableFindWidget: true },
    );
    return this.adopt(panel, session);
  }

  /** Show an entry of a session. */
  async reveal(session: OpenSession, id: string): Promise<void> {
    await this.show(session).reveal(id);
  }

  /** Close a session's transcript. */
  close(session: OpenSession): void {
    this.shown.get(session)?.panel.dispose();
  }

  /** The editor for `.jsonl` files; a file that is no session says so in a sentence. */
  editors(open: (name: SessionName) => Promise<OpenSession | undefined>): vscode.CustomReadonlyEditorProvider {
    return {
      openCustomDocument: (uri) => ({ uri, dispose: () => undefined }),
      resolveCustomEditor: async (document, panel) => {
        const session = await open({ path: document.uri.fsPath });
        if (session === undefined) {
          panel.webview.html =
            "<p style='padding:24px'>This file was not opened as a session. It is as it was; use “Reopen Editor With…” to read it as text.</p>";
        } else {
          this.adopt(panel, session);
        }
      },
    };
  }

  dispose(): void {
    for (const transcript of [...this.shown.values()]) {
      transcript.panel.dispose();
    }
  }

  private adopt(panel: vscode.WebviewPanel, session: OpenSession): Transcript {
    const transcript = new Transcript(panel, session, this.context.extensionUri, (...args) => this.run(...args), (error) => void this.deeds.tell(error));
    this.shown.set(session, transcript);
    const tell = (): void => {
      if (panel.active) {
        this.sessions.setCurrent(session);
      }
      const active = [...this.shown.values()].some((item) => item.panel.active);
      void vscode.commands.executeCommand("setContext", "octavo.transcriptActive", active);
    };
    panel.onDidChangeViewState(tell);
    panel.onDidDispose(() => {
      transcript.dispose();
      if (this.shown.get(session) === transcript) {
        this.shown.delete(session);
      }
      tell();
    });
    tell();
    return transcript;
  }
}
