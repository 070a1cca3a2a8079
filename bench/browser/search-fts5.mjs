// FTS5 by hand in a worker of its own: the official SQLite build over its pool of sync access
// handles. Each message is a call, and is answered.
import sqlite3InitModule from "@sqlite.org/sqlite-wasm";
import { BEST_TEN, matchOf, schemaOf } from "../search-texts.mjs";

let database;
let tokenizer;

const calls = {
  async open({ name, tokenize }) {
    const sqlite3 = await sqlite3InitModule({ print() {}, printErr() {} });
    const pool = await sqlite3.installOpfsSAHPoolVfs({ directory: `/${name}`, name });
    database = new pool.OpfsSAHPoolDb("/bench.db");
    database.exec(schemaOf(tokenize));
    tokenizer = tokenize;
  },
  put({ texts, from }) {
    const insert = database.prepare("INSERT INTO t(rowid, text) VALUES(?, ?)");
    database.transaction(() => {
      for (const [i, text] of texts.entries()) insert.bind([from + i + 1, text]).stepReset();
    });
    insert.finalize();
  },
  ask({ question }) {
    const bind = [matchOf(question, tokenizer)];
    return bind[0] === "" ? [] : database.selectArrays(BEST_TEN, bind);
  },
};

globalThis.onmessage = async ({ data: { call, ...options } }) => {
  try {
    globalThis.postMessage({ answer: await calls[call](options) });
  } catch (error) {
    globalThis.postMessage({ error: `${error?.name}: ${error?.message}` });
  }
};
