/**
 * The connection to the octavo server: starts it, keeps it, says how it is. Sessions are elsewhere.
 *
 * A server that dies is started again with growing pauses; the octavo client sees to that.
 */

import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";

import { PROTOCOL_VERSION, type ConnectionState, type JsonObject } from "octavo-client";
import { ReconnectingClient, spawnTransport } from "octavo-client/node";
import * as vscode from "vscode";

import { discover, type Launch } from "./discovery.ts";

/** How the server is. */
export type ServerState = "starting" | "running" | "waiting" | "missing" | "failed" | "mismatch" | "stopped";

const ATTEMPTS = 7;
const LAST_WORDS = 2_000;

/** Starts and restarts the server; `client` is there while it is wanted. */
export class Server implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<ServerState>();
  private readonly replaced = new vscode.EventEmitter<ReconnectingClient>();
  /** The state is another. */
  readonly onDidChangeState = this.changed.event;
  /** There is a new client, connected to a server that fits: what hung on the old one is to be set up again. */
  readonly onDidReplaceClient = this.replaced.event;

  client: ReconnectingClient | undefined;
  state: ServerState = "stopped";
  /** Version the server gave of itself. */
  version = "";
  private connectedOnce = false;
  private lastWords = "";
  private readonly log: vscode.LogOutputChannel;
  private readonly clientVersion: string;

  constructor(log: vscode.LogOutputChannel, clientVersion: string) {
    this.log = log;
    this.clientVersion = clientVersion;
  }

  /** Look for the server and start it; a running one is ended first. */
  async start(): Promise<void> {
    if (this.client !== undefined) {
      await this.stop();
    }
    const launch = find();
    if (launch === undefined) {
      this.enter("missing");
      return;
    }
    this.log.info(`Starting ${launch.command} ${launch.args.join(" ")} (${launch.source})`);
    this.connectedOnce = false;
    const client = new ReconnectingClient(() => this.dial(launch), {
      clientInfo: { name: "vscode-octavo", version: this.clientVersion },
      processId: process.pid,
      settings: daemonSettings(),
      backoff: { attempts: ATTEMPTS, maxMs: 4_000 },
      graceMs: 2_000,
      onDefect: (error, where) => this.log.error(`${where}: ${String(error)}`),
    });
    this.client = client;
    this.enter("starting");
    client.onState((state) => {
      if (this.client === client) {
        this.follow(state, client);
      }
    });
    client.on("window/logMessage", ({ message }) => this.log.info(message));
    client.onConnected(async (connected) => {
      this.version = connected.serverInfo.version ?? "";
      const spoken = connected.capabilities.protocolVersion;
      if (spoken !== PROTOCOL_VERSION) {
        this.log.error(`The server speaks protocol version ${spoken}, this extension ${PROTOCOL_VERSION}.`);
        // Before anything else is asked of it.
        void this.stop().then(() => this.enter("mismatch"));
      } else {
        await connected.notify("$/setTrace", { value: vscode.workspace.getConfiguration("octavo").get("trace.server", "off") });
      }
    });
  }

  /** End the connection. */
  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client !== undefined) {
      this.enter("stopped");
      await client.close().catch((error: unknown) => this.log.warn(`The server did not end well: ${String(error)}`));
    }
  }

  /** Tell a running server what the settings are now. */
  async configure(): Promise<void> {
    if (this.state === "running") {
      const client = await this.client?.ready();
      await client?.notify("workspace/didChangeConfiguration", { settings: daemonSettings() });
    }
  }

  /** What the server wrote last before it went, for the log. */
  get parting(): string {
    return this.lastWords.trim();
  }

  dispose(): void {
    void this.stop();
    this.changed.dispose();
    this.replaced.dispose();
  }

  private dial(launch: Launch): ReturnType<typeof spawnTransport> {
    this.lastWords = "";
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    return spawnTransport({
      command: launch.command,
      args: launch.args,
      ...(folder?.scheme === "file" && exists(folder.fsPath) ? { cwd: folder.fsPath } : {}),
      graceMs: 2_000,
      stderr: (text) => {
        this.lastWords = (this.lastWords + text).slice(-LAST_WORDS);
        this.log.warn(text.trimEnd());
      },
    });
  }

  private follow(state: ConnectionState, client: ReconnectingClient): void {
    if (state.kind === "connected") {
      const again = this.connectedOnce;
      this.connectedOnce = true;
      this.enter("running");
      if (!again) {
        this.replaced.fire(client);
      }
      this.log.info(`Connected to ${state.client.serverInfo.name} ${this.version}${again ? " again" : ""}`);
    } else if (state.kind === "waiting") {
      this.log.warn(`The server is away (${state.error.message}); next try in ${state.delayMs} ms`);
      this.enter("waiting");
    } else if (state.kind === "closed") {
      this.client = undefined;
      this.enter("failed");
    }
  }

  private enter(state: ServerState): void {
    this.state = state;
    this.changed.fire(state);
  }
}

function find(): Launch | undefined {
  const settings = vscode.workspace.getConfiguration("octavo.server");
  return discover(
    { path: settings.get("path", ""), args: settings.get<string[]>("args", ["attach"]) },
    { env: process.env, platform: process.platform, home: homedir(), isExecutable },
  );
}

function daemonSettings(): JsonObject {
  const settings = vscode.workspace.getConfiguration("octavo");
  const root = settings.get("sessions.root", "").trim();
  return { ...(root === "" ? {} : { "sessions.root": root }), ...settings.get<JsonObject>("daemonSettings", {}) };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
