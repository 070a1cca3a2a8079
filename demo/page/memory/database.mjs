// The page's memory, opened by name.
import { openMemory } from "keepsake";
import { SEARCH } from "../../search.mjs";
import { ColdStart } from "./cold-start.mjs";

const NAME = "keepsake-demo";

/** Tells "open" after each opening, and "change" with what any tab has written. */
export class Database extends EventTarget {
  start = new ColdStart();
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

  /**
   * Ends this tab's worker as a crash would. → {milliseconds, isLost}: until the next one has
   * answered, and whether there was no storage, so that all is gone
   */
  async endWorker() {
    const start = performance.now();
    this.#worker.terminate();
    const isLost = await this.#memory.stats().then(
      () => false,
      (error) => this.#beginAnew(error),
    );
    return { milliseconds: performance.now() - start, isLost };
  }

  async #beginAnew(error) {
    if (error.code !== "lost") throw error;
    await this.#memory.close();
    await this.open();
    return true;
  }

  async #open() {
    this.start.mark("script");
    this.#memory = await openMemory({
      name: NAME,
      actor: "demo",
      ...SEARCH,
      worker: () => this.#startWorker(),
    });
    this.start.mark("database");
    await this.#memory.store.search([], { query: "what do you remember?", limit: 1 });
    this.start.mark("answer");
    this.#memory.onChange((changes) => this.#tell("change", changes));
    this.#tell("open");
    this.#tell("change", { namespaces: [], threads: [], everything: true });
    // For whoever looks inside.
    if ((await this.#memory.auditRule()) === undefined) await this.#memory.keepAudit();
  }

  #startWorker() {
    const { worker: name } = this.start;
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module", name });
    return this.#worker;
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
