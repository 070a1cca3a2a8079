// Of all tabs of a page that have a database open, only one syncs it.

interface Locks {
  request(name: string, options: object, body: () => Promise<void>): Promise<void>;
}

/** @internal */
export class Turns {
  readonly #name: string;
  readonly #locks = (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks;
  readonly #stopped = new AbortController();

  constructor(database: string) {
    this.#name = `keepsake sync ${database}`;
  }

  /** Calls `begin` when it is this tab that syncs by itself, which it does until it ends. */
  lead(begin: () => void): void {
    if (this.#locks === undefined) {
      begin();
      return;
    }
    const { signal } = this.#stopped;
    const until = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    this.#locks
      .request(this.#name, { signal }, () => {
        begin();
        return until;
      })
      .catch(() => {});
  }

  /** Runs `body` while no other tab runs its own. */
  async take(body: () => Promise<void>): Promise<void> {
    if (this.#locks === undefined) return body();
    await this.#locks.request(`${this.#name} now`, {}, body);
  }

  stop(): void {
    this.#stopped.abort();
  }
}
