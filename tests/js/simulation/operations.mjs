// What participants do with their memories, as random as it goes.

import { NAMESPACES, THREADS } from "./names.mjs";

const WORDS = ["red", "blue", "ship", "tree", "north", "seven", "letter", "cold"];

/** How often each is done. */
const WEIGHTS = {
  put: 24,
  delete: 5,
  get: 14,
  search: 7,
  searchByVector: 3,
  batch: 5,
  putForAWhile: 4,
  getForAWhile: 3,
  sweep: 2,
  list: 3,
  keepHistory: 2,
  history: 3,
  undo: 2,
  hold: 1,
  release: 1,
  forget: 3,
  forgetThread: 1,
  forgetWhatIsFound: 1,
  clear: 1,
  evict: 2,
  checkpoint: 9,
  writes: 4,
  getTuple: 5,
  listCheckpoints: 2,
  listThreads: 2,
  deleteThread: 1,
  copyThread: 1,
  renameThread: 1,
  forkThread: 1,
  prune: 2,
  stats: 2,
  buildIndex: 1,
  portable: 1,
  file: 1,
  restore: 1,
  poison: 0.3,
  audit: 0.5,
  sync: 12,
  syncMeanwhile: 8,
};

/** The same where they come into each other's way more often: what one has done is refused later. */
const QUARRELS = {
  ...WEIGHTS,
  hold: 25,
  release: 6,
  forget: 25,
  keepHistory: 8,
  undo: 8,
  sync: 20,
};

/** What is of devices alone. */
const OF_DEVICES = new Set(["sync", "syncMeanwhile"]);

/** One client of a participant: it does one thing after the other. */
export class Client {
  #participant;
  #random;
  #story;
  #setting;

  constructor(setting, participant, random) {
    this.#setting = setting;
    this.#participant = participant;
    this.#random = random;
    this.#story = setting.story;
  }

  /** So many steps, with pauses between them of about so many milliseconds. */
  async work(steps, pauseMs) {
    for (let i = 0; i < steps; i++) {
      await this.#pause(pauseMs);
      if (!this.#participant.isOpen && !(await this.#open())) continue;
      await this.#step(this.#nextKind());
    }
  }

  #nextKind() {
    for (;;) {
      const kind = this.#random.weighted(this.#setting.quarrels ? QUARRELS : WEIGHTS);
      if (this.#participant.isDevice || !OF_DEVICES.has(kind)) return kind;
    }
  }

  async #pause(usual) {
    const ms = this.#random.chance(0.3) ? 0 : this.#random.delay(usual);
    await new Promise((resolve) => this.#participant.process.after(ms, resolve));
  }

  async #open() {
    this.#opening ??= this.#note("open", () => this.#participant.open()).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  #opening;

  async #step(kind) {
    await this.#note(kind, () => this[kind](this.#participant.memory));
  }

  /** Whether it went well. Anything may be refused, but not in any way. */
  async #note(kind, body) {
    const { name, process } = this.#participant;
    const { life } = process;
    const isOver = () => process.life !== life;
    const step = { by: name, kind, isOver, begunAt: this.#setting.world.time };
    this.#story.push(step);
    try {
      await body();
      step.code = "ok";
      return true;
    } catch (error) {
      step.error = error;
      step.code = error?.code ?? error?.name;
      if (this.#setting.world.isTold) this.#setting.world.tell(kind, "fails:", String(error));
      return false;
    }
  }

  // ---- names and values

  #place() {
    const { namespace, keys } = this.#random.pick(NAMESPACES);
    return [namespace, this.#random.pick(keys)];
  }

  #token(where) {
    return this.#setting.tokens.next(where);
  }

  #value(where) {
    const random = this.#random;
    const value = { token: this.#token(where), text: this.#text(), n: random.below(5) };
    if (random.chance(0.1)) value.long = this.#text().repeat(random.between(20, 400));
    return value;
  }

  #text() {
    return Array.from({ length: 4 }, () => this.#random.pick(WORDS)).join(" ");
  }

  #thread() {
    return this.#random.pick(THREADS);
  }

  // ---- items

  async put({ store }) {
    const [namespace, key] = this.#place();
    await store.put(namespace, key, this.#value({ namespace }));
  }

  async delete({ store }) {
    await store.delete(...this.#place());
  }

  async get({ store }) {
    await store.get(...this.#place());
  }

  async search({ store }) {
    const random = this.#random;
    const [namespace] = this.#place();
    const filter = random.chance(0.3) ? { n: random.below(5) } : undefined;
    const options = { filter, limit: random.between(1, 10) };
    if (random.chance(0.5))
      Object.assign(options, { query: random.pick(WORDS), ranking: { mode: "text" } });
    await store.search(namespace.slice(0, random.below(3)), options);
  }

  async searchByVector({ store }) {
    if (!this.#setting.hasIndex) return;
    await store.search([], { query: this.#text(), ranking: { mode: "vector" }, limit: 4 });
  }

  async batch({ store }) {
    const operations = [];
    for (let i = this.#random.between(2, 5); i > 0; i--) {
      const [namespace, key] = this.#place();
      const kind = this.#random.below(4);
      if (kind === 0) operations.push({ namespace, key });
      else if (kind === 1) operations.push({ namespacePrefix: namespace, limit: 3 });
      else if (kind === 2) operations.push({ namespace, key, value: null });
      else operations.push({ namespace, key, value: this.#value({ namespace }) });
    }
    await store.batch(operations);
  }

  async putForAWhile({ store }) {
    const [namespace, key] = this.#place();
    const ttl = this.#random.pick([0.01, 0.2, 2, 60]);
    await store.put(namespace, key, this.#value({ namespace }), undefined, { ttl });
  }

  async getForAWhile({ store }) {
    const [namespace, key] = this.#place();
    await store.get(namespace, key, { refreshTtl: this.#random.chance(0.5) });
  }

  async sweep({ store }) {
    await store.sweepExpired();
  }

  async list({ store }) {
    if (this.#random.chance(0.5))
      await store.listNamespaces({ maxDepth: this.#random.between(1, 3) });
    else await store.listKeys(this.#place()[0]);
  }

  async clear({ store }) {
    await store.clearNamespace(this.#place()[0]);
  }

  async keepHistory({ store }) {
    await store.keepHistory(this.#place()[0].slice(0, 2), {
      maxVersions: this.#random.between(2, 9),
    });
  }

  async history({ store }) {
    await store.history(...this.#place());
  }

  async undo({ store }) {
    const versions = await store.history(...this.#place());
    if (versions.length === 0) return;
    const { operation } = this.#random.pick(versions);
    await store.undo(operation, { force: this.#random.chance(0.5) });
  }

  async buildIndex({ store }) {
    await store.buildIndex();
  }

  // ---- erasing

  async hold(memory) {
    await memory.hold(this.#place()[0], "a lawsuit");
  }

  async release(memory) {
    await memory.release(this.#place()[0]);
  }

  async forget(memory) {
    const [namespace] = this.#place();
    const namespaces = [namespace];
    await this.#forgetting(memory, { namespaces });
  }

  async forgetThread(memory) {
    await this.#forgetting(memory, { threads: [this.#thread()] });
  }

  async forgetWhatIsFound(memory) {
    const [namespace] = this.#place();
    await this.#forgetting(memory, {
      namespaces: [namespace],
      filter: { n: this.#random.below(5) },
    });
  }

  async #forgetting(memory, options) {
    const receipt = await memory.forget(options);
    this.#setting.receipts.push({ options, receipt, tick: this.#setting.journal.tick() });
  }

  async evict(memory) {
    const [namespace] = this.#place();
    const by = this.#random.pick(["age", "size"]);
    await memory.evict({ namespaces: [namespace], maxItems: this.#random.below(3), by });
  }

  async audit(memory) {
    if (this.#random.chance(0.5)) await memory.keepAudit({ maxEntries: 50 });
    else await memory.auditLog();
  }

  // ---- threads

  async checkpoint({ checkpointer }) {
    const thread_id = this.#thread();
    const tuple = await checkpointer.getTuple({ configurable: { thread_id } });
    const before = tuple?.checkpoint.channel_values.messages ?? [];
    const message = { token: this.#token({ thread: thread_id }), text: this.#text().repeat(12) };
    const version = Number(tuple?.checkpoint.channel_versions.messages ?? 0) + 1;
    await checkpointer.put(
      {
        configurable: {
          thread_id,
          checkpoint_ns: "",
          checkpoint_id: tuple?.config.configurable.checkpoint_id,
        },
      },
      {
        v: 4,
        id: this.#setting.checkpointIds.next(),
        ts: new Date(this.#participant.process.now()).toISOString(),
        channel_values: { messages: [...before, message].slice(-8) },
        channel_versions: { messages: version },
        versions_seen: {},
      },
      { source: "loop", step: version, parents: {} },
      { messages: version },
    );
  }

  async writes({ checkpointer }) {
    const thread_id = this.#thread();
    const tuple = await checkpointer.getTuple({ configurable: { thread_id } });
    if (tuple === undefined) return;
    const { checkpoint_id } = tuple.config.configurable;
    await checkpointer.putWrites(
      { configurable: { thread_id, checkpoint_ns: "", checkpoint_id } },
      [["messages", { token: this.#token({ thread: thread_id }) }]],
      `task-${this.#random.below(3)}`,
    );
  }

  async getTuple({ checkpointer }) {
    await checkpointer.getTuple({ configurable: { thread_id: this.#thread() } });
  }

  async listCheckpoints({ checkpointer }) {
    const config = { configurable: { thread_id: this.#thread() } };
    for await (const _ of checkpointer.list(config, { limit: 3 }));
  }

  async listThreads({ checkpointer }) {
    for await (const _ of checkpointer.listThreads());
  }

  async deleteThread({ checkpointer }) {
    await checkpointer.deleteThread(this.#thread());
  }

  async copyThread({ checkpointer }) {
    const thread = this.#thread();
    this.#setting.tokens.mayBeAnywhere(thread);
    await checkpointer.copyThread(thread, this.#thread());
  }

  async renameThread({ checkpointer }) {
    const thread = this.#thread();
    this.#setting.tokens.mayBeAnywhere(thread);
    await checkpointer.renameThread(thread, this.#thread());
  }

  async forkThread({ checkpointer }) {
    const thread = this.#thread();
    this.#setting.tokens.mayBeAnywhere(thread);
    await checkpointer.forkThread(thread, undefined, this.#thread());
  }

  async prune({ checkpointer }) {
    if (this.#random.chance(0.5)) await checkpointer.prune({ keepLast: 2 });
    else await checkpointer.prune({ threadIds: [this.#thread()], strategy: "keepLatest" });
  }

  // ---- the whole

  async stats(memory) {
    if (this.#random.chance(0.5)) await memory.stats();
    else await memory.diagnose();
  }

  async portable(memory) {
    await this.#again(memory, await memory.export({ format: "portable" }));
  }

  async file(memory) {
    await this.#again(memory, await memory.export({ format: "sqlite" }));
  }

  async #again(memory, bytes) {
    if (this.#random.chance(0.3)) return;
    await this.#pause(200);
    // What was forgotten meanwhile is there again.
    this.#setting.tokens.allMayBeAnywhere();
    await memory.import(bytes);
  }

  async restore() {
    // What was forgotten meanwhile stays so, and is checked to.
    await this.#participant.restore(this.#pastTime());
  }

  #pastTime() {
    const ago = this.#random.pick([0, 100, 1_000, 60_000, 3_600_000]) * this.#random.next();
    return Math.floor(this.#participant.process.now() - ago);
  }

  // ---- syncing

  async sync() {
    await this.#participant.sync();
  }

  async syncMeanwhile() {
    void this.#note("sync", () => this.#participant.sync());
  }

  async poison({ store }) {
    const [namespace, key] = this.#place();
    await store.put(namespace, key, { ...this.#value({ namespace }), poison: "poison~" });
  }
}
