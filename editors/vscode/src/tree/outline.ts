/**
 * Turns the flat rows of `session/getTree` into what a tree view draws: the active path as one flat line, every other
 * branch as a folded item after the entry it leaves from. Pure, linear and without recursion.
 *
 * `Rows` keeps a growing window over a tree of any size.
 */

import type { GetTreeResult, TreeNode } from "octavo-client";

/** Which entries a tree shows. */
export type TreeFilter = GetTreeResult["filter"];

/** One line of the view. */
export interface OutlineItem {
  row: TreeNode;
  /** The first entry of a branch that is not the active one; its continuation is in `children`. */
  head: boolean;
  children: OutlineItem[];
  parent: OutlineItem | undefined;
}

/** The view's lines and how to find them. */
export interface Outline {
  roots: OutlineItem[];
  byId: Map<string, OutlineItem>;
}

interface Draft {
  item: OutlineItem;
  list: Draft[];
  inner: Draft[];
  forks: Draft[];
}

/** Build the lines from rows in pre-order. */
export function outline(rows: readonly TreeNode[]): Outline {
  const lastChild = new Map<string, string>();
  for (const row of rows) {
    if (row.parentId !== undefined) {
      lastChild.set(row.parentId, row.id);
    }
  }
  const drafts = new Map<string, Draft>();
  const roots: Draft[] = [];
  for (const row of rows) {
    const above = row.parentId === undefined ? undefined : drafts.get(row.parentId);
    const item: OutlineItem = { row, head: false, children: [], parent: undefined };
    const draft: Draft = { item, list: roots, inner: [], forks: [] };
    if (row.onBranch) {
      roots.push(draft);
    } else if (above === undefined) {
      item.head = true;
      roots.push(draft);
    } else if (!above.item.row.onBranch && lastChild.get(above.item.row.id) === row.id) {
      draft.list = above.item.head ? above.inner : above.list;
      draft.list.push(draft);
    } else {
      item.head = true;
      above.forks.push(draft);
      draft.list = above.forks;
    }
    drafts.set(row.id, draft);
  }
  const byId = new Map<string, OutlineItem>();
  const settle = (list: readonly Draft[], parent: OutlineItem | undefined, into: OutlineItem[]): void => {
    const waiting: { list: readonly Draft[]; parent: OutlineItem | undefined; into: OutlineItem[] }[] = [{ list, parent, into }];
    for (let job = waiting.pop(); job !== undefined; job = waiting.pop()) {
      for (const draft of flat(job.list)) {
        draft.item.parent = job.parent;
        job.into.push(draft.item);
        byId.set(draft.item.row.id, draft.item);
        waiting.push({ list: draft.inner, parent: draft.item, into: draft.item.children });
      }
    }
  };
  const settled: OutlineItem[] = [];
  settle(roots, undefined, settled);
  return { roots: settled, byId };
}

/** A list with the branches that leave from each of its entries right after it. */
function flat(list: readonly Draft[]): Draft[] {
  const result: Draft[] = [];
  const waiting = [...list].reverse();
  for (let draft = waiting.pop(); draft !== undefined; draft = waiting.pop()) {
    result.push(draft);
    // The forks of a branch's head leave from inside that branch.
    if (draft.item.head) {
      draft.inner.unshift(...draft.forks);
      draft.forks = [];
    }
    for (let i = draft.forks.length - 1; i >= 0; i--) {
      waiting.push(draft.forks[i] as Draft);
    }
  }
  return result;
}

/** How many entries a folded branch holds, itself included. */
export function size(item: OutlineItem): number {
  let count = 0;
  const waiting = [item];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    count += 1;
    waiting.push(...next.children);
  }
  return count;
}

/** A contiguous window of rows that answers about the same state are merged into. */
export class Rows {
  rows: TreeNode[] = [];
  hiddenBefore = 0;
  hiddenAfter = 0;
  leafId: string | undefined;
  total = 0;
  seq = -1;

  /** Take an answer; one about another state, or one that does not touch the window, replaces it. */
  take(answer: GetTreeResult): void {
    const begin = answer.hiddenBefore;
    const end = begin + answer.nodes.length;
    const known = this.hiddenBefore;
    const touches = this.seq === answer.seq && begin <= known + this.rows.length && end >= known;
    if (touches && this.rows.length > 0) {
      const before = this.rows.slice(0, Math.max(0, begin - known));
      const after = this.rows.slice(Math.max(0, end - known));
      this.rows = [...before, ...answer.nodes, ...after];
      this.hiddenBefore = Math.min(begin, known);
      this.hiddenAfter = after.length > 0 ? this.hiddenAfter : answer.hiddenAfter;
    } else {
      this.rows = answer.nodes;
      this.hiddenBefore = begin;
      this.hiddenAfter = answer.hiddenAfter;
    }
    this.leafId = answer.leafId;
    this.total = answer.total;
    this.seq = answer.seq;
  }
}
