// One thread that is open in this tab: what was said, and the run that goes on in it.

const lockOf = (threadId) => `keepsake-demo:run:${threadId}`;

/** What a run rejects with if another tab runs the same thread. */
export class RunsElsewhere extends Error {
  name = "RunsElsewhere";

  constructor() {
    super("another tab is running this thread; wait until it has answered");
  }
}

/** Tells "update" after each change of its properties. */
export class Chat extends EventTarget {
  threadId;
  messages = [];
  /** What the agent waits for: {action, text, …}. */
  question;
  /** A run stopped before the agent had answered. */
  isUnfinished = false;
  isRunning = false;
  isRunningElsewhere = false;
  isLoaded = false;
  /** Set while its past is shown: {moments, at}, all of `Agent.moments()` and the one shown. */
  past;
  #database;
  #threads;
  #agent;
  #watched;

  constructor({ database, threads, agent }) {
    super();
    this.#database = database;
    this.#threads = threads;
    this.#agent = agent;
  }

  async open(threadId) {
    Object.assign(this, { threadId, messages: [], question: undefined, isUnfinished: false });
    Object.assign(this, { isRunning: false, isRunningElsewhere: false, isLoaded: false });
    this.past = undefined;
    this.#tell();
    await this.refresh();
  }

  /** The messages of now, or of the moment that is looked back at. */
  get shown() {
    return this.past ? this.past.moments[this.past.at].messages : this.messages;
  }

  async lookBack() {
    const { threadId } = this;
    const moments = await this.#database.use(() => this.#agent().moments(threadId));
    if (threadId !== this.threadId || moments.length === 0) return;
    this.past = { moments, at: moments.length - 1 };
    this.#tell();
  }

  visit(at) {
    this.past.at = at;
    this.#tell();
  }

  comeBack() {
    this.past = undefined;
    this.#tell();
  }

  /** Reads the thread anew, unless this tab is about to write it. */
  async refresh() {
    const { threadId } = this;
    if (this.isRunning) return;
    const state = await this.#database.use(() => this.#agent().state(threadId));
    const isRunningElsewhere = state.isUnfinished && (await isHeld(lockOf(threadId)));
    if (threadId !== this.threadId || this.isRunning) return;
    Object.assign(this, state, { isRunningElsewhere, isLoaded: true });
    this.#tell();
    if (isRunningElsewhere) this.#refreshWhenOver(threadId);
  }

  async say(text) {
    const { threadId } = this;
    await this.#run(async () => {
      await this.#threads.use(threadId, text);
      await this.#agent().say(threadId, text, this.#listener(threadId));
    });
  }

  async decide(approved) {
    const { threadId } = this;
    await this.#run(() => this.#agent().decide(threadId, approved, this.#listener(threadId)));
  }

  async goOn() {
    const { threadId } = this;
    await this.#run(async () => {
      const { isUnfinished } = await this.#agent().state(threadId);
      if (isUnfinished) await this.#agent().goOn(threadId, this.#listener(threadId));
    });
  }

  #listener(threadId) {
    return (messages) => {
      if (threadId !== this.threadId) return;
      Object.assign(this, { messages, question: undefined, isUnfinished: false });
      this.#tell();
    };
  }

  async #run(body) {
    const { threadId } = this;
    this.isRunning = true;
    this.#tell();
    try {
      await navigator.locks.request(lockOf(threadId), { ifAvailable: true }, async (lock) => {
        if (lock === null) throw new RunsElsewhere();
        await this.#database.use(body);
      });
    } finally {
      if (threadId === this.threadId) {
        this.isRunning = false;
        await this.refresh();
      }
    }
  }

  // Also if the other tab dies, when nobody writes anything.
  async #refreshWhenOver(threadId) {
    if (this.#watched === threadId) return;
    this.#watched = threadId;
    await navigator.locks.request(lockOf(threadId), { mode: "shared" }, () => {});
    this.#watched = undefined;
    if (threadId === this.threadId) await this.refresh();
  }

  #tell() {
    this.dispatchEvent(new Event("update"));
  }
}

async function isHeld(name) {
  const { held } = await navigator.locks.query();
  return held.some((lock) => lock.name === name);
}
