/** How a command runs: with progress and a Cancel button where it can take long, and a sentence when it fails. */

import type { ProgressValue, RequestOptions } from "octavo-client";
import * as vscode from "vscode";

import { REMEDY_TITLES, explain, type Failure, type Remedy } from "../failure.ts";
import { progressLine } from "../figures.ts";
import type { OpenSession } from "../session/session.ts";

/** What the buttons of a failure do; one that is absent is not offered. */
export type Remedies = Partial<Record<Remedy, () => unknown>>;

/** Runs deeds and tells their failures. */
export class Deeds {
  private readonly log: vscode.LogOutputChannel;
  private told = "";
  private toldAt = 0;

  constructor(log: vscode.LogOutputChannel) {
    this.log = log;
  }

  /** Do something; a failure becomes a sentence with buttons. Returns undefined then. */
  async attempt<T>(what: () => Promise<T>, remedies: Remedies = {}): Promise<T | undefined> {
    try {
      return await what();
    } catch (error) {
      void this.tell(error, remedies);
      return undefined;
    }
  }

  /**
   * Do something long about a session, with a notification that cancels it.
   *
   * A failure that the server has announced as the end of an operation is not told twice.
   */
  async long<T>(
    title: string,
    session: OpenSession,
    what: (options: RequestOptions) => Promise<T>,
    remedies: Remedies = {},
  ): Promise<T | undefined> {
    const endings = session.endings;
    try {
      return await vscode.window.withProgress(
        { location: vscode.ProgressLocation.Notification, title, cancellable: true },
        (progress, token) => {
          let shown = 0;
          const onProgress = (value: ProgressValue): void => {
            session.report(value);
            const percent = value.percentage ?? shown;
            progress.report({ message: progressLine(value), increment: Math.max(0, percent - shown) });
            shown = Math.max(shown, percent);
          };
          return what({ token, onProgress });
        },
      );
    } catch (error) {
      if (session.endings === endings || explain(error)?.level === "info") {
        void this.tell(error, remedies);
      } else {
        this.log.info(`${title}: ${error instanceof Error ? error.message : String(error)}`);
      }
      return undefined;
    }
  }

  /** Tell a failure; the same one twice in a moment is told once. */
  async tell(error: unknown, remedies: Remedies = {}): Promise<void> {
    const failure = explain(error);
    if (failure === undefined) {
      return;
    }
    this.log.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
    if (failure.message === this.told && Date.now() - this.toldAt < 2_000) {
      return;
    }
    this.told = failure.message;
    this.toldAt = Date.now();
    const offered: Remedies = {
      showLog: () => this.log.show(),
      openSettings: () => vscode.commands.executeCommand("workbench.action.openSettings", "octavo"),
      ...remedies,
    };
    const titles = failure.remedies.filter((remedy) => offered[remedy] !== undefined);
    const choice = await show(failure)(failure.message, ...titles.map((remedy) => REMEDY_TITLES[remedy]));
    const chosen = titles.find((remedy) => REMEDY_TITLES[remedy] === choice);
    if (chosen !== undefined) {
      await offered[chosen]?.();
    }
  }
}

function show({ level }: Failure): (message: string, ...items: string[]) => Thenable<string | undefined> {
  return level === "error"
    ? vscode.window.showErrorMessage
    : level === "warning"
      ? vscode.window.showWarningMessage
      : vscode.window.showInformationMessage;
}
