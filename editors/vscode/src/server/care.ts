/** What a user can do about the server: install it, choose it, restart it; and being told when that is due. */

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

import * as vscode from "vscode";

import { sentence } from "../failure.ts";
import type { Server, ServerState } from "./server.ts";

/** Tell the user when the server needs something, once for each time it does. */
export function watchServer(server: Server, log: vscode.LogOutputChannel): vscode.Disposable {
  let before: ServerState = "stopped";
  let away = false;
  return server.onDidChangeState((state) => {
    if (state === "waiting" && before === "running") {
      away = true;
    } else if (state === "running" && away) {
      away = false;
      void ask("info", "The octavo server stopped and was started again. Your sessions are as they were saved.", {
        "Show Log": () => log.show(),
      });
    } else if (state === "missing") {
      void ask("warning", missing(), { "Install the Server": installServer, "Choose…": chooseServer });
    } else if (state === "failed") {
      const words = (server.parting.split("\n").pop() ?? "").replace(/^octavo[\w -]*: /, "");
      const reason = words === "" ? "" : ` Its last words: ${sentence(words)}`;
      void ask("error", `The octavo server stopped and did not come back.${reason}`, {
        Restart: () => server.start(),
        "Show Log": () => log.show(),
      });
    } else if (state === "mismatch") {
      const version = server.version === "" ? "" : ` (${server.version})`;
      void ask("warning", `This octavo server${version} and this extension do not fit together; update the older one.`, {
        "Update the Server": installServer,
        "Choose…": chooseServer,
      });
    }
    before = state;
  });
}

/** Install or update the server in a terminal, where one sees what happens. */
export async function installServer(): Promise<void> {
  const ways = [
    { label: "uv", detail: "uv tool install --upgrade octavo", program: "uv" },
    { label: "pipx", detail: "pipx install --force octavo", program: "pipx" },
    { label: "pip", detail: "python3 -m pip install --user --upgrade octavo", program: "python3" },
  ];
  const there = ways.filter(({ program }) => isOnPath(program));
  if (there.length === 0) {
    void vscode.window.showWarningMessage("Installing octavo needs uv, pipx or Python 3.11, and none of them was found.");
    return;
  }
  const way = await vscode.window.showQuickPick(there, { title: "Install the octavo Server", placeHolder: "The command runs in a terminal" });
  if (way !== undefined) {
    const terminal = vscode.window.createTerminal("octavo");
    terminal.show();
    terminal.sendText(way.detail);
    void ask("info", "When the terminal is done, start the server.", {
      "Start the Server": () => vscode.commands.executeCommand("octavo.restartServer"),
    });
  }
}

/** Point the setting at a program. */
export async function chooseServer(): Promise<void> {
  const [file] = (await vscode.window.showOpenDialog({ title: "The octavo Program", canSelectMany: false })) ?? [];
  if (file !== undefined) {
    await vscode.workspace.getConfiguration("octavo").update("server.path", file.fsPath, vscode.ConfigurationTarget.Global);
  }
}

function missing(): string {
  const path = vscode.workspace.getConfiguration("octavo").get("server.path", "");
  return path === ""
    ? "The octavo server is not installed on this machine."
    : `There is no program at ${path}, where octavo.server.path says the octavo server is.`;
}

function isOnPath(program: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

async function ask(level: "info" | "warning" | "error", text: string, deeds: Record<string, () => unknown>): Promise<void> {
  const show = {
    info: vscode.window.showInformationMessage,
    warning: vscode.window.showWarningMessage,
    error: vscode.window.showErrorMessage,
  }[level];
  const choice = await show(text, ...Object.keys(deeds));
  if (choice !== undefined) {
    await deeds[choice]?.();
  }
}
