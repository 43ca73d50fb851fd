/** Many listeners to a notification where a connection allows one. */

import type { Disposable } from "vscode-jsonrpc";

type Attach = (method: string, listener: (params: unknown) => void) => Disposable;

/** Listeners by name; the connection hears of a name when somebody first listens to it. */
export class Listeners<Payloads extends object> {
  private readonly byName = new Map<string, Set<(params: never) => void>>();
  private readonly attached: Disposable[] = [];

  constructor(
    private readonly attach: Attach,
    private readonly onDefect: (error: unknown, where: string) => void,
  ) {}

  /** Call `listener` for every such notification until the result is disposed. */
  add<N extends keyof Payloads & string>(name: N, listener: (params: Payloads[N]) => void): Disposable {
    // A wrapper of its own makes the same function twice two listeners.
    const entry = (params: Payloads[N]): void => listener(params);
    this.group(name).add(entry);
    return { dispose: () => void this.byName.get(name)?.delete(entry) };
  }

  /** Stop listening to the connection. */
  dispose(): void {
    for (const item of this.attached.splice(0)) {
      item.dispose();
    }
    this.byName.clear();
  }

  private group(name: string): Set<(params: never) => void> {
    const known = this.byName.get(name);
    if (known !== undefined) {
      return known;
    }
    const group = new Set<(params: never) => void>();
    this.byName.set(name, group);
    this.attached.push(this.attach(name, (params) => this.tell(name, group, params)));
    return group;
  }

  private tell(name: string, group: ReadonlySet<(params: never) => void>, params: unknown): void {
    for (const listener of [...group]) {
      try {
        listener(params as never);
      } catch (error) {
        // One listener's mistake must neither silence the others nor end the connection.
        this.onDefect(error, `A listener to ${name}`);
      }
    }
  }
}
