// Postgres over a pool of sync access handles.

import { PGlite } from "@electric-sql/pglite";
import { serve } from "./measure.mjs";

const relaxedDurability = new URLSearchParams(location.search).has("tuned");
let database;

serve({
  async open(name) {
    database = await PGlite.create(`opfs-ahp://${name}`, { relaxedDurability });
    await database.exec("CREATE TABLE IF NOT EXISTS kv(k TEXT PRIMARY KEY, v TEXT)");
  },
  insert: (key, text) =>
    database.query("INSERT INTO kv VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = $2", [
      key,
      text,
    ]),
  batch: (rows) =>
    database.transaction(async (transaction) => {
      for (const row of rows) await transaction.query("INSERT INTO kv VALUES ($1, $2)", row);
    }),
  get: (key) => database.query("SELECT v FROM kv WHERE k = $1", [key]),
  close: () => database.close(),
});
