// What one engine alone would have said: it executes the records of the log in their order, once.
// Every answer that anybody got must be the one that it gives at a moment between the call and its
// answer. That is linearizability, of all that the API tells.

import { NAMESPACES, THREADS } from "./names.mjs";

/** The log as it was created, whatever was deleted since: record by record. */
export async function readLog(setting, isLeftOut = () => false) {
  const objects = new Map();
  // Who comes later to a key is none of the log's: it was deleted, and a base is behind it.
  for (const object of setting.bucket.history)
    if (!objects.has(object.key)) objects.set(object.key, object);
  const log = await logOf(setting, objects);
  const entries = [];
  for (let position = log.start; ; ) {
    const object = objects.get(log.names.record(position.number + 1));
    if (object === undefined) return { log, entries };
    const next = await log.next(position, position);
    if (next.is !== "record")
      throw new Error(`record ${position.number + 1} is ${next.is}: ${next.why}`);
    position = next.entry;
    if (!isLeftOut(position.number))
      entries.push({ ...next.entry, born: object.tick, at: object.at });
  }
}

/** A log that is only read, of these objects. */
export function logOf({ code, key }, objects) {
  const port = {
    async get(name, { from = 0, to } = {}) {
      return objects.get(name)?.bytes.slice(from, to);
    },
    async create() {
      throw new Error("the log was never begun");
    },
    async list(prefix, { after = "" } = {}) {
      return [...objects.keys()].filter((name) => name.startsWith(prefix) && name > after).sort();
    },
    async delete() {},
  };
  // Whatever it waits for comes at once; but nothing needs as long as a request may take.
  const after = (ms, run) => {
    if (ms < 10_000) queueMicrotask(run);
    return () => {};
  };
  const clock = { now: () => 0, elapsed: () => 0, after, random: () => 0.5 };
  const source = {
    bucket: { port, place: "the past" },
    name: "memory",
    key,
    clock,
    backupMs: 1e12,
  };
  return code.Log.open(source);
}

/** An engine that is asked directly. */
export class Oracle {
  #setting;
  #files;
  #session;
  #open;
  #configuration;

  constructor(setting) {
    this.#setting = setting;
    this.#files = setting.code.memoryFiles("replica");
  }

  async begin() {
    this.#open = this.#setting.sessions.openFilesOf();
    await this.#openSession();
  }

  /** A copy of the response. */
  execute(request) {
    for (;;) {
      const response = this.#session.execute(request).slice();
      if (this.#setting.code.failureCodeOf(response) !== "indexing") return response;
    }
  }

  /** Responses to the requests of a record; undefined for one that an engine falls over. */
  async apply(log, { number, record }) {
    if (record.kind === "image") {
      await this.#replace(log, { number, id: record.base });
      return [];
    }
    const responses = [];
    for (const request of record.requests) responses.push(await this.#applyOne(request));
    return responses;
  }

  async #applyOne(request) {
    const [first] = this.#setting.code.decodeRequest(request).operations;
    if (first?.kind === "configureStore") {
      if (this.#configuration !== undefined) await this.#reopen();
      this.#configuration = request;
    }
    try {
      return this.execute(request);
    } catch (error) {
      if (error.message !== "unreachable") throw error;
      await this.#reopen();
      return undefined;
    }
  }

  // As one that follows a log, so that operations have the ids that they have everywhere.
  async #openSession() {
    this.#session?.close();
    this.#session = await this.#open("replica", this.#files);
    const follow = { logId: "-", number: 0, digest: new Uint8Array(), marksOnly: true };
    for (const one of [{ kind: "stopSync" }, { kind: "startSync", ...follow }]) {
      const header = { clientId: 0, sequence: 0, now: 0 };
      this.#session.execute(this.#setting.code.encodeRequest(header, [one]));
    }
  }

  async #reopen() {
    await this.#openSession();
    if (this.#configuration !== undefined) this.#session.execute(this.#configuration);
  }

  async #replace(log, name) {
    const reader = await this.#setting.code.BaseReader.open(log, name);
    const { files } = await reader.files("replica");
    await reader.fetchAll();
    this.#files = files;
    await this.#openSession();
    this.#configuration = reader.base.configuration;
    if (this.#configuration !== undefined) this.#session.execute(this.#configuration);
  }

  /** What it answers to a question. */
  tell(question) {
    return toldIn(this.#setting.code, question, this.execute(question.frame));
  }

  close() {
    this.#session?.close();
    this.#session = undefined;
  }
}

/** For all that the API tells, as a participant is asked. Searches cost more than all the rest. */
export function questionForAll(code, now, withSearches) {
  const operations = withSearches ? EVERYTHING : ITEMS_AND_THREADS;
  const header = { clientId: 0, sequence: 0, now };
  const frame = code.encodeRequest(header, operations).slice();
  return { operations, frame, changes: undefined };
}

/** The answers, as a text that can be compared; it names each. */
export function toldIn(code, { operations }, response) {
  const answers = code.decodeResponse(response, operations);
  return operations
    .map((operation, i) => {
      const { kind } = operation;
      let answer = answers[i];
      // How much of the index has a graph is of a replica.
      if (kind === "storeStats") answer = { ...answer, inGraph: 0 };
      return `${kind} ${text(operation)}: ${text(answer)}`;
    })
    .join("\n");
}

function text(value) {
  return JSON.stringify(value, (_, one) =>
    one instanceof Uint8Array
      ? Buffer.from(one).toString("latin1")
      : ArrayBuffer.isView(one)
        ? [...one]
        : one,
  );
}

const page = { limit: 1000, refreshTtl: false, includeSuperseded: true, includeQuarantined: true };
const search = (more) => ({ kind: "search", namespacePrefix: [], ...page, ...more });

function searches() {
  return [
    search({ query: "red ship", mode: "text" }),
    search({ mode: "vector", queryVector: Float32Array.from([1, 2, 3, 4, 5, 6, 7, 8]) }),
  ];
}

function itemsAndThreads() {
  return [
    search(),
    { kind: "listNamespaces", limit: 1000, matchConditions: [] },
    { kind: "storeStats" },
    { kind: "checkpointerStats" },
    { kind: "historyRules" },
    { kind: "listHolds" },
    { kind: "auditLog", namespace: [], since: 0, before: undefined, limit: 1000 },
    { kind: "listThreads", filter: "" },
    ...NAMESPACES.flatMap(({ namespace, keys }) =>
      keys.map((key) => ({ kind: "history", namespace, key })),
    ),
    { kind: "listCheckpoints" },
    ...THREADS.map((threadId) => ({
      kind: "getTuple",
      key: { threadId, checkpointNs: "", checkpointId: "" },
    })),
  ];
}

const ITEMS_AND_THREADS = itemsAndThreads();
const EVERYTHING = [...ITEMS_AND_THREADS, ...searches()];
