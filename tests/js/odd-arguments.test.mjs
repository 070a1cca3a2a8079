// Every method of a memory, its store and its saver with arguments of every odd kind: each call is
// answered, or refused by a typed error that is the caller's to mend. Nothing breaks, nothing stays.

import { execFileSync } from "node:child_process";
import {
  InMemoryStore,
  KeepsakeError,
  MemorySaver,
  openMemory,
  resolveNamespace,
  SqliteStore,
  scopeOf,
  storeNamespace,
  unwrapStore,
} from "keepsake";
import { anthropicMemory, Files, filesBackend } from "keepsake/files";
import { episodes, withMemory } from "keepsake/langchain";
import { memoryOver } from "keepsake/sqlite";
import { putCheckpoint, threadConfig } from "./support/checkpoints.mjs";
import { expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const circular = {};
circular.self = circular;
let deep = {};
for (let i = 0; i < 5000; i++) deep = { deep };

const fail = () => {
  throw new Error("not to be read");
};
const traps = { get: fail, has: fail, ownKeys: fail, getPrototypeOf: fail };
const revoked = (target) => {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
};
const getters = {};
for (const name of [
  "limit",
  "configurable",
  "namespace",
  "key",
  "channels",
  "namespaces",
  "path",
]) {
  Object.defineProperty(getters, name, { get: fail, enumerable: true });
}
// Read by a loop, it would take half a minute, or end the process.
const endless = [];
endless.length = 2 ** 32 - 1;

const ODD = [
  ...[new Proxy({}, traps), new Proxy([], traps), revoked({}), revoked([]), getters, endless],
  ...[{ toJSON: fail }, { toString: fail, [Symbol.toPrimitive]: fail }, { configurable: getters }],
  ...[{ [Symbol.toStringTag]: "Uint8Array" }, Object.create(Blob.prototype)],
  ...[undefined, null, true, false, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 1n],
  ...["", "x", "a\0b", "\ud800", "x".repeat(100_000), Symbol("s"), () => 1, /x/],
  ...[[], [[]], [""], ["a.b"], ["n", 1], new Array(5), new Map(), new Date(Number.NaN)],
  ...[{}, circular, deep, Object.create(null), new Uint8Array(3), new ArrayBuffer(3)],
  JSON.parse('{"__proto__":{"polluted":1}}'),
  { constructor: { prototype: { polluted: 1 } } },
  ...[{ limit: -1 }, { limit: "5" }, { offset: Number.NaN }, { query: 5 }, { filter: [] }],
  ...[
    { ranking: { mode: "__proto__" } },
    { ranking: { mode: "constructor" } },
    { format: "toString" },
  ],
  ...[{ signal: 5 }, { signal: AbortSignal.abort(5) }, { onProgress: 1 }],
  ...[{ configurable: null }, { configurable: { thread_id: 5 } }],
  { configurable: { thread_id: "t", checkpoint_id: 5 } },
];
const CONFIG = {
  configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: "1ef4f797-8335-6428" },
};
const argumentsWith = (odd) => [
  [odd],
  [["n"], odd],
  [["n"], "k", odd],
  [["n"], "k", { a: 1 }, odd],
  [CONFIG, odd, "task"],
  ["t", odd],
];
// For ourselves, LangGraph's own, or what ends all.
const LEFT_OUT = [
  "constructor",
  "withNamedErrors",
  "putImported",
  "getNextVersion",
  "close",
  "stop",
  "end",
];

function methodsOf(object) {
  const names = new Set();
  for (
    let one = object;
    one !== null && one !== Object.prototype;
    one = Object.getPrototypeOf(one)
  ) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(one))) {
      if (typeof value === "function" && !LEFT_OUT.includes(name)) names.add(name);
    }
  }
  return [...names];
}

async function outcomeOf(call) {
  try {
    const answer = await call();
    if (answer?.[Symbol.asyncIterator] !== undefined) {
      for await (const _ of answer) break;
    }
    return undefined;
  } catch (error) {
    if (error?.name === "AbortError") return undefined;
    if (!(error instanceof KeepsakeError)) return `untyped: ${error?.stack}`;
    return /^(internal|lost)$/.test(error.code) ? error.message : undefined;
  }
}

async function faultsOf(object) {
  const faults = [];
  for (const name of methodsOf(object)) {
    for (const given of ODD.flatMap(argumentsWith)) {
      const fault = await outcomeOf(() => object[name](...given));
      if (fault !== undefined) faults.push(`${name}: ${fault}`);
      expect({}.polluted).toBeUndefined();
    }
  }
  return [...new Set(faults)];
}

test.each([
  ["a memory", async () => openMemory({ path: temporaryFile() })],
  ["a scope", async () => (await openMemory({ path: ":memory:" })).scoped({ user: "ada" })],
  ["a store of the past", async () => (await openMemory({ path: ":memory:" })).asOf(Date.now())],
  ["files", async () => new Files(await openMemory({ path: ":memory:" }))],
  ["a backend of files", async () => filesBackend(await openMemory({ path: ":memory:" }))],
  ["a store", async () => new SqliteStore({ path: temporaryFile() })],
  ["a store in memory", async () => new InMemoryStore()],
  ["a saver in memory", async () => new MemorySaver()],
])(
  "%s refuses odd arguments as the caller's mistakes",
  async (_, make) => {
    const object = await make();
    expect(await faultsOf(object)).toEqual([]);
    await object.close?.();
  },
  120_000,
);

const unreadable = new Proxy({}, traps);

test.each([
  ["scopeOf", () => scopeOf("user", unreadable)],
  ["resolveNamespace", () => resolveNamespace("user", { configurable: unreadable })],
  ["storeNamespace", () => storeNamespace({ configurable: unreadable })],
  ["unwrapStore", () => unwrapStore(unreadable)],
  ["withMemory", () => withMemory(unreadable)],
  ["episodes", () => episodes(unreadable)],
  ["filesBackend", () => filesBackend(unreadable)],
  ["anthropicMemory", () => anthropicMemory(unreadable)],
  ["memoryOver", () => memoryOver(unreadable)],
])("%s says what of the caller's can't be read", async (_, call) => {
  await expectRefused(async () => call(), "invalid_argument", /reading it threw "not to be read"/);
});

test.each(["index", "ttl", "text"])("%s that is none is refused by name", async (name) => {
  for (const none of [null, 0, "", false]) {
    const why = new RegExp(`${name} must be options by name, or left out: `);
    const make = () => openMemory({ path: ":memory:", [name]: none });
    await expectRefused(make, "invalid_argument", why);
  }
});

test("a time to live that is no number, and a path that is no text for files, are refused", async () => {
  for (const defaultTtl of [Symbol("s"), 1n, { toString: null }]) {
    const make = () => openMemory({ path: ":memory:", ttl: { defaultTtl } });
    await expectRefused(make, "invalid_argument", /positive number of minutes/);
  }
  await expectRefused(() => openMemory({ path: "\ud800" }), "invalid_argument", /lone surrogate/);
});

test("what a signal gives as its reason is what the call throws", async () => {
  const index = { dims: 1, embeddings: (texts) => texts.map(() => [1]) };
  await using memory = await openMemory({ path: temporaryFile(), index });
  const reason = new Error("of the caller's own");
  const signal = AbortSignal.abort(reason);
  const calls = [() => memory.check({ signal }), () => memory.store.buildIndex({ signal })];
  for (const call of calls) await expect(call()).rejects.toBe(reason);
  const unnamed = memory.check({ signal: AbortSignal.abort(5) });
  await expect(unnamed).rejects.toMatchObject({ name: "AbortError", cause: 5 });
});

// Opened, it would hold up the process for ever.
const posix = process.platform === "win32" ? test.skip : test;
posix("a pipe or a device in place of a file is refused at once", async () => {
  const pipe = temporaryFile("pipe");
  execFileSync("mkfifo", [pipe]);
  await using memory = await openMemory({ path: ":memory:" });
  for (const path of [pipe, "/dev/zero"]) {
    const why = /path must be a file, not a pipe, a socket or a device/;
    await expectRefused(() => memory.importFrom(path), "cannot_open", why);
    await expectRefused(() => openMemory({ path }), "cannot_open", why);
  }
});

// LangGraph's serialiser writes "[unable to serialize, …" in its place, without a word.
test.each([2_000, 20_000])(
  "a state that is %i levels deep is refused, or comes back",
  async (levels) => {
    await using saver = new MemorySaver();
    let list = [];
    for (let i = 1; i < levels; i++) list = [list];
    const put = () => putCheckpoint(saver, threadConfig("t"), { list });
    try {
      await put();
    } catch {
      await expectRefused(put, "invalid_value", /nested too deeply/);
      expect(await saver.getTuple(threadConfig("t"))).toBeUndefined();
      return;
    }
    let { list: depth } = (await saver.getTuple(threadConfig("t"))).checkpoint.channel_values;
    let count = 0;
    for (; Array.isArray(depth); depth = depth[0]) count++;
    expect(count).toBe(levels);
  },
);

test("a checkpoint that has no JSON is refused, its metadata too", async () => {
  await using saver = new MemorySaver();
  const put = (values, metadata) =>
    putCheckpoint(saver, threadConfig("t"), values, { metadata: { step: 1n, ...metadata } });
  await expectRefused(() => put({}), "invalid_value", /metadata must be JSON/);
  expect(await saver.getTuple(threadConfig("t"))).toBeUndefined();
});
