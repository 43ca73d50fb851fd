/** Compact, preview, apply, discard, undo, prune, hand off, cancel. */

import type { CompactParams, PrepareCompactionResult, StrategyPlan } from "octavo-client";
import * as vscode from "vscode";

import { tokens } from "../figures.ts";
import type { OpenSession } from "../session/session.ts";
import type { Deeds } from "./deeds.ts";
import type { Previews } from "./previews.ts";

type Strategy = StrategyPlan["strategy"];

/** The commands that make room. */
export class Compaction {
  private readonly deeds: Deeds;
  private readonly previews: Previews;

  constructor(deeds: Deeds, previews: Previews) {
    this.deeds = deeds;
    this.previews = previews;
  }

  /** Compact as configured, or as said. Its end is announced by the server's notification. */
  async compact(session: OpenSession, how: Partial<CompactParams> = {}): Promise<void> {
    const strategy = how.strategy ?? (how.customInstructions === undefined ? configured() : undefined);
    await this.deeds.long(
      "Compacting",
      session,
      (options) =>
        session.client.session.compact(
          { ...how, sessionId: session.id, ...(strategy === undefined ? {} : { strategy }) },
          options,
        ),
      { retry: () => this.compact(session, how), chooseStrategy: () => this.choose(session) },
    );
  }

  /** Compact with words about what to keep. */
  async compactWith(session: OpenSession): Promise<void> {
    const customInstructions = await vscode.window.showInputBox({
      title: "Compact with Instructions",
      prompt: "What should the summary look at? A model will write it.",
      placeHolder: "Keep every decision about the database schema",
      ignoreFocusOut: true,
    });
    if (customInstructions !== undefined) {
      await this.compact(session, customInstructions.trim() === "" ? {} : { customInstructions });
    }
  }

  /** Choose a way by what it costs and brings, and compact that way. */
  async choose(session: OpenSession): Promise<void> {
    const strategy = await this.pick(session, "Compact");
    if (strategy !== undefined) {
      await this.compact(session, { strategy });
    }
  }

  /** Show the plan, make a result and hold it, and open it beside the summary so far. */
  async preview(session: OpenSession): Promise<void> {
    if (this.previews.showHeld(session)) {
      return;
    }
    const waiting = session.info.heldOperations?.[0];
    if (waiting !== undefined) {
      await this.showWaiting(session, waiting);
      return;
    }
    const strategy = await this.pick(session, "Preview Compaction");
    if (strategy === undefined) {
      return;
    }
    const result = await this.deeds.long(
      "Preparing a compaction to look at",
      session,
      (options) => session.client.session.compact({ sessionId: session.id, hold: true, strategy }, options),
      { retry: () => this.preview(session), chooseStrategy: () => this.preview(session) },
    );
    if (result !== undefined) {
      await this.previews.show(session, result);
    }
  }

  /** Take the last compaction back; it stays in the tree, on its own branch. */
  async undo(session: OpenSession): Promise<void> {
    const result = await this.deeds.attempt(() => session.client.session.undoCompaction({ sessionId: session.id }));
    if (result !== undefined) {
      vscode.window.setStatusBarMessage(`$(check) Compaction undone: ${tokens(result.tokens)} tokens again`, 8_000);
    }
  }

  /** Count what pruning would free, ask, prune. */
  async prune(session: OpenSession): Promise<void> {
    const { client, id: sessionId } = session;
    const count = await this.deeds.attempt(() => client.session.prune({ sessionId, dryRun: true }));
    if (count === undefined) {
      return;
    }
    if (count.prunedCount === 0) {
      void vscode.window.showInformationMessage("No tool output is old enough to be pruned.");
      return;
    }
    const outputs = count.prunedCount === 1 ? "One tool output" : `${count.prunedCount} tool outputs`;
    const choice = await vscode.window.showInformationMessage(
      `Blank ${outputs.toLowerCase()}?`,
      { modal: true, detail: `This frees about ${tokens(count.tokensSaved)} tokens. The conversation itself stays as it is.` },
      "Prune",
    );
    if (choice === "Prune") {
      const done = await this.deeds.attempt(() => client.session.prune({ sessionId }));
      if (done !== undefined) {
        vscode.window.setStatusBarMessage(`$(check) ${tokens(done.tokensSaved)} tokens freed`, 8_000);
      }
    }
  }

  /** Write a handoff document and go on in a new session. */
  async handoff(session: OpenSession): Promise<void> {
    const words = await vscode.window.showInputBox({
      title: "Hand Off to a New Session",
      prompt: "What should the document for the new session look at? Leave it empty for everything.",
      ignoreFocusOut: true,
    });
    if (words !== undefined) {
      await this.deeds.long(
        "Handing off",
        session,
        (options) =>
          session.client.session.handoff(
            { sessionId: session.id, ...(words.trim() === "" ? {} : { customInstructions: words }) },
            options,
          ),
        { retry: () => this.handoff(session) },
      );
    }
  }

  /** Cancel what runs in the session, whoever began it. */
  async abort(session: OpenSession): Promise<void> {
    const { client, id: sessionId, running } = session;
    await this.deeds.attempt(() =>
      running?.kind === "branchSummary"
        ? client.session.abortBranchSummary({ sessionId })
        : client.session.abortCompaction({ sessionId }),
    );
  }

  /** Open a result that an earlier window or another client made and left without a decision. */
  private async showWaiting(session: OpenSession, operationId: string): Promise<void> {
    const result = await this.deeds.attempt(() =>
      session.client.session.getHeldCompaction({ sessionId: session.id, operationId }),
    );
    if (result !== undefined) {
      await this.previews.show(session, result);
    }
  }

  private async pick(session: OpenSession, title: string): Promise<Strategy | undefined> {
    const plan = await this.deeds.attempt(() => session.client.session.prepareCompaction({ sessionId: session.id }));
    if (plan === undefined) {
      return undefined;
    }
    if (!plan.possible) {
      void vscode.window.showInformationMessage(
        plan.reason === "already-compacted"
          ? "The last entry is already a compaction; there is nothing new to compact."
          : "This session is too small to compact.",
      );
      return undefined;
    }
    const picked = await vscode.window.showQuickPick(planItems(plan), {
      title,
      placeHolder: planLine(plan),
      matchOnDetail: true,
    });
    return picked?.strategy;
  }
}

const STRATEGIES: Readonly<Record<Strategy, readonly [string, string]>> = {
  "context-full": ["sparkle", "Summary by a model"],
  snapcompact: ["device-camera", "Pictures of the text"],
  extractive: ["list-selection", "Local summary"],
};

type PlanItem = vscode.QuickPickItem & { strategy?: Strategy };

function planItems(plan: PrepareCompactionResult): PlanItem[] {
  const rank = (item: StrategyPlan): number => (item.chosen ? 0 : item.available ? 1 : 2);
  return [...plan.strategies]
    .sort((a, b) => rank(a) - rank(b))
    .map((item) => {
      const [icon, name] = STRATEGIES[item.strategy];
      if (!item.available) {
        return { label: `$(circle-slash) ${name}`, detail: item.unavailableReason ?? "Not available here." };
      }
      const costs = [
        item.modelCalls > 0 ? `${item.modelCalls === 1 ? "one call" : `${item.modelCalls} calls`} reading ${tokens(item.inputTokens)} tokens` : "no model call",
        item.frames > 0 ? `${item.frames} frames` : "",
        item.cost === undefined ? "" : `about $${item.cost.toFixed(2)}`,
        item.model !== undefined && item.modelCalls > 0 ? item.model : "",
        item.fits ? "" : "still above the threshold",
      ];
      return {
        label: `$(${icon}) ${name}`,
        description: `${tokens(plan.tokensBefore)} → ${tokens(item.tokensAfter)} tokens${item.chosen ? " · usual" : ""}`,
        detail: costs.filter((cost) => cost !== "").join(" · "),
        strategy: item.strategy,
      };
    });
}

function planLine(plan: PrepareCompactionResult): string {
  const many = (count: number | undefined): string => (count === 1 ? "1 entry" : `${count ?? 0} entries`);
  const replaced = (plan.summarized?.entries ?? 0) + (plan.turnPrefix?.entries ?? 0);
  return `${many(replaced)} would be replaced, ${many(plan.kept?.entries)} stay as they are`;
}

function configured(): Strategy | undefined {
  const value = vscode.workspace.getConfiguration("octavo").get<string>("compaction.strategy", "default");
  return value === "context-full" || value === "snapcompact" || value === "extractive" ? value : undefined;
}
