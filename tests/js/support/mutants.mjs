// Files to import, each with something wrong: seeded, so that a file can be made again by its number.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SqliteSaver as OfficialSaver } from "@langchain/langgraph-checkpoint-sqlite";
import Database from "better-sqlite3";
import { openMemory } from "keepsake";
import { putCheckpoint, threadConfig } from "./checkpoints.mjs";
import { Extension, encode } from "./msgpack.mjs";
import { hashOf, sealed } from "./sums.mjs";

const PAGE = 4096;

/** Whole numbers below a bound, the same for the same seed. */
export function randomOf(seed) {
  let state = (seed * 2654435761 + 1) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return (word ^ (word >>> 14)) >>> 0;
  };
  return (below) => next() % below;
}

const pick = (random, list) => list[random(list.length)];
const bytesOf = (random, length) => Buffer.from(Array.from({ length }, () => random(256)));

// What other programs wrote: the bytes of a database of each kind.

function fileOf(folder, sql, fill) {
  const path = join(folder, "base.db");
  const database = new Database(path);
  database.exec(sql);
  fill(database);
  database.close();
  const bytes = readFileSync(path);
  rmSync(path);
  return bytes;
}

async function javascriptSaver(folder) {
  const path = join(folder, "official.db");
  const saver = OfficialSaver.fromConnString(path);
  for (const thread of ["t1", "t2"]) {
    let config = threadConfig(thread);
    for (let step = 0; step < 8; step++) {
      const messages = Array.from({ length: step + 1 }, (_, i) => `message ${i}`);
      const values = { messages, set: new Set([1, 2]), bytes: new Uint8Array(40) };
      config = await putCheckpoint(saver, config, values, { step });
      await saver.putWrites(config, [["messages", `write ${step}`]], `task ${step}`);
    }
  }
  saver.db.pragma("journal_mode = DELETE");
  saver.db.close();
  const bytes = readFileSync(path);
  rmSync(path);
  return bytes;
}

const SAVER = `
  CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
  CREATE TABLE writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx))`;

function pythonSaver(folder) {
  return fileOf(folder, SAVER, (database) => {
    const put = database.prepare("INSERT INTO checkpoints VALUES (?, '', ?, ?, 'msgpack', ?, ?)");
    const write = database.prepare("INSERT INTO writes VALUES (?, '', ?, ?, ?, 'a', 'msgpack', ?)");
    const version = (n) => `${String(n).padStart(32, "0")}.0.2437`;
    for (let i = 0; i < 16; i++) {
      const id = `1ef4f797-8335-6428-8001-${String(i).padStart(12, "0")}`;
      const values = {
        messages: Array.from(
          { length: 1 + (i % 8) },
          (_, n) =>
            new Extension(5, [
              "langchain_core.messages.human",
              "HumanMessage",
              { content: `said ${n}`, type: "human", id: `m${n}` },
              "model_construct",
            ]),
        ),
        set: new Extension(0, ["builtins", "set", [1, 2, 300]]),
        date: new Extension(1, ["datetime", "date", [2024, 2, 29]]),
        keys: new Map([[1, "one"]]),
        numbers: [0, -1, 1.5, 2 ** 40, 2n ** 60n],
      };
      const names = Object.keys(values);
      const checkpoint = {
        v: 4,
        id,
        ts: "2024-07-31T20:14:19.804150+00:00",
        channel_values: values,
        channel_versions: Object.fromEntries(names.map((name) => [name, version(i + 1)])),
        versions_seen: { node: { messages: version(1) } },
      };
      const metadata = Buffer.from(`{"source": "loop", "step": ${i}, "parents": {}}`);
      put.run(`t${i % 2}`, id, null, encode(checkpoint), metadata);
      write.run(`t${i % 2}`, id, "task", i, encode([i, "written"]));
    }
  });
}

const STORE = `
  CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    expires_at TIMESTAMP, ttl_minutes REAL, PRIMARY KEY (prefix, key));
  CREATE TABLE store_vectors (prefix text NOT NULL, key text NOT NULL, field_name text NOT NULL, embedding BLOB,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (prefix, key, field_name))`;

function pythonStore(folder) {
  return fileOf(folder, STORE, (database) => {
    const put = database.prepare("INSERT INTO store VALUES (?, ?, ?, ?, ?, ?, ?)");
    const vector = database.prepare(
      "INSERT INTO store_vectors (prefix, key, field_name, embedding) VALUES (?, ?, 'text', ?)",
    );
    for (let i = 0; i < 40; i++) {
      const at = `2024-01-02 03:04:${String(i).padStart(2, "0")}`;
      const value = JSON.stringify({ text: `note ${i} ${"x".repeat(i * 20)}`, n: i, list: [i] });
      const expires = i % 5 === 0 ? "2124-01-02 03:04:05" : null;
      put.run(`users.u${i % 3}`, `k${i}`, value, at, at, expires, expires && 60);
      vector.run(`users.u${i % 3}`, `k${i}`, Buffer.from(new Float32Array([i, 1, 2]).buffer));
    }
  });
}

function plainStore(folder) {
  const sql =
    "CREATE TABLE store_kv (ns TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (ns, key))";
  return fileOf(folder, sql, (database) => {
    const put = database.prepare("INSERT INTO store_kv VALUES (?, ?, ?)");
    for (let i = 0; i < 40; i++) {
      const value = JSON.stringify({ text: `note ${i} ${"é".repeat(i * 9)}`, deep: { n: [i] } });
      put.run(JSON.stringify(["users", `u${i % 3}`]), `k${i}`, value);
    }
  });
}

async function exported(folder, format) {
  const memory = await openMemory({ path: join(folder, "exported.db") });
  for (let i = 0; i < 40; i++) {
    await memory.store.put(["users", `u${i % 3}`], `k${i}`, { text: "note ".repeat(1 + i), n: i });
  }
  let config = threadConfig("t");
  for (let step = 0; step < 10; step++) {
    const messages = Array.from({ length: step + 1 }, (_, i) => `message ${i}`);
    config = await putCheckpoint(memory.checkpointer, config, { messages }, { step });
    await memory.checkpointer.putWrites(config, [["messages", "w"]], `task ${step}`);
  }
  const bytes = Buffer.from(await memory.export({ format }));
  await memory.close();
  return bytes;
}

function lines() {
  const entities = Array.from({ length: 20 }, (_, i) => ({
    type: "entity",
    name: `Entity ${i}`,
    entityType: "person",
    observations: [`likes ${i}`, "é".repeat(i)],
  }));
  const relations = entities.map(({ name }, i) => ({
    type: "relation",
    from: name,
    to: `Entity ${(i + 1) % 20}`,
    relationType: "knows",
  }));
  return Buffer.from([...entities, ...relations].map((one) => JSON.stringify(one)).join("\n"));
}

/** What can be imported, by name: bytes that nothing is wrong with. */
export async function originals(folder) {
  return {
    "JavaScript's saver": await javascriptSaver(folder),
    "Python's saver": pythonSaver(folder),
    "Python's store": pythonStore(folder),
    "a plain store_kv": plainStore(folder),
    "an export": await exported(folder, "sqlite"),
    "a portable export": await exported(folder, "portable"),
    "lines of the memory server": lines(),
  };
}

// Mutations. Those of bytes do for every kind of file.

function changeBytes(bytes, random) {
  for (let n = 1 + random(8); n > 0; n--) bytes[random(bytes.length)] = random(256);
  return bytes;
}

const BYTE_MUTATIONS = [
  changeBytes,
  (bytes, random) => bytes.subarray(0, random(bytes.length)),
  (bytes, random) => Buffer.concat([bytes, bytesOf(random, 1 + random(5000))]),
  (bytes, random) => {
    const [from, to] = [random(bytes.length), random(bytes.length)];
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  },
];

const PAGE_MUTATIONS = [
  // The header of the file, and those of pages: what numbers lead to.
  (bytes, random) => {
    for (let n = 1 + random(3); n > 0; n--) bytes[random(100)] = random(256);
    return bytes;
  },
  (bytes, random) => {
    const page = random(bytes.length / PAGE) * PAGE + (random(4) === 0 ? 100 : 0);
    for (let n = 1 + random(4); n > 0; n--) bytes[page + random(48)] = random(256);
    return bytes;
  },
  (bytes, random) => {
    const pages = bytes.length / PAGE;
    const from = random(pages) * PAGE;
    bytes.copy(bytes, random(pages) * PAGE, from, from + PAGE);
    return bytes;
  },
];

const VALUES = [
  () => null,
  (random) => pick(random, [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 4294967296n]),
  (random) => pick(random, [0.5, -0, 1e308, -1e308, Number.POSITIVE_INFINITY, Number.NaN]),
  (random) => bytesOf(random, random(60)),
  (random) =>
    pick(random, ["", " ", "\0", "a\0b", "..", ".", "a..b", "é", "\ufffd", "[]", '[""]', "{}"]),
  (random) =>
    pick(random, ["null", "[1]", '{"a":1e400}', '{"a":1,"a":2}', '["a", 1]', '{"__proto__":{}}']),
  (random) =>
    pick(random, ["pickle", "json", "msgpack", "null", "bytes", "bytearray", "__proto__", "empty"]),
  (random) => Buffer.alloc(1 + random(200_000), pick(random, [0x91, 0x81, 0xdf, 0x5b, 0x7b, 0xc7])),
  (random) => '{"a":'.repeat(1 + random(20_000)),
  (random) => "[".repeat(random(20_000)) + "]".repeat(random(20_000)),
  (random) => pick(random, ["9999-99-99", "0000-01-01 00:00:00", "now", "2024-02-30", "1e9"]),
  (random) => "x".repeat(random(400_000)),
  // What was there, with something wrong.
  ...Array.from({ length: 6 }, () => (random, old) => {
    if (typeof old !== "string" && !(old instanceof Uint8Array)) return old;
    const bytes = Buffer.from(old);
    if (bytes.length === 0) return old;
    const changed = pick(random, BYTE_MUTATIONS)(bytes, random);
    return random(3) === 0 || old instanceof Uint8Array ? changed : changed.toString("latin1");
  }),
];

// Rows and tables, changed by SQLite itself, so that the pages fit together.
const TABLE_MUTATIONS = [
  ...Array.from({ length: 6 }, () => changeValues),
  (database, random) => {
    database.unsafeMode(true);
    database.pragma("writable_schema = ON");
    const table = pick(random, tablesOf(database));
    const { sql } = database.prepare("SELECT sql FROM sqlite_schema WHERE name = ?").get(table);
    const word = pick(random, sql.match(/\w+/g));
    const other = pick(random, ["TEXT", "BLOB", "x", "'", ",", "COLLATE none", "CHECK (0)", "--"]);
    const changed = sql.replace(word, other);
    database.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = ?").run(changed, table);
  },
  (database, random) => {
    const table = pick(random, tablesOf(database));
    database.exec(
      pick(random, [
        `DROP TABLE ${table}`,
        `DELETE FROM ${table}`,
        `ALTER TABLE ${table} RENAME TO ${pick(random, ["checkpoints", "writes", "store", "store_kv"])}`,
        `ALTER TABLE ${table} RENAME COLUMN ${pick(random, ["value", "channel", "metadata"])} TO renamed`,
        `ALTER TABLE ${table} RENAME COLUMN ${pick(random, ["embedding", "key"])} TO renamed`,
        `ALTER TABLE ${table} ADD COLUMN ${pick(random, ["rowid", "oid", "_rowid_", "more"])}`,
        `CREATE TRIGGER odd AFTER INSERT ON ${table} BEGIN SELECT 1; END`,
        `CREATE TABLE copy AS SELECT * FROM ${table}; DROP TABLE ${table}; CREATE VIEW ${table} AS SELECT * FROM copy`,
        `UPDATE ${table} SET rowid = -rowid`,
        `UPDATE ${table} SET rowid = 9223372036854775807 - rowid`,
        `INSERT INTO ${table} SELECT * FROM ${table}`,
      ]),
    );
  },
];

function tablesOf(database) {
  return database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
}

function changeValues(database, random) {
  database.pragma("ignore_check_constraints = ON");
  for (let n = 1 + random(4); n > 0; n--) {
    const table = pick(random, tablesOf(database));
    const columns = database.prepare(`SELECT name FROM pragma_table_info(?)`).pluck().all(table);
    const column = pick(random, columns);
    const rows = database.prepare(`SELECT rowid FROM ${table}`).pluck().all();
    if (rows.length === 0) continue;
    const row = pick(random, rows);
    const old = database.prepare(`SELECT ${column} FROM ${table} WHERE rowid = ?`).pluck().get(row);
    const value = pick(random, VALUES)(random, old);
    database.prepare(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`).run(value, row);
  }
}

function changeTables(bytes, random, folder) {
  const path = join(folder, "changed.db");
  writeFileSync(path, bytes);
  const database = new Database(path);
  try {
    pick(random, TABLE_MUTATIONS)(database, random);
  } catch {
    // A rule of the table's: then little or nothing is wrong with it.
  } finally {
    database.close();
  }
  const changed = readFileSync(path);
  rmSync(path);
  return changed;
}

const HEADER = 20;

function piecesOf(bytes) {
  const pieces = [];
  for (let at = 0; at < bytes.length; ) {
    const size = HEADER + bytes.readUInt32LE(at + 8);
    pieces.push(Buffer.from(bytes.subarray(at, at + size)));
    at += size;
  }
  return pieces;
}

// With the checksum of what it holds, so that its rows are read.
function sealedPiece(piece) {
  if (piece.length < HEADER) return piece;
  piece.writeUInt32LE(piece.length - HEADER, 8);
  piece.writeBigUInt64LE(hashOf(piece.subarray(HEADER), BigInt(piece[5])), 12);
  return piece;
}

const PIECE_MUTATIONS = [
  (pieces, random) => {
    const piece = pick(random, pieces);
    for (let n = 1 + random(4); n > 0; n--)
      piece[HEADER + random(piece.length - HEADER)] = random(256);
    sealedPiece(piece);
  },
  (pieces, random) => {
    const i = random(pieces.length);
    pieces[i] = sealedPiece(pick(random, BYTE_MUTATIONS)(pieces[i], random));
  },
  (pieces, random) => {
    pick(random, pieces)[4 + random(8)] = random(256);
  },
  (pieces, random) => pieces.splice(random(pieces.length), 1),
  (pieces, random) => pieces.push(pick(random, pieces)),
  (pieces) => pieces.reverse(),
];

function changePieces(bytes, random) {
  const pieces = piecesOf(bytes);
  pick(random, PIECE_MUTATIONS)(pieces, random);
  return Buffer.concat(pieces);
}

function changeLines(bytes, random) {
  const all = bytes.toString().split("\n");
  const i = random(all.length);
  all[i] = pick(random, [
    () => all[i].replace(/"[^"]*"/, pick(random, ["1", "null", "[]", '"\\ud800"', '"\\u0000"'])),
    () => "[".repeat(random(100_000)),
    () =>
      `{"type":"entity","name":"${"n".repeat(random(2_000_000))}","entityType":"","observations":[]}`,
    () => `${all[i]}\n${all[i]}`,
    () => `{"type":"relation","from":"__proto__","to":"","relationType":"constructor"}`,
    () => all[i].replace("[", "[1,"),
    () => "\r",
    () => `\ufeff${all[i]}`,
  ])();
  return Buffer.from(all.join("\n"));
}

const MUTATIONS = {
  "an export": [
    ...BYTE_MUTATIONS,
    ...PAGE_MUTATIONS,
    ...[...BYTE_MUTATIONS, ...PAGE_MUTATIONS].map(
      (change) => (bytes, random) => sealed(change(bytes, random)),
    ),
    ...Array.from({ length: 7 }, () => changeTables),
  ],
  "a portable export": [...BYTE_MUTATIONS, ...Array.from({ length: 8 }, () => changePieces)],
  "lines of the memory server": [
    ...BYTE_MUTATIONS,
    ...Array.from({ length: 4 }, () => changeLines),
  ],
};
const OF_DATABASES = [
  ...BYTE_MUTATIONS,
  ...PAGE_MUTATIONS,
  ...Array.from({ length: 21 }, () => changeTables),
];

/** The file of this number: an original with something wrong. */
export function mutantOf(kind, original, number, folder) {
  const random = randomOf(number);
  const change = pick(random, MUTATIONS[kind] ?? OF_DATABASES);
  return change(Buffer.from(original), random, folder);
}
