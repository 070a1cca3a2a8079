// Many objects with vectors in one isolate.

import { DurableObject } from "cloudflare:workers";
import { durableMemory, limitVectorMemory } from "keepsake/cloudflare";
import { linearMemory } from "./linear-memory.mjs";
import { serve } from "./serve.mjs";

const DIMS = 256;

function vectorOf(text) {
  let state = [...text].reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) >>> 0, 7);
  return Array.from({ length: DIMS }, () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  });
}

const embeddings = {
  embedDocuments: async (texts) => texts.map(vectorOf),
  embedQuery: async (text) => vectorOf(text),
};

export class Vectors extends DurableObject {
  loads = 0;
  ranges = 0;
  cursors = [];
  memory = durableMemory(this.counting(), { index: { dims: DIMS, embeddings, fields: ["text"] } });

  /** The storage of this object; notes when the index is read, and vectors in place of codes. */
  counting() {
    const { storage } = this.ctx;
    const exec = (query, ...values) => {
      if (/FROM store_vectors ORDER BY item_id/.test(query)) this.loads++;
      if (/FROM store_vectors WHERE vector_id >=/.test(query)) this.ranges++;
      const cursor = storage.sql.exec(query, ...values);
      this.cursors.push(cursor);
      return cursor;
    };
    return {
      transactionSync: (body) => storage.transactionSync(body),
      sql: {
        exec,
        get databaseSize() {
          return storage.sql.databaseSize;
        },
      },
    };
  }

  async fill(name, count) {
    for (let from = 0; from < count; from += 150) {
      const puts = Array.from({ length: Math.min(150, count - from) }, (_, i) => ({
        namespace: ["n"],
        key: `k${from + i}`,
        value: { text: `${name} ${from + i}` },
      }));
      await this.memory.store.batch(puts);
    }
  }

  /** By the index, which a filter needs. */
  async search(query) {
    return this.find({ query, filter: { text: { $ne: "" } } });
  }

  /** As the object is that was just woken. */
  async first(query) {
    this.cursors = [];
    const { hits, loads } = await this.find({ query });
    return { hits, loads, rows: this.cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0) };
  }

  async find(search) {
    this.ranges = 0;
    const hits = await this.memory.store.search(["n"], { ...search, limit: 5 });
    return {
      hits: hits.map(({ key, score }) => [key, score]),
      loads: this.loads,
      ranges: this.ranges,
    };
  }

  sound() {
    const rows = this.ctx.storage.sql.exec(
      "SELECT count(*) AS chunks, max(abs(checksum)) AS largest FROM vector_chunks",
    );
    return rows.one();
  }
}

const object = (env, n) => env.VECTORS.getByName(`object ${n}`);

export default serve({
  limit: (_env, bytes) => limitVectorMemory(bytes),
  fill: (env, n, count) => object(env, n).fill(`object ${n}`, count),
  search: (env, n, query) => object(env, n).search(query),
  first: (env, n, query) => object(env, n).first(query),
  sound: (env, n) => object(env, n).sound(),
  linear: () => linearMemory().linear,
});
