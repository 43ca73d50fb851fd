/**
 * Reads a branch page by page, in both directions from any entry. Only ids and a few entries are ever held.
 *
 * Backwards is `session/getBranch` up to an entry; forwards asks `session/getTree` for what follows on the active path.
 */

import type { Entry, TreeNode } from "octavo-client";

import type { OpenSession } from "../session/session.ts";

/** Entries of one page, and bounds of the windows forward reading asks for. */
const PAGE = 60;
const NEAR = 400;
const FAR = 10_000;

/** A stretch of the branch, root to leaf. */
export interface Stretch {
  entries: Entry[];
  atStart: boolean;
  atEnd: boolean;
}

/** The newest stretch. */
export async function newest(session: OpenSession): Promise<Stretch> {
  return { ...(await upTo(session, undefined)), atEnd: true };
}

/** What comes before an entry. */
export async function before(session: OpenSession, id: string): Promise<Stretch> {
  const found = await upTo(session, id, PAGE + 1);
  const last = found.entries.at(-1);
  const entries = last?.id === id ? found.entries.slice(0, -1) : found.entries;
  return { entries, atStart: found.atStart, atEnd: false };
}

/** What comes after an entry on the active path. */
export async function after(session: OpenSession, id: string): Promise<Stretch> {
  for (let window = NEAR; ; window = FAR) {
    const answer = await session.client.session.getTree({ sessionId: session.id, filter: "all", around: id, window });
    const following = pathAfter(answer.nodes, id);
    const complete = answer.hiddenAfter === 0;
    if (following.length > 0 || complete || window === FAR) {
      const ids = following.slice(0, PAGE);
      const { entries } =
        ids.length === 0 ? { entries: [] } : await session.client.session.getEntries({ sessionId: session.id, ids });
      return { entries, atStart: false, atEnd: complete && following.length <= PAGE };
    }
  }
}

/** A stretch with an entry in its middle. */
export async function around(session: OpenSession, id: string): Promise<Stretch> {
  const [head, tail] = await Promise.all([upTo(session, id, PAGE / 2), after(session, id)]);
  return { entries: [...head.entries, ...tail.entries], atStart: head.atStart, atEnd: tail.atEnd };
}

/** Ids of the rows on the active path that come after an entry. */
export function pathAfter(nodes: readonly Pick<TreeNode, "id" | "onBranch">[], id: string): string[] {
  const at = nodes.findIndex((node) => node.id === id);
  return nodes.slice(at + 1).filter((node) => at >= 0 && node.onBranch).map((node) => node.id);
}

async function upTo(session: OpenSession, id: string | undefined, limit = PAGE): Promise<Stretch> {
  const page = await session.client.session.getBranch({
    sessionId: session.id,
    order: "newestFirst",
    limit,
    ...(id === undefined ? {} : { leafId: id }),
  });
  return { entries: page.entries, atStart: page.nextCursor === undefined, atEnd: false };
}
