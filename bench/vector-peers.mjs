// Vector indexes of others, installed for one run into a folder that goes with it: their
// versions are fixed here and nowhere else. What can't be installed or loaded is left out.
//
// A peer is {name, open(dims, count) → {add(id, vector), finish?(), search(vector, k) → ids}}.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const VERSIONS = {
  usearch: "2.26.2",
  "hnswlib-node": "3.0.0",
  "hnswlib-wasm": "0.8.2",
  "sqlite-vec": "0.1.9",
  "better-sqlite3": "12.11.1",
  "@orama/orama": "3.1.18",
};
const M = 16;
const EF_CONSTRUCTION = 200;
// A width of search for recall@10 ≥ .95, and one for ≥ .99.
const EF_SEARCH = [48, 128];

export async function loadPeers(folder) {
  const found = [];
  for (const name of ["usearch", "hnswlib-node", "sqlite-vec", "@orama/orama", "hnswlib-wasm"]) {
    try {
      // An install without a manifest removes what another one brought.
      const own = join(folder, "peers", name);
      mkdirSync(own, { recursive: true });
      install(own, name === "sqlite-vec" ? [name, "better-sqlite3"] : [name]);
      found.push(...(await MAKERS[name](createRequire(join(own, "peers.cjs")))));
    } catch (error) {
      console.error(`${name} is left out: ${String(error.message).split("\n")[0]}`);
    }
  }
  return found;
}

function install(folder, names) {
  const packages = names.map((name) => `${name}@${VERSIONS[name]}`);
  const options = ["--prefix", folder, "--no-save", "--no-audit", "--no-fund"];
  execFileSync("npm", ["install", ...options, ...packages], {
    stdio: ["ignore", "ignore", "pipe"],
  });
}

const MAKERS = {
  usearch: (require) => {
    const { Index, MetricKind, ScalarKind } = require("usearch");
    return EF_SEARCH.map((ef) => ({
      name: `usearch, native, ef ${ef}`,
      open(dims) {
        const index = new Index({
          dimensions: dims,
          metric: MetricKind.Cos,
          quantization: ScalarKind.F32,
          connectivity: M,
          expansion_add: EF_CONSTRUCTION,
          expansion_search: ef,
        });
        return {
          add: (id, vector) => index.add(BigInt(id), vector),
          search: (vector, k) => Array.from(index.search(vector, k, 1).keys, Number),
        };
      },
    }));
  },

  "hnswlib-node": (require) => {
    const { HierarchicalNSW } = require("hnswlib-node");
    return EF_SEARCH.map((ef) => ({
      name: `hnswlib-node, native, ef ${ef}`,
      open(dims, count) {
        const index = new HierarchicalNSW("ip", dims);
        index.initIndex(count, M, EF_CONSTRUCTION);
        index.setEf(ef);
        return {
          add: (id, vector) => index.addPoint(Array.from(vector), id),
          search: (vector, k) => index.searchKnn(Array.from(vector), k).neighbors,
        };
      },
    }));
  },

  "sqlite-vec": (require) => {
    const Database = require("better-sqlite3");
    const { load } = require("sqlite-vec");
    return [
      {
        name: "sqlite-vec, native, exact",
        open(dims) {
          const database = new Database(":memory:");
          load(database);
          database.exec(
            `CREATE VIRTUAL TABLE v USING vec0(vector float[${dims}] distance_metric=cosine)`,
          );
          const insert = database.prepare("INSERT INTO v(rowid, vector) VALUES(?, ?)");
          const search = database.prepare("SELECT rowid FROM v WHERE vector MATCH ? AND k = ?");
          const bytes = (vector) =>
            Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
          database.exec("BEGIN");
          return {
            add: (id, vector) => insert.run(BigInt(id), bytes(vector)),
            finish: () => database.exec("COMMIT"),
            search: (vector, k) => search.all(bytes(vector), k).map((row) => row.rowid),
          };
        },
      },
    ];
  },

  "@orama/orama": (require) => {
    const { create, insert, searchVector } = require("@orama/orama");
    return [
      {
        name: "Orama, exact",
        open(dims) {
          const database = create({ schema: { vector: `vector[${dims}]` } });
          return {
            add: (id, vector) => insert(database, { id: String(id), vector: Array.from(vector) }),
            search: (vector, k) =>
              searchVector(database, {
                vector: { value: Array.from(vector), property: "vector" },
                similarity: -1,
                limit: k,
              }).hits.map((hit) => Number(hit.id)),
          };
        },
      },
    ];
  },

  "hnswlib-wasm": async (require) => {
    // It asks for a browser.
    globalThis.window ??= globalThis;
    const { loadHnswlib } = await import(require.resolve("hnswlib-wasm"));
    const library = await loadHnswlib();
    return EF_SEARCH.map((ef) => ({
      name: `hnswlib-wasm, ef ${ef}`,
      open(dims, count) {
        const index = new library.HierarchicalNSW("ip", dims, "");
        index.initIndex(count, M, EF_CONSTRUCTION, 100);
        index.setEfSearch(ef);
        return {
          add: (id, vector) => index.addPoint(vector, id, false),
          search: (vector, k) => index.searchKnn(vector, k, undefined).neighbors,
        };
      },
    }));
  },
};
