// Devices that take part: each has a memory in a file of its own, which syncs with the log. What it
// writes is answered there, and has to be in the log later, once.

import { clockOf, indexOf } from "./participants.mjs";
import { Process } from "./world.mjs";

const NAME = "device";

/** A device. Its file stays as it is when it is killed, also in the middle of a call. */
export class SyncedDevice {
  isDevice = true;
  process;
  memory;
  /** How far it had come when it was opened last. */
  recordAtOpen = 0;
  #setting;
  #everyMs;
  #files;
  #engine;
  #opening;
  #closing;
  /** How many writes of its file there are to be before it is killed, and who does it. */
  #tear;
  /** The file as it was then. */
  #torn;

  /** `everyMs`: how often it syncs by itself; 0 for never. */
  constructor(setting, name, skew, everyMs) {
    this.#setting = setting;
    this.#everyMs = everyMs;
    this.#files = this.#watched(setting.code.memoryFiles(NAME));
    this.process = new Process(setting.world, name, { skew });
    this.process.sessions = new Set();
  }

  get name() {
    return this.process.name;
  }

  get isOpen() {
    return this.memory !== undefined;
  }

  async open() {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    await this.#opening;
  }

  async #open() {
    await this.#closing;
    if (this.isOpen) return;
    const { code, hasIndex } = this.#setting;
    this.#engine = this.#newEngine();
    const options = {
      path: NAME,
      index: indexOf(hasIndex),
      now: () => this.process.now(),
      sync: { bucket: { [code.SYNCED]: (_, memory) => this.#syncerOf(memory) }, name: "memory" },
    };
    const engine = this.#engine;
    const connection = code.Connection.toEngine(() => engine);
    const memory = new code.Memory(options, connection);
    try {
      await memory.open();
      this.recordAtOpen = (await memory.syncStatus()).record;
    } catch (error) {
      await memory.close();
      throw error;
    }
    this.process.hasReadRotten = false;
    this.memory = memory;
  }

  #newEngine() {
    const { code, sessions, deviceWrites } = this.#setting;
    const { process } = this;
    const files = this.#files;
    const openFiles = sessions.openFilesOf(process);
    const open = async () =>
      new NotedSession(await openFiles(NAME, new Map(files)), process, deviceWrites);
    const source = { name: NAME, isPersistent: true, durability: "relaxed", open, release() {} };
    return new code.LocalEngine(source, () => {});
  }

  #syncerOf(memory) {
    const { code, bucket, key, backupMs, sessions } = this.#setting;
    const { process } = this;
    return new code.Syncer({
      bucket: { port: bucket.portOf(process), place: "the bucket" },
      name: "memory",
      key,
      clock: clockOf(process),
      backupMs,
      everyMs: this.#everyMs,
      device: process.name,
      memory: { ...memory, openFiles: sessions.openFilesOf(process) },
    });
  }

  async sync() {
    await this.#noted("sync", () => this.memory.sync());
  }

  /** Makes the memory what it was at a time. */
  async restore(at) {
    await this.#noted("restore", () => this.memory.restore({ at }));
  }

  async #noted(kind, body) {
    const call = this.#setting.journal.begin(this.process, { kinds: [kind], isLocal: true });
    await call.ending(body());
  }

  /** What its memory answers to a question, and how it is. */
  async tell(question) {
    const response = await this.#engine.forward(question.frame, () => []);
    const status = await this.memory.syncStatus();
    const [aside] = await this.#engine.call([{ kind: "listSetAside" }], this.process.now());
    return { response, status, aside: aside.map(({ request }) => request) };
  }

  async close() {
    await this.#opening?.catch(() => {});
    const { memory } = this;
    this.memory = undefined;
    this.#closing = memory?.close();
    await this.#closing;
  }

  /** In the middle of whatever it does. */
  kill() {
    const files = this.#torn ?? this.#copied();
    this.#tear = undefined;
    this.#torn = undefined;
    this.process.kill();
    this.memory = undefined;
    this.#opening = undefined;
    this.#closing = undefined;
    // Which moves what is in SQLite's log: nobody is to see that.
    for (const session of [...this.process.sessions]) session.close();
    this.process.sessions.clear();
    this.#files = this.#watched(files);
  }

  /** It ends in the middle of a call, when its file was written so often; then `kill` is called. */
  tearAfter(writes, kill) {
    this.#tear = { writes, kill };
  }

  /** All is well from now on. */
  heal() {
    this.#tear = undefined;
  }

  /** Whether its file has this text anywhere. */
  has(text) {
    return [...this.#files.values()].some((file) => Buffer.from(bytesOf(file)).includes(text));
  }

  #watched(files) {
    const heard = [...files].map(([name, file]) => [
      name,
      new WatchedFile(file, () => this.#wrote()),
    ]);
    return new Map(heard);
  }

  #wrote() {
    if (this.#tear === undefined || --this.#tear.writes > 0) return;
    const { kill } = this.#tear;
    this.#tear = undefined;
    this.#torn = this.#copied();
    // What goes on until then is heard by nobody.
    this.process.isDead = true;
    this.#setting.world.after(0, kill, undefined);
  }

  #copied() {
    const copy = this.#setting.code.memoryFiles(NAME);
    for (const [name, file] of this.#files) copy.get(name).write(bytesOf(file), { at: 0 });
    return copy;
  }
}

function bytesOf(file) {
  const bytes = new Uint8Array(file.getSize());
  file.read(bytes, { at: 0 });
  return bytes;
}

class WatchedFile {
  #file;
  #onWrite;

  constructor(file, onWrite) {
    this.#file = file;
    this.#onWrite = onWrite;
  }

  read(into, at) {
    return this.#file.read(into, at);
  }

  write(from, at) {
    const count = this.#file.write(from, at);
    this.#onWrite();
    return count;
  }

  truncate(size) {
    this.#file.truncate(size);
    this.#onWrite();
  }

  getSize() {
    return this.#file.getSize();
  }

  flush() {}
  close() {}
}

// Tells what was asked of a device, and what of it was acknowledged.
class NotedSession {
  #session;
  #process;
  #writes;

  constructor(session, process, writes) {
    this.#session = session;
    this.#process = process;
    this.#writes = writes;
  }

  get isBroken() {
    return this.#session.isBroken;
  }

  execute(request, spare, operations = []) {
    if (operations.length === 0 || OF_SYNCING.has(operations[0].kind)) {
      return this.#session.execute(request, spare, operations);
    }
    const asked = this.#writes.ask(this.#process, request);
    const response = this.#session.execute(request, spare, operations);
    if (!this.#process.isDead) this.#writes.acknowledge(asked, operations, response);
    return response;
  }

  lend(files) {
    return this.#session.lend(files);
  }

  close() {
    this.#session.close();
  }
}

const OF_SYNCING = new Set([
  ...["syncState", "startSync", "stopSync", "readOutbox", "confirmOutbox", "catchUp"],
  ...["listSetAside", "dropSetAside"],
]);

/** What devices were asked for, operation by operation, and which of that must be in the log. */
export class DeviceWrites {
  #code;
  /** Operation → how often it was asked for, and how often it has to be somewhere. */
  #asked = new Map();
  #needed = new Map();
  /** Operation → how often it is in the log. */
  #found = new Map();
  #aside = new Map();

  constructor(code) {
    this.#code = code;
  }

  ask(process, request) {
    const names = this.#namesOf(process.name, request);
    for (const { name } of names) count(this.#asked, name);
    return names;
  }

  acknowledge(asked, operations, response) {
    const statuses = this.#code.statusesOf(response);
    for (const [i, { name }] of asked.entries()) {
      if (statuses[i] === "ok" && leavesSomething(operations, i)) count(this.#needed, name);
    }
  }

  /** The log is read anew. */
  begin() {
    this.#found.clear();
    this.#aside.clear();
  }

  /** Those of a record of the log, if it is of a device. */
  note({ record }, isDevice) {
    if (record.kind !== "requests" || !isDevice(record.device)) return;
    for (const { kind, name } of record.requests.flatMap((one) =>
      this.#namesOf(record.device, one),
    )) {
      // Reads that restarted a time to live are there as gets.
      if (kind === "configureStore" || kind === "get") continue;
      count(this.#found, name);
    }
  }

  noteAside(device, request) {
    for (const { name } of this.#namesOf(device, request)) count(this.#aside, name);
  }

  judge(complain) {
    for (const [name, found] of this.#found) {
      const asked = this.#asked.get(name) ?? 0;
      if (found > asked) {
        complain(`${legible(name)} is ${found} times in the log, asked ${asked} times`);
      }
    }
    for (const [name, needed] of this.#needed) {
      const kept = (this.#found.get(name) ?? 0) + (this.#aside.get(name) ?? 0);
      if (kept < needed)
        complain(`${legible(name)} was acknowledged, and is neither in the log nor set aside`);
    }
  }

  // The number of its request is of this device, and not in the log.
  #namesOf(device, request) {
    const { now, operations } = this.#code.decodeRequest(request);
    return operations.map(({ kind, payload }) => {
      const text = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
      return { kind, name: `${kind} of ${device} at ${now}: ${text.toString("latin1")}` };
    });
  }
}

function count(counts, name) {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

// Whether it surely changes something, whatever is there: a value has a text that no other one has.
function leavesSomething(operations, i) {
  const { kind, namespace, key, value } = operations[i];
  if (kind === "putCheckpoint") return true;
  if (kind !== "put" || value === undefined || value === null) return false;
  const isSame = (other) =>
    other.kind === "put" && other.key === key && other.namespace.join() === namespace.join();
  return operations.findLastIndex(isSame) === i;
}

function legible(name) {
  return name.replace(/[^\x20-\x7e]+/g, "·").slice(0, 300);
}
