// Lets those who must be alone run one after the other.

/** @internal */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `body` when all that came before have ended. */
  run<T>(body: () => Promise<T>): Promise<T> {
    const result = this.#last.then(body);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
