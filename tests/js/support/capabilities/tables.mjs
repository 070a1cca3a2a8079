// What a memory's database holds, asked in SQL: `bench.sql` runs a statement of it elsewhere than
// through the memory, and answers rows.

import { putCheckpoint, threadConfig } from "../checkpoints.mjs";

const index = {
  dims: 2,
  fields: ["a", "b"],
  embeddings: async (texts) => texts.map((text) => [text.length, 1]),
};
const floatsOf = (hex) => {
  const bytes = Uint8Array.from(hex.match(/../g), (digits) => Number.parseInt(digits, 16));
  return [...new Float32Array(bytes.buffer)];
};

export const tableCases = [
  {
    caps: [23],
    name: "namespaces and values are text in one row, which the next put overwrites",
    async run({ open, sql, expect }) {
      const memory = await open();
      await memory.store.put(["users", "u1"], "k", { n: 1 });
      await memory.store.put(["users", "u1"], "k", { n: 2 });
      await memory.store.put(["users", "u2"], "k", { text: "é" });
      const rows = await sql(
        memory,
        "SELECT ns, key, value, typeof(ns) AS n, typeof(value) AS v FROM store_kv ORDER BY ns",
      );
      expect(rows).toEqual([
        { ns: "users\x1fu1\x1f", key: "k", value: '{"n":2}', n: "text", v: "text" },
        { ns: "users\x1fu2\x1f", key: "k", value: '{"text":"é"}', n: "text", v: "text" },
      ]);
    },
  },
  {
    caps: [28],
    name: "vectors are rows beside their items, go with them, and are not made again",
    async run({ open, reopen, sql, expect }) {
      let memory = await open({ index });
      await memory.store.put(["n"], "k", { a: "x", b: "xy" });
      await memory.store.put(["n"], "l", { a: "xyz" });
      const rows = async () =>
        (
          await sql(
            memory,
            "SELECT kv.key, v.path, hex(v.vector) AS vector FROM store_vectors AS v" +
              " JOIN store_kv AS kv ON kv.item_id = v.item_id ORDER BY kv.key, v.path",
          )
        ).map(({ key, path, vector }) => [key, path, ...floatsOf(vector)]);
      expect(await rows()).toEqual([
        ["k", "a", 1, 1],
        ["k", "b", 2, 1],
        ["l", "a", 3, 1],
      ]);
      const calls = [];
      const counting = async (texts) => {
        calls.push(...texts);
        return index.embeddings(texts);
      };
      memory = await reopen(memory, { index: { ...index, embeddings: counting } });
      expect((await memory.store.search(["n"], { query: "x" }))[0].score).toBeGreaterThan(0.9);
      expect(calls).toEqual(["x"]);
      await memory.store.put(["n"], "k", { b: "xyzz" });
      await memory.store.delete(["n"], "l");
      expect(await rows()).toEqual([["k", "b", 4, 1]]);
    },
  },
  {
    caps: [27],
    name: "both tiers are in one database, in tables of their own",
    async run({ open, reopen, sql, expect }) {
      const first = await open();
      await Promise.all([
        first.store.put(["n"], "k", { n: 1 }),
        putCheckpoint(first.checkpointer, threadConfig("t"), { text: "x" }),
      ]);
      const rows = await sql(
        first,
        "SELECT (SELECT count(*) FROM store_kv) AS items, (SELECT count(*) FROM checkpoints) AS states",
      );
      expect(rows).toEqual([{ items: 1, states: 1 }]);
      const memory = await reopen(first);
      await memory.checkpointer.deleteThread("t");
      expect((await memory.store.get(["n"], "k")).value).toEqual({ n: 1 });
      await putCheckpoint(memory.checkpointer, threadConfig("u"), {});
      await memory.store.delete(["n"], "k");
      expect(await memory.stats()).toMatchObject({
        store: { items: 0 },
        checkpointer: { checkpoints: 1 },
      });
    },
  },
  {
    caps: [75],
    name: "a saver's tables are made when they are needed, and those of a newer version left alone",
    async run({ open, reopen, sql, openAgain, expect }) {
      const first = await open();
      const config = await putCheckpoint(first.checkpointer, threadConfig("t"), {
        big: "x".repeat(5000),
      });
      await putCheckpoint(first.checkpointer, config, { big: "x".repeat(5001) }, { step: 1 });
      await first.checkpointer.putWrites(config, [["x", { raw: new Uint8Array([255]) }]], "task");
      const memory = await reopen(first);
      const tuple = await memory.checkpointer.getTuple(config);
      expect(tuple.pendingWrites).toEqual([["task", "x", { raw: new Uint8Array([255]) }]]);
      expect(tuple.checkpoint.channel_values.big).toHaveLength(5000);
      expect((await memory.checkpointer.stats()).bytes).toBeLessThan(9000);
      const keys = await sql(
        memory,
        "SELECT name FROM pragma_table_info('checkpoints') WHERE pk > 0 ORDER BY pk",
      );
      expect(keys.map(({ name }) => name)).toEqual(["ns_id", "checkpoint_id"]);
      // As a later version may leave it.
      const newer = "UPDATE meta SET value = '999' WHERE name = 'schema_version'";
      const refused = await openAgain(memory, newer).then(
        () => "opened",
        (error) => error.code,
      );
      expect(refused).toBe("newer_schema");
    },
  },
];
