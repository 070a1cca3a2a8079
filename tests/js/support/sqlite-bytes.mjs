// SQL over a database that is given as bytes, by another SQLite than ours.

import { readFileSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { temporaryFile } from "./temporary.mjs";

/** The rows of a statement, and the database after it. */
export function runOver(bytes, statement) {
  const path = temporaryFile("copy.db");
  writeFileSync(path, bytes);
  const database = new Database(path);
  const prepared = database.prepare(statement);
  const rows = prepared.reader ? prepared.all() : [];
  if (!prepared.reader) prepared.run();
  database.close();
  return { rows, bytes: readFileSync(path) };
}
