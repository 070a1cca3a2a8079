// Items that go by age, use and size, in every kind of memory.

import { openMemory } from "keepsake";
import { libraries, memoryAt } from "./support/connections.mjs";
import { times } from "./support/effort.mjs";
import { evicting } from "./support/remembering.mjs";
import { expectEvicting } from "./support/remembering-facts.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const MINUTE = 60_000;
let time;
let memory;

beforeEach(async () => {
  time = Date.UTC(2026, 0, 1);
  memory = await openMemory({ path: ":memory:", now: () => time });
});

afterEach(() => memory.close());

/** Puts them a minute after each other. */
async function put(namespace, values) {
  for (const [key, value] of Object.entries(values)) {
    await memory.store.put(namespace, key, value);
    time += MINUTE;
  }
}
const all = { namespaces: [[]] };
const gone = ({ evicted }) => evicted.map(({ key }) => key);
const keys = async (prefix = []) =>
  (await memory.store.search(prefix, { limit: 1000 })).map(({ key }) => key).sort();

test("what is used least goes, but nothing pinned, held or new", async () => {
  const file = await openMemory({ path: temporaryFile("evict.db") });
  expectEvicting(await evicting(file), expect);
  await file.close();
  const path = temporaryFile("connection.db");
  const [library] = Object.keys(libraries);
  expectEvicting(await evicting(memoryAt(library, path)), expect);
});

test("what is older than maxAge goes, whatever room there is", async () => {
  await put(["n"], { a: { n: 1 }, b: { n: 2, pinned: true }, c: { n: 3 }, d: { n: 4 } });
  const report = await memory.evict({ ...all, maxAge: 2 });
  expect(report).toEqual({
    time: "2026-01-01T00:04:00.000Z",
    dryRun: false,
    evicted: [
      {
        namespace: ["n"],
        key: "a",
        bytes: 8,
        updatedAt: "2026-01-01T00:00:00.000Z",
        reason: "maxAge",
      },
    ],
    bytes: 8,
    kept: { items: 3, bytes: 8 + 8 + 22, pinned: 1, held: 0, changed: 0 },
  });
  expect(await keys()).toEqual(["b", "c", "d"]);
});

test("by says what goes first, and what stays fits", async () => {
  const values = {
    old: { text: "ä".repeat(10) },
    used: { text: "x", uses: 3 },
    large: { text: "x".repeat(100) },
    important: { text: "x", importance: 0.5 },
    new: { text: "x" },
  };
  await put(["n"], values);
  const order = async (by) => gone(await memory.evict({ ...all, maxItems: 0, by, dryRun: true }));
  expect(await order("age")).toEqual(["old", "used", "large", "important", "new"]);
  expect(await order(undefined)).toEqual(await order("age"));
  expect(await order("use")).toEqual(["old", "large", "new", "important", "used"]);
  expect((await order("size")).slice(0, 2)).toEqual(["large", "important"]);
  const bytes = (name) => Buffer.byteLength(name + JSON.stringify(values[name]));
  const maxBytes = bytes("large") + bytes("important") + bytes("new");
  const fitting = await memory.evict({ ...all, maxBytes });
  expect(gone(fitting)).toEqual(["old", "used"]);
  expect(fitting.kept.bytes).toBe(maxBytes);
  const both = await memory.evict({ ...all, maxItems: 2, maxBytes: maxBytes - bytes("large") - 1 });
  expect(both.evicted.map(({ key, reason }) => [key, reason])).toEqual([
    ["large", "maxItems"],
    ["important", "maxBytes"],
  ]);
  expect(await keys()).toEqual(["new"]);
});

test('only what the namespaces name goes, once, and a label "*" is one', async () => {
  await put(["a", "b"], { x: {} });
  await put(["a"], { y: {} });
  await put(["ab"], { z: {} });
  await put(["*"], { star: {} });
  const star = await memory.evict({ namespaces: [["*"]], maxItems: 0 });
  expect(gone(star)).toEqual(["star"]);
  const twice = await memory.evict({ namespaces: [["a"], ["a", "b"]], maxItems: 0 });
  expect(gone(twice)).toEqual(["x", "y"]);
  expect(await keys()).toEqual(["z"]);
});

test("in a scope it sees what is there, and its policy holds", async () => {
  await put(["user", "ada", "n"], { x: {} });
  await put(["user", "bob", "n"], { y: {} });
  const reader = memory.scoped({ user: "ada", policy: { readOnly: true } });
  await expect(reader.evict({ maxItems: 0 })).rejects.toMatchObject({ code: "access_denied" });
  const within = await memory
    .scoped({ place: ["user"] })
    .scoped({ place: ["ada"] })
    .evict({ maxItems: 0 });
  expect(within.evicted.map(({ namespace, key }) => [namespace, key])).toEqual([[["n"], "x"]]);
  expect(await keys()).toEqual(["y"]);
});

test("a listener is told of what is read and deleted, and can refuse it", async () => {
  await put(["user", "ada", "n"], { x: {}, y: {} });
  const events = [];
  let isLocked = false;
  const ada = memory.scoped({
    user: "ada",
    onAccess({ phase, operation, namespace, count }) {
      if (isLocked && operation === "delete") throw new Error("locked");
      if (phase === "after") events.push([operation, namespace.join("/"), count]);
    },
  });
  await ada.evict({ maxItems: 1 });
  expect(events).toEqual([
    ["recall", "", 2],
    ["recall", "", 0],
    ["delete", "n", 1],
  ]);
  isLocked = true;
  await expect(ada.evict({ maxItems: 0 })).rejects.toThrow("locked");
  expect(await keys()).toEqual(["y"]);
});

test("a hold above protects, one below leaves what is not in it", async () => {
  await put(["a"], { up: {} });
  await put(["a", "b"], { down: {} });
  await memory.hold(["a", "b"], "case 7");
  const below = await memory.evict({ ...all, maxItems: 0 });
  expect(gone(below)).toEqual(["up"]);
  expect(below.kept).toMatchObject({ items: 1, held: 1 });
  await memory.hold(["a"], "case 8");
  await memory.release(["a", "b"]);
  expect(gone(await memory.scoped({ place: ["a"] }).evict({ maxItems: 0 }))).toEqual([]);
  await memory.release(["a"]);
  expect(gone(await memory.evict({ ...all, maxItems: 0 }))).toEqual(["down"]);
});

test("what is put in the same millisecond is kept", async () => {
  const values = Array.from({ length: 201 }, (_, i) => [
    `k${String(i).padStart(3, "0")}`,
    { n: 1 },
  ]);
  await memory.store.batch(values.map(([key, value]) => ({ namespace: ["n"], key, value })));
  const report = await memory.evict({
    ...all,
    maxItems: 0,
    onProgress: ({ left }) => left > 0 && memory.store.put(["n"], "k200", { n: 2 }),
  });
  expect(report.kept).toMatchObject({ items: 1, changed: 1 });
  expect(await keys()).toEqual(["k200"]);
});

test("what is put between the last look and the deletion is put back", async () => {
  await put(["user", "ada", "n"], { x: { n: 1 }, y: { n: 1 }, z: { n: 1 } });
  let race = () => {};
  const onAccess = ({ phase, operation, namespace }) => {
    if (phase === "before" && operation === "delete" && namespace[0] === "n") race();
  };
  const ada = memory.scoped({ user: "ada", onAccess });
  const since = time;
  race = () => {
    race = () => {};
    // At once, as the engine is of this thread.
    memory.store.put(["user", "ada", "n"], "x", { n: 2 });
    memory.store.delete(["user", "ada", "n"], "y");
  };
  const report = await ada.evict({ maxItems: 0 });
  expect(gone(report)).toEqual(["z"]);
  expect(report.kept).toMatchObject({ changed: 2 });
  expect(await keys()).toEqual(["x"]);
  const item = await ada.store.get(["n"], "x");
  expect([item.value, item.updatedAt.getTime()]).toEqual([{ n: 2 }, since]);
  expect(item.createdAt.getTime()).toBeLessThan(since);
  race = () => {
    race = () => {};
    memory.store.put(["user", "ada", "n"], "x", { n: 3 });
  };
  await ada.evict({ maxItems: 0 });
  expect((await ada.store.search([], { query: "3" })).map(({ key }) => key)).toEqual(["x"]);
});

test("a signal ends it between portions, and it goes on by the next call", async () => {
  const items = Array.from({ length: 1000 }, (_, i) => ({
    namespace: ["n", String(i % 3)],
    key: `k${i}`,
    value: { n: i },
  }));
  await memory.store.batch(items);
  const controller = new AbortController();
  const steps = [];
  const ended = memory.evict({
    ...all,
    maxItems: 100,
    signal: controller.signal,
    onProgress(step) {
      steps.push(step);
      if (step.done === 400) controller.abort();
    },
  });
  await expect(ended).rejects.toThrow(/abort/);
  expect(steps).toEqual([
    { done: 200, left: 700 },
    { done: 400, left: 500 },
  ]);
  expect((await memory.stats()).store.items).toBe(600);
  const rest = await memory.evict({ ...all, maxItems: 100 });
  expect(rest.evicted).toHaveLength(500);
  expect((await memory.stats()).store.items).toBe(100);
});

test.each([
  ["a whole memory", (one) => one],
  ["a scope, which can't list holds,", (one) => one.scoped({ place: ["all"] })],
])("%s with many namespaces is judged in portions, whatever is held", async (_, within) => {
  // So many in the long run that a call with an argument for each would fail.
  const count = times(150_000);
  const users = Array.from({ length: count }, (_, i) => `u${i}`);
  await memory.store.batch(
    users.map((user) => ({ namespace: ["all", user, "n"], key: "k", value: {} })),
  );
  await memory.hold(["all", "u7"], "case 7");
  await memory.hold(["all", "u1999", "n"], "case 8");
  let turns = 0;
  const timer = setInterval(() => turns++);
  const report = await within(memory).evict({ ...all, maxItems: 2, dryRun: true });
  clearInterval(timer);
  expect(report.kept).toMatchObject({ items: 2, held: 2 });
  expect(report.evicted).toHaveLength(count - 2);
  expect(turns).toBeGreaterThan(count / 2_000);
  // Where a turn takes a millisecond or four, one for each namespace would be what takes longest.
  expect(turns).toBeLessThan(count / 2);
});

test("others get their turn while it works", async () => {
  await memory.store.batch(
    Array.from({ length: 600 }, (_, i) => ({ namespace: ["n"], key: `k${i}`, value: {} })),
  );
  let turns = 0;
  const timer = setInterval(() => turns++);
  await memory.evict({ ...all, maxItems: 0 });
  clearInterval(timer);
  expect(turns).toBeGreaterThan(2);
});
