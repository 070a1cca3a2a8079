// What a first benchmark of a store measures: put, get and delete of single items, and batches.
// Memory beside the official InMemoryStore; a file beside what one writes by hand, a table and
// JSON over better-sqlite3, which promises the same. All take turns within one process.
import { join } from "node:path";
import { InMemoryStore as OfficialInMemoryStore } from "@langchain/langgraph-checkpoint";
import Database from "better-sqlite3";
import { InMemoryStore, SqliteStore } from "keepsake";

import { inFolder, introduce, otherBuild, quick, table, takeTurns } from "./lib.mjs";

const ROUNDS = quick ? 10 : 60;
const ITEMS = 100; // of a round
const NAMESPACE = ["users", "ada"];

const itemValue = (i) => ({
  text: `The harbour ferry leaves pier nine at seven, number ${i}.`,
  tags: ["harbour", "ferry"],
  score: i,
  nested: { source: "chat", turn: i },
});

// What keeps the times of both, is listed by namespace, and is as durable as ours.
class ByHand {
  constructor(path) {
    this.connection = new Database(path);
    this.connection.pragma("journal_mode = WAL");
    this.connection.pragma("synchronous = NORMAL");
    this.connection.exec(
      "CREATE TABLE items(ns TEXT, key TEXT, value TEXT, created_at INTEGER, " +
        "updated_at INTEGER, PRIMARY KEY(ns, key)) WITHOUT ROWID",
    );
    this.putOne = this.connection.prepare(
      "INSERT INTO items VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET " +
        "value = excluded.value, updated_at = excluded.updated_at",
    );
    this.getOne = this.connection.prepare("SELECT * FROM items WHERE ns = ? AND key = ?");
    this.deleteOne = this.connection.prepare("DELETE FROM items WHERE ns = ? AND key = ?");
    this.putAll = this.connection.transaction((operations) => {
      for (const { namespace, key, value } of operations) this.putNow(namespace, key, value);
    });
  }

  putNow(namespace, key, value) {
    const now = Date.now();
    this.putOne.run(namespace.join("."), key, JSON.stringify(value), now, now);
  }

  async put(namespace, key, value) {
    this.putNow(namespace, key, value);
  }

  async get(namespace, key) {
    const row = this.getOne.get(namespace.join("."), key);
    if (row === undefined) return null;
    const { value, created_at, updated_at } = row;
    return {
      value: JSON.parse(value),
      key,
      namespace,
      createdAt: new Date(created_at),
      updatedAt: new Date(updated_at),
    };
  }

  async delete(namespace, key) {
    this.deleteOne.run(namespace.join("."), key);
  }

  async batch(operations) {
    this.putAll(operations);
  }

  close() {
    this.connection.close();
  }
}

const other = await otherBuild();
const withOther = (candidates, open) =>
  other === undefined ? candidates : [...candidates, { name: "other", open }];

introduce(
  "Items",
  "Microseconds of CPU time for each item, medians; in brackets on the clock. After it: how many " +
    "times as fast as the first column. Each call is awaited.",
);
await inFolder((folder) =>
  report(
    "Items on a file",
    withOther(
      [
        { name: "better-sqlite3 by hand", open: () => new ByHand(join(folder, "a")) },
        { name: "SqliteStore", open: () => new SqliteStore({ path: join(folder, "b") }) },
      ],
      () => new other.SqliteStore({ path: join(folder, "c") }),
    ),
  ),
);
await report(
  "Items in memory",
  withOther(
    [
      { name: "official InMemoryStore", open: () => new OfficialInMemoryStore() },
      { name: "InMemoryStore", open: () => new InMemoryStore() },
    ],
    () => new other.InMemoryStore(),
  ),
);

async function report(title, candidates) {
  const subjects = candidates.map(({ name, open }) => ({ name, store: open() }));
  const times = await takeTurns(subjects, ROUNDS, {
    prepare: (round) =>
      Array.from({ length: ITEMS }, (_, i) => ({
        namespace: NAMESPACE,
        key: `key-${round * ITEMS + i}`,
        value: itemValue(i),
      })),
    work: {
      put: async ({ store }, items) => {
        for (const { namespace, key, value } of items) await store.put(namespace, key, value);
      },
      "put again": async ({ store }, items) => {
        for (const { namespace, key, value } of items) await store.put(namespace, key, value);
      },
      get: async ({ store }, items) => {
        for (const { namespace, key } of items) await store.get(namespace, key);
      },
      "delete (half of them)": async ({ store }, items) => {
        for (let i = 0; i < ITEMS; i += 2) await store.delete(NAMESPACE, items[i].key);
      },
      "batch of 100 puts": ({ store }, items) => store.batch(items),
    },
  });
  for (const { store } of subjects) await store.close?.();
  const rows = Object.entries(times).map(([name, of]) => [
    name,
    ...subjects.map((subject, i) => {
      const [cpu, clock] = of[subject.name].map((ms) => (1000 * ms) / ITEMS);
      const figures = `${cpu.toFixed(1)} (${clock.toFixed(1)})`;
      const ratio = of[subjects[0].name][0] / of[subject.name][0];
      return i === 0 ? figures : `${figures} ×${ratio.toFixed(2)}`;
    }),
  ]);
  console.log(`### ${title}\n\n${table(["", ...subjects.map(({ name }) => name)], rows)}\n`);
}
