/**
 * The sessions this window has open, which of them the views show, and the server's news about them.
 */

import { isKind, type OpenParams } from "octavo-client";
import type { ReconnectingClient } from "octavo-client/node";
import * as vscode from "vscode";

import type { Server } from "../server/server.ts";
import { Announcer } from "./announcer.ts";
import { OpenSession, type SessionEvent } from "./session.ts";

/** Which file or id to open. */
export type SessionName = { path: string } | { sessionId: string };

/** Every open session of the window. */
export class Sessions implements vscode.Disposable {
  private readonly open = new Map<string, OpenSession>();
  private readonly changed = new vscode.EventEmitter<OpenSession | undefined>();
  private readonly happened = new vscode.EventEmitter<SessionEvent>();
  /** The views show another session. */
  readonly onDidChangeCurrent = this.changed.event;
  /** Something happened in the session the views show. */
  readonly onDidHappen = this.happened.event;
  private held: OpenSession | undefined;
  private readonly disposables: vscode.Disposable[] = [];
  private readonly server: Server;
  private readonly announcer: Announcer;
  private readonly onFailure: (error: unknown) => void;

  constructor(server: Server, announcer: Announcer, onFailure: (error: unknown) => void) {
    this.server = server;
    this.announcer = announcer;
    this.onFailure = onFailure;
    this.disposables.push(server.onDidReplaceClient((client) => this.listen(client)));
  }

  get current(): OpenSession | undefined {
    return this.held;
  }

  /** Open a session (or take the open one) and show it. Throws what `session/open` answers. */
  async show(name: SessionName, mode: OpenParams["mode"] = "write"): Promise<OpenSession> {
    const client = this.server.client;
    if (client === undefined) {
      throw new Error("no server");
    }
    const known = [...this.open.values()].find((session) =>
      "path" in name ? session.info.path === name.path : session.id === name.sessionId,
    );
    const session = known ?? (await OpenSession.open(client, { ...name, mode }, this.onFailure));
    const same = this.open.get(session.id);
    if (same !== undefined && same !== session) {
      session.dispose();
      this.setCurrent(same);
      return same;
    }
    if (known === undefined) {
      this.open.set(session.id, session);
      session.onDidHappen((event) => {
        if (this.held === session) {
          this.happened.fire(event);
        }
      });
      this.announcer.recovered(session);
    }
    this.setCurrent(session);
    return session;
  }

  setCurrent(session: OpenSession | undefined): void {
    if (this.held !== session) {
      this.held = session;
      this.changed.fire(session);
    }
  }

  /** Close a session. */
  close(session: OpenSession): void {
    this.open.delete(session.id);
    if (this.held === session) {
      this.setCurrent([...this.open.values()].pop());
    }
    session.dispose();
  }

  dispose(): void {
    for (const item of [...this.open.values(), ...this.disposables, this.changed, this.happened]) {
      item.dispose();
    }
  }

  private listen(client: ReconnectingClient): void {
    const session = (id: string): OpenSession | undefined => this.open.get(id);
    client.on("session/compactionStart", (start) => {
      session(start.sessionId)?.begin({ operationId: start.operationId, kind: "compaction", title: "Compacting" });
    });
    client.on("session/compactionEnd", (end) => {
      const which = session(end.sessionId);
      which?.end(end.operationId);
      if (which !== undefined) {
        this.announcer.compaction(which, end);
      }
    });
    client.on("session/branchSummaryStart", (start) => {
      session(start.sessionId)?.begin({
        operationId: start.operationId,
        kind: "branchSummary",
        title: `Summarising ${start.entries} entries`,
      });
    });
    client.on("session/branchSummaryEnd", (end) => {
      const which = session(end.sessionId);
      which?.end(end.operationId);
      if (which !== undefined) {
        this.announcer.branchSummary(which, end);
      }
    });
    client.on("session/handoffStart", (start) => {
      session(start.sessionId)?.begin({ operationId: start.operationId, kind: "handoff", title: "Handing off" });
    });
    client.on("session/handoffEnd", (end) => {
      const which = session(end.sessionId);
      which?.end(end.operationId);
      if (which !== undefined) {
        this.announcer.handoff(which, end);
      }
    });
    client.on("session/notice", (notice) => this.announcer.notice(notice));
    client.on("session/modelPromoted", ({ sessionId, to }) => {
      const which = session(sessionId);
      if (which !== undefined) {
        this.announcer.promoted(which, to);
      }
    });
    for (const item of this.open.values()) {
      item.attach(client);
    }
  }
}

/** Whether a session cannot be followed any more. */
export function isGone(error: unknown): boolean {
  return isKind(error, "session-not-found") || isKind(error, "session-unreadable");
}
