/** Moving about in a session's tree: go to an entry, label it, fork from it, find it. */

import type { SearchHit } from "octavo-client";
import * as vscode from "vscode";

import type { OpenSession } from "../session/session.ts";
import type { TreeFilter } from "../tree/outline.ts";
import { FILTER_NAMES } from "../tree/view.ts";
import type { Deeds } from "./deeds.ts";

const TYPING_MS = 180;
const HITS = 100;
const LEAD = 40;
const MESSAGES = 1_000;

type Scope = "branch" | "tree" | "archived";

/** The commands that move. */
export class Moving {
  private readonly deeds: Deeds;
  private readonly open: (sessionId: string) => Promise<OpenSession | undefined>;
  private readonly reveal: (session: OpenSession, id: string) => Promise<void>;

  constructor(
    deeds: Deeds,
    open: (sessionId: string) => Promise<OpenSession | undefined>,
    reveal: (session: OpenSession, id: string) => Promise<void>,
  ) {
    this.deeds = deeds;
    this.open = open;
    this.reveal = reveal;
  }

  /** Choose one of the user's messages and how to go there. */
  async navigate(session: OpenSession): Promise<void> {
    const tree = await this.deeds.attempt(() =>
      session.client.session.getTree({ sessionId: session.id, filter: "user-only", window: MESSAGES }),
    );
    if (tree === undefined) {
      return;
    }
    const items = [...tree.nodes].reverse().map((node) => ({
      label: `${node.onBranch ? "$(account)" : "$(git-branch)"} ${node.text}`,
      description: [node.label ?? "", when(node.timestamp), node.onBranch ? "" : "other branch"].filter((part) => part !== "").join(" · "),
      id: node.id,
    }));
    const picked = await vscode.window.showQuickPick(items, {
      title: "Go to Message",
      placeHolder: "Your message goes back into the editor; what came after it stays on its branch",
      matchOnDescription: true,
    });
    if (picked === undefined) {
      return;
    }
    if (!vscode.workspace.getConfiguration("octavo").get("branchSummary.offer", true)) {
      await this.go(session, picked.id);
      return;
    }
    const how = await vscode.window.showQuickPick(
      [
        { label: "$(debug-step-into) Just go there", summarize: false },
        { label: "$(git-merge) Summarise what is left behind", description: "a model writes it", summarize: true },
      ],
      { title: "Go to Message", placeHolder: picked.label.replace(/^\$\([\w-]+\) /, ""), ignoreFocusOut: true },
    );
    if (how !== undefined) {
      await (how.summarize ? this.goWithSummary(session, picked.id) : this.go(session, picked.id));
    }
  }

  /** Go to an entry. */
  async go(session: OpenSession, targetId: string): Promise<void> {
    const result = await this.deeds.attempt(
      () => session.client.session.navigateTree({ sessionId: session.id, targetId }),
      { retry: () => this.go(session, targetId) },
    );
    this.arrived(result);
  }

  /** Go to an entry and summarise what is left. */
  async goWithSummary(session: OpenSession, targetId: string): Promise<void> {
    const words = await vscode.window.showInputBox({
      title: "Summary of What Is Left Behind",
      prompt: "Instructions instead of the usual ones; leave it empty for those.",
      ignoreFocusOut: true,
    });
    if (words === undefined) {
      return;
    }
    const result = await this.deeds.long(
      "Summarising what is left behind",
      session,
      (options) =>
        session.client.session.navigateTree(
          {
            sessionId: session.id,
            targetId,
            summarize: true,
            ...(words.trim() === "" ? {} : { customInstructions: words }),
          },
          options,
        ),
      { retry: () => this.goWithSummary(session, targetId) },
    );
    this.arrived(result);
  }

  /** Put a label on an entry, or take it away. */
  async label(session: OpenSession, targetId: string, current: string | undefined): Promise<void> {
    const label = await vscode.window.showInputBox({
      title: "Label",
      prompt: "Leave it empty to remove the label.",
      value: current ?? "",
    });
    if (label !== undefined) {
      await this.deeds.attempt(() => session.client.session.setLabel({ sessionId: session.id, targetId, label: label.trim() }));
    }
  }

  /** Start a session with the path up to an entry. */
  async fork(session: OpenSession, entryId: string): Promise<void> {
    const info = await this.deeds.attempt(() => session.client.session.fork({ sessionId: session.id, entryId }));
    if (info !== undefined) {
      if ((await this.open(info.sessionId)) !== undefined) {
        void vscode.window.showInformationMessage(`This is the fork, with ${info.entryCount} entries. The original is unchanged.`);
      }
    }
  }

  /** Search as one types; what compaction archived is found as well. */
  search(session: OpenSession): void {
    const pick = vscode.window.createQuickPick<vscode.QuickPickItem & { hit?: SearchHit }>();
    let scope: Scope = "tree";
    let timer: NodeJS.Timeout | undefined;
    let running = new AbortController();
    const describe = (): void => {
      pick.title = `Search “${session.title}”`;
      pick.placeholder = PLACEHOLDERS[scope];
      pick.buttons = SCOPES.map(([name, icon, tooltip]) => ({
        iconPath: new vscode.ThemeIcon(name === scope ? "check" : icon),
        tooltip: name === scope ? `${tooltip} (chosen)` : tooltip,
      }));
    };
    const run = async (): Promise<void> => {
      running.abort();
      running = new AbortController();
      const { signal } = running;
      const query = pick.value.trim();
      if (query === "") {
        pick.items = [];
        return;
      }
      pick.busy = true;
      try {
        const { hits } = await session.client.session.search({ sessionId: session.id, query, scope, limit: HITS }, { signal });
        if (!signal.aborted) {
          pick.items = hits.length > 0 ? hits.map(hitItem) : [{ label: "Nothing found", alwaysShow: true }];
        }
      } catch (error) {
        if (!signal.aborted) {
          void this.deeds.tell(error);
        }
      } finally {
        pick.busy = !signal.aborted ? false : pick.busy;
      }
    };
    describe();
    pick.onDidChangeValue(() => {
      clearTimeout(timer);
      timer = setTimeout(() => void run(), TYPING_MS);
    });
    pick.onDidTriggerButton((button) => {
      scope = SCOPES[pick.buttons.indexOf(button)]?.[0] ?? scope;
      describe();
      void run();
    });
    pick.onDidTriggerItemButton(({ item }) => {
      if (item.hit !== undefined) {
        void this.go(session, item.hit.entryId);
        pick.hide();
      }
    });
    pick.onDidAccept(() => {
      const hit = pick.activeItems[0]?.hit;
      if (hit !== undefined) {
        pick.hide();
        void this.reveal(session, hit.entryId);
      }
    });
    pick.onDidHide(() => {
      clearTimeout(timer);
      running.abort();
      pick.dispose();
    });
    pick.show();
  }

  /** Choose what the tree shows. */
  async filter(current: TreeFilter, set: (filter: TreeFilter) => Promise<void>): Promise<void> {
    const items = (Object.keys(FILTER_NAMES) as TreeFilter[]).map((filter) => ({
      label: `${filter === current ? "$(check)" : "$(blank)"} ${FILTER_TITLES[filter]}`,
      filter,
    }));
    const picked = await vscode.window.showQuickPick(items, { title: "Show in the Session Tree" });
    if (picked !== undefined) {
      await set(picked.filter);
    }
  }

  private arrived(result: { cancelled: boolean; editorText?: string } | undefined): void {
    if (result === undefined || result.cancelled) {
      return;
    }
    const text = result.editorText ?? "";
    if (text === "") {
      vscode.window.setStatusBarMessage("$(check) The session goes on from there", 6_000);
      return;
    }
    void vscode.window
      .showInformationMessage("The session goes on before your message. Its text can go back to your agent's prompt.", "Copy Message", "Edit Message")
      .then(async (choice) => {
        if (choice === "Copy Message") {
          await vscode.env.clipboard.writeText(text);
        } else if (choice === "Edit Message") {
          await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: text, language: "markdown" }));
        }
      });
  }
}

const FILTER_TITLES: Readonly<Record<TreeFilter, string>> = {
  default: "The conversation",
  "no-tools": "Without tools",
  "user-only": "Only your messages",
  "labeled-only": "Only what has a label",
  all: "Everything",
};

const SCOPES: readonly (readonly [Scope, string, string])[] = [
  ["tree", "list-tree", "All branches"],
  ["branch", "git-commit", "This branch"],
  ["archived", "archive", "Only what compaction archived"],
];

const PLACEHOLDERS: Readonly<Record<Scope, string>> = {
  tree: "Words to find in all branches, archived or not",
  branch: "Words to find on this branch, archived or not",
  archived: "Words to find in what compaction took out of the context",
};

function hitItem(hit: SearchHit): vscode.QuickPickItem & { hit: SearchHit } {
  const [icon, who] =
    hit.role === "user"
      ? ["account", "You"]
      : hit.role === "assistant"
        ? ["sparkle", "Assistant"]
        : hit.type === "compaction"
          ? ["fold", "Summary"]
          : ["output", hit.role === "toolResult" ? "Tool result" : hit.type.replace("_", " ")];
  const facts = [who, when(hit.timestamp), hit.archived ? "archived" : "", hit.onBranch ? "" : "other branch"];
  return {
    label: `$(${icon}) ${around(hit)}`,
    detail: facts.filter((fact) => fact !== "").join(" · "),
    alwaysShow: true,
    buttons: [{ iconPath: new vscode.ThemeIcon("debug-step-into"), tooltip: "Go here" }],
    hit,
  };
}

/** The snippet from a little before the match on, so that the match is in sight. */
function around({ snippet, matches }: SearchHit): string {
  const start = matches[0]?.start ?? 0;
  const from = start <= LEAD ? 0 : snippet.lastIndexOf(" ", start - LEAD / 4) + 1;
  return `${from > 0 ? "…" : ""}${snippet.slice(from)}`.replace(/\s+/g, " ").trim();
}

function when(iso: string | undefined): string {
  const date = new Date(iso ?? "");
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleString([], { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
}
