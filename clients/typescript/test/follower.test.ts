import assert from "node:assert/strict";
import { test } from "node:test";

import type { MessageConnection } from "vscode-jsonrpc";

import {
  ConnectionLostError,
  OctavoError,
  ReconnectingClient,
  SessionFollower,
  isKind,
  pauseMs,
  BACKOFF,
  type Change,
  type ConnectionState,
  type Followed,
  type GetEntriesParams,
  type ReconnectOptions,
} from "../src/index.js";
import { collect, greeted, pair, type Pair } from "./fake.js";

/** One session as a daemon has it: its numbered changes, told to whoever has opened it. */
class Session {
  epoch = "one";
  changes: Change[] = [];
  forgotten = 0;
  pageSize = 1_000;
  calls: string[] = [];
  lockedFor = 0;
  private readonly open = new Set<MessageConnection>();

  readonly script = (daemon: MessageConnection): void => {
    daemon.onRequest("session/open", () => {
      this.calls.push("open");
      if (this.lockedFor > 0) {
        this.lockedFor -= 1;
        return OctavoError.of("session-locked", "A daemon that is going has it.").toResponse();
      }
      this.open.add(daemon);
      return this.info();
    });
    daemon.onRequest("session/getInfo", () => this.info());
    daemon.onRequest("session/getEntries", (params: GetEntriesParams) => this.entries(params));
    daemon.onClose(() => this.open.delete(daemon));
  };

  get seq(): number {
    return this.forgotten + this.changes.length;
  }

  change(tell = true): void {
    const seq = this.seq + 1;
    const change: Change = { seq, kind: "appended", entryIds: [`e${seq}`], leafId: `e${seq}` };
    this.changes.push(change);
    for (const daemon of tell ? this.open : []) {
      this.tell(daemon, change);
    }
  }

  tell(daemon: MessageConnection, change: Change): void {
    void daemon.sendNotification("session/didChange", { sessionId: "s", epoch: this.epoch, ...change });
  }

  tellAll(change: Change): void {
    for (const daemon of this.open) {
      this.tell(daemon, change);
    }
  }

  restart(): void {
    this.epoch = "two";
    this.changes = [];
    this.forgotten = 0;
  }

  private info(): object {
    return { sessionId: "s", seq: this.seq, epoch: this.epoch };
  }

  private entries({ ids, sinceSeq, epoch, cursor }: GetEntriesParams): object {
    this.calls.push(ids ? `ids ${ids.join()}` : `since ${sinceSeq}`);
    const entry = (id: string): object => ({ type: "label", id });
    const state = { missing: [], reset: false, seq: this.seq, epoch: this.epoch };
    if (ids) {
      return { ...state, entries: ids.map(entry), changes: [] };
    }
    if (epoch !== this.epoch || (sinceSeq ?? 0) < this.forgotten) {
      return { ...state, entries: [], changes: [], reset: true };
    }
    const all = this.changes.filter((change) => change.seq > (sinceSeq ?? 0));
    const start = Number(cursor ?? 0);
    const page = all.slice(start, start + this.pageSize);
    const next = start + this.pageSize < all.length ? { nextCursor: String(start + this.pageSize) } : {};
    return { ...state, entries: page.flatMap((c) => c.entryIds.map(entry)), changes: page, ...next };
  }
}

/** A reconnecting client to `session`, with the connections it made so far and no real pauses. */
function reconnecting(session: Session, options: ReconnectOptions = {}): { client: ReconnectingClient; dialled: Pair[] } {
  const dialled: Pair[] = [];
  const dial = (): Promise<Pair["transport"]> => {
    const made = pair(session.script);
    dialled.push(made);
    return Promise.resolve(made.transport);
  };
  return { client: new ReconnectingClient(dial, { sleep: () => Promise.resolve(), ...options }), dialled };
}

const brief = (items: readonly Followed[]): (string | number)[] =>
  items.map((item) => (item.kind === "reset" ? item.reason : item.change.seq));
const last = (seq: number) => (all: readonly Followed[]): boolean => all.at(-1)?.cursor.seq === seq;

test("changes come once and in order, and gaps are filled", async () => {
  const session = new Session();
  session.change();
  const { client } = await greeted(session.script);
  const follower = new SessionFollower(client, { sessionId: "s" });
  const got = collect(follower, last(6));
  await client.session.getInfo({ sessionId: "s" });
  session.change();
  session.change(false);
  session.change(false);
  session.change();
  session.tellAll(session.changes[4]!);
  session.tellAll(session.changes[1]!);
  session.change();
  assert.deepEqual(brief(await got), ["opened", 2, 3, 4, 5, 6]);
  assert.deepEqual(session.calls, ["open", "since 2"]);
  assert.deepEqual(follower.cursor, { seq: 6, epoch: "one" });
  await client.close();
});

test("what happens while the session is being opened is neither lost nor doubled", async () => {
  const session = new Session();
  const { client } = await greeted((daemon) => {
    session.script(daemon);
    daemon.onRequest("session/open", () => {
      const info = { sessionId: "s", seq: session.seq, epoch: session.epoch };
      session.change(false);
      session.tell(daemon, session.changes[0]!);
      return info;
    });
  });
  assert.deepEqual(brief(await collect(new SessionFollower(client, { sessionId: "s" }), last(1))), ["opened", 1]);
  await client.close();
});

test("a connection that was away catches up exactly, page by page", async () => {
  const session = new Session();
  session.pageSize = 2;
  const { client, dialled } = reconnecting(session);
  const got = collect(new SessionFollower(client, { sessionId: "s" }), last(7));
  await client.ready();
  session.change();
  await client.session.getInfo({ sessionId: "s" });
  dialled[0]!.cut();
  for (let count = 0; count < 5; count++) {
    session.change(false);
  }
  await client.ready();
  await nextClient(client, dialled, 2);
  session.change();
  assert.deepEqual(brief(await got), ["opened", 1, 2, 3, 4, 5, 6, 7]);
  await client.close();
});

test("a connection that ends while it catches up repeats nothing on the next one", async () => {
  const session = new Session();
  session.pageSize = 1;
  let cuts = 1;
  const dialled: Pair[] = [];
  const client = new ReconnectingClient(
    () => {
      const made = pair((daemon) => {
        session.script(daemon);
        daemon.onNotification("exit", () => undefined);
        if (dialled.length === 1) {
          daemon.onRequest("session/getEntries", () => {
            cuts -= 1;
            made.cut();
          });
        }
      });
      dialled.push(made);
      return Promise.resolve(made.transport);
    },
    { sleep: () => Promise.resolve() },
  );
  const got = collect(new SessionFollower(client, { sessionId: "s" }), last(3));
  await client.ready();
  session.change();
  await client.session.getInfo({ sessionId: "s" });
  dialled[0]!.cut();
  session.change(false);
  session.change(false);
  assert.deepEqual(brief(await got), ["opened", 1, 2, 3]);
  assert.equal(cuts, 0);
  assert.equal(dialled.length, 3);
  await client.close();
});

test("a daemon that was restarted numbers anew, which is a reset", async () => {
  const session = new Session();
  const { client, dialled } = reconnecting(session);
  const got = collect(new SessionFollower(client, { sessionId: "s" }), last(2));
  await client.ready();
  session.change();
  await client.session.getInfo({ sessionId: "s" });
  session.restart();
  dialled[0]!.cut();
  await nextClient(client, dialled, 2);
  session.change();
  session.change();
  assert.deepEqual(brief(await got), ["opened", 1, "epoch", 1, 2]);
  await client.close();
});

test("more changes than the daemon remembers are a reset", async () => {
  const session = new Session();
  const { client, dialled } = reconnecting(session);
  const got = collect(new SessionFollower(client, { sessionId: "s" }), last(4));
  await client.ready();
  dialled[0]!.cut();
  session.change(false);
  session.change(false);
  session.forgotten = 3;
  session.changes = [];
  await nextClient(client, dialled, 2);
  session.change();
  assert.deepEqual(brief(await got), ["opened", "history", 4]);
  await client.close();
});

test("a session that is opened anew on the same connection is a reset, and is followed on", async () => {
  const session = new Session();
  const { client } = await greeted(session.script);
  const got = collect(new SessionFollower(client, { sessionId: "s" }), last(2));
  await client.session.getInfo({ sessionId: "s" });
  session.restart();
  session.change();
  await client.session.getInfo({ sessionId: "s" });
  session.change();
  const kinds = brief(await got);
  assert.deepEqual([kinds[0], kinds[1], kinds.at(-1)], ["opened", "epoch", 2]);
  await client.close();
});

test("a consumer that kept its place goes on from there, with the entries of each change", async () => {
  const session = new Session();
  for (let count = 0; count < 3; count++) {
    session.change();
  }
  const { client } = await greeted(session.script);
  const from = { seq: 1, epoch: "one" };
  const items = new SessionFollower(client, { sessionId: "s" }, { from, entries: true })[Symbol.asyncIterator]();
  const all: Followed[] = [(await items.next()).value, (await items.next()).value];
  session.change();
  all.push((await items.next()).value);
  assert.deepEqual(brief(all), [2, 3, 4]);
  assert.deepEqual(
    all.map((item) => (item.kind === "change" ? item.entries?.map((entry) => entry.id) : [])),
    [["e2"], ["e3"], ["e4"]],
  );
  assert.deepEqual(session.calls, ["open", "since 1", "ids e4"]);
  await client.close();
});

test("a session still locked by the daemon before is waited for, but not at the first opening", async () => {
  const session = new Session();
  const { client, dialled } = reconnecting(session);
  const quick = { sleep: () => Promise.resolve() };
  const got = collect(new SessionFollower(client, { sessionId: "s" }, quick), last(1));
  await client.ready();
  session.lockedFor = 3;
  dialled[0]!.cut();
  await nextClient(client, dialled, 2);
  session.change();
  assert.deepEqual(brief(await got), ["opened", 1]);
  session.lockedFor = 1;
  const second = new SessionFollower(client, { sessionId: "s" }, quick);
  await assert.rejects(collect(second, last(9)), (error) => isKind(error, "session-locked"));
  await client.close();
});

test("leaving the loop stops listening, and the end of the client ends the loop", async () => {
  const session = new Session();
  const { client } = reconnecting(session);
  const follower = new SessionFollower(client, { sessionId: "s" });
  await collect(follower, () => true);
  await client.ready();
  session.change();
  await client.session.getInfo({ sessionId: "s" });
  assert.deepEqual(follower.cursor, { seq: 0, epoch: "one" });
  const second = collect(new SessionFollower(client, { sessionId: "s" }), () => false);
  await client.session.getInfo({ sessionId: "s" });
  await client.close();
  assert.deepEqual(brief(await second), ["opened"]);
});

test("a single connection that is lost ends its follower with the reason", async () => {
  const session = new Session();
  const { client, cut } = await greeted(session.script);
  const got = collect(new SessionFollower(client, { sessionId: "s" }), () => false);
  await client.session.getInfo({ sessionId: "s" });
  cut();
  await assert.rejects(got, ConnectionLostError);
  await client.close();
});

test("dialling goes on with growing pauses until it gives up with the last reason", async () => {
  const states: ConnectionState["kind"][] = [];
  const delays: number[] = [];
  let dials = 0;
  const client = new ReconnectingClient(
    () => {
      dials += 1;
      return Promise.reject(new Error(`nobody listens (${dials})`));
    },
    {
      backoff: { initialMs: 100, maxMs: 500, factor: 2, jitter: 0, attempts: 5 },
      sleep: (ms) => Promise.resolve(void delays.push(ms)),
    },
  );
  client.onState(({ kind }) => states.push(kind));
  await assert.rejects(client.ready(), /nobody listens \(5\)/);
  assert.deepEqual(delays, [100, 200, 400, 500]);
  assert.equal(states.at(-1), "closed");
  await assert.rejects(client.session.list(), /nobody listens \(5\)/);
  await client.close();
});

test("pauses grow to a limit, and the jitter only shortens them", () => {
  for (let attempt = 1; attempt < 40; attempt++) {
    const [full, least] = [pauseMs(BACKOFF, attempt, 0), pauseMs(BACKOFF, attempt, 1)];
    assert(full <= BACKOFF.maxMs && full >= pauseMs(BACKOFF, Math.max(1, attempt - 1), 0));
    assert.equal(least, Math.round(full * (1 - BACKOFF.jitter)));
  }
});

test("a daemon that refuses the greeting is not asked again", async () => {
  let dials = 0;
  const client = new ReconnectingClient(() => {
    dials += 1;
    return Promise.resolve(
      pair((daemon) =>
        daemon.onRequest("initialize", () => OctavoError.of("invalid-request", "The token is wrong.").toResponse()),
      ).transport,
    );
  });
  await assert.rejects(client.ready(), (error) => isKind(error, "invalid-request"));
  assert.equal(dials, 1);
  await client.close();
});

test("a request is sent again only when the caller says that it may be", async () => {
  const session = new Session();
  const dialled: Pair[] = [];
  let asked = 0;
  const client = new ReconnectingClient(
    () => {
      const made = pair((daemon) =>
        daemon.onRequest("session/append", () => {
          asked += 1;
          if (asked < 3) {
            made.cut();
            return new Promise(() => undefined);
          }
          return { entryIds: ["a"] };
        }),
      );
      dialled.push(made);
      return Promise.resolve(made.transport);
    },
    { sleep: () => Promise.resolve() },
  );
  const params = { sessionId: "s", messages: [{ role: "user" as const, content: "hello" }], ids: ["a"] };
  await assert.rejects(client.session.append(params), ConnectionLostError);
  const answer = await client.request("session/append", params, { resend: true });
  assert.deepEqual([answer.entryIds, asked, dialled.length], [["a"], 3, 3]);
  assert.equal(session.seq, 0);
  await client.close();
});

test("listeners stay over connections", async () => {
  const session = new Session();
  const { client, dialled } = reconnecting(session);
  const seen: number[] = [];
  const subscription = client.on("session/didChange", ({ seq }) => seen.push(seq));
  client.onConnected(async (one) => void (await one.session.open({ sessionId: "s" })));
  await client.ready();
  session.change();
  await client.session.getInfo({ sessionId: "s" });
  dialled[0]!.cut();
  await nextClient(client, dialled, 2);
  session.change();
  await client.session.getInfo({ sessionId: "s" });
  subscription.dispose();
  session.change();
  await client.session.getInfo({ sessionId: "s" });
  assert.deepEqual(seen, [1, 2]);
  await client.close();
});

/** Wait until the connection number `count` is the present one. */
async function nextClient(client: ReconnectingClient, dialled: readonly Pair[], count: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const check = (): boolean => client.state.kind === "connected" && dialled.length === count;
    if (check()) {
      resolve();
      return;
    }
    const waiting = client.onState(() => {
      if (check()) {
        waiting.dispose();
        resolve();
      }
    });
  });
}
