/** Tells the user how things ended: one sentence and the buttons that follow from it. */

import type { BranchSummaryEnd, CompactionEnd, HandoffEnd, SessionNotice } from "octavo-client";
import * as vscode from "vscode";

import { sentence } from "../failure.ts";
import { bytes, duration, tokens } from "../figures.ts";
import type { OpenSession } from "./session.ts";

/** The commands behind the buttons. */
export interface Follow {
  undo(session: OpenSession): unknown;
  reveal(session: OpenSession, entryId: string): unknown;
  openSession(sessionId: string): unknown;
  preview(session: OpenSession, operationId: string): unknown;
  retry(session: OpenSession): unknown;
  chooseStrategy(session: OpenSession): unknown;
}

/** Speaks for sessions. */
export class Announcer {
  follow: Follow | undefined;

  /** A compaction ended, whoever asked for it. */
  compaction(session: OpenSession, end: CompactionEnd): void {
    if (end.aborted) {
      vscode.window.setStatusBarMessage("$(circle-slash) Compaction cancelled; nothing was changed", 8_000);
      return;
    }
    if (end.errorMessage !== undefined) {
      void this.ask("error", `Compacting failed: ${sentence(end.errorMessage)}`, {
        "Try Again": () => this.follow?.retry(session),
        "Choose Another Way": () => this.follow?.chooseStrategy(session),
      });
      return;
    }
    if (end.skipped) {
      void vscode.window.showInformationMessage(sentence(end.skipReason ?? "There was nothing to compact."));
      return;
    }
    if (end.result?.held === true) {
      return;
    }
    const entryId = end.entryId;
    if (entryId === undefined) {
      const freed = end.tokensBefore !== undefined && end.tokensAfter !== undefined ? end.tokensBefore - end.tokensAfter : 0;
      vscode.window.setStatusBarMessage(`$(check) ${tokens(Math.max(0, freed))} tokens freed`, 8_000);
      return;
    }
    const change =
      end.tokensBefore === undefined || end.tokensAfter === undefined
        ? "Compacted"
        : `Compacted: ${tokens(end.tokensBefore)} → ${tokens(end.tokensAfter)} tokens`;
    void this.ask("info", `${change} in ${duration(end.durationMs)}.`, {
      "Show Summary": () => this.follow?.reveal(session, entryId),
      Undo: () => this.follow?.undo(session),
    });
    for (const notice of end.result?.notices ?? []) {
      this.notice(notice);
    }
  }

  branchSummary(_session: OpenSession, end: BranchSummaryEnd): void {
    if (end.aborted) {
      vscode.window.setStatusBarMessage("$(circle-slash) Summary cancelled; you are where you were", 8_000);
    } else if (end.errorMessage !== undefined) {
      void vscode.window.showErrorMessage(`The branch was not summarised: ${sentence(end.errorMessage)}`);
    }
  }

  handoff(_session: OpenSession, end: HandoffEnd): void {
    const next = end.result?.newSession;
    if (end.aborted) {
      vscode.window.setStatusBarMessage("$(circle-slash) Handoff cancelled; nothing was changed", 8_000);
    } else if (end.errorMessage !== undefined) {
      void vscode.window.showErrorMessage(`The handoff failed: ${sentence(end.errorMessage)}`);
    } else if (next !== undefined) {
      void this.ask("info", "A new session carries on from here.", {
        "Open It": () => this.follow?.openSession(next.sessionId),
      });
    }
  }

  notice(notice: Pick<SessionNotice, "level" | "message">): void {
    const text = sentence(notice.message);
    if (notice.level === "error") {
      void vscode.window.showErrorMessage(text);
    } else if (notice.level === "warning") {
      void vscode.window.showWarningMessage(text);
    } else {
      vscode.window.setStatusBarMessage(`$(info) ${text}`, 10_000);
    }
  }

  promoted(session: OpenSession, to: string): void {
    void vscode.window.showInformationMessage(`“${session.title}” goes on with ${to}, which has a larger window.`);
  }

  /** Opening had to mend something. */
  recovered(session: OpenSession): void {
    const { recovered } = session;
    const damage = recovered?.damage ?? [];
    if (damage.length > 0) {
      const lost = damage.reduce((sum, stretch) => sum + stretch.length, 0);
      const kept = recovered?.backupPath === undefined ? "" : ` They are kept in ${recovered.backupPath}.`;
      const places = damage.length === 1 ? "one place" : `${damage.length} places`;
      void vscode.window.showWarningMessage(`${bytes(lost)} of “${session.title}” could not be read, at ${places}.${kept}`);
    }
  }

  private async ask(level: "info" | "error", text: string, deeds: Record<string, () => unknown>): Promise<void> {
    const show = level === "info" ? vscode.window.showInformationMessage : vscode.window.showErrorMessage;
    const choice = await show(text, ...Object.keys(deeds));
    if (choice !== undefined) {
      await deeds[choice]?.();
    }
  }
}
