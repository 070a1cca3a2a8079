// The official SQLite build over its pool of sync access handles.

import sqlite3InitModule from "@sqlite.org/sqlite-wasm";
import { serve } from "./measure.mjs";
import { GET, PUT, SCHEMA, TUNED } from "./sql.mjs";

const isTuned = new URLSearchParams(location.search).has("tuned");
let sqlite3;
let pool;
let database;
let put;
let get;

function run(statement, values) {
  statement.bind(values);
  const hasRow = statement.step();
  const value = hasRow ? statement.get(0) : undefined;
  statement.reset();
  return value;
}

serve({
  async load() {
    sqlite3 = await sqlite3InitModule({ print() {}, printErr() {} });
  },
  async open(name) {
    pool ??= await sqlite3.installOpfsSAHPoolVfs({ directory: `/${name}`, name });
    database = new pool.OpfsSAHPoolDb("/bench.db");
    if (isTuned) for (const pragma of TUNED) database.exec(pragma);
    database.exec(SCHEMA);
    put = database.prepare(PUT);
    get = database.prepare(GET);
  },
  insert: (key, text) => run(put, [key, text]),
  batch: (rows) =>
    database.transaction(() => {
      for (const row of rows) run(put, row);
    }),
  get: (key) => run(get, [key]),
  close() {
    put.finalize();
    get.finalize();
    database.close();
  },
});
