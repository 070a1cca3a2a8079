// Runs in a dedicated worker of a page: what the storage tests drive through `keepsake`.

import { listAside, openStorage, readAside } from "../../../js/src/browser/storage.ts";
import { openSession } from "../../../js/src/engine/session.ts";
import { memoryFiles } from "../../../js/src/wasm/memory-files.ts";
import { decodeResponse, encodeRequest, WireStatus } from "../../../js/src/wire/codec.ts";

let compiled;

function compiledModule() {
  compiled ??= WebAssembly.compileStreaming(fetch("/keepsake.wasm"));
  return compiled;
}

class Database {
  #sequence = 0;

  constructor(storage, session, name) {
    this.storage = storage;
    this.session = session;
    this.name = name;
  }

  static async on(storage, name, durability = "relaxed") {
    return new Database(storage, await openDatabase(name, storage.files, durability), name);
  }

  /** Carries them out; nothing is acknowledged yet. */
  execute(...operations) {
    const header = { clientId: 1, sequence: ++this.#sequence, now: 1_700_000_000_000 };
    const response = this.session.execute(encodeRequest(header, operations));
    const answers = decodeResponse(response, operations);
    for (const answer of answers) {
      if (answer instanceof WireStatus) throw Object.assign(new Error(answer.message), answer);
    }
    return answers;
  }

  async acknowledged(...operations) {
    const answers = this.execute(...operations);
    await this.storage?.commit();
    return answers;
  }

  put(key, value) {
    return this.acknowledged(putOf(key, value));
  }

  get(key) {
    const [item] = this.execute({ kind: "get", namespace: ["n"], key });
    return item === null ? null : JSON.parse(item.value);
  }

  /** What is in the store: key → value. */
  content() {
    const [items] = this.execute({ kind: "search", namespacePrefix: ["n"], limit: 100_000 });
    return Object.fromEntries(items.map(({ key, value }) => [key, JSON.parse(value)]));
  }

  close() {
    this.session.close();
    this.storage?.close();
  }
}

function putOf(key, value) {
  return {
    kind: "put",
    namespace: ["n"],
    key,
    value: value === null ? null : JSON.stringify(value),
  };
}

async function openDatabase(name, files, durability) {
  return openSession({
    module: await compiledModule(),
    database: { path: name, durability },
    files,
  });
}

async function open(request) {
  const whole = { storage: "auto", durability: "relaxed", ...request };
  return Database.on(await openStorage(whole), whole.name, whole.durability);
}

/** The bytes that reached OPFS, while the handles are open. */
function bytesOf(file) {
  const bytes = new Uint8Array(file.getSize());
  file.read(bytes, { at: 0 });
  return bytes;
}

/** A second database from the bytes that are stored now, which nothing of its own changes. */
async function openCopy({ name, storage }) {
  if (storage.kind === "indexeddb") {
    const mirror = await openStorage({ name, storage: "indexeddb", durability: "relaxed" });
    const copy = new Database(
      undefined,
      await openDatabase(name, new Map(mirror.files), "relaxed"),
    );
    mirror.close();
    return copy;
  }
  const files = memoryFiles(name);
  for (const [file, copy] of files) copy.write(bytesOf(storage.files.get(file)), { at: 0 });
  return new Database(undefined, await openDatabase(name, files, "relaxed"));
}

/** The code of what it rejects with, and its message. */
async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    return { code: error.code, message: error.message };
  }
  return undefined;
}

self.keepsake = { Database, failure, listAside, open, openCopy, openStorage, putOf, readAside };
