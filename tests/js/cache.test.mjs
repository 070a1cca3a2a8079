// LangGraph's BaseCache over a memory, judged by its own InMemoryCache.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { jest } from "@jest/globals";
import { InMemoryCache, JsonPlusSerializer } from "@langchain/langgraph-checkpoint";
import Database from "better-sqlite3";
import { openMemory } from "keepsake";
import { memoryOver } from "keepsake/sqlite";
import { askCached } from "./support/cached-graph.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

const SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789abcd";
const START = 1_800_000_000_000;
let now;
const open = [];

beforeEach(() => {
  now = START;
  jest.spyOn(Date, "now").mockImplementation(() => now);
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const memory of open.splice(0)) await memory.close();
});
afterAll(removeTemporaryFolders);

async function memoryAt(options = {}) {
  const memory = await openMemory({ path: ":memory:", now: () => now, ...options });
  open.push(memory);
  return memory;
}
function overConnection() {
  const memory = memoryOver(new Database(":memory:"), { now: () => now });
  open.push(memory);
  return memory;
}
const valuesOf = async (cache, ...keys) => (await cache.get(keys)).map(({ value }) => value);
const KEY = [["node"], "k"];
const pair = (value, ttl, key = KEY) => ({ key, value, ...(ttl !== undefined && { ttl }) });

// Numbers below `most`, the same in each run.
function numbersFrom(seed) {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % most;
  };
}

// The official one takes ["a", "b"] for ["a,b"], and [""] for [].
const NAMESPACES = [[], ["a"], ["a", "b"], ["b"], ["__pregel_ns_writes", "a"], ["é.:\0"]];
const KEYS = ["k", "l", "", "a.b:c\0d", "x".repeat(5000), "\u{1f5dd}", "%cache", "*"];
const VALUES = [1, null, "text", [["channel", { deep: [1, { n: null }] }]], new Set([1]), ""];
const TTLS = [undefined, undefined, 1, 60, 0.0005, 0, -1, Number.NaN, Number.POSITIVE_INFINITY];

test.each([
  ["in memory", () => memoryAt()],
  ["in a file", () => memoryAt({ path: temporaryFile() })],
  ["in a scope", async () => (await memoryAt()).scoped({ user: "ada" }).scoped({ global: "app" })],
  ["over a connection", overConnection],
])("%s it answers as LangGraph's InMemoryCache does", async (_name, make) => {
  const [ours, official] = [(await make()).cache, new InMemoryCache()];
  const next = numbersFrom(7);
  const one = (list) => list[next(list.length)];
  const some = (make, most = 4) => Array.from({ length: next(most) }, make);
  const key = () => [one(NAMESPACES), one(KEYS)];
  let found = 0;
  for (let step = 0; step < 1000; step++) {
    now += one([0, 0, 1, 400, 70_000]);
    const chance = next(10);
    if (chance < 4) {
      const pairs = some(() => pair(one(VALUES), one(TTLS), key()));
      expect(await ours.set(pairs)).toEqual(await official.set(pairs));
    } else if (chance < 9) {
      const keys = some(key, 6);
      const expected = await official.get(keys);
      expect(await ours.get(keys)).toEqual(expected);
      found += expected.length;
    } else {
      const namespaces = next(4) === 0 ? [] : [one(NAMESPACES), one(NAMESPACES)];
      expect(await ours.clear(namespaces)).toEqual(await official.clear(namespaces));
    }
  }
  expect(found).toBeGreaterThan(60);
});

test("keys that others confuse are apart, and none leads out of the cache", async () => {
  const memory = await memoryAt();
  const { cache, store } = memory;
  const namespaces = [
    ["a,b"],
    ["a", "b"],
    ["a", "b,"],
    ["a,", "b"],
    [],
    [""],
    ["", ""],
    ["__proto__"],
  ];
  const keys = ["__proto__", "constructor", "", "~0000", "\0", "\ud800", "~d800", "../k", "=", ","];
  const pairs = namespaces.flatMap((namespace) =>
    keys.map((key) => pair(JSON.stringify([namespace, key]), undefined, [namespace, key])),
  );
  await cache.set(pairs);
  const found = await cache.get(pairs.map(({ key }) => key));
  expect(found).toEqual(pairs);
  await cache.clear([["a", "b"]]);
  expect(await cache.get(pairs.map(({ key }) => key))).toHaveLength(pairs.length - keys.length);
  expect(await store.search([], { validAt: "anytime", includeQuarantined: true })).toEqual([]);
  expect({}.polluted).toBeUndefined();
});

test("nothing of it is found by searches and listings, nor reached by a name", async () => {
  const memory = await memoryAt();
  const { store } = memory;
  const ada = memory.scoped({ user: "ada" });
  const quarantine = memory.scoped({ place: ["q"], policy: { origins: { web: "quarantine" } } });
  await store.keepHistory([]);
  for (const { cache } of [memory, ada, quarantine]) {
    await cache.set([1, 2, 3].map((n) => pair(`tea ${n}`, undefined, [[`${n}`], "tea"])));
  }
  for (let n = 0; n < 5; n++) {
    await store.put(["user", "ada", `${n}`], "k", { text: "tea" });
    await quarantine.store.put(["n"], `${n}`, { text: "tea" }, undefined, { origin: "web" });
  }
  const all = { validAt: "anytime", includeQuarantined: true };
  for (const from of [store, store.asOf(now)]) {
    for (const query of [undefined, "tea"]) {
      for (const mode of ["auto", "contains", "text"]) {
        const search = { ...all, query, ranking: { mode } };
        expect(await from.search([], { ...search, limit: 100 })).toHaveLength(10);
        const pages = [];
        for (let offset = 0; offset < 12; offset += 3) {
          pages.push(...(await from.search([], { ...search, limit: 3, offset })));
        }
        const keys = pages.map(({ namespace, key }) => [...namespace, key].join("/"));
        expect(new Set(keys).size).toBe(10);
        expect(keys).toHaveLength(10);
      }
    }
    const listed = await from.listNamespaces();
    expect(listed).toEqual([["q", "n"], ...[0, 1, 2, 3, 4].map((n) => ["user", "ada", `${n}`])]);
    const paged = [];
    for (let offset = 0; offset < 8; offset += 2) {
      paged.push(...(await from.listNamespaces({ limit: 2, offset })));
    }
    expect(paged).toEqual(listed);
    expect(await from.listNamespaces({ maxDepth: 1 })).toEqual([["q"], ["user"]]);
    expect(await from.listNamespaces({ suffix: ["*"], maxDepth: 3, offset: 5 })).toEqual([
      listed[5],
    ]);
  }
  expect(await ada.store.listNamespaces()).toHaveLength(5);
  const place = ["user", "ada", "%cache", "=1,"];
  for (const call of [
    () => store.get(place, "tea"),
    () => store.put(place, "tea", {}),
    () => store.search(place),
    () => store.listKeys(place),
    () => store.clearNamespace(place),
    () => ada.store.get(["%cache", "=1,"], "tea"),
    () => memory.forget({ namespaces: [place] }),
    async () => memory.scoped({ place }),
  ]) {
    await expect(call()).rejects.toMatchObject({
      code: "invalid_namespace",
      message: expect.stringContaining("is reached by memory.cache"),
    });
  }
  // An id that is called so is another label.
  expect(memory.scoped({ user: "%cache" }).place).toEqual(["user", "%25cache"]);
});

test("values are the serialiser's bytes, whatever they are", async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  class OddSerializer extends JsonPlusSerializer {
    async dumpsTyped(value) {
      return [value.type, value.bytes];
    }
    async loadsTyped(type, loaded) {
      return { type, bytes: new Uint8Array(loaded) };
    }
  }
  const { cache } = await memoryAt({ path: temporaryFile(), serde: new OddSerializer() });
  const values = [
    { type: "json", bytes: new TextEncoder().encode('{"a":"é\u{1f5dd}"}') },
    { type: "json", bytes },
    { type: "json", bytes: new Uint8Array() },
    { type: "json", bytes: new TextEncoder().encode("\ufeff1") },
    { type: "json", bytes: new TextEncoder().encode("=1") },
    { type: "bytes", bytes },
    { type: "", bytes },
    { type: "__proto__", bytes },
    { type: "msgpack.é", bytes: new Uint8Array(100_000).fill(200) },
  ];
  await cache.set(values.map((value, i) => pair(value, undefined, [["n"], `${i}`])));
  expect(await valuesOf(cache, ...values.map((_, i) => [["n"], `${i}`]))).toEqual(values);
});

test("a node does not run again in another process, until its answer has expired", async () => {
  const path = temporaryFile();
  const file = fileURLToPath(new URL("support/cached-process.mjs", import.meta.url));
  const ask = (question) => JSON.parse(execFileSync(process.execPath, [file, path, question]));
  expect(ask("life")).toEqual({ answer: "42 to life", runs: 1 });
  expect(ask("life")).toEqual({ answer: "42 to life", runs: 0 });
  expect(ask("love")).toEqual({ answer: "42 to love", runs: 1 });
  jest.restoreAllMocks();
  const memory = await memoryAt({ path, now: () => Date.now() + 30_000 });
  expect(await askCached(memory, "life")).toMatchObject({ runs: 0 });
  const later = await memoryAt({ path, now: () => Date.now() + 61_000 });
  expect(await askCached(later, "life")).toMatchObject({ runs: 1 });
});

test("what has expired is swept with the items", async () => {
  const { cache, store } = await memoryAt();
  await cache.set([pair(1, 60), pair(2, undefined, [["node"], "ever"])]);
  now += 60_000;
  expect(await valuesOf(cache, KEY)).toEqual([]);
  expect(await store.sweepExpired()).toBe(1);
  expect(await valuesOf(cache, [["node"], "ever"])).toEqual([2]);
});

test("a scope has a cache of its own, which goes with it unless it is held", async () => {
  const memory = await memoryAt({ path: temporaryFile() });
  const [ada, bob] = ["ada", "bob"].map((user) => memory.scoped({ user }));
  const caches = [memory, ada, bob].map(({ cache }) => cache);
  for (const [i, cache] of caches.entries()) await cache.set([pair(i)]);
  const left = async () => Promise.all(caches.map((cache) => valuesOf(cache, KEY)));
  expect(await left()).toEqual([[0], [1], [2]]);
  await memory.cache.clear([]);
  expect(await left()).toEqual([[], [1], [2]]);
  await memory.hold(["user", "ada"], "a lawsuit");
  await expect(ada.forget()).rejects.toMatchObject({ code: "held" });
  await memory.release(["user", "ada"]);
  const receipt = await ada.forget();
  expect(receipt.erased.items).toBe(1);
  expect(await left()).toEqual([[], [], [2]]);
  const evicted = await memory.evict({ namespaces: [["user"]], maxItems: 0, by: "age" });
  expect(evicted.items ?? evicted.evicted).toBeDefined();
  expect(await left()).toEqual([[], [], []]);
});

test.each(["sqlite", "portable"])("it travels in an export (%s)", async (format) => {
  const memory = await memoryAt();
  await memory.cache.set([pair("kept", 60)]);
  const copy = await memoryAt({ path: temporaryFile() });
  await copy.import(await memory.export({ format }));
  expect(await valuesOf(copy.cache, KEY)).toEqual(["kept"]);
  now += 60_000;
  expect(await valuesOf(copy.cache, KEY)).toEqual([]);
});

test("with a key nothing of it is written in plain", async () => {
  const path = temporaryFile();
  const memory = await memoryAt({ path, key: "a passphrase of mine" });
  await memory.cache.set([pair(SECRET, undefined, [["a-namespace-of-mine"], "k"])]);
  await memory.flush();
  const bytes = readFileSync(path, "latin1");
  expect(bytes.includes(SECRET)).toBe(false);
  expect(bytes.includes("a-namespace-of-mine")).toBe(false);
});

test("each call is told to who hears of accesses", async () => {
  const events = [];
  const memory = await memoryAt({ onAccess: (event) => events.push(event) });
  await memory.scoped({ user: "ada" }).cache.set([pair(1)]);
  expect(events.map(({ phase, operation, success }) => [phase, operation, success])).toEqual([
    ["before", "store", undefined],
    ["after", "store", true],
  ]);
  expect(events[0].namespace.slice(0, 3)).toEqual(["user", "ada", "%cache"]);
});

test("secrets are neither masked nor refused: a node would get another answer than it gave", async () => {
  for (const secrets of ["mask", "refuse"]) {
    const { cache } = await memoryAt({ secrets });
    await cache.set([pair({ token: SECRET })]);
    expect(await valuesOf(cache, KEY)).toEqual([{ token: SECRET }]);
  }
});

describe("what can't be kept", () => {
  let warn;
  beforeEach(() => {
    warn = jest.spyOn(console, "warn").mockImplementation(() => {});
  });

  test.each([
    ["a scope that may not write", { readOnly: true }, "access_denied"],
    ["a scope that is full", { maxEntries: 0 }, "quota_exceeded"],
    ["a value that is too large", { maxValueBytes: 10 }, "quota_exceeded"],
  ])(
    "%s: the node answers all the same, runs again, and it is told once",
    async (_name, policy, code) => {
      const memory = await memoryAt();
      const ada = memory.scoped({ user: "ada", policy });
      for (let i = 0; i < 2; i++) {
        expect(await askCached(ada, "life")).toEqual({ answer: "42 to life", runs: 1 });
      }
      expect(warn.mock.calls).toEqual([[expect.stringContaining(`(${code})`)]]);
      expect(warn.mock.calls[0][0]).toContain("runs again the next time");
    },
  );

  test("a value that is no JSON is told, and nothing of its batch is kept", async () => {
    const { cache } = await memoryAt();
    await cache.set([pair(1), pair(1n, undefined, [["node"], "big"])]);
    expect(warn.mock.calls).toEqual([[expect.stringContaining("(invalid_value)")]]);
    expect(await valuesOf(cache, KEY)).toEqual([]);
  });

  test("a memory that is closed ends the run, before its node", async () => {
    const memory = await memoryAt();
    await memory.close();
    await expect(askCached(memory, "life")).rejects.toMatchObject({ code: "closed" });
  });

  test.each([
    ["no list", (cache) => cache.get("k"), "keys must be a list"],
    [
      "no key",
      (cache) => cache.get(["k"]),
      'a key must be a namespace and a text, [["ns"], "key"]',
    ],
    ["a number as a key", (cache) => cache.get([[["n"], 1]]), "a key must be"],
    ["a text as a namespace", (cache) => cache.get([["n", "k"]]), "a namespace must be a list"],
    [
      "a number as a label",
      (cache) => cache.get([[[1], "k"]]),
      "a namespace must be a list of texts",
    ],
    ["minutes in words", (cache) => cache.set([pair(1, "60")]), "ttl must be a number of seconds"],
    [
      "another option",
      (cache) => cache.set([{ ...pair(1), expires: 5 }]),
      'unknown option "expires"',
    ],
    ["namespaces that are none", (cache) => cache.clear(["n"]), "a namespace must be a list"],
    ["nothing to clear", (cache) => cache.clear(), "namespaces must be a list"],
  ])("%s is a mistake", async (_name, call, message) => {
    const { cache } = await memoryAt();
    await expect(call(cache)).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining(message),
    });
    expect(warn).not.toHaveBeenCalled();
  });
});

test("many large values are read in parts: an answer has at most 32 MB there", async () => {
  const { cache } = overConnection();
  const keys = Array.from({ length: 20 }, (_, i) => [["n"], `${i}`]);
  for (const key of keys) await cache.set([pair("x".repeat(2_000_000) + key[1], undefined, key)]);
  const found = await valuesOf(cache, ...keys);
  expect(found.map((value) => value.slice(2_000_000))).toEqual(keys.map(([, key]) => key));
});
