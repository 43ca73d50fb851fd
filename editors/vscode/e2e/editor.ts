/** A real VS Code (code-server) with the extension in it, and a browser that looks at it. */

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";

import { chromium, type Browser, type FrameLocator, type Locator, type Page } from "playwright-core";

/** What an editor is started with. */
export interface Setup {
  codeServer: string;
  chromium: string;
  vsix: string;
  /** Folder for everything the editor writes. */
  home: string;
  workspace: string;
  settings: Record<string, unknown>;
  env: Record<string, string>;
  shots: string;
}

/** The editor and the hands on it. */
export class Editor {
  private readonly server: ChildProcess;
  private readonly browser: Browser;
  private readonly shots: string;
  readonly page: Page;

  private constructor(server: ChildProcess, browser: Browser, page: Page, shots: string) {
    this.server = server;
    this.browser = browser;
    this.page = page;
    this.shots = shots;
  }

  static async start(setup: Setup): Promise<Editor> {
    const user = join(setup.home, "user");
    const extensions = join(setup.home, "extensions");
    mkdirSync(join(user, "User"), { recursive: true });
    mkdirSync(join(user, "Machine"), { recursive: true });
    mkdirSync(setup.shots, { recursive: true });
    writeFileSync(join(user, "User", "settings.json"), JSON.stringify({ ...QUIET, ...setup.settings }, null, 2));
    // What names a program is read from the machine's settings in an editor that runs behind a browser.
    writeFileSync(join(user, "Machine", "settings.json"), JSON.stringify(setup.settings, null, 2));
    const folders = ["--extensions-dir", extensions, "--user-data-dir", user];
    const env = { ...process.env, ...setup.env };
    const installed = spawnSync(setup.codeServer, [...folders, "--install-extension", setup.vsix], { env, encoding: "utf8" });
    if (installed.status !== 0) {
      throw new Error(`installing the extension failed: ${installed.stdout}${installed.stderr}`);
    }
    const port = await freePort();
    const flags = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check", "--reconnection-grace-time", "5"];
    const trust = setup.settings["security.workspace.trust.enabled"] === true ? [] : ["--disable-workspace-trust"];
    const server = spawn(setup.codeServer, [...folders, ...flags, ...trust, setup.workspace], { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    let browser: Browser | undefined;
    try {
      await heard(server, /HTTP server listening/);
      browser = await chromium.launch({ executablePath: setup.chromium, args: ["--no-sandbox", "--disable-gpu"] });
      const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, permissions: ["clipboard-read", "clipboard-write"] });
      const page = await context.newPage();
      page.setDefaultTimeout(40_000);
      await page.goto(`http://127.0.0.1:${port}/?folder=${setup.workspace}`, { waitUntil: "domcontentloaded" });
      await page.locator('.activitybar a[aria-label^="octavo"]').waitFor({ timeout: 60_000 });
      return new Editor(server, browser, page, setup.shots);
    } catch (error) {
      await browser?.close();
      await end(server);
      throw error;
    }
  }

  /** Run a command by its title. */
  async command(title: string): Promise<void> {
    const input = this.page.locator(".quick-input-widget input").first();
    // One that is closing is still to be seen for a moment.
    await input.waitFor({ state: "hidden", timeout: 3_000 }).catch(() => this.page.keyboard.press("Escape"));
    for (let tries = 0; tries < 10 && !(await input.isVisible()); tries++) {
      await this.page.keyboard.press("F1");
      await input.waitFor({ timeout: 2_000 }).catch(() => this.page.locator(".part.titlebar .window-title").click());
    }
    await input.fill(`>${title}`);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().waitFor();
    await this.page.keyboard.press("Enter");
  }

  /** Type into the input box that is open, and accept. */
  async answer(text: string): Promise<void> {
    const input = this.page.locator(".quick-input-widget input").first();
    await input.waitFor();
    await input.fill(text);
    await this.page.keyboard.press("Enter");
  }

  /** A line of the quick pick that is open. */
  choice(text: string | RegExp): Locator {
    return this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first();
  }

  row(text: string | RegExp): Locator {
    return this.page.locator(".pane-body .monaco-list-row", { hasText: text }).first();
  }

  file(name: string): Locator {
    return this.page.locator(".explorer-folders-view .monaco-list-row", { hasText: name });
  }

  /** Choose from the context menu of something. */
  async menu(on: Locator, title: string): Promise<void> {
    const item = this.page.locator(".context-view .action-item", { hasText: title }).first();
    await on.click({ button: "right" });
    await item.waitFor();
    // A menu ignores the mouse for a moment, lest the click that opened it also chooses.
    await this.page.waitForTimeout(400);
    await item.click();
    await item.waitFor({ state: "hidden" });
  }

  notification(text: string | RegExp): Locator {
    return this.page.locator(".notification-toast", { hasText: text }).first();
  }

  get gauge(): Locator {
    return this.page.locator('.statusbar-item[id="octavo.octavo.gauge"], .statusbar-item[id*="octavo.gauge"]').first();
  }

  /** The transcript's page. */
  get transcript(): FrameLocator {
    return this.page.frameLocator("iframe.webview.ready:visible").last().frameLocator("#active-frame");
  }

  /** Press a button of a notification. */
  async press(notification: Locator, button: string): Promise<void> {
    await notification.hover();
    await notification.locator("a.monaco-button, a.monaco-text-button", { hasText: button }).first().click();
    await notification.waitFor({ state: "hidden" });
    // A toast that goes gives the focus back to where it was, a moment later.
    await this.page.waitForTimeout(300);
  }

  async dismissAll(): Promise<void> {
    await this.command("Notifications: Clear All Notifications");
  }

  /** Take a picture. */
  async shot(name: string): Promise<void> {
    // Toasts and lists move for a moment.
    await this.page.waitForTimeout(450);
    pictures += 1;
    const path = join(this.shots, `${String(pictures).padStart(2, "0")}-${name}.png`);
    await this.page.screenshot({ path });
    console.log(`  ${path.split("/").slice(-4).join("/")}`);
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await end(this.server);
  }
}

/** Numbers the pictures of all editors of a run. */
let pictures = 0;

const QUIET = {
  "workbench.startupEditor": "none",
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "workbench.tips.enabled": false,
  "window.commandCenter": false,
  "chat.commandCenter.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.welcomePage.walkthroughs.openOnInstall": false,
  "security.workspace.trust.enabled": false,
};

/** End a process and what it started. */
async function end(server: ChildProcess): Promise<void> {
  if (server.pid !== undefined && server.exitCode === null && server.signalCode === null) {
    const gone = new Promise<void>((resolve) => server.once("exit", () => resolve()));
    process.kill(-server.pid, "SIGTERM");
    await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 5_000))]);
  }
}

async function heard(server: ChildProcess, sentence: RegExp): Promise<void> {
  let text = "";
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`code-server did not start: ${text}`)), 60_000);
    const listen = (chunk: Buffer): void => {
      text += chunk.toString();
      if (sentence.test(text)) {
        clearTimeout(late);
        resolve();
      }
    };
    server.stdout?.on("data", listen);
    server.stderr?.on("data", listen);
    server.once("exit", (code) => reject(new Error(`code-server ended with ${code}: ${text}`)));
  });
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
