/** Puts the parts together: server, sessions, views, gauge, transcript, commands. */

import type { SessionSummary } from "octavo-client";
import * as vscode from "vscode";

import { Compaction } from "./commands/compaction.ts";
import { Deeds } from "./commands/deeds.ts";
import { Moving } from "./commands/moving.ts";
import { Opening } from "./commands/opening.ts";
import { Previews } from "./commands/previews.ts";
import { Gauge } from "./gauge.ts";
import { chooseServer, installServer, watchServer } from "./server/care.ts";
import { Server } from "./server/server.ts";
import { Announcer } from "./session/announcer.ts";
import { SessionList } from "./session/list.ts";
import type { OpenSession } from "./session/session.ts";
import { Sessions } from "./session/sessions.ts";
import { Transcripts } from "./transcript/transcripts.ts";
import type { DoorItem, TreeFilter } from "./tree/outline.ts";
import { SessionTree, type TreeElement } from "./tree/view.ts";

/** Called by the editor. */
export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("octavo", { log: true });
  const version = String((context.extension.packageJSON as { version?: unknown }).version ?? "");
  const server = new Server(log, version);
  const announcer = new Announcer();
  const deeds = new Deeds(log);
  const fail = (error: unknown): void => void deeds.tell(error);
  const sessions = new Sessions(server, announcer, fail);
  const tree = new SessionTree(sessions, fail);
  const list = new SessionList(server, sessions);
  const previews = new Previews(deeds);
  const compaction = new Compaction(deeds, previews);
  const transcripts = new Transcripts(context, sessions, deeds);
  const opening = new Opening(server, sessions, deeds, transcripts);
  const moving = new Moving(
    deeds,
    (sessionId) => opening.open({ sessionId }),
    (session, id) => transcripts.reveal(session, id),
  );
  announcer.follow = {
    undo: (session) => compaction.undo(session),
    reveal: (session, id) => transcripts.reveal(session, id),
    openSession: (sessionId) => opening.open({ sessionId }),
    preview: (session) => compaction.preview(session),
    retry: (session) => compaction.compact(session),
    chooseStrategy: (session) => compaction.choose(session),
  };
  transcripts.run = (command, session, id) => vscode.commands.executeCommand(`octavo.${command}`, { session, id });
  context.subscriptions.push(log, server, sessions, tree, list, previews, transcripts, new Gauge(server, sessions));
  context.subscriptions.push(watchServer(server, log));
  watchContext(context, server, sessions);

  const on = (name: string, deed: (...args: never[]) => unknown): void => {
    context.subscriptions.push(vscode.commands.registerCommand(`octavo.${name}`, deed));
  };
  /** With the session a page or a view is about, or the current one; without any, offer to open one. */
  const withSession = (deed: (session: OpenSession) => unknown) => (target?: Target) => {
    const session = (isPlace(target) ? target.session : undefined) ?? sessions.current;
    return session === undefined ? opening.choose() : deed(session);
  };
  const withEntry = (deed: (session: OpenSession, id: string, label?: string) => unknown) => (target?: Target) => {
    const chosen = target ?? tree.view.selection[0];
    const session = isPlace(chosen) ? chosen.session : sessions.current;
    const id = isPlace(chosen) ? chosen.id : isTreeElement(chosen) && chosen.kind === "entry" ? chosen.row.id : undefined;
    const label = isTreeElement(chosen) && chosen.kind === "entry" ? chosen.row.label : undefined;
    return session === undefined || id === undefined ? undefined : deed(session, id, label);
  };

  on("open", () => opening.choose());
  on("openFile", () => opening.chooseFile());
  on("openResource", (uri?: vscode.Uri) => opening.resource(uri));
  on("openListed", (item: SessionSummary) => opening.open({ path: item.path }));
  on("closeSession", withSession((session) => { transcripts.close(session); sessions.close(session); }));
  on("transcript", withSession((session) => transcripts.show(session)));
  on("compact", withSession((session) => compaction.compact(session)));
  on("compactWith", withSession((session) => compaction.compactWith(session)));
  on("preview", withSession((session) => compaction.preview(session)));
  on("applyPreview", () => previews.apply(sessions.current));
  on("discardPreview", () => previews.discard(sessions.current));
  on("abort", withSession((session) => compaction.abort(session)));
  on("undo", withSession((session) => compaction.undo(session)));
  on("navigate", withSession((session) => moving.navigate(session)));
  on("goHere", withEntry((session, id) => moving.go(session, id)));
  on("goHereSummary", withEntry((session, id) => moving.goWithSummary(session, id)));
  on("label", withEntry((session, id, label) => moving.label(session, id, label)));
  on("fork", withEntry((session, id) => moving.fork(session, id)));
  on("showEntry", withEntry((session, id) => transcripts.reveal(session, id)));
  on("copyId", (target: Target | SessionSummary | undefined) => {
    const id = isSummary(target) ? target.sessionId : undefined;
    return id === undefined
      ? withEntry((_, entryId) => vscode.env.clipboard.writeText(entryId))(target as Target)
      : vscode.env.clipboard.writeText(id);
  });
  on("handoff", withSession((session) => compaction.handoff(session)));
  on("prune", withSession((session) => compaction.prune(session)));
  on("search", withSession((session) => moving.search(session)));
  on("filter", () => moving.filter(tree.filter, (filter: TreeFilter) => tree.setFilter(filter)));
  on("filterDefault", () => tree.setFilter("default"));
  on("more", (door: DoorItem | "sessions") => (door === "sessions" ? list.more() : tree.more(door)));
  on("revealLeaf", () => tree.revealLeaf());
  on("refreshSessions", () => list.refresh());
  on("showAllSessions", () => list.showAll(true));
  on("showFolderSessions", () => list.showAll(false));
  on("gauge", withSession((session) => opening.actions(session)));
  on("restartServer", () => server.start());
  on("installServer", () => installServer());
  on("chooseServer", () => chooseServer());
  on("showLog", () => log.show());

  context.subscriptions.push(
    vscode.window.registerCustomEditorProvider("octavo.session", transcripts.editors((name) => opening.openQuietly(name)), {
      webviewOptions: { retainContextWhenHidden: true },
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.start()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("octavo.server")) {
        void server.start();
      } else if (event.affectsConfiguration("octavo.daemonSettings") || event.affectsConfiguration("octavo.sessions")) {
        void deeds.attempt(() => server.configure()).then(() => list.refresh());
      }
    }),
  );
  void server.start();
}

/** Called by the editor; what is in `subscriptions` is disposed of by it. */
export function deactivate(): void {
  // The server ends with the connection.
}

/** Where a command is to do something: a place in a transcript, an element of the tree. */
type Target = { session: OpenSession; id: string } | TreeElement;

function isPlace(target: unknown): target is { session: OpenSession; id: string } {
  return typeof target === "object" && target !== null && "session" in target && "id" in target;
}

function isTreeElement(target: unknown): target is TreeElement {
  return typeof target === "object" && target !== null && "kind" in target;
}

function isSummary(target: unknown): target is SessionSummary {
  return typeof target === "object" && target !== null && "sessionId" in target && "path" in target;
}

function watchContext(context: vscode.ExtensionContext, server: Server, sessions: Sessions): void {
  const set = (name: string, value: unknown): void => void vscode.commands.executeCommand("setContext", `octavo.${name}`, value);
  const tell = (): void => {
    const session = sessions.current;
    set("sessionOpen", session !== undefined);
    set("writable", session?.writable === true && server.state === "running");
    set("running", session?.running !== undefined);
  };
  context.subscriptions.push(
    server.onDidChangeState((state) => {
      set("state", state === "waiting" ? "starting" : state);
      tell();
    }),
    sessions.onDidChangeCurrent(tell),
    sessions.onDidHappen((event) => (event.kind === "running" || event.kind === "info" || event.kind === "reset") && tell()),
  );
  set("state", "starting");
  set("allFolders", false);
  tell();
}
