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
const codeOf = (promise) =>
  promise.then(
    () => "",
    ({ code }) => code,
  );

const SCHEMA = "name = 'schema_version'";
const isOptional = (table) =>
  /^(audit_log|erasures|history_rules|holds|store_vectors|\w+_versions|transfer_\w+)$/.test(table);

export const tableCases = [
  {
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
    name: "states and writes outlive a restart, and tables of a newer version are left alone",
    async run({ open, reopen, sql, reopenChanged, expect }) {
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
      const [{ value }] = await sql(memory, `SELECT value FROM meta WHERE ${SCHEMA}`);
      const asVersion = (version) => `UPDATE meta SET value = '${version}' WHERE ${SCHEMA}`;
      const refused = await reopenChanged(memory, asVersion(999))
        .then(({ checkpointer }) => checkpointer.getTuple(config))
        .catch(({ code }) => code);
      expect(refused).toBe("newer_schema");
      const { checkpointer } = await reopenChanged(memory, asVersion(value));
      expect(await checkpointer.getTuple(config)).toEqual(tuple);
    },
  },
  {
    name: "what is opened several times is one memory, until the last of them is closed",
    async run({ open, openToo, reopen, expect }) {
      const first = await open();
      const others = await Promise.all([openToo(first), openToo(first), openToo(first)]);
      const all = [first, ...others];
      await Promise.all(all.map(({ store }, i) => store.put(["n"], `k${i}`, { i })));
      for (const { store } of all) {
        expect(await store.listKeys(["n"])).toEqual(["k0", "k1", "k2", "k3"]);
      }
      await putCheckpoint(others[0].checkpointer, threadConfig("t"), { n: 1 });
      await Promise.all([first, ...others.slice(1)].map((memory) => memory.close()));
      expect(await codeOf(first.store.get(["n"], "k0"))).toBe("closed");
      await others[0].store.put(["n"], "last", {});
      const { store, checkpointer } = await reopen(others[0]);
      expect(await store.listKeys(["n"])).toHaveLength(5);
      expect((await checkpointer.getTuple(threadConfig("t"))).checkpoint.channel_values).toEqual({
        n: 1,
      });
    },
  },
  {
    name: "what is off leaves no rows and calls nobody",
    async run({ open, sql, expect }) {
      const calls = [];
      const embeddings = async (texts) => {
        calls.push(...texts);
        return texts.map(() => [1, 2]);
      };
      const memory = await open({ index: { dims: 2, embeddings } });
      const use = async () => {
        for (const n of [1, 2]) await memory.store.put(["n"], "k", { n }, false);
        await memory.store.delete(["n"], "k");
        await memory.store.put(["n"], "k", { n: 3 }, false);
        await putCheckpoint(memory.checkpointer, threadConfig("t"), { n: 1 });
        await memory.store.search(["n"]);
        await memory.scoped({ user: "ada" }).store.get(["n"], "k");
      };
      const filled = async () => {
        const tables = await sql(memory, "SELECT name FROM sqlite_master WHERE type = 'table'");
        const found = [];
        for (const name of tables.map((table) => table.name).filter(isOptional)) {
          const [{ n }] = await sql(memory, `SELECT count(*) AS n FROM ${name}`);
          if (n > 0) found.push(name);
        }
        return found.sort();
      };
      await use();
      expect(await filled()).toEqual([]);
      expect(calls).toEqual([]);
      // Each leaves rows, or is called, when it is on.
      await memory.store.keepHistory(["n"]);
      await memory.keepAudit();
      await memory.hold(["held"], "case 7");
      await use();
      await memory.store.put(["n"], "l", { n: 4 });
      expect(await filled()).toEqual([
        "audit_log",
        "history_rules",
        "holds",
        "store_vectors",
        "store_versions",
      ]);
      expect(calls).toHaveLength(1);
    },
  },
];
