// Rows of a long list, read in portions when they come into view.

const ROWS = 50;
// What else was read is read again.
const MOST_PAGES = 40;
// Of what was scrolled past, this many portions are still read.
const MOST_WAITING = 3;

export class Pages<Row> {
  readonly #load: (offset: number, limit: number) => Promise<Row[]>;
  readonly #onLoaded: () => void;
  readonly #onError: (error: unknown) => void;
  #fresh = new Map<number, Row[]>();
  // Shown until the same portion was read again.
  #stale = new Map<number, Row[]>();
  #wanted: number[] = [];
  #awaited: { index: number; use: (row: Row) => void } | undefined;
  #isLoading = false;
  #generation = 0;

  constructor(
    load: (offset: number, limit: number) => Promise<Row[]>,
    onLoaded: () => void,
    onError: (error: unknown) => void,
  ) {
    this.#load = load;
    this.#onLoaded = onLoaded;
    this.#onError = onError;
  }

  /** The row, or undefined while it is not here: it is on its way then. */
  at(index: number): Row | undefined {
    const page = Math.floor(index / ROWS);
    const rows = this.#fresh.get(page);
    if (rows === undefined) this.#want(page);
    return (rows ?? this.#stale.get(page))?.[index % ROWS];
  }

  /** Calls `use` with the row: now, or when it has come, unless another is asked for before. */
  whenHere(index: number, use: (row: Row) => void): void {
    this.#awaited = { index, use };
    this.#give();
  }

  #give(): void {
    const awaited = this.#awaited;
    const row = awaited && this.at(awaited.index);
    if (row === undefined) return;
    this.#awaited = undefined;
    awaited?.use(row);
  }

  /** Reads all of it anew. With `isOther`, what was shown is of something else. */
  reset(isOther: boolean): void {
    this.#generation++;
    this.#stale = isOther ? new Map() : new Map([...this.#stale, ...this.#fresh]);
    this.#fresh = new Map();
    this.#wanted = [];
    if (isOther) this.#awaited = undefined;
  }

  #want(page: number): void {
    if (!this.#wanted.includes(page)) this.#wanted.push(page);
    while (this.#wanted.length > MOST_WAITING) this.#wanted.shift();
    void this.#loadNext();
  }

  async #loadNext(): Promise<void> {
    if (this.#isLoading) return;
    const page = this.#wanted.pop();
    if (page === undefined) return;
    this.#isLoading = true;
    const generation = this.#generation;
    try {
      const rows = await this.#load(page * ROWS, ROWS);
      if (generation === this.#generation) this.#keep(page, rows);
    } catch (error) {
      // Not asked for again until something changes.
      if (generation === this.#generation) this.#keep(page, []);
      this.#awaited = undefined;
      this.#onError(error);
    } finally {
      this.#isLoading = false;
    }
    this.#onLoaded();
    this.#give();
    void this.#loadNext();
  }

  #keep(page: number, rows: Row[]): void {
    this.#stale.delete(page);
    this.#fresh.set(page, rows);
    for (const pages of [this.#stale, this.#fresh]) {
      for (const oldest of pages.keys()) {
        if (pages.size <= MOST_PAGES) break;
        pages.delete(oldest);
      }
    }
  }
}
