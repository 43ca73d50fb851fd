/**
 * Follows one session: every change once and in order, also those that happened while the connection was away.
 *
 * Changes are numbered (`seq`) within one opening of the session by a daemon (`epoch`). A gap is filled with
 * `session/getEntries`; where the numbering ended, or the daemon does not remember far enough back, a `reset` tells
 * the consumer to read the session again.
 */

import type { Disposable } from "vscode-jsonrpc";

import type { OctavoClient } from "./client.js";
import { ConnectionLostError, isKind } from "./errors.js";
import type { Change, DidChange, Entry, OpenParams, OpenResult, SessionInfo } from "./generated/types.js";
import { AsyncQueue } from "./queue.js";
import { BACKOFF, pauseMs, type Backoff, type Followable } from "./reconnect.js";
import { sleep } from "./timing.js";

/** A place in a session's history: everything up to and including `seq` is known. */
export interface Cursor {
  readonly seq: number;
  readonly epoch: string;
}

/** What a follower yields. */
export type Followed =
  | {
      /** Read the session again: what is read later than this is at least as new as `cursor`. */
      kind: "reset";
      /** `opened`: the start; `epoch`: another numbering; `history`: more changes were missed than are remembered. */
      reason: "opened" | "epoch" | "history";
      info: SessionInfo | OpenResult;
      cursor: Cursor;
    }
  | {
      kind: "change";
      change: Change & { title?: string };
      /** Entries appended or rewritten, as they are now (those that are gone left out); only with the option `entries`. */
      entries?: Entry[];
      cursor: Cursor;
    };

/** Options of a follower. */
export interface FollowOptions {
  /** Where the consumer stands already; absent means to begin with a `reset`. */
  from?: Cursor;
  /** Yield the entries with each change. */
  entries?: boolean;
  /** Pauses while the session is still locked by a daemon that is going. */
  backoff?: Partial<Backoff>;
  random?: () => number;
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Iterate it with `for await`; leaving the loop stops it and leaves the session open. */
export class SessionFollower implements AsyncIterable<Followed> {
  private readonly queue: AsyncQueue<Followed>;
  private readonly stopping = new AbortController();
  private readonly attachments: Disposable[];
  private readonly backoff: Backoff;
  private listening: Disposable | undefined;
  private work: Promise<void> = Promise.resolve();
  private at: Cursor | undefined;

  /** Open the session on every connection of `source` and follow it. */
  constructor(
    source: Followable,
    private readonly params: OpenParams,
    private readonly options: FollowOptions = {},
  ) {
    this.at = options.from;
    this.backoff = { ...BACKOFF, ...options.backoff };
    this.queue = new AsyncQueue(() => this.stop());
    this.attachments = [
      source.onConnected((client) => this.connected(client)),
      source.onEnded((error) => void this.work.then(() => this.finish(error))),
    ];
  }

  /** The last place that was put into the iteration. */
  get cursor(): Cursor | undefined {
    return this.at;
  }

  /** Stop following; the iteration ends. */
  stop(): void {
    this.finish(undefined);
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Followed> {
    return this.queue;
  }

  private finish(error: Error | undefined): void {
    this.stopping.abort();
    this.listening?.dispose();
    for (const item of this.attachments ?? []) {
      item.dispose();
    }
    this.queue.end(error);
  }

  /** Resolves when the session is open on the new connection and everything missed has been yielded. */
  private connected(client: OctavoClient): Promise<void> {
    this.listening?.dispose();
    let sessionId: string | undefined;
    // Listening before opening loses nothing; what opening covers already is recognised by its number.
    this.listening = client.on("session/didChange", (change) => {
      void this.enqueue(async () => {
        if (change.sessionId === sessionId) {
          await this.take(client, change);
        }
      });
    });
    return this.enqueue(async () => {
      const info = await this.open(client);
      sessionId = info.sessionId;
      await this.align(client, info);
    });
  }

  /** Run steps one after the other; a failure that is not a lost connection ends the iteration. */
  private enqueue(step: () => Promise<void>): Promise<void> {
    this.work = this.work.then(async () => {
      try {
        if (!this.stopping.signal.aborted) {
          await step();
        }
      } catch (error) {
        if (!(error instanceof ConnectionLostError)) {
          this.finish(error instanceof Error ? error : new Error(String(error)));
        }
      }
    });
    return this.work;
  }

  private async open(client: OctavoClient): Promise<OpenResult> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await client.session.open(this.params);
      } catch (error) {
        const again = isKind(error, "session-locked") && this.at !== undefined && attempt < this.backoff.attempts;
        if (!again || this.stopping.signal.aborted) {
          throw error;
        }
        const pause = pauseMs(this.backoff, attempt, (this.options.random ?? Math.random)());
        await (this.options.sleep ?? sleep)(pause, this.stopping.signal);
      }
    }
  }

  private async align(client: OctavoClient, info: OpenResult): Promise<void> {
    if (this.at === undefined) {
      this.reset("opened", info);
    } else if (this.at.epoch !== info.epoch) {
      this.reset("epoch", info);
    } else if (this.at.seq !== info.seq) {
      await this.catchUp(client, info.sessionId, this.at);
    }
  }

  private async take(client: OctavoClient, change: DidChange): Promise<void> {
    if (this.at === undefined || this.at.epoch !== change.epoch) {
      await this.align(client, await this.open(client));
    } else if (change.seq === this.at.seq + 1) {
      const { sessionId, epoch, ...plain } = change;
      await this.yieldChange(client, sessionId, plain, epoch);
    } else if (change.seq > this.at.seq) {
      await this.catchUp(client, change.sessionId, this.at);
    }
  }

  private async catchUp(client: OctavoClient, sessionId: string, from: Cursor): Promise<void> {
    const changes: Change[] = [];
    const known = new Map<string, Entry>();
    let cursor: string | undefined;
    do {
      const page = await client.session.getEntries({
        sessionId,
        sinceSeq: from.seq,
        epoch: from.epoch,
        ...(cursor === undefined ? {} : { cursor }),
      });
      if (page.reset || page.epoch !== from.epoch) {
        const info = await client.session.getInfo({ sessionId });
        this.reset(info.epoch === from.epoch ? "history" : "epoch", info);
        return;
      }
      changes.push(...page.changes);
      for (const entry of page.entries) {
        known.set(entry.id, entry);
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    for (const change of changes) {
      if (change.seq > (this.at?.seq ?? 0)) {
        await this.yieldChange(client, sessionId, change, from.epoch, known);
      }
    }
  }

  private async yieldChange(
    client: OctavoClient,
    sessionId: string,
    change: Change & { title?: string },
    epoch: string,
    known: ReadonlyMap<string, Entry> = new Map(),
  ): Promise<void> {
    const cursor = { seq: change.seq, epoch };
    if (this.options.entries !== true) {
      this.emit({ kind: "change", change, cursor });
      return;
    }
    let entries = change.entryIds.flatMap((id) => known.get(id) ?? []);
    if (entries.length < change.entryIds.length) {
      entries = (await client.session.getEntries({ sessionId, ids: change.entryIds })).entries;
    }
    this.emit({ kind: "change", change, entries, cursor });
  }

  private reset(reason: "opened" | "epoch" | "history", info: SessionInfo | OpenResult): void {
    this.emit({ kind: "reset", reason, info, cursor: { seq: info.seq, epoch: info.epoch } });
  }

  private emit(item: Followed): void {
    this.at = item.cursor;
    this.queue.push(item);
  }
}
