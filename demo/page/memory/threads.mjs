// The list of threads: an item each, beside what the checkpointer keeps of them.

export const THREADS = ["threads"];
const MOST = 500;
const LONGEST_TITLE = 60;

export class Threads {
  #database;

  constructor(database) {
    this.#database = database;
  }

  /** → [{id, title, usedAt, size, recording?}], the last used first; `size` in bytes */
  async list() {
    const [items, sizes] = await this.#database.use(({ store, checkpointer }) =>
      Promise.all([store.search(THREADS, { limit: MOST }), sizesOf(checkpointer)]),
    );
    const threads = items.map(({ key, value }) => ({
      id: key,
      size: sizes.get(key) ?? 0,
      ...value,
    }));
    return threads.sort((a, b) => b.usedAt - a.usedAt);
  }

  /** Notes that the thread was used; its first words are its title. */
  async use(id, words) {
    await this.#database.use(async ({ store }) => {
      const known = await store.get(THREADS, id);
      const title = known?.value.title ?? titleOf(words);
      await store.put(THREADS, id, { ...known?.value, title, usedAt: Date.now() }, false);
    });
  }

  /** Begins a thread with what another one was at a checkpoint. */
  async fork(id, checkpointId, newId, title) {
    await this.#database.use(async ({ store, checkpointer }) => {
      await checkpointer.forkThread(id, checkpointId, newId);
      await store.put(THREADS, newId, { title, usedAt: Date.now() }, false);
    });
  }

  /** `recording`: {id, turns, questions, isComplete}, of a conversation that is only listened to. */
  async addRecording(id, title, recording) {
    const value = { title, usedAt: Date.now(), recording };
    await this.#database.use(({ store }) => store.put(THREADS, id, value, false));
  }

  /** The thread with all of its checkpoints; not what was remembered in it. */
  async delete(id) {
    await this.#database.use(async ({ store, checkpointer }) => {
      await checkpointer.deleteThread(id);
      await store.delete(THREADS, id);
    });
  }
}

async function sizesOf(checkpointer) {
  const sizes = new Map();
  for await (const { threadId, bytes } of checkpointer.listThreads({ limit: MOST })) {
    sizes.set(threadId, bytes);
  }
  return sizes;
}

function titleOf(words) {
  const line = words.trim().split("\n")[0];
  return line.length <= LONGEST_TITLE ? line : `${line.slice(0, LONGEST_TITLE - 1).trimEnd()}…`;
}
