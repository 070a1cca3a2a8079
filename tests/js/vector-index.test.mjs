// The graph over vectors, as callers reach it: built by demand and while nobody calls, kept
// over a restart, forced by a search; and the same as native code makes it.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryStore, SqliteStore } from "keepsake";

const N = ["n"];
const DIMS = 24;
let folder;
const open = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-index-"));
});
afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Numbers that C++ makes, too (tests/core/graph_golden_test.cc): twenty clusters. */
class Vectors {
  #state = 2463534242;

  next(i, dims = DIMS) {
    const centre = i % 20;
    return Array.from({ length: dims }, (_, d) => {
      const noise = (this.#random() % 2001) - 1000;
      return (((centre + 1) * (d + 3) * 37) % 101) / 16 - 3 + noise / 512;
    });
  }

  #random() {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x >>> 0;
    return this.#state >>> 8;
  }
}

function indexOf(count, dims = DIMS) {
  const source = new Vectors();
  const vectors = Array.from({ length: count }, (_, i) =>
    source.next(i, Math.max(dims, DIMS)).slice(0, dims),
  );
  return {
    queries: source,
    index: {
      dims,
      fields: ["v"],
      cache: 0,
      embeddings: (texts) => texts.map((text) => vectors[Number(text)]),
    },
  };
}

async function fill(store, count) {
  open.push(store);
  for (let first = 0; first < count; first += 500) {
    await store.batch(
      Array.from({ length: Math.min(500, count - first) }, (_, i) => ({
        namespace: N,
        key: String(first + i),
        value: { v: String(first + i) },
      })),
    );
  }
  return store;
}

const path = () => join(folder, "memory.db");
const keysOf = (hits) => hits.map(({ key }) => key);

test("buildIndex() tells how it goes on, and a search can be made to use the graph", async () => {
  const { index, queries } = indexOf(1500);
  for (const store of [new SqliteStore({ path: path(), index }), new InMemoryStore({ index })]) {
    await fill(store, 1500);
    expect((await store.stats()).inGraph).toBe(0);
    const near = queries.next(3);
    const [hit] = await store.search(N, { near, ranking: { plan: "graph" }, explain: true });
    expect(hit.plan).toBe("vectors: codes of 1500");
    const heard = [];
    expect(await store.buildIndex({ onProgress: (progress) => heard.push(progress) })).toBe(1500);
    expect(heard.length).toBeGreaterThan(3);
    expect(heard.every(({ done, left }) => done + left === 1500)).toBe(true);
    expect(heard.map(({ done }) => done)).toEqual(
      heard.map(({ done }) => done).sort((a, b) => a - b),
    );
    expect(heard.at(-1)).toEqual({ done: 1500, left: 0 });
    expect((await store.stats()).inGraph).toBe(1500);
    const exact = await store.search(N, { near, ranking: { plan: "exact" }, explain: true });
    expect(exact[0].plan).toBe("vectors: exact");
    for (const plan of ["codes", "graph"]) {
      const hits = await store.search(N, { near, ranking: { plan }, explain: true });
      expect(keysOf(hits)).toEqual(keysOf(exact));
      expect(hits[0].plan).toMatch(`vectors: ${plan} of 1500`);
    }
  }
});

test("a graph is there again after a restart, without being built", async () => {
  const { index, queries } = indexOf(1500);
  const store = await fill(new SqliteStore({ path: path(), index }), 1500);
  await store.buildIndex();
  const options = {
    near: queries.next(3),
    ranking: { plan: "graph", efSearch: 12 },
    explain: true,
  };
  const before = await store.search(N, options);
  await store.close();
  const again = new SqliteStore({ path: path(), index });
  open.push(again);
  expect((await again.stats()).inGraph).toBe(1500);
  expect(await again.search(N, options)).toEqual(before);
  expect(before[0].plan).toBe("vectors: graph of 1500, 1500 in the graph");
});

test("buildIndex() that is ended keeps what it did, and goes on", async () => {
  const { index } = indexOf(1500);
  const store = await fill(new SqliteStore({ path: path(), index }), 1500);
  const controller = new AbortController();
  const onProgress = ({ done }) => done > 100 && controller.abort();
  await expect(store.buildIndex({ signal: controller.signal, onProgress })).rejects.toThrow();
  const { inGraph } = await store.stats();
  expect(inGraph).toBeGreaterThan(100);
  expect(inGraph).toBeLessThan(1500);
  expect(await store.buildIndex()).toBe(1500);
});

test("what can't be is refused by name", async () => {
  const { index } = indexOf(1);
  const without = new InMemoryStore();
  open.push(without);
  await expect(without.buildIndex()).rejects.toMatchObject({ code: "invalid_argument" });
  const store = await fill(new InMemoryStore({ index }), 1);
  for (const wrong of [{ plan: "fast" }, { efSearch: -1 }, { efSearch: 1.5 }]) {
    await expect(store.search(N, { query: "0", ranking: wrong })).rejects.toMatchObject({
      code: "invalid_argument",
    });
  }
  expect(await store.buildIndex()).toBe(1);
});

test("from 5,000 vectors on the graph is built while nobody calls", async () => {
  const { index, queries } = indexOf(5_000, 512);
  const store = await fill(new SqliteStore({ path: path(), index }), 5_000);
  const near = queries.next(5, 512);
  const expected = keysOf(await store.search(N, { near })); // reads the index
  let { inGraph } = await store.stats();
  let slowest = 0;
  while (inGraph < 1000) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const start = performance.now();
    ({ inGraph } = await store.stats());
    slowest = Math.max(slowest, performance.now() - start);
  }
  console.log(`a call beside it took up to ${slowest.toFixed(1)} ms`);
  expect(keysOf(await store.search(N, { near }))).toEqual(expected);
}, 120_000);

test("of many dimensions signs choose among codes, and a plan does without", async () => {
  const { index, queries } = indexOf(4_000, 256);
  for (const store of [new InMemoryStore({ index }), new SqliteStore({ path: path(), index })]) {
    await fill(store, 4_000);
    let found = 0;
    for (let i = 0; i < 20; i++) {
      const near = queries.next(i, 256);
      const exact = keysOf(await store.search(N, { near, ranking: { plan: "exact" } }));
      expect(keysOf(await store.search(N, { near, ranking: { plan: "codes" } }))).toEqual(exact);
      const hits = await store.search(N, { near, explain: true });
      expect(hits[0].plan).toBe("vectors: codes of 4000, chosen by their signs");
      found += keysOf(hits).filter((key) => exact.includes(key)).length / exact.length;
    }
    expect(found / 20).toBeGreaterThanOrEqual(0.99);
  }
});

// KEEPSAKE_WRITE_GOLDEN=1 of the test in C++ writes the file anew.
test("a graph finds what native code finds, by the same steps", async () => {
  const golden = readFileSync(new URL("../golden/graph.txt", import.meta.url), "utf8");
  const { index, queries } = indexOf(1200);
  const store = await fill(new SqliteStore({ path: ":memory:", index }), 1200);
  await store.buildIndex();
  let lines = "";
  for (let i = 0; i < 12; i++) {
    const hits = await store.search(N, {
      near: queries.next(i),
      ranking: { plan: "graph", efSearch: 10 },
    });
    lines += `${hits.map(({ key, score }) => `${key} ${score.toFixed(5)}`).join(", ")}\n`;
  }
  expect(lines).toBe(golden);
});
