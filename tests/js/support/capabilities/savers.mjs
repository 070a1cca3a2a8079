// Checkpointers, by what they are asked and answer.

import { emptyCheckpoint, JsonPlusSerializer, uuid6 } from "@langchain/langgraph-checkpoint";
import { KeepsakeError, MemorySaver } from "keepsake";
import { checkpointOf, metadataOf, putCheckpoint, threadConfig } from "../checkpoints.mjs";

const idOf = ({ configurable }) => configurable.checkpoint_id;

async function collect(list) {
  const all = [];
  for await (const one of list) all.push(one);
  return all;
}
const idsOf = async (list) => (await collect(list)).map(({ config }) => idOf(config));

/** A thread of `steps` checkpoints, oldest first: their ids. */
async function putThread(saver, threadId, steps, metadata = () => ({})) {
  let config = threadConfig(threadId);
  const ids = [];
  for (let step = 0; step < steps; step += 1) {
    config = await putCheckpoint(saver, config, { n: step }, { step, metadata: metadata(step) });
    ids.push(idOf(config));
  }
  return ids;
}

/** Keeps what it is given unreadable to anyone without it. */
class SecretSerializer extends JsonPlusSerializer {
  async dumpsTyped(value) {
    const [type, bytes] = await super.dumpsTyped(value);
    return [`secret:${type}`, bytes.map((byte) => byte ^ 0x5a)];
  }

  async loadsTyped(type, bytes) {
    const plain = bytes.map((byte) => byte ^ 0x5a);
    return super.loadsTyped(type.replace("secret:", ""), plain);
  }
}

const holds = (bytes, text) => new TextDecoder("latin1").decode(bytes).includes(text);

export const saverCases = [
  {
    name: "a list has a limit, bounds and a filter, in a thread and over all",
    async run({ open, expect }) {
      const { checkpointer: saver } = await open();
      const ids = await putThread(saver, "t", 6, (step) => ({
        odd: step % 2 === 1,
        by: { n: step },
      }));
      await new Promise((resolve) => setTimeout(resolve, 15));
      const moment = new Date();
      await new Promise((resolve) => setTimeout(resolve, 15));
      const others = await putThread(saver, "u", 2);
      await putCheckpoint(saver, threadConfig("u", undefined, "child"), {});
      const list = (options, config = threadConfig("t")) => idsOf(saver.list(config, options));
      const newest = [...ids].reverse();
      expect(await list()).toEqual(newest);
      expect(await list({ limit: 2 })).toEqual(newest.slice(0, 2));
      expect(await list({ before: threadConfig("t", ids[2]) })).toEqual([ids[1], ids[0]]);
      expect(await list({ after: ids[3] })).toEqual([ids[5], ids[4]]);
      expect(await list({ after: ids[0], before: ids[4], limit: 2 })).toEqual([ids[3], ids[2]]);
      expect(await list({ before: moment })).toHaveLength(6);
      expect(await list({ after: moment })).toEqual([]);
      expect(await list({ after: moment }, threadConfig("u"))).toEqual([...others].reverse());
      expect(await list({ filter: { odd: true }, limit: 2 })).toEqual([ids[5], ids[3]]);
      expect(await list({ filter: { odd: true, by: { n: 3 } } })).toEqual([ids[3]]);
      expect(await list({ filter: { odd: "true" } })).toEqual([]);
      expect(await list({}, threadConfig("t", ids[1]))).toEqual([ids[1]]);
      expect(await list({}, { configurable: {} })).toHaveLength(9);
      expect(await list({}, { configurable: { thread_id: "u" } })).toHaveLength(3);
      const [{ metadata, parentConfig }] = await collect(saver.list(threadConfig("t")));
      expect(metadata).toMatchObject({ source: "loop", step: 5, odd: true });
      expect(idOf(parentConfig)).toBe(ids[4]);
    },
  },
  {
    name: "a list has each version of values that grew, of all namespaces, with what was written",
    async run({ open, expect }) {
      const { checkpointer: saver } = await open();
      const entries = Array.from({ length: 60 }, (_, i) => `${i} é ${"a".repeat(500)}`);
      const put = new Map();
      for (const [step, namespace] of ["", "child", "", "child", "", "", "child"].entries()) {
        const values = {
          grows: entries.slice(0, 40 + 2 * step),
          shrinks: entries.slice(step),
          ofText: entries.slice(0, 50 - step).join(),
          small: [step],
        };
        const at = threadConfig("t", undefined, namespace);
        const config = await putCheckpoint(saver, at, values, { step });
        const writes = [["written", entries.slice(0, 40 + step)]];
        await saver.putWrites(config, writes, "task");
        put.set(idOf(config), { namespace, values, writes: [["task", ...writes[0]]] });
      }
      const listed = await collect(saver.list({ configurable: { thread_id: "t" } }));
      const found = listed.map(({ config, checkpoint, pendingWrites }) => [
        idOf(config),
        {
          namespace: config.configurable.checkpoint_ns,
          values: { ...checkpoint.channel_values },
          writes: pendingWrites,
        },
      ]);
      expect(found).toHaveLength(put.size);
      expect(new Map(found)).toEqual(put);
      // A secret text begins as another one does, too.
      const secret = new MemorySaver(new SecretSerializer());
      for (const length of [50, 60]) {
        await putCheckpoint(secret, threadConfig("t"), { grows: entries.slice(0, length) });
      }
      const [newest, older] = await collect(secret.list(threadConfig("t")));
      expect(newest.checkpoint.channel_values.grows).toEqual(entries);
      expect(older.checkpoint.channel_values.grows).toEqual(entries.slice(0, 50));
      await secret.close();
    },
  },
  {
    name: "threads come page by page, filtered, and with the metadata of their runs",
    async run({ open, expect }) {
      const memory = await open();
      const whole = memory.checkpointer;
      for (const saver of [whole, memory.scoped({ user: "ada" }).checkpointer]) {
        const configurable = (i) => ({ thread_id: `t${i}`, user_id: "ada", secret: "key" });
        const say = (i, title) =>
          putCheckpoint(
            saver,
            {
              configurable: configurable(i),
              metadata: { title, by: i % 2, source: "run", secret: "key", thread_id: "x", o: {} },
            },
            { n: i },
            { metadata: i === 3 ? { by: "put" } : {} },
          );
        for (let i = 0; i < 6; i += 1) await say(i, `Chat ${i}`);
        const list = (options) => collect(saver.listThreads(options));
        const titles = (threads) => threads.map(({ metadata }) => metadata.title);
        const first = await list({ limit: 2 });
        expect(titles(first)).toEqual(["Chat 5", "Chat 4"]);
        expect(first[0].metadata).toEqual(metadataOf(0, { title: "Chat 5", by: 1 }));
        // What is said meanwhile is before the cursor.
        await say(1, "Chat 1 again");
        const second = await list({ limit: 2, cursor: first[1] });
        expect(titles(second)).toEqual(["Chat 3", "Chat 2"]);
        const { threadId, checkpointId } = second[1];
        expect(titles(await list({ cursor: { threadId, checkpointId } }))).toEqual(["Chat 0"]);
        expect(titles(await list({ filter: { by: 1 } }))).toEqual(["Chat 1 again", "Chat 5"]);
        expect(titles(await list({ filter: { by: 1 }, limit: 1 }))).toEqual(["Chat 1 again"]);
        expect(await list({ filter: { title: "Chat 1" } })).toEqual([]);
        expect(titles(await list({ filter: { by: "put" } }))).toEqual(["Chat 3"]);
        expect((await saver.getTuple(threadConfig("t0"))).metadata).toEqual(
          metadataOf(0, { title: "Chat 0", by: 0 }),
        );
        for (let i = 0; i < 6; i += 1) await saver.deleteThread(`t${i}`);
      }
      const serde = new SecretSerializer();
      const secret = new MemorySaver(serde);
      await putThread(secret, "a", 1, () => ({ by: "ada" }));
      await putThread(secret, "b", 1, () => ({ by: "bob" }));
      await putThread(secret, "c", 1, () => ({ by: "ada" }));
      const hers = await collect(secret.listThreads({ filter: { by: "ada" }, limit: 1 }));
      expect(hers.map(({ threadId }) => threadId)).toEqual(["c"]);
      const [next] = await collect(secret.listThreads({ filter: { by: "ada" }, cursor: hers[0] }));
      expect(next.threadId).toBe("a");
      await secret.close();
    },
  },
  {
    name: "errors say what is missing, what cannot be kept, what is not there and what is closed",
    async run({ open, expect }) {
      const memory = await open();
      const { checkpointer: saver } = memory;
      const refused = async (code, call, message = /./) => {
        const error = await call().then(
          () => undefined,
          (caught) => caught,
        );
        expect(error).toBeInstanceOf(KeepsakeError);
        expect(error.code).toBe(code);
        expect(error.message).toMatch(/^\[keepsake\] /);
        expect(error.message).toMatch(message);
      };
      const nobody = { configurable: {} };
      const checkpoint = checkpointOf({ held: 1 });
      await refused("thread_id_required", () => saver.put(nobody, checkpoint, metadataOf(), {}));
      await refused("thread_id_required", () => saver.putWrites(nobody, [["x", 1]], "task"));
      const putBig = () => putCheckpoint(saver, threadConfig("t"), { held: 10n });
      await refused("invalid_value", putBig, /channel "held" must be JSON/);
      await refused("not_found", () => saver.forkThread("nobody", undefined, "u"));
      await refused("not_found", () => saver.renameThread("nobody", "u"));
      for (const config of [nobody, threadConfig("t")]) {
        expect(await saver.getTuple(config)).toBeUndefined();
      }
      expect((await saver.stats()).checkpoints).toBe(0);
      await memory.close();
      await refused("closed", () => saver.getTuple(threadConfig("t")));
    },
  },
  {
    name: "a MemorySaver keeps threads and namespaces in order, for itself alone",
    async run({ expect }) {
      const saver = new MemorySaver();
      const other = new MemorySaver();
      const ids = await putThread(saver, "t", 3);
      const child = await putCheckpoint(saver, threadConfig("t", undefined, "child"), {
        n: "child",
      });
      await saver.putWrites(child, [["x", 1]], "task");
      expect(new Set(ids).size).toBe(3);
      expect(await idsOf(saver.list(threadConfig("t")))).toEqual([...ids].reverse());
      const newest = await saver.getTuple(threadConfig("t"));
      expect([idOf(newest.config), newest.checkpoint.channel_values]).toEqual([ids[2], { n: 2 }]);
      expect((await saver.getTuple(threadConfig("t", ids[0]))).checkpoint.channel_values).toEqual({
        n: 0,
      });
      const nested = await saver.getTuple(threadConfig("t", undefined, "child"));
      expect(nested.checkpoint.channel_values).toEqual({ n: "child" });
      expect(nested.pendingWrites).toEqual([["task", "x", 1]]);
      expect(await saver.getTuple(threadConfig("u"))).toBeUndefined();
      // A tuple is a copy.
      newest.checkpoint.channel_values.n = "changed";
      expect((await saver.getTuple(threadConfig("t"))).checkpoint.channel_values.n).toBe(2);
      expect(await collect(other.list({ configurable: {} }))).toEqual([]);
      await saver.deleteThread("t");
      expect((await saver.stats()).checkpoints).toBe(0);
      await Promise.all([saver.close(), other.close()]);
    },
  },
  {
    name: "with another serde nothing of a state or a write is readable in what is stored",
    async run({ open, reopen, expect }) {
      const serde = new SecretSerializer();
      const [inState, inWrite] = ["a-word-of-a-state", "a-word-of-a-write"];
      const fill = async ({ checkpointer }) => {
        const raw = new Uint8Array([0, 255]);
        const config = await putCheckpoint(checkpointer, threadConfig("t"), { inState, raw });
        await checkpointer.putWrites(config, [["word", inWrite]], "task");
      };
      const plain = await open();
      await fill(plain);
      const readable = await plain.export({ format: "portable" });
      expect([holds(readable, inState), holds(readable, inWrite)]).toEqual([true, true]);
      const memory = await open({ serde });
      await fill(memory);
      // As a whole file, where there is one, and as rows.
      for (const options of [undefined, { format: "portable" }]) {
        const bytes = await memory.export(options);
        expect(bytes.length).toBeGreaterThan(100);
        expect([holds(bytes, inState), holds(bytes, inWrite)]).toEqual([false, false]);
      }
      const { checkpointer: saver } = await reopen(memory, { serde });
      const tuple = await saver.getTuple(threadConfig("t"));
      expect(tuple.checkpoint.channel_values).toEqual({ inState, raw: new Uint8Array([0, 255]) });
      expect(tuple.pendingWrites).toEqual([["task", "word", inWrite]]);
      // Metadata stays JSON, for filters.
      await putThread(saver, "f", 4, (step) => ({ odd: step % 2 === 1 }));
      const odd = await collect(saver.list(threadConfig("f"), { filter: { odd: true } }));
      expect(odd.map(({ metadata }) => metadata.step)).toEqual([3, 1]);
    },
  },
  {
    name: "the latest is the greatest id, whenever it was put, and lists go by ids",
    async run({ open, reopen, expect }) {
      const first = await open();
      const ids = Array.from({ length: 60 }, (_, i) => uuid6(i));
      expect([...ids].sort()).toEqual(ids);
      // Neither in their order, nor by their times.
      const order = ids.map((_, i) => (i * 17) % ids.length);
      for (const i of order) {
        const checkpoint = {
          ...emptyCheckpoint(),
          id: ids[i],
          ts: new Date(9e11 - i).toISOString(),
        };
        await first.checkpointer.put(threadConfig("t"), checkpoint, metadataOf(i), {});
      }
      const { checkpointer: saver } = await reopen(first);
      expect(idOf((await saver.getTuple(threadConfig("t"))).config)).toBe(ids.at(-1));
      expect(await idsOf(saver.list(threadConfig("t")))).toEqual([...ids].reverse());
      expect(await idsOf(saver.list(threadConfig("t"), { limit: 2, before: ids[10] }))).toEqual([
        ids[9],
        ids[8],
      ]);
      await saver.prune({ threadIds: ["t"] });
      expect(await idsOf(saver.list(threadConfig("t")))).toEqual([ids.at(-1)]);
    },
  },
];
