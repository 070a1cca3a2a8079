// Who takes part: each has a memory of its own over the bucket that all share. What it asks of its
// engine and what it is told is noted, to be compared with what one engine alone would have said.

import { Process } from "./world.mjs";

const DIMS = 8;

/** A function or a process without a disk: what it knows it has from the bucket. */
export class FunctionOverBucket {
  #setting;
  process;
  memory;
  transport;

  /** `setting` is of a history: its world, code, sessions, bucket, key, journal and options. */
  constructor(setting, name, skew) {
    this.#setting = setting;
    this.process = new Process(setting.world, name, { skew });
    this.process.sessions = new Set();
  }

  get name() {
    return this.process.name;
  }

  /** Whether it has a memory. */
  get isOpen() {
    return this.memory !== undefined;
  }

  async open() {
    const { code, bucket, key, sessions, journal, backupMs, maxAge, hasIndex } = this.#setting;
    const { process } = this;
    const transport = new code.LogTransport({
      bucket: { port: bucket.portOf(process), place: "the bucket" },
      name: "memory",
      key,
      clock: clockOf(process),
      backupMs,
      maxAge,
      device: process.name,
      openFiles: sessions.openFilesOf(process),
    });
    const noted = journal.over(transport, process);
    const memory = await code.openMemory({
      bucket: { [code.IN_BUCKET]: () => new code.RemoteEngine(noted) },
      name: "memory",
      index: indexOf(hasIndex),
      now: () => process.now(),
    });
    this.transport = transport;
    this.memory = memory;
  }

  /** Makes the memory what it was at a time. */
  async restore(at) {
    const call = this.#setting.journal.begin(this.process, {
      kinds: ["restore"],
      isWrite: true,
      isReplacing: true,
      at,
    });
    await call.ending(this.transport.restore({ at }));
  }

  /** What its memory answers to a question, and how it is. */
  async tell(question) {
    if (!this.isOpen) await this.open();
    const response = await this.transport.send(question);
    return { response, status: await this.transport.status() };
  }

  async close() {
    const { memory } = this;
    this.memory = undefined;
    await memory?.close();
  }

  /** In the middle of whatever it does. */
  kill() {
    this.process.kill();
    this.memory = undefined;
    for (const session of [...this.process.sessions]) session.close();
    this.process.sessions.clear();
  }
}

/** Time and chance of a process, as a log sees them. */
export function clockOf(process) {
  const after = (ms, run) => process.after(ms, run);
  return {
    now: () => process.now(),
    elapsed: () => process.elapsed(),
    after,
    later: after,
    random: () => process.random(),
  };
}

/** The index of vectors that all have, or none. */
export function indexOf(hasIndex) {
  return hasIndex ? { dims: DIMS, embeddings: embed, model: "letters" } : undefined;
}

/** How often each letter is in a text: enough of a model for vectors that differ. */
function embed(texts) {
  return texts.map((text) => {
    const vector = new Array(DIMS).fill(0.01);
    for (const letter of text) vector[letter.codePointAt(0) % DIMS]++;
    return vector;
  });
}
