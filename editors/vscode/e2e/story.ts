/**
 * The user story in a real editor: open, read, go back with a summary, compact with cancel, compact, look, preview and
 * edit, undo, search, survive a restart; then the ways it can go wrong. A picture of every step.
 *
 * `node e2e/story.ts TOOLS OCTAVO VSIX PICTURES`: the folder of code-server, the server's program, the extension, where
 * pictures go.
 */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { connectClient, spawnClient, type OctavoClient } from "octavo-client/node";

import { Editor, type Setup } from "./editor.ts";
import { LISTED, NEEDLE, OLD_MESSAGE, OLD_SERVER, writeLarge, writeSession } from "./fixture.ts";
import { Model } from "./model.ts";

const [tools = "", octavo = "", vsix = "", shots = ""] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), "oct-"));
const workspace = join(home, "harbour");
const runtime = join(home, "run");
const session = join(workspace, "harbour.jsonl");
const model = await Model.start();
const started = Date.now();

writeSession(session, workspace);
await writeListed();
writeFileSync(join(workspace, "notes.jsonl"), '{"this": "is no session"}\n');
const setup: Setup = {
  codeServer: join(tools, "prefix", "bin", "code-server"),
  chromium: "/usr/bin/chromium",
  vsix,
  home,
  workspace,
  shots,
  env: { OCTAVO_RUNTIME_DIR: runtime },
  settings: {
    "octavo.server.path": octavo,
    "octavo.daemonSettings": {
      "sessions.root": join(home, "sessions"),
      "compaction.model": "local/small",
      models: [{ provider: "local", id: "small", api: "openai-completions", contextWindow: 128000, baseUrl: model.url, inputs: ["text", "image"] }],
    },
  },
};
const editor = await Editor.start(setup);
const { page } = editor;

/** Remembers in the page's `longest` how long the editor went without drawing. */
const WATCH_FRAMES = `
  globalThis.longest = 0;
  { let before = performance.now();
    const tick = (now) => { globalThis.longest = Math.max(globalThis.longest, Math.round(now - before)); before = now; requestAnimationFrame(tick); };
    requestAnimationFrame(tick); }`;

async function step(name: string, what: () => Promise<void>): Promise<void> {
  console.log(`${((Date.now() - started) / 1000).toFixed(1)} s: ${name}`);
  try {
    await what();
  } catch (error) {
    await editor.shot("failed").catch(() => undefined);
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function entries(): Record<string, unknown>[] {
  return readFileSync(session, "utf8").trim().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
}

function daemonRecord(): { pid: number; socket: string } {
  return JSON.parse(readFileSync(join(runtime, "octavo", "daemon.json"), "utf8")) as { pid: number; socket: string };
}

function daemonPid(): number {
  return daemonRecord().pid;
}

function daemonSocket(): string {
  return daemonRecord().socket;
}

try {
  await step("open a session from the explorer", async () => {
    await editor.menu(editor.file("harbour.jsonl"), "Open as octavo Session");
    await editor.transcript.locator("article:not(.adopted)").last().waitFor({ timeout: 30_000 });
    await page.locator('.activitybar a[aria-label^="octavo"]').click();
    await editor.row("Where are we, and what is left").waitFor();
    await editor.gauge.getByText("%").waitFor();
    await editor.shot("open");
  });

  await step("read the tree", async () => {
    await editor.row("earlier…").count();
    await editor.command("octavo: Filter…");
    await editor.choice("Only what has a label").click();
    await editor.row("before the refactoring").waitFor();
    await editor.shot("tree-labelled");
    await editor.command("octavo: Filter…");
    await editor.choice("The conversation").click();
    await editor.row("Where are we, and what is left").waitFor();
    await editor.gauge.hover();
    await page.waitForTimeout(900);
    await editor.shot("gauge");
  });

  await step("go back to an old message with a summary", async () => {
    model.paceMs = 20;
    await editor.command("octavo: Go to Message…");
    const input = page.locator(".quick-input-widget input").first();
    await input.fill(OLD_MESSAGE);
    await editor.choice(OLD_MESSAGE).waitFor();
    await editor.shot("navigate");
    await page.keyboard.press("Enter");
    await editor.choice("Summarise what is left behind").click();
    await editor.answer("");
    await editor.notification("Summarising").waitFor();
    await editor.shot("navigate-summarising");
    await editor.notification("The session goes on before your message").waitFor({ timeout: 30_000 });
    await editor.transcript.getByText("Summary of the branch that was left").waitFor();
    await editor.shot("navigated");
    await editor.press(editor.notification("The session goes on before"), "Copy Message");
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${OLD_MESSAGE}.`);
    assert.ok(entries().some((entry) => entry["type"] === "branch_summary"), "a branch summary was stored");
    // Back to the long branch, where there is something to compact.
    await editor.command("octavo: Go to Message…");
    await input.fill("Where are we, and what");
    await editor.choice("Where are we, and what").waitFor();
    await page.keyboard.press("Enter");
    await editor.choice("Just go there").click();
    await editor.notification("The session goes on before your message").waitFor();
    await editor.dismissAll();
  });

  await step("compact and cancel half-way", async () => {
    model.paceMs = 250;
    const before = readFileSync(session, "utf8");
    await editor.command("octavo: Compact");
    await editor.notification("Compacting").waitFor();
    await editor.notification("tokens written").waitFor();
    await editor.shot("compacting");
    await editor.gauge.getByText("Compacting").waitFor();
    await editor.press(editor.notification("Compacting"), "Cancel");
    await page.locator(".statusbar-item", { hasText: "Compaction cancelled" }).waitFor();
    await editor.shot("cancelled");
    assert.equal(readFileSync(session, "utf8"), before, "a cancelled compaction leaves the file as it was");
  });

  await step("compact for real, and open the divider", async () => {
    model.paceMs = 2;
    await editor.command("octavo: Compact");
    await editor.notification("Compacted:").waitFor({ timeout: 30_000 });
    await editor.shot("compacted");
    await editor.press(editor.notification("Compacted:"), "Show Summary");
    await editor.transcript.getByText("Ask the pilots about the column names.").first().waitFor();
    await page.waitForTimeout(400);
    await editor.shot("divider");
    await editor.command("Preferences: Toggle between Light/Dark Themes");
    await page.locator(".monaco-workbench.vs-dark").waitFor();
    await editor.shot("dark");
    await editor.command("Preferences: Toggle between Light/Dark Themes");
    await page.locator(".monaco-workbench.vs").waitFor();
    assert.equal(entries().at(-1)?.["type"], "compaction");
  });

  await step("undo", async () => {
    await editor.command("octavo: Undo Last Compaction");
    await page.locator(".statusbar-item", { hasText: "Compaction undone" }).waitFor();
    await page.waitForTimeout(600);
    await editor.shot("undone");
  });

  await step("preview, edit and apply", async () => {
    await editor.command("octavo: Preview Compaction…");
    await editor.choice("Summary by a model").waitFor();
    await editor.shot("preview-plan");
    await editor.choice("Summary by a model").click();
    await editor.notification("Edit it as you like").waitFor({ timeout: 30_000 });
    const right = page.locator(".monaco-diff-editor .modified-in-monaco-diff-editor .view-lines");
    await right.waitFor();
    await page.waitForTimeout(500);
    await editor.shot("preview");
    await right.click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("\n- The lamp of buoy 14 is out until Friday.");
    await editor.shot("preview-edited");
    await editor.command("octavo: Apply This Summary");
    await page.locator(".statusbar-item", { hasText: "Applied:" }).waitFor();
    const last = entries().at(-1);
    assert.equal(last?.["type"], "compaction");
    assert.match(String(last?.["summary"]), /buoy 14 is out until Friday/);
    await editor.shot("preview-applied");
    await editor.dismissAll();
  });

  await step("look at a summary that another client holds", async () => {
    const client = await connectClient({ path: daemonSocket() });
    const { sessionId } = await client.session.open({ path: session });
    await client.session.append({ sessionId, messages: [{ role: "user", content: "What is left to do? ".repeat(4000) }] });
    const held = await client.session.compact({ sessionId, strategy: "extractive", hold: true });
    await editor.command("octavo: Preview Compaction…");
    await editor.notification("Edit it as you like").waitFor();
    await editor.command("octavo: Discard This Summary");
    await page.locator(".statusbar-item", { hasText: "Summary discarded" }).waitFor();
    await assert.rejects(client.session.getHeldCompaction({ sessionId, operationId: held.operationId }));
    await client.close();
    await editor.dismissAll();
  });

  await step("search what compaction archived", async () => {
    await editor.command("octavo: Search Session…");
    const input = page.locator(".quick-input-widget input").first();
    await input.fill(NEEDLE);
    await editor.choice(/spare key/).waitFor();
    await editor.shot("search");
    await page.keyboard.press("Enter");
    await editor.transcript.locator("article.assistant", { hasText: "spare key of the lighthouse" }).waitFor();
    await page.waitForTimeout(400);
    await editor.shot("found");
  });

  await step("restart the daemon", async () => {
    const pid = daemonPid();
    process.kill(pid, "SIGKILL");
    await editor.notification("stopped and was started again").waitFor({ timeout: 30_000 });
    assert.notEqual(daemonPid(), pid);
    await editor.gauge.getByText("%").waitFor();
    await editor.shot("restarted");
    await editor.dismissAll();
    await editor.command("octavo: Undo Last Compaction");
    await page.locator(".statusbar-item", { hasText: "Compaction undone" }).waitFor();
  });

  await step("frames as pictures", async () => {
    await editor.command("octavo: Preview Compaction…");
    await editor.choice("Pictures of the text").click();
    await editor.notification("Edit it as you like").waitFor({ timeout: 60_000 });
    await page.locator(".statusbar-item", { hasText: "Apply summary" }).click();
    await page.locator(".statusbar-item", { hasText: "Applied:" }).waitFor();
    await editor.command("octavo: Show Transcript");
    const divider = editor.transcript.locator("article.compaction .divider").last();
    await divider.scrollIntoViewIfNeeded();
    await divider.click();
    const frames = editor.transcript.locator(".frames .frame");
    await frames.first().scrollIntoViewIfNeeded();
    await editor.transcript.locator(".frames img").first().waitFor();
    assert.ok((await frames.count()) > 1, "every frame is a picture");
    await frames.last().scrollIntoViewIfNeeded();
    await page.waitForTimeout(600);
    await editor.shot("frames");
    await frames.first().click();
    await editor.shot("frame-enlarged");
  });

  await step("label and fork from the tree's menu", async () => {
    await editor.command("octavo: Show Where the Session Stands");
    const mine = editor.row("Make crane bookings survive");
    await editor.menu(mine, "Label…");
    await editor.answer("cranes");
    await editor.row("cranes").waitFor();
    await editor.shot("labelled");
    await editor.menu(editor.row("Make crane bookings survive"), "Fork a New Session from Here");
    await editor.notification("This is the fork").waitFor();
    await editor.shot("fork");
    await editor.dismissAll();
  });

  await step("prune the fork, and hand it off", async () => {
    await editor.command("octavo: Prune Old Tool Outputs…");
    const dialog = page.locator(".monaco-dialog-box", { hasText: "tokens" });
    await dialog.waitFor();
    await editor.shot("prune");
    await dialog.locator(".monaco-button", { hasText: "Prune" }).click();
    await page.locator(".statusbar-item", { hasText: "tokens freed" }).waitFor();
    await editor.command("octavo: Hand Off to a New Session…");
    await editor.answer("What the pilots still have to answer");
    await editor.notification("A new session carries on from here").waitFor();
    await editor.shot("handoff");
    await editor.dismissAll();
    await page.locator(".tab", { hasText: "Harbour office" }).first().click();
  });

  await step("the transcript without a mouse", async () => {
    await editor.transcript.locator("article:not(.adopted)").last().click({ position: { x: 4, y: 4 } });
    for (let presses = 0; presses < 8; presses++) {
      await page.keyboard.press("k");
    }
    await page.keyboard.press("Enter");
    await editor.transcript.locator("article:focus").waitFor();
    await editor.transcript.locator("details[open]").first().waitFor();
    await editor.shot("keyboard");
  });

  await step("a session from the list", async () => {
    await editor.row("Fog horn protocol").click();
    await editor.transcript.getByText("Write down how the fog horn").waitFor();
    await editor.shot("listed");
  });

  await step("a session of 100 MB", async () => {
    writeLarge(join(workspace, "night.jsonl"), workspace, 100);
    await page.locator('.activitybar a[aria-label^="Explorer"]').click();
    await editor.file("night.jsonl").waitFor();
    await page.evaluate(WATCH_FRAMES);
    const began = Date.now();
    await editor.menu(editor.file("night.jsonl"), "Open as octavo Session");
    await editor.transcript.getByText("A long night at the harbour").waitFor({ timeout: 60_000 });
    await editor.transcript.locator("article:not(.adopted)").last().waitFor({ timeout: 60_000 });
    console.log(`  opened in ${Date.now() - began} ms, longest frame of the editor ${await page.evaluate("longest")} ms`);
    await page.evaluate(WATCH_FRAMES);
    await editor.transcript.locator("article:not(.adopted)").last().click({ position: { x: 4, y: 4 } });
    for (let pages = 0; pages < 25; pages++) {
      await page.keyboard.press("PageUp");
      await page.waitForTimeout(60);
    }
    const kept = await editor.transcript.locator("article").count();
    console.log(`  scrolled with ${kept} entries in the page, longest frame ${await page.evaluate("longest")} ms`);
    assert.ok(kept <= 400, "the page keeps a bounded number of entries");
    await editor.shot("large");
  });

  await step("a file that is no session", async () => {
    await editor.menu(editor.file("notes.jsonl"), "Open as octavo Session");
    await editor.notification("notes.jsonl").waitFor();
    await editor.shot("no-session");
    await editor.dismissAll();
  });

  await step("a session another process holds", async () => {
    const other = join(workspace, "held.jsonl");
    writeSession(other, workspace, 40);
    const holder = await hold(other);
    try {
      await editor.menu(editor.file("held.jsonl"), "Open as octavo Session");
      const told = page.locator(".notification-toast").filter({ has: page.getByText("Open Read-Only") }).first();
      await told.waitFor();
      await editor.shot("locked");
      await editor.press(told, "Open Read-Only");
      await editor.transcript.getByText("read-only").waitFor();
      await editor.shot("read-only");
    } finally {
      await holder.close();
    }
    await editor.dismissAll();
  });

  await step("no server", async () => {
    setSetting("octavo.server.path", "/nowhere/octavo");
    await editor.notification("There is no program at /nowhere/octavo").waitFor();
    await page.locator('.activitybar a[aria-label^="octavo"]').click();
    await editor.shot("no-server");
    await editor.dismissAll();
  });

  await step("an old server", async () => {
    const old = join(home, "old-octavo");
    writeFileSync(old, OLD_SERVER, { mode: 0o755 });
    setSetting("octavo.server.path", old);
    await editor.notification("do not fit together").waitFor();
    await editor.shot("old-server");
    await editor.dismissAll();
  });

  await step("a server that cannot start", async () => {
    const broken = join(home, "broken-octavo");
    writeFileSync(broken, "#!/bin/sh\necho 'octavo: the disk of the harbour office is full' >&2\nexit 1\n", { mode: 0o755 });
    setSetting("octavo.server.path", broken);
    await editor.notification("did not come back").waitFor({ timeout: 40_000 });
    await editor.shot("broken-server");
  });
  await step("a workspace without trust", async () => {
    // The first editor trusts the workspace and would rightly start what it names.
    await editor.stop();
    const marker = join(home, "started-by-the-workspace");
    const bait = join(workspace, "bait.sh");
    writeFileSync(bait, `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
    mkdirSync(join(workspace, ".vscode"));
    writeFileSync(join(workspace, ".vscode", "settings.json"), JSON.stringify({ "octavo.server.path": bait }));
    const careful = await Editor.start({
      ...setup,
      home: join(home, "careful"),
      settings: { ...setup.settings, "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" },
    });
    try {
      await careful.menu(careful.file("held.jsonl"), "Open as octavo Session");
      await careful.transcript.locator("article:not(.adopted)").last().waitFor();
      await careful.page.locator(".statusbar-item", { hasText: "Restricted Mode" }).waitFor();
      await careful.gauge.getByText("%").waitFor();
      await careful.shot("untrusted");
      assert.ok(!existsSync(marker), "a program that the workspace names is not started");
    } finally {
      await careful.stop();
    }
  });
  console.log(`The story took ${((Date.now() - started) / 1000).toFixed(0)} s.`);
} finally {
  await editor.stop();
  model.stop();
  try {
    process.kill(daemonPid(), "SIGTERM");
  } catch {
    // It is gone already.
  }
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}

/** Change a setting in the file, as a user would. */
function setSetting(name: string, value: unknown): void {
  const path = join(home, "user", "Machine", "settings.json");
  const settings = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  writeFileSync(path, JSON.stringify({ ...settings, [name]: value }, null, 2));
}

/** A server of somebody else that has the session open. */
async function hold(path: string): Promise<OctavoClient> {
  const holder = await spawnClient({ command: octavo, args: ["serve", "--stdio"] });
  await holder.session.open({ path });
  return holder;
}

/** Two sessions of the folder, where the server keeps them. */
async function writeListed(): Promise<void> {
  const client = await spawnClient(
    { command: octavo, args: ["serve", "--stdio"] },
    { settings: { "sessions.root": join(home, "sessions") } },
  );
  for (const [title, question] of LISTED) {
    const { sessionId } = await client.session.create({ cwd: workspace, title, model: "local/small" });
    const answer = { role: "assistant" as const, content: [{ type: "text" as const, text: "Done, with a test." }], provider: "local", model: "small", stopReason: "stop" as const };
    await client.session.append({ sessionId, messages: [{ role: "user", content: question }, answer] });
  }
  await client.close();
}
