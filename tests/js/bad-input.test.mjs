// Bad input to stores and savers: a typed error that names the rule, and nothing changed. The long
// run has every backend.

import { InMemoryStore, SqliteStore } from "keepsake";
import { ColourEmbeddings } from "keepsake/testing";
import { checkpointOf, metadataOf, putCheckpoint, threadConfig } from "./support/checkpoints.mjs";
import { dumpSaver, dumpStore, expectRefused } from "./support/refusal.mjs";
import { saversOfEachKind } from "./support/saver-backends.mjs";
import { storesOfEachKind } from "./support/store-backends.mjs";
import { removeTemporaryFolders } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const cyclic = { list: [] };
cyclic.list.push(cyclic);

function nested(levels) {
  let value = {};
  for (let level = 0; level < levels; level += 1) value = { inner: value };
  return value;
}

const manyLabels = Array.from({ length: 100_000 }, () => "label");

// biome-ignore format: a table reads best by rows.
const namespaces = [
  ["a string", "users", /array/],
  ["nothing", undefined, /array/],
  ["null", null, /array/],
  ["an object", { 0: "a" }, /array/],
  ["no labels", [], /empty/],
  ["an empty label", ["a", ""], /empty/],
  ["a dot", ["a.b"], /'\.'.*"a\.b"/],
  ["a colon", ["user:1"], /':'.*"user:1"/],
  ["NUL", ["a\0b"], /NUL/],
  ["a lone high surrogate", ["\ud800"], /surrogate/],
  ["a lone low surrogate", ["a\udc00b"], /surrogate/],
  ["a number as a label", ["a", 7], /string/],
  ["null as a label", ["a", null], /string/],
  ["undefined as a label", [undefined, "a"], /string/],
  ["an array as a label", [["a"]], /string/],
  ["100,000 labels", manyLabels, /labels/],
  ["1,001 labels", manyLabels.slice(0, 1001), /1000/],
  ["70,000 bytes in a label", ["x".repeat(70_000)], /65536/],
];

// biome-ignore format: a table reads best by rows.
const keys = [
  ["a number", 7, /string/],
  ["nothing", undefined, /string/],
  ["null", null, /string/],
  ["an object", {}, /string/],
  ["NUL", "a\0b", /NUL/],
  ["a lone surrogate", "a\ud800", /surrogate/],
  ["70,000 bytes", "x".repeat(70_000), /65536/],
];

// biome-ignore format: a table reads best by rows.
const values = [
  ["a string", "text", /object/],
  ["a number", 7, /object/],
  ["an array", [1], /object/],
  ["nothing", undefined, /object/],
  ["bare bytes", new Uint8Array(1), /object/],
  ["NaN", { a: [{ n: Number.NaN }] }, /a\[0\]\.n.*NaN/],
  ["Infinity", { n: Number.POSITIVE_INFINITY }, /n.*Infinity/],
  ["a BigInt", { n: 1n }, /bigint/],
  ["a function", { f: () => 1 }, /function/],
  ["a symbol", { s: Symbol("s") }, /symbol/],
  ["a cycle", cyclic, /itself/],
  ["a Map", { m: new Map() }, /Map/],
  ["a Set", { s: new Set() }, /Set/],
  ["an invalid Date", { d: new Date(Number.NaN) }, /Date/],
  ["5,000 levels", nested(5000), /deep/],
];

// biome-ignore format: a table reads best by rows.
const searches = [
  ["an unknown operator", { filter: { n: { $near: 1 } } }, "invalid_filter", /\$near/],
  ["$in without a list", { filter: { n: { $in: 1 } } }, "invalid_filter", /\$in/],
  ["a filter that is a string", { filter: "n = 1" }, "invalid_filter", /object/],
  ["a filter with NaN", { filter: { n: Number.NaN } }, "invalid_filter", /NaN/],
  ["a filter with a function", { filter: { n: () => 1 } }, "invalid_filter", /function/],
  ["a filter of 500 levels", { filter: nested(500) }, "invalid_filter", /deep|levels/],
  ["a negative limit", { limit: -1 }, "invalid_argument", /limit.*-1/],
  ["a fraction as limit", { limit: 1.5 }, "invalid_argument", /limit/],
  ["NaN as limit", { limit: Number.NaN }, "invalid_argument", /limit/],
  ["a string as limit", { limit: "10" }, "invalid_argument", /limit/],
  ["a negative offset", { offset: -1 }, "invalid_argument", /offset/],
  ["a query that is no string", { query: 7 }, "invalid_argument", /query/],
  ["an unknown mode", { query: "x", ranking: { mode: "psychic" } }, "invalid_argument", /psychic/],
  ["near a vector without an index", { near: [1, 0] }, "invalid_argument", /near.*index/],
  ["near a vector and a query without an index", { near: [1, 0], query: "x", ranking: { mode: "hybrid" } }, "invalid_argument", /near.*index/],
  ["near an item without an index", { near: { namespace: ["a"], key: "k" } }, "invalid_argument", /near.*index/],
  ["near nothing", { near: [] }, "invalid_argument", /near/],
  ["near a number", { near: 7 }, "invalid_argument", /near/],
  ["near text", { near: ["a"] }, "invalid_argument", /near/],
  ["mode vector without an index", { query: "x", ranking: { mode: "vector" } }, "invalid_argument", /index/],
];

// biome-ignore format: a table reads best by rows.
const batches = [
  ["no list", "operations", "invalid_operation", /array/],
  ["null", [null], "invalid_operation", /object/],
  ["a number", [7], "invalid_operation", /object/],
  ["an operation of no kind", [{}], "invalid_operation", /get, put, search/],
  ["an unknown field", [{ namespace: ["a"], key: "k" }, { colour: 1 }], "invalid_operation", /operation 1/],
  ["an unknown matchType", [{ matchConditions: [{ matchType: "infix", path: ["a"] }] }], "invalid_operation", /matchType/],
  ["match conditions that are no list", [{ matchConditions: 7 }], "invalid_operation", /matchConditions/],
  ["a negative maxDepth", [{ maxDepth: -1 }], "invalid_argument", /maxDepth/],
  ["true as index", [{ namespace: ["a"], key: "k", value: {}, index: true }], "invalid_argument", /index/],
  ["numbers as paths", [{ namespace: ["a"], key: "k", value: {}, index: [7] }], "invalid_argument", /index/],
  ["a ttl of 0", [{ namespace: ["a"], key: "k", value: {}, ttl: 0 }], "invalid_argument", /ttl/],
  ["a negative ttl", [{ namespace: ["a"], key: "k", value: {}, ttl: -1 }], "invalid_argument", /ttl/],
  ["a ttl that is a string", [{ namespace: ["a"], key: "k", value: {}, ttl: "5" }], "invalid_argument", /ttl/],
  ["an endless number as ttl", [{ namespace: ["a"], key: "k", value: {}, ttl: Infinity }], "invalid_argument", /ttl/],
];

describe.each(storesOfEachKind)("$name", (backend) => {
  let store;
  let before;

  beforeEach(async () => {
    store = await backend.make({});
    await store.put(["a"], "k", { text: "old", raw: new Uint8Array([1]) });
    await store.put(["a", "b"], "k", { text: "old" });
    before = await dumpStore(store);
  });

  afterEach(async () => {
    expect(await dumpStore(store)).toEqual(before);
    await backend.closeAll();
  });

  test.each(namespaces)(
    "a namespace with %s is refused by every method",
    async (_, namespace, rule) => {
      const refused = (call) => expectRefused(call, "invalid_namespace", rule);
      await refused(() => store.put(namespace, "k", { n: 1 }));
      await refused(() => store.get(namespace, "k"));
      await refused(() => store.delete(namespace, "k"));
      await refused(() => store.listKeys(namespace));
      await refused(() => store.clearNamespace(namespace));
      await refused(() => store.batch([{ namespace, key: "k", value: { n: 1 } }]));
      const isScope = Array.isArray(namespace) && namespace.length === 0;
      if (!isScope) await refused(() => store.search(namespace));
      if (!isScope && namespace) await refused(() => store.listNamespaces({ prefix: namespace }));
    },
  );

  test.each(keys)("whyNot refuses %s as a key", async (_, key, rule) => {
    const code = key !== null && typeof key === "object" ? "invalid_namespace" : "invalid_key";
    const expected = code === "invalid_key" ? rule : /array/;
    await expectRefused(() => store.whyNot(["a"], key), code, expected);
  });

  test("whyNot refuses an item without a namespace", async () => {
    await expectRefused(() => store.whyNot(["a"], { key: "k" }), "invalid_namespace", /array/);
  });

  test("the reserved root langgraph is refused by put", async () => {
    await expectRefused(() => store.put(["langgraph"], "k", {}), "invalid_namespace", /langgraph/);
  });

  test.each(keys)("a key with %s is refused by put, get and delete", async (_, key, rule) => {
    await expectRefused(() => store.put(["a"], key, { n: 1 }), "invalid_key", rule);
    await expectRefused(() => store.get(["a"], key), "invalid_key", rule);
    await expectRefused(() => store.delete(["a"], key), "invalid_key", rule);
  });

  test.each(values)("a value with %s is refused", async (_, value, rule) => {
    await expectRefused(() => store.put(["a"], "k", value), "invalid_value", rule);
    const put = { namespace: ["new"], key: "k", value: { n: 1 } };
    await expectRefused(
      () => store.batch([put, { ...put, key: "bad", value }]),
      "invalid_value",
      rule,
    );
  });

  test.each(searches)("a search with %s is refused", async (_, options, code, rule) => {
    await expectRefused(() => store.search(["a"], options), code, rule);
    const put = { namespace: ["new"], key: "k", value: { n: 1 } };
    await expectRefused(() => store.batch([put, { namespacePrefix: [], ...options }]), code, rule);
  });

  test.each(batches)("a batch with %s is refused", async (_, operations, code, rule) => {
    await expectRefused(() => store.batch(operations), code, rule);
  });

  test("an error names the class that was called", async () => {
    const error = await expectRefused(() => store.put(["a.b"], "k", {}), "invalid_namespace");
    expect(error.message).toMatch(/^\[keepsake\] (\w*Store|memory\.store): /);
    expect(error.name).toBe("InvalidNamespaceError");
  });

  test("the store works on after a thousand refusals", async () => {
    const calls = Array.from({ length: 1000 }, (_, i) => store.put(["a.b"], `k${i}`, {}));
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    await store.put(["a"], "new", { n: 1 });
    expect((await store.get(["a"], "new")).value).toEqual({ n: 1 });
    await store.delete(["a"], "new");
  });

  test("after close every call is refused as closed", async () => {
    const other = await backend.make({});
    await other.get(["a"], "k");
    await backend.closeAll();
    for (const call of [
      () => other.get(["a"], "k"),
      () => other.put(["a"], "k", {}),
      () => other.search([]),
      () => other.listNamespaces(),
      () => other.listKeys(["a"]),
      () => other.sweepExpired(),
    ]) {
      await expectRefused(call, "closed");
    }
    store = await backend.make({});
    before = await dumpStore(store);
  });
});

describe.each(storesOfEachKind)("values of every size ($name)", (backend) => {
  afterEach(backend.closeAll);

  test("10 MB of text and 10 MB of bytes come back the same", async () => {
    const store = await backend.make({});
    const text = 'é😀"\\\n'.repeat(1_000_000);
    const raw = Uint8Array.from({ length: 10_000_000 }, (_, i) => (i * 7) & 255);
    await store.put(["a"], "text", { text });
    await store.put(["a"], "raw", { raw });
    expect((await store.get(["a"], "text")).value.text === text).toBe(true);
    const answer = (await store.get(["a"], "raw")).value.raw;
    expect(Buffer.compare(answer, raw)).toBe(0);
  });

  test("a value of more than 64 MB is refused as too_large", async () => {
    const store = await backend.make({});
    await store.put(["a"], "k", { old: true });
    const value = { text: "x".repeat(64 * 1024 * 1024) };
    await expectRefused(() => store.put(["a"], "k", value), "too_large", /67108864/);
    expect((await store.get(["a"], "k")).value).toEqual({ old: true });
  });
});

const badVectors = [
  [
    "fails",
    () => Promise.reject(new Error("the model is away")),
    "embedding_failed",
    /the model is away/,
  ],
  ["answers too few vectors", (texts) => texts.slice(1), "embedding_failed", /vectors/],
  ["answers no list", () => ({}), "embedding_failed", /vectors/],
  ["answers NaN", (texts) => texts.map(() => [1, Number.NaN, 0]), "embedding_failed", /finite/],
  ["answers empty vectors", (texts) => texts.map(() => []), "embedding_failed", /vector/],
  [
    "answers two dimensions instead of three",
    (texts) => texts.map(() => [1, 0]),
    "dimension_mismatch",
    /3.*2/,
  ],
];

describe.each(storesOfEachKind)("embedding models ($name)", (backend) => {
  afterEach(backend.closeAll);

  test.each(badVectors)("a model that %s changes nothing", async (_, embed, code, rule) => {
    const store = await backend.make({
      index: { dims: 3, embeddings: async (texts) => embed(texts) },
    });
    await store.put(["a"], "old", { text: "old" }, false);
    const before = await dumpStore(store);
    await expectRefused(() => store.put(["a"], "k", { text: "new" }), code, rule);
    const batch = [
      { namespace: ["a"], key: "old", value: null },
      { namespace: ["a"], key: "k", value: { text: "new" } },
    ];
    await expectRefused(() => store.batch(batch), code, rule);
    await expectRefused(() => store.search(["a"], { query: "new" }), code);
    expect(await dumpStore(store)).toEqual(before);
  });
});

const embeddings = new ColourEmbeddings();

// biome-ignore format: a table reads best by rows.
const constructions = [
  ["dims of 0", { index: { dims: 0, embeddings } }, /dims/],
  ["negative dims", { index: { dims: -1, embeddings } }, /dims/],
  ["a fraction as dims", { index: { dims: 1.5, embeddings } }, /dims/],
  ["dims beyond 65,536", { index: { dims: 65_537, embeddings } }, /dims/],
  ["no dims", { index: { embeddings } }, /dims/],
  ["no embeddings", { index: { dims: 3 } }, /embeddings/],
  ["embeddings without methods", { index: { dims: 3, embeddings: {} } }, /embeddings/],
  ["fields that are no list", { index: { dims: 3, embeddings, fields: "text" } }, /fields/],
  ["fields that are numbers", { index: { dims: 3, embeddings, fields: [7] } }, /fields/],
  ["a negative defaultTtl", { ttl: { defaultTtl: -1 } }, /defaultTtl/],
  ["a defaultTtl that is a string", { ttl: { defaultTtl: "5" } }, /defaultTtl/],
  ["a sweepIntervalMinutes of 0", { ttl: { sweepIntervalMinutes: 0 } }, /sweepIntervalMinutes/],
];

describe("constructors", () => {
  test.each(constructions)("a store with %s is refused at once", async (_, options, rule) => {
    await expectRefused(() => new InMemoryStore(options), "invalid_argument", rule);
    await expectRefused(
      () => new SqliteStore({ path: ":memory:", ...options }),
      "invalid_argument",
      rule,
    );
  });

  test.each([[undefined], [7], [null], [""]])(
    "a SqliteStore with the path %p is refused at once",
    async (path) => {
      await expectRefused(() => new SqliteStore({ path }), "invalid_argument", /path/);
    },
  );
});

// biome-ignore format: a table reads best by rows.
const configs = [
  ["no configurable", {}, "thread_id_required"],
  ["no thread_id", { configurable: { checkpoint_ns: "" } }, "thread_id_required"],
  ["an empty thread_id", { configurable: { thread_id: "" } }, "thread_id_required"],
  ["a thread_id that is an object", { configurable: { thread_id: {} } }, "invalid_argument"],
  ["NUL in the thread_id", { configurable: { thread_id: "a\0b" } }, "invalid_argument"],
  ["a lone surrogate in the thread_id", { configurable: { thread_id: "\ud800" } }, "invalid_argument"],
  ["9,000 bytes of thread_id", { configurable: { thread_id: "x".repeat(9000) } }, "invalid_argument"],
  ["NUL in the checkpoint_ns", { configurable: { thread_id: "t", checkpoint_ns: "\0" } }, "invalid_argument"],
];

describe.each(saversOfEachKind)("$name", (backend) => {
  let saver;
  let before;

  beforeEach(async () => {
    saver = await backend.make();
    const config = await putCheckpoint(saver, threadConfig("t"), { text: "old" });
    await saver.putWrites(config, [["text", "pending"]], "task");
    before = await dumpSaver(saver);
  });

  afterEach(async () => {
    expect(await dumpSaver(saver)).toEqual(before);
    await backend.close(saver);
  });

  test.each(configs)("put with %s is refused", async (_, config, code) => {
    const checkpoint = checkpointOf({ text: "new" });
    await expectRefused(
      () => saver.put(config, checkpoint, metadataOf(), {}),
      code,
      /thread_id|checkpoint_ns/,
    );
  });

  test.each(configs)("putWrites with %s is refused", async (_, config, code) => {
    const withId = config.configurable
      ? { configurable: { ...config.configurable, checkpoint_id: checkpointOf().id } }
      : config;
    await expectRefused(
      () => saver.putWrites(withId, [["text", 1]], "task"),
      code,
      /thread_id|checkpoint_ns/,
    );
  });

  test("putWrites without a checkpoint_id is refused", async () => {
    await expectRefused(
      () => saver.putWrites(threadConfig("t"), [["text", 1]], "task"),
      "invalid_argument",
      /checkpoint_id/,
    );
  });

  test("a checkpoint without an id is refused", async () => {
    const checkpoint = { ...checkpointOf(), id: undefined };
    await expectRefused(
      () => saver.put(threadConfig("t"), checkpoint, metadataOf(), {}),
      "invalid_argument",
      /id/,
    );
  });

  test("getTuple without a thread_id finds nothing", async () => {
    expect(await saver.getTuple({ configurable: {} })).toBeUndefined();
  });

  test("a state that the serializer refuses changes nothing", async () => {
    const state = { a: {} };
    Object.defineProperty(state.a, "bad", {
      enumerable: true,
      get() {
        throw new Error("not readable");
      },
    });
    const checkpoint = checkpointOf({ state });
    await expect(
      saver.put(threadConfig("t"), checkpoint, metadataOf(), { state: 1 }),
    ).rejects.toThrow(/not readable/);
    const tuple = await saver.getTuple(threadConfig("t"));
    await expect(
      saver.putWrites(
        tuple.config,
        [
          ["a", 1],
          ["b", state],
        ],
        "task2",
      ),
    ).rejects.toThrow(/not readable/);
  });

  test.each([-1, Number.NaN, "3"])("list with a limit of %p is refused", async (limit) => {
    await expectRefused(
      () => saver.list(threadConfig("t"), { limit }).next(),
      "invalid_argument",
      /limit/,
    );
  });

  test("a list with a limit of 0 is empty", async () => {
    const tuples = [];
    for await (const tuple of saver.list(threadConfig("t"), { limit: 0 })) tuples.push(tuple);
    expect(tuples).toEqual([]);
  });

  test("deleteThread of an unknown or invalid thread changes nothing", async () => {
    await saver.deleteThread("nobody");
    await expectRefused(() => saver.deleteThread(""), "thread_id_required");
    await expectRefused(() => saver.deleteThread("a\0"), "invalid_argument", /NUL/);
  });

  test("10 MB of state come back the same", async () => {
    const raw = Uint8Array.from({ length: 10_000_000 }, (_, i) => (i * 13) & 255);
    const config = await putCheckpoint(saver, threadConfig("big"), {
      raw,
      text: "é".repeat(1_000_000),
    });
    const { checkpoint } = await saver.getTuple(config);
    expect(Buffer.compare(checkpoint.channel_values.raw, raw)).toBe(0);
    expect(checkpoint.channel_values.text.length).toBe(1_000_000);
    await saver.deleteThread("big");
  });

  test("after close every call is refused as closed", async () => {
    const other = await backend.make();
    const config = await putCheckpoint(other, threadConfig("t"), { text: "x" });
    await backend.close(other);
    await expectRefused(() => other.getTuple(config), "closed");
    await expectRefused(() => putCheckpoint(other, threadConfig("t"), { text: "x" }), "closed");
    await expectRefused(() => other.list(config).next(), "closed");
    await expectRefused(() => other.deleteThread("t"), "closed");
  });
});
