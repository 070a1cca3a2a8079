// Our stores beside the official InMemoryStore; there is no official SqliteStore in
// JavaScript, so the file is compared with memory too.
import { join } from "node:path";
import { InMemoryStore as OfficialInMemoryStore } from "@langchain/langgraph-checkpoint";
import Database from "better-sqlite3";
import { InMemoryStore, SqliteStore } from "keepsake";
import { memoryOver } from "keepsake/sqlite";

import {
  compare,
  comparisonTable,
  introduce,
  kilobytes,
  otherBuild,
  quick,
  seededRandom,
  timed,
} from "./lib.mjs";

const ITEMS = quick ? 2000 : 10_000;
const NAMESPACES = 100;
const PUTS = quick ? 500 : 2000;
const READS = quick ? 20 : 100;
const SCANS = quick ? 3 : 10;
const ROUNDS = quick ? 2 : 5;
const BATCH = 100;
const DIMENSIONS = 384;
const PEER = "official InMemoryStore";
const other = await otherBuild();

function candidates(index) {
  return [
    { name: PEER, open: () => ({ subject: new OfficialInMemoryStore({ index }), close() {} }) },
    { name: "InMemoryStore", peer: PEER, open: () => own(new InMemoryStore({ index })) },
    {
      name: "SqliteStore, file",
      peer: PEER,
      open: (folder) => own(new SqliteStore({ path: join(folder, "store.sqlite"), index })),
    },
    {
      name: "memoryOver better-sqlite3",
      peer: PEER,
      open: (folder) => overConnection(join(folder, "shared.sqlite"), index),
    },
    ...(other === undefined ? [] : ofOther(index)),
  ];
}

function ofOther(index) {
  return [
    {
      name: "other, memory",
      peer: "InMemoryStore",
      open: () => own(new other.InMemoryStore({ index })),
    },
    {
      name: "other, file",
      peer: "SqliteStore, file",
      open: (folder) => own(new other.SqliteStore({ path: join(folder, "other.sqlite"), index })),
    },
  ];
}

function overConnection(path, index) {
  const connection = new Database(path);
  connection.pragma("journal_mode = WAL");
  connection.pragma("synchronous = NORMAL"); // as SqliteStore does
  const memory = memoryOver(connection, { index });
  return {
    subject: memory.store,
    async close() {
      await memory.close();
      connection.close();
    },
  };
}

function own(store) {
  return { subject: store, close: () => store.close() };
}

introduce(
  "Stores",
  "In brackets: how many times as fast as the official InMemoryStore. Higher is better. " +
    "Every acknowledged put of SqliteStore is a transaction on a file.",
);
await report(`${ITEMS} items in ${NAMESPACES} namespaces`, candidates(undefined), exerciseItems);
await report(
  `${ITEMS} vectors of ${DIMENSIONS} dimensions, exact search`,
  candidates({ dims: DIMENSIONS, embeddings: seededEmbeddings(), fields: ["text"] }),
  exerciseVectors,
);

async function report(title, compared, exercise) {
  const results = await compare(compared, { rounds: ROUNDS, exercise });
  console.log(`### ${title}\n\n${comparisonTable(compared, results)}\n`);
  console.log(`On disk: SqliteStore ${kilobytes(results.get("SqliteStore, file").bytes)}.\n`);
}

async function exerciseItems(store) {
  const filled = await fill(store);
  const random = seededRandom(2);
  const some = () => Math.floor(random() * ITEMS);
  return {
    [`put in batches of ${BATCH} (per item)`]: filled,
    "put (new item)": await timed(PUTS, (i) => store.put(["fresh"], `key-${i}`, noteOf(i))),
    "put (overwrite)": await timed(PUTS, (i) =>
      store.put(namespaceOf(i), `key-${i}`, noteOf(i + 1)),
    ),
    get: await timed(PUTS, () => {
      const i = some();
      return store.get(namespaceOf(i), `key-${i}`);
    }),
    [`${BATCH} gets in one batch (per item)`]: await getInBatches(store, some),
    "search of one namespace": await timed(READS, () =>
      store.search(namespaceOf(some()), { limit: 10 }),
    ),
    "search of all": await timed(SCANS, () => store.search([], { limit: 10 })),
    "search of all, two filters": await timed(SCANS, () =>
      store.search([], { filter: { kind: "note", weight: { $gte: 50 } }, limit: 10 }),
    ),
    listNamespaces: await timed(READS, () => store.listNamespaces()),
    delete: await timed(PUTS, (i) => store.delete(["fresh"], `key-${i}`)),
  };
}

async function exerciseVectors(store) {
  return {
    [`put with vectors in batches of ${BATCH} (per item)`]: await fill(store),
    "vector search of all": await timed(SCANS, (i) =>
      store.search([], { query: `question ${i}`, limit: 10 }),
    ),
    "vector search, filter that half match": await timed(SCANS, (i) =>
      store.search([], { query: `question ${i}`, filter: { weight: { $gte: 50 } }, limit: 10 }),
    ),
    "vector search of one namespace": await timed(READS, (i) =>
      store.search(namespaceOf(i), { query: `question ${i}`, limit: 10 }),
    ),
  };
}

async function fill(store) {
  const { ms } = await timed(ITEMS / BATCH, (batch) =>
    store.batch(
      Array.from({ length: BATCH }, (_, j) => {
        const i = batch * BATCH + j;
        return { namespace: namespaceOf(i), key: `key-${i}`, value: noteOf(i) };
      }),
    ),
  );
  return { count: ITEMS, ms };
}

async function getInBatches(store, some) {
  const getOfSome = () => {
    const i = some();
    return { namespace: namespaceOf(i), key: `key-${i}` };
  };
  const { ms } = await timed(READS, () => store.batch(Array.from({ length: BATCH }, getOfSome)));
  return { count: READS * BATCH, ms };
}

function namespaceOf(i) {
  return ["users", `user-${i % NAMESPACES}`, "notes"];
}

function noteOf(i) {
  return {
    text: `Note ${i}: the harbour opens at seven and the ferry leaves from pier nine.`,
    kind: i % 3 === 0 ? "task" : "note",
    weight: (i * 37) % 100,
    tags: ["travel", `group-${i % 7}`],
  };
}

// Embedding costs nothing here, so that the store is what is measured.
function seededEmbeddings() {
  const known = new Map();
  const embed = (text) => {
    if (!known.has(text)) {
      const random = seededRandom(known.size + 1);
      known.set(
        text,
        Array.from({ length: DIMENSIONS }, () => random() - 0.5),
      );
    }
    return known.get(text);
  };
  return {
    embedDocuments: async (texts) => texts.map(embed),
    embedQuery: async (text) => embed(text),
  };
}
