/**
 * Turns rows of `session/getTree` into what a tree view draws: the active path as one flat line, every other branch as a
 * folded item after the entry it leaves from, and a door to what is not loaded yet. Pure, linear and without recursion.
 */

import type { GetTreeParams, GetTreeResult, TreeNode } from "octavo-client";

/** Which entries a tree shows. */
export type TreeFilter = GetTreeResult["filter"];

/** What to ask `session/getTree` for. */
export type Ask = Required<Pick<GetTreeParams, "window">> & { around?: string; maxDepth?: number };

/** An entry of the view. */
export interface EntryItem {
  kind: "entry";
  row: TreeNode;
  /** The first entry of a branch that is not the active one; what follows it is in `children`. */
  head: boolean;
  children: OutlineItem[];
  parent: EntryItem | undefined;
}

/** A door to entries that are not loaded. */
export interface DoorItem {
  kind: "door";
  where: "before" | "after" | "branch";
  /** How many there are behind it; 0 when that is not known. */
  count: number;
  ask: Ask;
  /** Entry beside it, which stays in sight when it is opened. */
  beside: string;
  parent: EntryItem | undefined;
}

/** One line of the view. */
export type OutlineItem = EntryItem | DoorItem;

/** The view's lines and how to find them. */
export interface Outline {
  roots: OutlineItem[];
  byId: Map<string, EntryItem>;
  /** Entries of the active path that are there. */
  pathLength: number;
}

/** Rows a door asks for. */
export const STEP = 1_000;

/** The rows that are loaded, all about one state of the session. */
export class Rows {
  readonly byId = new Map<string, TreeNode>();
  /** Place in the order of the whole tree, where an answer told it. */
  readonly position = new Map<string, number>();
  leafId: string | undefined;
  seq = -1;
  matching = 0;

  /** Take an answer; one about another state replaces what was there. */
  take(answer: GetTreeResult, ask: Ask): void {
    if (this.seq !== answer.seq) {
      this.byId.clear();
      this.position.clear();
    }
    for (const [index, row] of answer.nodes.entries()) {
      this.byId.set(row.id, row);
      if (ask.maxDepth === undefined) {
        this.position.set(row.id, answer.hiddenBefore + index);
      }
    }
    this.leafId = answer.leafId;
    this.seq = answer.seq;
    this.matching = answer.matching;
  }
}

/** Build the lines. Rows whose parent is not loaded wait behind a door, unless the active path begins with one. */
export function outline(rows: Rows): Outline {
  const children = new Map<string | undefined, TreeNode[]>();
  for (const row of rows.byId.values()) {
    const list = children.get(row.parentId);
    if (list === undefined) {
      children.set(row.parentId, [row]);
    } else {
      list.push(row);
    }
  }
  for (const list of children.values()) {
    list.sort(byTime);
  }
  const byId = new Map<string, EntryItem>();
  const roots: OutlineItem[] = [];
  const heads: EntryItem[] = [];
  const put = (row: TreeNode, parent: EntryItem | undefined, into: OutlineItem[], head: boolean): EntryItem => {
    const item: EntryItem = { kind: "entry", row, head, children: [], parent };
    byId.set(row.id, item);
    into.push(item);
    if (head) {
      heads.push(item);
    }
    return item;
  };
  /** Put what leaves from a row beside the way that goes on; say whether there is more that is not loaded. */
  const putForks = (row: TreeNode, on: TreeNode | undefined, parent: EntryItem | undefined, into: OutlineItem[]): void => {
    const loaded = children.get(row.id) ?? [];
    for (const child of loaded) {
      if (child !== on) {
        put(child, parent, into, true);
      }
    }
    const missing = row.childCount - loaded.length;
    if (missing > 0) {
      const goesOn = on === undefined && loaded.length === 0;
      const ask: Ask = goesOn ? { around: row.id, window: STEP } : { around: row.id, maxDepth: 1, window: STEP };
      into.push({ kind: "door", where: goesOn ? "after" : "branch", count: goesOn ? 0 : missing, ask, beside: row.id, parent });
    }
  };

  const path = activePath(rows);
  const first = path[0];
  for (const root of children.get(undefined) ?? []) {
    if (root !== first) {
      put(root, undefined, roots, true);
    }
  }
  if (first?.parentId !== undefined) {
    const count = rows.position.get(first.id) ?? 0;
    roots.push({ kind: "door", where: "before", count, ask: { around: first.parentId, window: STEP }, beside: first.id, parent: undefined });
  }
  for (const [index, row] of path.entries()) {
    put(row, undefined, roots, false);
    putForks(row, path[index + 1], undefined, roots);
  }
  for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
    for (let row: TreeNode | undefined = head.row; row !== undefined; ) {
      const on: TreeNode | undefined = (children.get(row.id) ?? []).at(-1);
      putForks(row, on, head, head.children);
      if (on !== undefined) {
        put(on, head, head.children, false);
      }
      row = on;
    }
  }
  return { roots, byId, pathLength: path.length };
}

/** The loaded rows of the active path without a gap, root first. */
function activePath(rows: Rows): TreeNode[] {
  const path: TreeNode[] = [];
  let row = [...rows.byId.values()].find((candidate) => candidate.isLeaf && candidate.onBranch);
  while (row !== undefined) {
    path.push(row);
    row = row.parentId === undefined ? undefined : rows.byId.get(row.parentId);
  }
  return path.reverse();
}

function byTime(a: TreeNode, b: TreeNode): number {
  const [left, right] = [a.timestamp ?? "", b.timestamp ?? ""];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** How many entries a folded branch holds, itself included; undefined when not all of them are loaded. */
export function size(item: EntryItem): number | undefined {
  let count = 0;
  const waiting: OutlineItem[] = [item];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.kind === "door") {
      return undefined;
    }
    count += 1;
    waiting.push(...next.children);
  }
  return count;
}

/** A row's text without the signs of Markdown. */
export function plain(text: string): string {
  return text.replace(/^[#>\s]+/, "").replace(/\*\*|`/g, "").trim();
}
