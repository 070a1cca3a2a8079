// wa-sqlite over handles that tabs hand to each other.

import * as SQLite from "@journeyapps/wa-sqlite";
import SQLiteESMFactory from "@journeyapps/wa-sqlite/dist/wa-sqlite.mjs";
import { OPFSCoopSyncVFS } from "@journeyapps/wa-sqlite/src/examples/OPFSCoopSyncVFS.js";
import { serve } from "./measure.mjs";
import { GET, PUT, SCHEMA, TUNED } from "./sql.mjs";

const isTuned = new URLSearchParams(location.search).has("tuned");
let sqlite3;
let database;
let prepared;

async function prepare(sql) {
  for await (const statement of sqlite3.statements(database, sql, { unscoped: true }))
    return statement;
}

async function run(statement, values) {
  sqlite3.bind_collection(statement, values);
  const result = await sqlite3.step(statement);
  const value = result === SQLite.SQLITE_ROW ? sqlite3.column(statement, 0) : undefined;
  await sqlite3.reset(statement);
  return value;
}

serve({
  async load() {
    const module = await SQLiteESMFactory();
    sqlite3 = SQLite.Factory(module);
    sqlite3.vfs_register(await OPFSCoopSyncVFS.create("coop", module), true);
  },
  async open(name) {
    database = await sqlite3.open_v2(`/${name}.db`);
    if (isTuned) for (const pragma of TUNED) await sqlite3.exec(database, pragma);
    await sqlite3.exec(database, SCHEMA);
    prepared = { put: await prepare(PUT), get: await prepare(GET) };
  },
  insert: (key, text) => run(prepared.put, [key, text]),
  async batch(rows) {
    await sqlite3.exec(database, "BEGIN");
    for (const row of rows) await run(prepared.put, row);
    await sqlite3.exec(database, "COMMIT");
  },
  get: (key) => run(prepared.get, [key]),
  async close() {
    for (const statement of Object.values(prepared)) await sqlite3.finalize(statement);
    await sqlite3.close(database);
  },
});
