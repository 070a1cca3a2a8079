// The official specification of a checkpointer, and the contract of a store, in a page.

import { InMemoryStore, MemorySaver, SqliteSaver, SqliteStore } from "keepsake";
import { storeContract } from "../../contract/store.mjs";
import { describeSpecification } from "../../validation/specification.mjs";
import { holdDatabases, holdElsewhere, letGoElsewhere } from "./holder.mjs";
import { runTests } from "./runner.mjs";

let databases = 0;

const newName = () => `suite-${Date.now()}-${databases++}`;

// What is a backend: how its databases are made, and what has to be done around them.
const nothing = async () => {};
const backends = {
  memory: undefined,
  opfs: { options: { storage: "opfs" }, before: nothing, after: nothing },
  indexeddb: { options: { storage: "indexeddb" }, before: nothing, after: nothing },
  follower: { options: {}, before: holdElsewhere, after: letGoElsewhere },
};

function saversOf(backend) {
  if (backend === undefined) {
    return { make: () => new MemorySaver(), close: (saver) => saver.close() };
  }
  const nameOf = new WeakMap();
  return {
    async make() {
      const name = newName();
      await backend.before(name);
      const saver = new SqliteSaver({ name, ...backend.options });
      nameOf.set(saver, name);
      return saver;
    },
    async close(saver) {
      await saver.close();
      await backend.after(nameOf.get(saver));
    },
  };
}

function storesOf(backend) {
  if (backend === undefined) {
    return { make: (options) => new InMemoryStore(options), close: (store) => store.close() };
  }
  const nameOf = new Map();
  const open = (name, options) => {
    const store = new SqliteStore({ name, ...options, ...backend.options });
    nameOf.set(store, name);
    return store;
  };
  return {
    async make(options) {
      const name = newName();
      await backend.before(name);
      return open(name, options);
    },
    async reopen(store, options) {
      await store.close();
      return open(nameOf.get(store), options);
    },
    async close(store) {
      await store.close();
      await backend.after(nameOf.get(store));
    },
  };
}

globalThis.runSpecification = (kind, part) =>
  runTests(() => {
    const { make, close } = saversOf(backends[kind]);
    describeSpecification(`${kind} saver`, {
      checkpointerName: `keepsake ${kind}`,
      createCheckpointer: make,
      destroyCheckpointer: close,
    });
  }, part);

/** Of all of it, or of the cases that need what `need` names. */
globalThis.runContract = (kind, { part, need } = {}) =>
  runTests(() => {
    const { make, reopen, close } = storesOf(backends[kind]);
    const made = [];
    const track = async (options) => {
      const store = await make(options);
      made.push(store);
      return store;
    };
    for (const { name, needs, run } of storeContract) {
      if (needs.includes("persistence") && reopen === undefined) continue;
      if (need !== undefined && !needs.includes(need)) continue;
      it(name, () => run(track, reopen));
    }
    afterEach(() => Promise.all(made.splice(0).map(close)));
  }, part);

globalThis.holdDatabases = holdDatabases;
globalThis.isReady = true;
