import assert from "node:assert/strict";
import { test } from "node:test";

import { SHOWN, block, detail, frames, picture } from "../src/transcript/blocks.ts";
import { markup } from "../src/transcript/markup.ts";
import { pathAfter } from "../src/transcript/pages.ts";

const message = (body: object): Record<string, unknown> => ({ type: "message", id: "m", timestamp: "t", message: body });

test("an assistant message keeps the order of text, reasoning and calls, and tells what a call is about", () => {
  const drawn = block(
    message({
      role: "assistant",
      model: "small",
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "I look." },
        { type: "toolCall", id: "c1", name: "bash", arguments: { timeout: 3, command: "ls\n  -la" } },
      ],
    }),
  );
  assert.ok(drawn?.kind === "assistant");
  assert.deepEqual(drawn.parts.map((part) => part.kind), ["thinking", "text", "call"]);
  const call = drawn.parts[2];
  assert.ok(call?.kind === "call");
  assert.deepEqual([call.tool, call.gist, call.at], ["bash", "ls -la", 2]);
});

test("a megabyte of output is cut for the page and fetched whole on demand, never in the middle of a character", () => {
  const text = `${"x".repeat(SHOWN - 1)}😀${"y".repeat(1_000_000)}`;
  const entry = message({ role: "toolResult", toolCallId: "c1", toolName: "read", content: [{ type: "text", text }], isError: true });
  const drawn = block(entry);
  assert.ok(drawn?.kind === "result");
  assert.equal(drawn.text.text, "x".repeat(SHOWN - 1));
  assert.equal(drawn.text.full, text.length);
  assert.equal(drawn.failed, true);
  assert.equal(detail(entry, "result"), text);
});

test("a compaction shows its summary, its figures and its frames", () => {
  const entry = {
    type: "compaction",
    id: "k",
    timestamp: "t",
    summary: "## Goal",
    tokensBefore: 9_000,
    details: { readFiles: ["a"], modifiedFiles: ["b", "c"] },
    preserveData: { snapcompact: { frames: [{ data: "iVBORw0=", mimeType: "image/png" }, { data: "<script>" }] } },
  };
  const drawn = block(entry);
  assert.ok(drawn?.kind === "compaction");
  assert.deepEqual([drawn.tokensBefore, drawn.frames, drawn.fileCount], [9_000, 2, 3]);
  assert.deepEqual(frames(entry), ["data:image/png;base64,iVBORw0="]);
});

test("pictures of a message are named by their place and read from either way of storing them", () => {
  const entry = message({ role: "user", content: [{ type: "text", text: "see" }, { type: "image", source: { media_type: "image/jpeg", data: "AAAA" } }] });
  assert.equal(picture(entry, 1), "data:image/jpeg;base64,AAAA");
  assert.equal(picture(entry, 7), "");
});

test("entries without the fields they should have are drawn as far as they go", () => {
  for (const odd of [null, 7, "text", [], { content: [null, 3, { type: "text" }] }, { role: 5, content: null }]) {
    assert.doesNotThrow(() => block({ type: "message", id: 3, message: odd }));
  }
  assert.deepEqual(frames({ type: "compaction", preserveData: { snapcompact: { frames: "none" } } }), []);
  assert.equal(block({ type: "from-the-future", id: "f" }), undefined);
  assert.equal(block({ type: "custom_message", id: "h", display: false, content: "hidden" }), undefined);
});

test("Markdown is read as far as a transcript needs it, and the rest stays as it is written", () => {
  assert.deepEqual(
    markup("# Goal\nkeep `it`\n\n- one\n  - **two**\n- [x] done\n---\n```py\n<b>\n```\n> said").map((piece) => piece.kind),
    ["heading", "text", "item", "item", "item", "rule", "code", "quote"],
  );
  assert.deepEqual(markup("a <b>`c`</b>"), [
    { kind: "text", spans: [{ text: "a <b>" }, { text: "c", style: "code" }, { text: "</b>" }] },
  ]);
  assert.deepEqual(markup("```\nnever closed"), [{ kind: "code", language: "", text: "never closed" }]);
});

test("what follows an entry on the active path leaves other branches out", () => {
  const nodes = ["a", "b", "x", "c"].map((id) => ({ id, onBranch: id !== "x" }));
  assert.deepEqual(pathAfter(nodes, "a"), ["b", "c"]);
  assert.deepEqual(pathAfter(nodes, "unknown"), []);
});
