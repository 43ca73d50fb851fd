/**
 * One open session as the window sees it: its facts, how full it is, what runs in it, and every change once.
 *
 * Follows the server's end notifications rather than replies, so that what another client does shows here as well.
 */

import {
  ConnectionLostError,
  SessionFollower,
  isKind,
  type Change,
  type ContextUsage,
  type Entry,
  type OpenParams,
  type OpenResult,
  type ProgressValue,
  type SessionInfo,
} from "octavo-client";
import type { ReconnectingClient } from "octavo-client/node";
import * as vscode from "vscode";

/** Something the server is doing to the session. */
export interface Running {
  operationId: string;
  kind: "compaction" | "branchSummary" | "handoff";
  title: string;
  progress?: ProgressValue;
}

/** What happened. */
export type SessionEvent =
  | { kind: "reset" }
  | { kind: "change"; change: Change; entries: Entry[] }
  | { kind: "info" }
  | { kind: "usage" }
  | { kind: "running" };

/** Pause in which further changes are waited for before the gauge is measured again. */
const SETTLE_MS = 200;

/** An open session. */
export class OpenSession implements vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<SessionEvent>();
  readonly onDidHappen = this.emitter.event;

  usage: ContextUsage | undefined;
  running: Running | undefined;
  /** How many ends of operations were heard; a reply need not tell what an end has told. */
  endings = 0;
  private follower: SessionFollower | undefined;
  private measuring: NodeJS.Timeout | undefined;
  private disposed = false;

  client: ReconnectingClient;
  info: SessionInfo;
  readonly recovered: OpenResult["recovered"];
  private readonly onFailure: (error: unknown) => void;

  private constructor(client: ReconnectingClient, info: OpenResult, onFailure: (error: unknown) => void) {
    this.client = client;
    this.info = info;
    this.recovered = info.recovered;
    this.onFailure = onFailure;
    this.attach(client);
  }

  /** Open a session; what fails later is told to `onFailure`. Throws what `session/open` answers. */
  static async open(
    client: ReconnectingClient,
    params: OpenParams,
    onFailure: (error: unknown) => void,
  ): Promise<OpenSession> {
    return new OpenSession(client, await client.session.open(params), onFailure);
  }

  get id(): string {
    return this.info.sessionId;
  }

  get title(): string {
    return this.info.title ?? (this.info.path?.split(/[\\/]/).pop() ?? this.info.sessionId);
  }

  get writable(): boolean {
    return this.info.mode === "write";
  }

  /** Go on over another client, after the server was started anew. */
  attach(client: ReconnectingClient): void {
    this.follower?.stop();
    this.client = client;
    const name = this.info.path === undefined ? { sessionId: this.id } : { path: this.info.path };
    const follower = new SessionFollower(client, { ...name, mode: this.info.mode }, { entries: true });
    this.follower = follower;
    void this.follow(follower);
  }

  /** Something began. */
  begin(running: Running): void {
    this.running = running;
    this.emitter.fire({ kind: "running" });
  }

  /** Something goes on. */
  report(progress: ProgressValue): void {
    if (this.running !== undefined) {
      this.running = { ...this.running, progress: { ...this.running.progress, ...progress } };
      this.emitter.fire({ kind: "running" });
    }
  }

  /** Something ended. */
  end(operationId: string | undefined): void {
    this.endings += 1;
    if (operationId === undefined || this.running?.operationId === operationId) {
      this.running = undefined;
      this.emitter.fire({ kind: "running" });
    }
    this.remeasure();
  }

  /** Stop following and close it at the server. */
  dispose(): void {
    this.disposed = true;
    clearTimeout(this.measuring);
    this.follower?.stop();
    this.emitter.dispose();
    if (this.client.state.kind === "connected") {
      // A connection that ends closes its sessions by itself.
      void this.client.session.close({ sessionId: this.id }).catch(() => undefined);
    }
  }

  private async follow(follower: SessionFollower): Promise<void> {
    try {
      for await (const item of follower) {
        if (this.disposed) {
          return;
        }
        if (item.kind === "reset") {
          this.info = item.info;
          // What ran in a server that went did not survive it.
          this.running = undefined;
          this.emitter.fire({ kind: "reset" });
          this.emitter.fire({ kind: "running" });
        } else {
          const { change } = item;
          this.info = {
            ...this.info,
            seq: change.seq,
            ...(change.leafId === undefined ? {} : { leafId: change.leafId }),
            ...(change.title === undefined ? {} : { title: change.title }),
          };
          this.emitter.fire({ kind: "change", change, entries: item.entries ?? [] });
        }
        this.remeasure();
      }
    } catch (error) {
      // That the server went for good is told once, by whoever watches it.
      if (!this.disposed && this.follower === follower && !(error instanceof ConnectionLostError)) {
        this.onFailure(error);
      }
    }
  }

  private remeasure(): void {
    clearTimeout(this.measuring);
    this.measuring = setTimeout(() => void this.measure(), SETTLE_MS);
  }

  private async measure(): Promise<void> {
    try {
      const [usage, info] = await Promise.all([
        this.client.session.contextUsage({ sessionId: this.id }),
        this.client.session.getInfo({ sessionId: this.id }),
      ]);
      if (!this.disposed) {
        this.usage = usage;
        this.info = info;
        this.emitter.fire({ kind: "usage" });
      }
    } catch (error) {
      // Between two connections nothing can be measured; the next reset measures again.
      if (!this.disposed && this.client.state.kind === "connected" && !isKind(error, "session-not-found")) {
        this.onFailure(error);
      }
    }
  }
}
