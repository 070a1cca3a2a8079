// The official specification of a checkpointer, and the contract of a store, over
// Durable Objects: inside one, through a stub, and with objects that are restarted
// after every operation.

import { DurableObject } from "cloudflare:workers";
import { openMemory } from "keepsake";
import { r2 } from "keepsake/bucket";
import { durableMemory, InMemoryStore, MemorySaver } from "keepsake/cloudflare";
import { runTests } from "../../browser/pages/runner.mjs";
import { storeContract } from "../../contract/store.mjs";
import { describeSpecification } from "../../validation/specification.mjs";
import { ClockedObject, clocked } from "./clocks.mjs";
import { serve } from "./serve.mjs";

let made = 0;
const newName = () => `suite-${made++}`;

export class Memory extends ClockedObject {
  restart() {
    this.ctx.abort("restarted by a test");
  }
}

// A few cases make thousands of calls: the first of them are enough for every step.
const RESTARTED_EACH_TIME = 100;
const LATER_EVERY = 50;

/** The namespace, with objects that are restarted after each call, one call at a time. */
function restarting(namespace) {
  const calls = new Map();
  return {
    idFromName: (name) => namespace.idFromName(name),
    get(id) {
      let last = Promise.resolve();
      const call = async (request) => {
        const object = namespace.get(id);
        const response = await object.keepsakeExecute(request);
        const count = (calls.get(id.toString()) ?? 0) + 1;
        calls.set(id.toString(), count);
        if (count <= RESTARTED_EACH_TIME || count % LATER_EVERY === 0)
          await object.restart().catch(() => {});
        return response;
      };
      return {
        keepsakeExecute(request) {
          const answer = last.then(() => call(request));
          last = answer.catch(() => {});
          return answer;
        },
      };
    },
  };
}

// What is a backend: new memories, the same one again, and its end.
const backends = {
  bucket: (env) => inBucket(r2(env.R2)),
  stub: (env) => stubs(env.MEMORY),
  restarted: (env) => stubs(restarting(env.MEMORY)),
};

/** Memories that have names, as `open` opens them. */
function named(open) {
  const nameOf = new WeakMap();
  const openAs = async (name, options) => {
    const memory = await open(name, options);
    nameOf.set(memory, name);
    return memory;
  };
  return {
    make: (options) => openAs(newName(), options),
    async reopen(memory, options) {
      await memory.close();
      return openAs(nameOf.get(memory), options);
    },
    close: (memory) => memory.close(),
  };
}

const inBucket = (bucket) => named((name, options) => openMemory({ bucket, name, ...options }));

const stubs = (namespace) => named((name, options) => clocked(namespace, name, options));

/** One memory at a time in this object; a second one that a case wants is in another. */
function inObject(storage, namespace) {
  let current;
  const others = stubs(namespace);
  const open = (options) => {
    current = durableMemory(storage, options);
    return current;
  };
  return {
    async make(options) {
      if (current !== undefined) return others.make(options);
      await storage.deleteAll();
      return open(options);
    },
    async reopen(memory, options) {
      if (memory !== current) return others.reopen(memory, options);
      await memory.close();
      return open(options);
    },
    async close(memory) {
      if (memory === current) current = undefined;
      await memory.close();
    },
  };
}

export class Suites extends DurableObject {
  runSpecification(part) {
    return runSpecification(inObject(this.ctx.storage, this.env.MEMORY), part);
  }

  runContract(part) {
    return runContract(inObject(this.ctx.storage, this.env.MEMORY), part);
  }
}

function runSpecification({ make, close }, part) {
  const memoryOf = new WeakMap();
  return runTests(() => {
    describeSpecification("saver", {
      checkpointerName: "keepsake in a Durable Object",
      async createCheckpointer() {
        const memory = await make();
        memoryOf.set(memory.checkpointer, memory);
        return memory.checkpointer;
      },
      destroyCheckpointer: (saver) => close(memoryOf.get(saver)),
    });
  }, part);
}

function runContract({ make, reopen, close }, part) {
  const memoryOf = new Map();
  const track = (memory) => {
    memoryOf.set(memory.store, memory);
    return memory.store;
  };
  return runTests(() => {
    for (const { name, run } of storeContract) {
      it(name, () =>
        run(
          async (options) => track(await make(options)),
          async (store, options) => track(await reopen(memoryOf.get(store), options)),
        ),
      );
    }
    afterEach(async () => {
      for (const memory of memoryOf.values()) await close(memory);
      memoryOf.clear();
    });
  }, part);
}

function runMemorySpecification(part) {
  return runTests(() => {
    describeSpecification("saver", {
      checkpointerName: "keepsake MemorySaver",
      createCheckpointer: () => new MemorySaver(),
      destroyCheckpointer: (saver) => saver.close(),
    });
  }, part);
}

function runMemoryContract(part) {
  const open = [];
  return runTests(() => {
    for (const { name, needs, run } of storeContract) {
      if (needs.includes("persistence")) continue;
      it(name, () =>
        run((options) => {
          open.push(new InMemoryStore(options));
          return open.at(-1);
        }),
      );
    }
    afterEach(() => Promise.all(open.splice(0).map((store) => store.close())));
  }, part);
}

const inside = (env) => env.SUITES.get(env.SUITES.newUniqueId());

export default serve({
  runSpecification: (env, kind, part) =>
    kind === "memory"
      ? runMemorySpecification(part)
      : kind === "inside"
        ? inside(env).runSpecification(part)
        : runSpecification(backends[kind](env), part),
  runContract: (env, kind, part) =>
    kind === "memory"
      ? runMemoryContract(part)
      : kind === "inside"
        ? inside(env).runContract(part)
        : runContract(backends[kind](env), part),
});
