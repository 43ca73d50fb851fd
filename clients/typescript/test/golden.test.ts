import assert from "node:assert/strict";
import { test } from "node:test";

import { ResponseError } from "vscode-jsonrpc";

import * as protocol from "../src/index.js";
import { ERRORS, OctavoError, type EventName, type Handlers, type Requests } from "../src/index.js";
import { greeted } from "./fake.js";
import * as golden from "./golden.generated.js";

const sent = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

for (const exchange of golden.requests.filter((one) => one.direction === "clientToDaemon")) {
  test(`${exchange.method} is sent and answered as in its golden file`, async () => {
    let received: unknown;
    const { client } = await greeted((daemon) =>
      daemon.onRequest(exchange.method, (params) => {
        received = params;
        return exchange.result;
      }),
    );
    const [group, name] = exchange.method.split("/") as [string, string];
    const helper: unknown = Reflect.get(Reflect.get(client, group) as object, name);
    assert.equal(typeof helper, "function");
    const result: unknown = await (helper as (params: object) => unknown)(exchange.params);
    assert.deepEqual(received, sent(exchange.params));
    assert.deepEqual(result, sent(exchange.result));
    await client.close();
  });
}

for (const exchange of golden.requests.filter((one) => one.direction === "daemonToClient")) {
  test(`the daemon's ${exchange.method} is answered as in its golden file`, async () => {
    let received: unknown;
    const handlers = {
      [exchange.method]: (params: unknown) => {
        received = params;
        return exchange.result;
      },
    } as Handlers;
    const { client, daemon } = await greeted(undefined, { handlers });
    const result: unknown = await daemon.sendRequest(exchange.method, exchange.params);
    assert.deepEqual(received, sent(exchange.params));
    assert.deepEqual(result, sent(exchange.result));
    await client.close();
  });
}

for (const error of golden.errors) {
  test(`an answer of kind ${error.data.kind} is thrown as an error with its facts`, async () => {
    const { client } = await greeted((daemon) =>
      daemon.onRequest("session/compact", () => new ResponseError(error.code, error.message, error.data)),
    );
    await assert.rejects(client.session.compact({ sessionId: "s" }), (thrown: unknown) => {
      assert(thrown instanceof OctavoError);
      assert.equal(thrown.kind, error.data.kind);
      assert.equal(thrown.code, error.code);
      assert.equal(thrown.code, ERRORS[error.data.kind].code);
      assert.equal(thrown.message, error.message);
      assert.deepEqual(thrown.data, sent(error.data));
      return true;
    });
    await client.close();
  });
}

for (const { method, direction, params } of golden.notifications) {
  test(`${method} arrives as in its golden file`, async () => {
    if (direction === "clientToDaemon") {
      const { client, heard, daemon } = await greeted();
      daemon.onRequest("test/flush", () => null);
      await client.notify(method as "initialized", params as Record<string, never>);
      await client.request("test/flush" as keyof Requests, {});
      // A connection keeps this one to itself.
      const hidden = method === "$/cancelRequest";
      assert.equal(heard.some(([name, got]) => name === method && equal(got, sent(params))), !hidden);
      await client.close();
      return;
    }
    const { client } = await greeted((daemon) =>
      daemon.onRequest("session/compact", async ({ workDoneToken }: { workDoneToken: string }) => {
        await daemon.sendNotification(method, method === "$/progress" ? { ...params, token: workDoneToken } : params);
        return {};
      }),
    );
    const heard: unknown[] = [];
    if (method === "$/progress") {
      await client.session.compact({ sessionId: "s" }, { onProgress: (value) => heard.push(value) });
      assert.deepEqual(heard, [sent((params as { value: unknown }).value)]);
    } else {
      client.on(method as EventName, (payload) => heard.push(payload));
      await client.session.compact({ sessionId: "s" });
      assert.deepEqual(heard, [sent(params)]);
    }
    await client.close();
  });
}

test("every method and notification has a typed constant of its own", () => {
  const named = Object.values(protocol)
    .map((value): unknown => (typeof value === "object" ? Reflect.get(value, "method") : undefined))
    .filter((method) => method !== undefined)
    .sort();
  const tables = [...golden.requests, ...golden.notifications].map((one) => one.method).sort();
  assert.deepEqual(named, tables);
});

function equal(left: unknown, right: unknown): boolean {
  try {
    assert.deepEqual(left, right);
    return true;
  } catch {
    return false;
  }
}
