// What a call answers is what its type says: `Promise<void>` is undefined.

import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { openMemory } from "keepsake";
import { checkpointOf, metadataOf, threadConfig } from "./support/checkpoints.mjs";
import { memoryBucket } from "./support/memory-bucket.mjs";
import { methodsWithoutAnswer, publicTypes } from "./support/public-types.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const types = publicTypes();
const N = ["n"];
const KEY = [N, "k"];

async function onDevice(call) {
  const sync = { bucket: memoryBucket().bucket, name: "ada", everyMs: 0 };
  const memory = await openMemory({ path: temporaryFile(), sync });
  const answer = await call(memory);
  await memory.close();
  return answer;
}

const calls = {
  Memory: {
    hold: (memory) => memory.hold(N, "a lawsuit"),
    release: (memory) => memory.release(N),
    keepAudit: (memory) => memory.keepAudit(),
    dropAudit: (memory) => memory.dropAudit(),
    flush: (memory) => memory.flush(),
    restore: async () => {
      const inBucket = await openMemory({ bucket: memoryBucket().bucket, name: "ada" });
      const answer = await inBucket.restore({ at: new Date() });
      await inBucket.close();
      return answer;
    },
    sync: () => onDevice((memory) => memory.sync()),
    dropSetAside: () => onDevice((memory) => memory.dropSetAside([1])),
    import: async (memory) => memory.import(await memory.export()),
    discardImport: (memory) => memory.discardImport(),
    changeKey: (memory) => memory.changeKey("another passphrase"),
    close: (memory) => memory.close(),
  },
  ScopedMemory: { close: (memory) => memory.scoped({ user: "ada" }).close() },
  SqliteStore: {
    put: ({ store }) => store.put(N, "k", { n: 1 }),
    delete: ({ store }) => store.delete(N, "k"),
    keepHistory: ({ store }) => store.keepHistory(N),
    dropHistory: ({ store }) => store.dropHistory(N),
    close: ({ store }) => store.close(),
  },
  SqliteSaver: {
    putWrites: async ({ checkpointer }) => {
      const config = await checkpointer.put(threadConfig("t"), checkpointOf(), metadataOf(), {});
      return checkpointer.putWrites(config, [["c", 1]], "task");
    },
    forkThread: async ({ checkpointer }) => {
      const { config } = await checkpointer.getTuple(threadConfig("t"));
      return checkpointer.forkThread("t", config.configurable.checkpoint_id, "w");
    },
    copyThread: ({ checkpointer }) => checkpointer.copyThread("t", "u"),
    renameThread: ({ checkpointer }) => checkpointer.renameThread("u", "v"),
    deleteThread: ({ checkpointer }) => checkpointer.deleteThread("v"),
    compact: ({ checkpointer }) => checkpointer.compact(),
    close: ({ checkpointer }) => checkpointer.close(),
  },
  KeepsakeCache: {
    set: ({ cache }) => cache.set([{ key: KEY, value: 1 }]),
    clear: ({ cache }) => cache.clear([N]),
  },
  MemoryProvider: {
    store: (memory) => memory.provider().store({ namespace: "n", key: "k", value: 1 }),
    delete: (memory) => memory.provider().delete("n", "k"),
  },
};

test.each(Object.entries(calls))(
  "a method of %s that answers nothing answers undefined",
  async (name, table) => {
    expect(Object.keys(table).sort()).toEqual(methodsWithoutAnswer(types, name).sort());
    const memory = await openMemory({ path: temporaryFile(), key: "a passphrase of mine" });
    for (const [method, call] of Object.entries(table)) {
      expect([method, await call(memory)]).toEqual([method, undefined]);
    }
    await memory.close();
  },
);

test("a batch answers a put with undefined, also where a node puts by the graph's store", async () => {
  const memory = await openMemory({ path: ":memory:" });
  expect(await memory.store.batch([{ namespace: N, key: "k", value: { n: 1 } }])).toEqual([
    undefined,
  ]);
  let answers;
  await new StateGraph(Annotation.Root({ n: Annotation() }))
    .addNode("node", async (_, { store }) => {
      answers = [await store.put(N, "l", { n: 2 }), await store.delete(N, "l")];
      return { n: 1 };
    })
    .addEdge(START, "node")
    .compile({ store: memory.store })
    .invoke({ n: 0 });
  expect(answers).toEqual([undefined, undefined]);
  await memory.close();
});
