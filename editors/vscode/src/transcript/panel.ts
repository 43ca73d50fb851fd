/** The Transcript: a page beside the editors that shows a session's whole history, a window of it at a time. */

import { randomBytes } from "node:crypto";

import type { Entry } from "octavo-client";
import * as vscode from "vscode";

import { bytes, progressLine } from "../figures.ts";
import type { OpenSession, SessionEvent } from "../session/session.ts";
import { block, detail, frames, picture, type Block, type Stored } from "./blocks.ts";
import type { FromPage, ToPage } from "./messages.ts";
import { after, around, before, newest, type Stretch } from "./pages.ts";

const SETTLE_MS = 80;

/** Runs a command of the page on a session. */
export type Run = (command: string, session: OpenSession, entryId: string) => unknown;

/** One panel with one session. */
export class Transcript implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[] = [];
  private readonly ready: Promise<void>;
  private lastId: string | undefined;
  private atEnd = true;
  private timer: NodeJS.Timeout | undefined;
  private work: Promise<void> = Promise.resolve();
  readonly panel: vscode.WebviewPanel;
  readonly session: OpenSession;
  private readonly run: Run;
  private readonly onFailure: (error: unknown) => void;

  constructor(
    panel: vscode.WebviewPanel,
    session: OpenSession,
    extension: vscode.Uri,
    run: Run,
    onFailure: (error: unknown) => void,
  ) {
    this.panel = panel;
    this.session = session;
    this.run = run;
    this.onFailure = onFailure;
    const dist = vscode.Uri.joinPath(extension, "dist");
    const { webview } = panel;
    webview.options = { enableScripts: true, localResourceRoots: [dist] };
    panel.iconPath = vscode.Uri.joinPath(extension, "media", "transcript.svg");
    this.ready = new Promise((resolve) => {
      this.disposables.push(
        webview.onDidReceiveMessage((message: FromPage) => {
          if (message.type === "ready") {
            resolve();
            this.header();
            this.queue(() => this.start());
          } else {
            this.hear(message);
          }
        }),
      );
    });
    this.disposables.push(session.onDidHappen((event) => this.happened(event)));
    webview.html = page(webview, dist);
    this.header();
  }

  /** Show an entry, with its divider open when it is one. */
  async reveal(id: string): Promise<void> {
    await this.ready;
    this.queue(async () => {
      const stretch = await around(this.session, id);
      this.atEnd = stretch.atEnd;
      await this.send(await this.pageOf(stretch, "replace", id));
      await this.post({ type: "reveal", id, open: true });
    });
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const item of this.disposables) {
      item.dispose();
    }
  }

  private async start(): Promise<void> {
    const stretch = await newest(this.session);
    this.atEnd = true;
    await this.send(await this.pageOf(stretch, "replace"));
  }

  private hear(message: Exclude<FromPage, { type: "ready" }>): void {
    switch (message.type) {
      case "more":
        this.queue(async () => {
          const earlier = message.direction === "before";
          const stretch = await (earlier ? before : after)(this.session, message.from);
          if (!earlier) {
            this.atEnd = stretch.atEnd;
          }
          await this.send(await this.pageOf(stretch, message.direction));
        });
        break;
      case "latest":
        this.queue(() => this.start());
        break;
      case "detail":
        this.queue(async () => {
          const entry = await this.entry(message.id);
          await this.post({ ...message, text: entry === undefined ? "" : detail(entry, message.part) });
        });
        break;
      case "picture":
        this.queue(async () => {
          const entry = await this.entry(message.id);
          await this.post({ ...message, src: entry === undefined ? "" : picture(entry, message.at) });
        });
        break;
      case "frames":
        this.queue(async () => {
          const entry = await this.entry(message.id);
          const images = entry === undefined ? [] : frames(entry);
          const note = images.length === 0 ? "The pictures of this compaction are gone." : "";
          await this.post({ type: "frames", id: message.id, images, note });
        });
        break;
      case "command":
        void this.run(message.command, this.session, message.id);
        break;
    }
  }

  private happened(event: SessionEvent): void {
    if (event.kind === "running") {
      this.tellRunning();
    } else if (event.kind === "usage" || event.kind === "info") {
      this.header();
    } else if (event.kind === "reset") {
      this.queue(() => this.start());
    } else if (event.change.kind === "rewritten" || event.change.kind === "label") {
      this.queue(() => this.update(event.change.entryIds, event.entries));
    } else if (this.atEnd) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.queue(() => this.grow()), SETTLE_MS);
    }
  }

  /** Show what was appended; where the branch is another now, begin anew. */
  private async grow(): Promise<void> {
    const stretch = await newest(this.session);
    const at = stretch.entries.findIndex((entry) => entry.id === this.lastId);
    if (at < 0) {
      await this.send(await this.pageOf(stretch, "replace"));
    } else {
      const fresh = { ...stretch, entries: stretch.entries.slice(at + 1) };
      await this.send(await this.pageOf(fresh, "after"));
    }
  }

  private async update(ids: readonly string[], entries: readonly Entry[]): Promise<void> {
    const labelled = entries.flatMap((entry) => (entry.type === "label" ? [entry.targetId] : []));
    const wanted = [...new Set([...ids, ...labelled])];
    const found = await this.session.client.session.getEntries({ sessionId: this.session.id, ids: wanted });
    await this.post({ type: "update", blocks: await this.blocks(found.entries) });
  }

  private async entry(id: string): Promise<Stored | undefined> {
    const { entries } = await this.session.client.session.getEntries({ sessionId: this.session.id, ids: [id] });
    return entries[0] as Stored | undefined;
  }

  private async pageOf(stretch: Stretch, place: "replace" | "before" | "after", focus?: string): Promise<ToPage> {
    const { entries, atStart, atEnd } = stretch;
    if (place !== "before" && entries.length > 0) {
      this.lastId = entries.at(-1)?.id;
    } else if (place === "replace") {
      this.lastId = undefined;
    }
    return { type: "page", place, blocks: await this.blocks(entries), atStart, atEnd, ...(focus === undefined ? {} : { focus }) };
  }

  private async blocks(entries: readonly Entry[]): Promise<Block[]> {
    const labels = await this.labels(entries);
    return entries.flatMap((entry) => block(entry as unknown as Stored, labels.get(entry.id)) ?? []);
  }

  private async labels(entries: readonly Entry[]): Promise<Map<string, string>> {
    if (entries.length === 0) {
      return new Map();
    }
    const { nodes } = await this.session.client.session.getTree({
      sessionId: this.session.id,
      filter: "labeled-only",
      window: 1_000,
    });
    return new Map(nodes.flatMap((node) => (node.label === undefined ? [] : [[node.id, node.label]])));
  }

  private header(): void {
    const { info, title, writable } = this.session;
    this.panel.title = title.length > 40 ? `${title.slice(0, 39)}…` : title;
    const facts = [
      `${info.entryCount.toLocaleString("en")} entries`,
      info.sizeBytes === undefined ? "in memory" : bytes(info.sizeBytes),
      info.model ?? "",
      writable ? "" : "read-only",
    ];
    void this.post({ type: "session", title, subtitle: facts.filter((fact) => fact !== "").join(" · "), writable, total: info.entryCount });
    this.tellRunning();
  }

  private tellRunning(): void {
    const { running } = this.session;
    const line = running?.progress === undefined ? "" : progressLine(running.progress);
    const text = running === undefined ? undefined : line === "" ? running.title : `${running.title}: ${line}`;
    void this.post({ type: "running", text });
  }

  private async send(message: ToPage): Promise<void> {
    await this.post(message);
  }

  private async post(message: ToPage): Promise<void> {
    await this.panel.webview.postMessage(message);
  }

  /** One thing after the other, so that pages arrive in order. */
  private queue(step: () => Promise<void>): void {
    this.work = this.work.then(step).catch((error: unknown) => {
      // A reset follows when the server is back.
      if (this.session.client.state.kind === "connected") {
        this.onFailure(error);
        void this.post({ type: "trouble", text: "This part of the session could not be read." });
      }
    });
  }
}

function page(webview: vscode.Webview, dist: vscode.Uri): string {
  const nonce = randomBytes(18).toString("base64url");
  const uri = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
  const policy = `default-src 'none'; img-src data:; style-src ${webview.cspSource} 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link nonce="${nonce}" rel="stylesheet" href="${uri("transcript.css")}">
<title>Transcript</title>
</head>
<body>
<header id="header"><div><h1 id="title"></h1><p id="subtitle"></p></div></header>
<main id="feed" role="feed" aria-busy="true" aria-label="Transcript"></main>
<button id="latest" hidden>Newest ↓</button>
<div id="status" role="status" hidden><span id="doing"></span><button id="cancel">Cancel</button></div>
<script nonce="${nonce}" src="${uri("transcript.js")}"></script>
</body>
</html>`;
}
