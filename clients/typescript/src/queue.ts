/** Values from callbacks as an async iteration, each once and in order. */

interface Waiting<T> {
  resolve(result: IteratorResult<T>): void;
  reject(error: unknown): void;
}

/** An unbounded queue that one consumer iterates; leaving the loop calls `onReturn`. */
export class AsyncQueue<T> implements AsyncIterableIterator<T> {
  private readonly values: T[] = [];
  private readonly waiting: Waiting<T>[] = [];
  private ended = false;
  private failure: { error: unknown } | undefined;

  constructor(private readonly onReturn: () => void = () => undefined) {}

  /** Add a value; after the end it is dropped. */
  push(value: T): void {
    if (this.ended) {
      return;
    }
    const next = this.waiting.shift();
    if (next === undefined) {
      this.values.push(value);
    } else {
      next.resolve({ done: false, value });
    }
  }

  /** No more values come; those that wait are still given, then the error, if there is one. */
  end(error?: unknown): void {
    if (this.ended) {
      return;
    }
    this.ended = true;
    this.failure = error === undefined ? undefined : { error };
    for (const next of this.waiting.splice(0)) {
      this.finish(next);
    }
  }

  next(): Promise<IteratorResult<T>> {
    return new Promise((resolve, reject) => {
      if (this.values.length > 0) {
        resolve({ done: false, value: this.values.shift() as T });
      } else if (this.ended) {
        this.finish({ resolve, reject });
      } else {
        this.waiting.push({ resolve, reject });
      }
    });
  }

  return(): Promise<IteratorResult<T>> {
    this.values.length = 0;
    this.end();
    this.failure = undefined;
    this.onReturn();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private finish(next: Waiting<T>): void {
    const failure = this.failure;
    this.failure = undefined;
    if (failure === undefined) {
      next.resolve({ done: true, value: undefined });
    } else {
      next.reject(failure.error);
    }
  }
}
