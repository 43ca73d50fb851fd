/** The Session Tree view: loads windows of `session/getTree` as the user asks for more, never a whole large tree. */

import * as vscode from "vscode";

import type { OpenSession } from "../session/session.ts";
import type { Sessions } from "../session/sessions.ts";
import { doorItem, entryItem, tooltip } from "./items.ts";
import { Rows, outline, type Ask, type DoorItem, type Outline, type OutlineItem, type TreeFilter } from "./outline.ts";

/** Rows of the first window; it is widened until so much of the active path is there. */
const WINDOW = 500;
const ENOUGH = 150;
const ROUNDS = 5;
const LARGEST = 10_000;
const SETTLE_MS = 120;
const LAYOUT_MS = 250;

/** An element of the view. */
export type TreeElement = OutlineItem;

const EMPTY: Outline = { roots: [], byId: new Map(), pathLength: 0 };

/** Data and behaviour of the view. */
export class SessionTree implements vscode.TreeDataProvider<TreeElement>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<TreeElement | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  readonly view: vscode.TreeView<TreeElement>;
  private rows = new Rows();
  private lines: Outline = EMPTY;
  private loaded: OpenSession | undefined;
  private timer: NodeJS.Timeout | undefined;
  private generation = 0;
  private followLeaf = true;
  private mode: TreeFilter;
  private readonly disposables: vscode.Disposable[];
  private readonly sessions: Sessions;
  private readonly onFailure: (error: unknown) => void;

  constructor(sessions: Sessions, onFailure: (error: unknown) => void) {
    this.sessions = sessions;
    this.onFailure = onFailure;
    this.mode = vscode.workspace.getConfiguration("octavo").get<TreeFilter>("tree.filter", "default");
    void vscode.commands.executeCommand("setContext", "octavo.filter", this.mode);
    this.view = vscode.window.createTreeView("octavo.tree", { treeDataProvider: this, showCollapseAll: true });
    this.disposables = [
      this.view,
      this.changed,
      sessions.onDidChangeCurrent(() => this.load(true)),
      sessions.onDidHappen((event) => {
        if (event.kind === "reset" || event.kind === "change") {
          this.soon(event.kind === "reset" || event.change.kind !== "rewritten");
        } else if (event.kind === "usage" || event.kind === "info") {
          this.describe();
        }
      }),
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible && this.followLeaf) {
          // Right now the list has no height yet to scroll in.
          setTimeout(() => void this.revealLeaf(), LAYOUT_MS);
        }
      }),
    ];
  }

  get filter(): TreeFilter {
    return this.mode;
  }

  /** Show other entries. */
  async setFilter(filter: TreeFilter): Promise<void> {
    this.mode = filter;
    await vscode.commands.executeCommand("setContext", "octavo.filter", filter);
    await this.load(true);
  }

  /** Open a door. */
  async more(door: DoorItem): Promise<void> {
    this.followLeaf = false;
    await this.fetch(door.ask);
    const beside = this.lines.byId.get(door.beside);
    if (beside !== undefined && this.view.visible) {
      await this.view.reveal(beside, { select: true, focus: true });
    }
  }

  /** Show the entry the session stands at. */
  async revealLeaf(): Promise<void> {
    this.followLeaf = true;
    const leaf = [...this.rows.byId.values()].find((row) => row.isLeaf);
    if (leaf !== undefined) {
      await this.reveal(leaf.id);
    }
  }

  /** Show an entry, loading its surroundings when they are not here yet. */
  async reveal(id: string): Promise<void> {
    if (!this.lines.byId.has(id)) {
      await this.fetch({ around: id, window: LARGEST });
    }
    const item = this.lines.byId.get(id);
    if (item !== undefined && this.view.visible) {
      await this.view.reveal(item, { select: true, focus: false });
    }
  }

  getChildren(element?: TreeElement): TreeElement[] {
    if (element === undefined) {
      return this.lines.roots;
    }
    return element.kind === "entry" ? element.children : [];
  }

  getParent(element: TreeElement): TreeElement | undefined {
    return element.parent;
  }

  getTreeItem(element: TreeElement): vscode.TreeItem {
    return element.kind === "door" ? doorItem(element) : entryItem(element);
  }

  resolveTreeItem(item: vscode.TreeItem, element: TreeElement): vscode.TreeItem {
    if (element.kind === "entry") {
      item.tooltip = tooltip(element.row);
    }
    return item;
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const item of this.disposables) {
      item.dispose();
    }
  }

  private soon(followLeaf: boolean): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.load(followLeaf && this.followLeaf), SETTLE_MS);
  }

  private async load(revealLeaf: boolean): Promise<void> {
    const session = this.sessions.current;
    const other = session !== this.loaded;
    if (other) {
      this.rows = new Rows();
      this.followLeaf = true;
    }
    this.loaded = session;
    this.describe();
    if (session === undefined) {
      this.lines = EMPTY;
      this.changed.fire(undefined);
      return;
    }
    await this.fetch({ window: Math.min(LARGEST, Math.max(WINDOW, this.rows.byId.size)) }, true);
    for (let round = 0; round < ROUNDS && this.lines.pathLength < ENOUGH; round++) {
      const door = this.lines.roots.find((item) => item.kind === "door" && item.where === "before");
      if (door?.kind !== "door") {
        break;
      }
      await this.fetch({ ...door.ask, window: WINDOW });
    }
    if (revealLeaf) {
      await this.revealLeaf();
    }
  }

  private async fetch(ask: Ask, anew = false): Promise<void> {
    const session = this.loaded;
    if (session === undefined) {
      return;
    }
    const generation = anew ? ++this.generation : this.generation;
    try {
      const answer = await session.client.session.getTree({ sessionId: session.id, filter: this.mode, ...ask });
      if (generation !== this.generation || session !== this.loaded) {
        return;
      }
      if (anew) {
        this.rows = new Rows();
      } else if (answer.seq !== this.rows.seq) {
        // The session changed meanwhile; a window of it alone would show a gap.
        this.soon(this.followLeaf);
        return;
      }
      this.rows.take(answer, ask);
      this.lines = outline(this.rows);
      this.changed.fire(undefined);
    } catch (error) {
      if (session === this.loaded && session.client.state.kind === "connected") {
        this.onFailure(error);
      }
    }
  }

  private describe(): void {
    const session = this.loaded;
    const parts = session === undefined ? [] : [FILTER_NAMES[this.mode], session.writable ? "" : "read-only", session.title];
    this.view.description = parts.filter((part) => part !== "").join(" · ");
  }
}

/** What the filters are called. */
export const FILTER_NAMES: Readonly<Record<TreeFilter, string>> = {
  default: "",
  "no-tools": "without tools",
  "user-only": "your messages",
  "labeled-only": "labelled",
  all: "everything",
};
