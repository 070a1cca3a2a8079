// The page's memory, opened by name. When the worker of this tab ends, it is opened again.
import { openMemory } from "keepsake";
import { SEARCH } from "../../search.mjs";

const NAME = "keepsake-demo";

/** What use() rejects with when the worker ends before there is an answer. */
export class WorkerEnded extends Error {
  name = "WorkerEnded";

  constructor() {
    super("the worker of this tab was ended");
  }
}

/** Tells "open" after each opening, and "change" with what any tab has written. */
export class Database extends EventTarget {
  #memory;
  #worker;
  #ended = Promise.withResolvers();
  #opening;

  get memory() {
    return this.#memory;
  }

  async open() {
    this.#opening = this.#open();
    await this.#opening;
  }

  /** What `body` answers with the memory, once that is open. */
  async use(body) {
    await this.#opening;
    return Promise.race([body(this.#memory), this.#ended.promise]);
  }

  /** The same for what may be done twice: again, if the worker ended meanwhile. */
  async insist(body) {
    for (;;) {
      try {
        return await this.use(body);
      } catch (error) {
        if (!(error instanceof WorkerEnded)) throw error;
      }
    }
  }

  /** Ends this tab's worker as a crash would, and opens anew. → milliseconds until it was open */
  async endWorker() {
    const start = performance.now();
    this.#worker.terminate();
    // Nobody is there to say that it is closed.
    void this.#memory.close();
    this.#opening = this.#open();
    this.#ended.reject(new WorkerEnded());
    this.#ended = Promise.withResolvers();
    await this.#opening;
    return performance.now() - start;
  }

  async #open() {
    this.#ended.promise.catch(() => {});
    this.#memory = await openMemory({
      name: NAME,
      ...SEARCH,
      worker: () => this.#startWorker(),
    });
    this.#memory.onChange((changes) => this.#tell("change", changes));
    this.#tell("open");
    this.#tell("change", { namespaces: [], threads: [], everything: true });
  }

  #startWorker() {
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    return this.#worker;
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
