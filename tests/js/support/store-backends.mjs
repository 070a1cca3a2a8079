// Every way to have a store: how it is made, reopened and closed, and what it can do. One of each
// kind of storage runs all cases, the others a tenth of them (effort.mjs).

import { InMemoryStore, openMemory, SqliteStore } from "keepsake";
import { closeMemoryOf, libraries, memoryAt } from "./connections.mjs";
import { isLong, tenthOf } from "./effort.mjs";
import { memoryBucket } from "./memory-bucket.mjs";
import { temporaryFile } from "./temporary.mjs";

const beside = ["index", "ttl", "validity", "provenance", "history", "clock", "extras"];
const everything = [...beside, "graph"];

/**
 * Stores made through this are closed by `closeAll`. `part` is which tenth of all cases runs, where
 * another store has the same storage.
 */
function backend(name, needs, { make, reopen, close = (store) => store.close(), part }) {
  const open = new Set();
  const track = (store) => {
    open.add(store);
    return store;
  };
  return {
    name,
    can: new Set(needs),
    isWhole: part === undefined,
    casesOf: (list) => (part === undefined ? list : tenthOf(list, part)),
    make: async (options) => track(await make(options ?? {})),
    reopen:
      reopen &&
      (async (store, options) => {
        open.delete(store);
        return track(await reopen(store, options ?? {}));
      }),
    async closeAll() {
      await Promise.all([...open].map(close));
      open.clear();
    },
  };
}

const pathOf = new WeakMap();

async function sqliteStoreAt(path, options) {
  const store = new SqliteStore({ path, ...options });
  pathOf.set(store, path);
  return store;
}

const KEY = new Uint8Array(32).fill(7);

const memoryOf = new WeakMap();

async function storeOfMemory(path, options) {
  const memory = await openMemory({ path, ...options });
  memoryOf.set(memory.store, memory);
  pathOf.set(memory.store, path);
  return memory.store;
}

const bucketOf = new WeakMap();

async function storeInBucket(bucket, options) {
  const memory = await openMemory({ bucket, name: "contract", ...options });
  memoryOf.set(memory.store, memory);
  bucketOf.set(memory.store, bucket);
  return memory.store;
}

async function storeOnDevice(bucket, options) {
  const sync = { bucket, name: "contract", everyMs: 0 };
  const memory = await openMemory({ path: temporaryFile(), sync, ...options });
  await memory.sync();
  memoryOf.set(memory.store, memory);
  bucketOf.set(memory.store, bucket);
  return memory.store;
}

export const storeBackends = [
  backend("InMemoryStore", everything, { make: (options) => new InMemoryStore(options) }),
  backend("SqliteStore on a file", [...everything, "persistence"], {
    make: (options) => sqliteStoreAt(temporaryFile(), options),
    async reopen(store, options) {
      await store.close();
      return sqliteStoreAt(pathOf.get(store), options);
    },
  }),
  backend("SqliteStore :memory:", everything, {
    make: (options) => new SqliteStore({ path: ":memory:", ...options }),
    part: 0,
  }),
  backend("openMemory().store", [...everything, "persistence"], {
    make: (options) => storeOfMemory(temporaryFile(), options),
    async reopen(store, options) {
      await memoryOf.get(store).close();
      return storeOfMemory(pathOf.get(store), options);
    },
    close: (store) => memoryOf.get(store).close(),
    part: 1,
  }),
  backend("openMemory({ key }).store", [...everything, "persistence"], {
    make: (options) => storeOfMemory(temporaryFile(), { key: KEY, ...options }),
    async reopen(store, options) {
      await memoryOf.get(store).close();
      return storeOfMemory(pathOf.get(store), { key: KEY, ...options });
    },
    close: (store) => memoryOf.get(store).close(),
  }),
  backend("openMemory({ bucket }).store", [...everything, "persistence"], {
    make: (options) => storeInBucket(memoryBucket().bucket, options),
    async reopen(store, options) {
      await memoryOf.get(store).close();
      return storeInBucket(bucketOf.get(store), options);
    },
    close: (store) => memoryOf.get(store).close(),
  }),
  // What is opened again is another device, which makes a graph of its own.
  backend("openMemory({ sync }).store", [...beside, "persistence"], {
    make: (options) => storeOnDevice(memoryBucket().bucket, options),
    async reopen(store, options) {
      await memoryOf.get(store).sync();
      await memoryOf.get(store).close();
      return storeOnDevice(bucketOf.get(store), options);
    },
    close: (store) => memoryOf.get(store).close(),
  }),
  ...Object.keys(libraries).map((library, i) =>
    backend(`memoryOver(${library}).store`, [...everything, "persistence"], {
      make: (options) => memoryAt(library, temporaryFile(), options).store,
      reopen: async (store, options) =>
        memoryAt(library, await closeMemoryOf(store), options).store,
      close: closeMemoryOf,
      part: i === 0 ? undefined : 2,
    }),
  ),
];

/** In memory, on a file and over a connection; every backend in the long run. */
export const storesOfEachKind = isLong
  ? storeBackends
  : storeBackends.filter(({ name, isWhole }) => isWhole && !name.includes("key"));
