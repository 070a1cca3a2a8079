// The page's memory, opened by name.
import { openMemory } from "keepsake";
import { SEARCH } from "../../search.mjs";

const NAME = "keepsake-demo";

/** Tells "open" after each opening, and "change" with what any tab has written. */
export class Database extends EventTarget {
  #memory;
  #worker;
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
    return body(this.#memory);
  }

  /** Ends this tab's worker as a crash would. → milliseconds until the next one has answered */
  async endWorker() {
    const start = performance.now();
    this.#worker.terminate();
    await this.#memory.stats();
    return performance.now() - start;
  }

  async #open() {
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
