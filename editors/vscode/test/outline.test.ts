import assert from "node:assert/strict";
import { test } from "node:test";

import type { GetTreeResult, TreeNode } from "octavo-client";

import { Rows, outline, plain, size, type OutlineItem } from "../src/tree/outline.ts";

function row(id: string, parentId: string | undefined, fields: Partial<TreeNode> = {}): TreeNode {
  return { id, ...(parentId === undefined ? {} : { parentId }), depth: 0, type: "message", timestamp: id, text: id, toolNames: [], isError: false, onBranch: false, isLeaf: false, childCount: 0, hiddenChildren: 0, ...fields };
}

function loaded(nodes: TreeNode[], fields: Partial<GetTreeResult> = {}): Rows {
  const rows = new Rows();
  rows.take({ nodes, hiddenBefore: 0, hiddenAfter: 0, matching: nodes.length, total: nodes.length, filter: "default", seq: 1, ...fields }, { window: 500 });
  return rows;
}

function drawn(items: readonly OutlineItem[], indent = ""): string[] {
  return items.flatMap((item) =>
    item.kind === "door"
      ? [`${indent}(${item.where} ${item.count})`]
      : [`${indent}${item.head ? "+" : ""}${item.row.id}`, ...drawn(item.children, `${indent}  `)],
  );
}

const on = { onBranch: true };

test("the active path is one flat line, and another branch is folded after the entry it leaves from", () => {
  const rows = loaded([
    row("a", undefined, { ...on, childCount: 1 }),
    row("b", "a", { ...on, childCount: 2 }),
    row("c", "b", { childCount: 1 }),
    row("d", "c"),
    row("e", "b", { ...on, childCount: 1 }),
    row("f", "e", { ...on, isLeaf: true }),
  ]);
  assert.deepEqual(drawn(outline(rows).roots), ["a", "b", "+c", "  d", "e", "f"]);
});

test("a branch that began later than the active one is still beside its fork", () => {
  const rows = loaded([
    row("a", undefined, { ...on, childCount: 2 }),
    row("b", "a", { ...on, childCount: 1 }),
    row("c", "b", { ...on, isLeaf: true }),
    row("x", "a"),
  ]);
  assert.deepEqual(drawn(outline(rows).roots), ["a", "+x", "b", "c"]);
});

test("within a folded branch the newest child goes on and the others are folded again", () => {
  const rows = loaded([
    row("a", undefined, { ...on, isLeaf: true, childCount: 1 }),
    row("b", "a", { childCount: 2 }),
    row("c", "b"),
    row("d", "b", { childCount: 1 }),
    row("e", "d"),
  ]);
  assert.deepEqual(drawn(outline(rows).roots), ["a", "+b", "  +c", "  d", "  e"]);
});

test("what is not loaded is behind a door that says how much it is", () => {
  const rows = loaded(
    [row("m", "l", { ...on, childCount: 1 }), row("n", "m", { ...on, isLeaf: true, childCount: 2 }), row("o", "n", { childCount: 1 })],
    { hiddenBefore: 9_000 },
  );
  const { roots } = outline(rows);
  assert.deepEqual(drawn(roots), ["(before 9000)", "m", "n", "+o", "  (after 0)", "(branch 1)"]);
  const [door] = roots;
  assert.ok(door?.kind === "door");
  assert.deepEqual([door.ask.around, door.beside], ["l", "m"]);
});

test("opening a door joins what it answers with what is there", () => {
  const rows = loaded([row("c", "b", { ...on, isLeaf: true })], { hiddenBefore: 2 });
  rows.take(
    { nodes: [row("a", undefined, { ...on, childCount: 1 }), row("b", "a", { ...on, childCount: 1 })], hiddenBefore: 0, hiddenAfter: 1, matching: 3, total: 3, filter: "default", seq: 1 },
    { window: 500, around: "b" },
  );
  assert.deepEqual(drawn(outline(rows).roots), ["a", "b", "c"]);
});

test("an answer about another state of the session replaces everything", () => {
  const rows = loaded([row("a", undefined, { ...on, isLeaf: true })]);
  rows.take({ nodes: [row("z", undefined, { ...on, isLeaf: true })], matching: 1, total: 1, filter: "default", seq: 2 } as GetTreeResult, { window: 500 });
  assert.deepEqual(drawn(outline(rows).roots), ["z"]);
});

test("a session that stands before its first entry shows every root as a branch", () => {
  assert.deepEqual(drawn(outline(loaded([row("a", undefined, { childCount: 1 }), row("b", "a")])).roots), ["+a", "  b"]);
});

test("the size of a folded branch counts its own branches, and is unknown while a part is missing", () => {
  const whole = outline(loaded([row("a", undefined, { childCount: 2 }), row("b", "a"), row("c", "a")])).roots[0];
  const part = outline(loaded([row("a", undefined, { childCount: 1 })])).roots[0];
  assert.ok(whole?.kind === "entry" && part?.kind === "entry");
  assert.deepEqual([size(whole), size(part)], [3, undefined]);
});

test("a path of 40,000 entries is drawn in a fraction of a second and without recursion", { timeout: 5_000 }, () => {
  const nodes = Array.from({ length: 40_000 }, (_, i) =>
    row(String(i).padStart(6, "0"), i === 0 ? undefined : String(i - 1).padStart(6, "0"), { ...on, childCount: i < 39_999 ? 1 : 0, isLeaf: i === 39_999 }),
  );
  const side = nodes.map((node) => ({ ...node, id: `x${node.id}`, parentId: node.parentId === undefined ? "000000" : `x${node.parentId}`, onBranch: false, isLeaf: false }));
  const { roots, pathLength } = outline(loaded([...nodes, ...side]));
  assert.equal(pathLength, 40_000);
  const branch = roots.find((item) => item.kind === "entry" && item.head);
  assert.ok(branch?.kind === "entry");
  assert.equal(size(branch), 40_000);
});

test("a line is shown without the signs of Markdown", () => {
  assert.equal(plain("## Where **we** are - `make test`"), "Where we are - make test");
});
