// A small memory with something of each kind, and what it must answer. The files in
// tests/golden/files were filled so by the version whose name they bear: a later version asks the
// same of them. A question is never changed once a released file has its answer; a new kind of
// content gets questions of its own.

import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";

export const KEY = new Uint8Array(32).fill(7);
const BEGIN = Date.UTC(2026, 10, 1);
const YEAR = 60 * 24 * 365;

const TOPICS = [/tea|drink/, /lives|city/, /dog|animal/];
// What an embedding model answers: a number for each topic, and one that no two texts share.
const vectorOf = (text) => [
  ...TOPICS.map((topic) => Number(topic.test(text))),
  0.1 + text.length / 100,
];

/** Of `openMemory()`, with a clock that stands where `at` days after the beginning is. */
export function goldenOptions(at = 0) {
  const clock = { now: BEGIN + at * 86_400_000 };
  const embeddings = {
    model: "topics",
    embedDocuments: async (texts) => texts.map(vectorOf),
    embedQuery: async (text) => vectorOf(text),
  };
  const options = {
    now: () => clock.now,
    actor: "golden",
    index: { dims: 4, embeddings, fields: ["text"] },
  };
  return { clock, options };
}

const FACTS = ["user", "ada", "facts"];
const idOf = (number) => `1f0b0000-0000-6000-8000-${String(number).padStart(12, "0")}`;
const configOf = (thread_id, checkpoint_id, checkpoint_ns = "") => ({
  configurable: { thread_id, checkpoint_ns, ...(checkpoint_id && { checkpoint_id }) },
});

function checkpointOf(number, channel_values, version = number) {
  const names = Object.keys(channel_values);
  return {
    ...emptyCheckpoint(),
    id: idOf(number),
    ts: new Date(BEGIN + number * 1000).toISOString(),
    channel_values,
    channel_versions: Object.fromEntries(names.map((name) => [name, version])),
  };
}

async function putCheckpoint(saver, config, number, values, metadata = {}) {
  const checkpoint = checkpointOf(number, values);
  const told = { source: "loop", step: number, parents: {}, ...metadata };
  return saver.put(config, checkpoint, told, checkpoint.channel_versions);
}

/** Puts everything into a memory that was opened with `goldenOptions()`. */
export async function fillMemory(memory, clock) {
  const { store, checkpointer } = memory;
  const later = () => {
    clock.now += 60_000;
  };
  await memory.keepAudit({ maxEntries: 50 });
  await store.keepHistory(["user"], { maxVersions: 10 });

  await store.put(["notes"], "long", { text: "gone in ten years" }, undefined, { ttl: 10 * YEAR });
  // Values as they are given, under odd names.
  await store.put(["values"], "numbers", { small: -0.5, large: 1e300, whole: 9007199254740991 });
  await store.put(["values"], "texts", { text: "Zürich, 東京, 🙂, \ud800, \u0000, \u2028" });
  await store.put(["values"], "nested", { list: [1, [2, { three: null }], true], none: {} });
  await store.put(["values"], "bytes", { data: new Uint8Array([0, 1, 254, 255]) });
  await store.put(["values", "odd 'label' %_"], 'a/b "c" 😀', { text: "an odd name" });
  await store.put(["notes"], "plain", { text: "a note that is not embedded" }, false);
  await store.put(["notes"], "title", { title: "An animal", text: "hidden" }, ["title"]);
  await store.put(["notes"], "short", { text: "gone in an hour" }, undefined, { ttl: 60 });
  await store.put(["notes"], "deleted", { text: "never seen again" });
  await store.delete(["notes"], "deleted");

  // Facts that hold for a while, with their origins.
  later();
  await store.put(FACTS, "drink", { text: "Ada drinks green tea", rank: 1 }, undefined, {
    origin: "user",
  });
  await store.put(FACTS, "bern", { text: "Ada lives in Bern", rank: 2 }, undefined, {
    validFrom: "2019-04-01",
  });
  await store.put(FACTS, "basel", { text: "Ada lives in Basel", rank: 3 }, undefined, {
    validFrom: "2025-09-01",
    supersedes: "bern",
    origin: "web",
    source: "https://example.com/ada",
  });
  await store.put(FACTS, "pet", { text: "Her dog is called Max", rank: 4 });
  later();
  await store.put(FACTS, "drink", { text: "Ada drinks oolong tea", rank: 1 }, undefined, {
    origin: "user",
  });
  later();
  await store.put(FACTS, "drink", { text: "Ada drinks coffee", rank: 1 });
  later();
  const [newest] = await store.history(FACTS, "drink");
  await store.undo(newest.operation);

  // Scopes, one with a policy; what a tool says is in quarantine.
  const policy = { maxValueBytes: 100, origins: { tool: "quarantine" } };
  const bob = memory.scoped({ user: "bob@example.com", policy });
  await bob.store.put(["facts"], "tool", { text: "from a tool" }, undefined, { origin: "tool" });
  await bob.store.put(["facts"], "own", { text: "Bob has an animal" });
  await bob.store.put(["facts"], "large", { text: "x".repeat(100) }).catch(() => {});
  await memory
    .scoped({ user: "carol" })
    .store.put(["notes"], "secret", { text: "to be forgotten" });
  await memory.scoped({ user: "carol" }).forget();
  await memory.hold(["user", "ada"], "case 7");

  // Threads: a history that grows, a fork, a subgraph, pending writes, a thread of a user.
  const said = [new HumanMessage({ id: "h1", content: "Which tea?" })];
  let config = configOf("talk");
  for (let step = 1; step <= 4; step++) {
    const values = { messages: [...said], count: step, data: new Uint8Array([step]) };
    config = await putCheckpoint(
      checkpointer,
      config,
      step,
      values,
      step === 4 ? { title: "Tea" } : {},
    );
    said.push(new AIMessage({ id: `a${step}`, content: `Oolong, of step ${step}.` }));
  }
  await putCheckpoint(checkpointer, configOf("talk", idOf(2)), 5, {
    messages: said.slice(0, 1),
    count: 20,
  });
  const writes = [
    ["messages", new HumanMessage({ id: "h2", content: "pending" })],
    ["count", 5],
  ];
  await checkpointer.putWrites(configOf("talk", idOf(4)), writes, "task-1");
  await checkpointer.putWrites(
    configOf("talk", idOf(4)),
    [["__interrupt__", { value: "May I?" }]],
    "task-2",
  );
  await putCheckpoint(checkpointer, configOf("talk", undefined, "child:1"), 6, {
    inner: { a: [1] },
  });
  await checkpointer.copyThread("talk", "copy");
  await putCheckpoint(checkpointer, configOf("gone"), 7, { count: 7 });
  await checkpointer.deleteThread("gone");
  const forAll = memory.checkpointerFor("user");
  const hers = { configurable: { thread_id: "hers", checkpoint_ns: "", user_id: "ada" } };
  await putCheckpoint(forAll, hers, 8, { count: 8 });

  await memory.cache.set([
    { key: [["forecast"], "porto"], value: { weather: "sunny" } },
    { key: [["forecast"], "short"], value: "gone", ttl: 600 },
  ]);

  // Indexes of words, of a field and of vectors are kept, too.
  await store.search(FACTS, { query: "tea", ranking: { mode: "text" } });
  await store.search(FACTS, { filter: { rank: { $gte: 2 } } });
  await store.buildIndex();
}

/** Something small that another process left behind without closing. */
export async function leaveBehind(memory) {
  for (let i = 0; i < 5; i++) await memory.store.put(["left"], `${i}`, { text: `note ${i}` });
  await putCheckpoint(memory.checkpointer, configOf("left"), 1, { count: 1 });
}

// ---- what it must answer, by name; as JSON has it

const namesOf = (items) => items.map(({ namespace, key }) => [...namespace, key].join("/"));
const keysOf = (items) => items.map(({ key }) => key);
const itemsOf = (items) => items.map(({ score, ...item }) => item);
const valuesOf = ({ messages, ...values } = {}) => ({
  ...values,
  ...(messages && { messages: messages.map(messageOf) }),
});
const messageOf = (value) =>
  typeof value?.getType === "function" ? [value.getType(), value.id, value.content] : value;
const tupleOf = ({ config, checkpoint, metadata, parentConfig, pendingWrites }) => ({
  config: config.configurable,
  parent: parentConfig?.configurable,
  ts: checkpoint.ts,
  values: valuesOf(checkpoint.channel_values),
  versions: checkpoint.channel_versions,
  metadata,
  writes: pendingWrites?.map(([task, channel, value]) => [task, channel, messageOf(value)]),
});

async function all(iterable, of) {
  const found = [];
  for await (const one of iterable) found.push(of(one));
  return found;
}

/** What reads alone, of a memory that `fillMemory()` filled, a day later. */
export const QUESTIONS = {
  items: async ({ store }) =>
    itemsOf(await store.search([], { limit: 100, validAt: "anytime", includeQuarantined: true })),
  "one item": ({ store }) => store.get(FACTS, "drink"),
  "an item that expired": ({ store }) => store.get(["notes"], "short"),
  namespaces: ({ store }) => store.listNamespaces({}),
  "by words": async ({ store }) =>
    namesOf(await store.search([], { query: "dogs", ranking: { mode: "text" } })),
  "by a substring": async ({ store }) =>
    namesOf(await store.search([], { query: "in Bas", ranking: { mode: "contains" } })),
  "by meaning": async ({ store }) => {
    const hits = await store.search([], { query: "animal", limit: 3, ranking: { mode: "vector" } });
    return hits.map(({ key, score }) => [key, Number(score?.toFixed(4))]);
  },
  "by likeness": async ({ store }) =>
    keysOf(await store.search(FACTS, { near: { namespace: FACTS, key: "pet" }, limit: 1 })),
  "by a filter": async ({ store }) =>
    keysOf(await store.search(FACTS, { filter: { rank: { $gte: 2 } } })),
  "by another filter": async ({ store }) =>
    keysOf(await store.search(["values"], { filter: { small: { $lt: 0 } } })),
  "what held in 2020": async ({ store }) =>
    keysOf(await store.search(FACTS, { validAt: "2020-01-01", filter: { rank: { $in: [2, 3] } } })),
  "what a user sees": async (memory) => {
    const { store } = memory.scoped({ user: "bob@example.com" });
    return [namesOf(await store.search([])), await store.get(["facts"], "tool")];
  },
  history: ({ store }) => store.history(FACTS, "drink"),
  "rules of history": ({ store }) => store.historyRules(),
  "as it was": async (memory) => {
    const past = memory.asOf(new Date(BEGIN + 90_000));
    return (await past.get(FACTS, "drink"))?.value;
  },
  holds: (memory) => memory.holds(),
  "the audit log": (memory) => memory.auditLog(),
  "its rule": (memory) => memory.auditRule(),
  cache: (memory) =>
    memory.cache.get([
      [["forecast"], "porto"],
      [["forecast"], "short"],
    ]),
  threads: (memory) => all(memory.checkpointer.listThreads(), ({ bytes, ...thread }) => thread),
  "a thread": ({ checkpointer }) => all(checkpointer.list(configOf("talk")), tupleOf),
  "its copy": ({ checkpointer }) => all(checkpointer.list(configOf("copy")), tupleOf),
  "its newest checkpoint": async ({ checkpointer }) =>
    tupleOf(await checkpointer.getTuple(configOf("talk", idOf(4)))),
  "a thread of a subgraph": async ({ checkpointer }) =>
    tupleOf(await checkpointer.getTuple(configOf("talk", undefined, "child:1"))),
  "a thread that was deleted": ({ checkpointer }) => checkpointer.getTuple(configOf("gone")),
  "a thread of a user": async (memory) => {
    const config = { configurable: { thread_id: "hers", user_id: "ada" } };
    return tupleOf(await memory.checkpointerFor("user").getTuple(config));
  },
  counts: async (memory) => {
    const { store, checkpointer } = await memory.stats();
    const { items, vectors, pending } = store;
    return { items, vectors, pending, threads: checkpointer.threads };
  },
  "what is held is not forgotten": (memory) =>
    memory.forget({ namespaces: [["user", "ada"]] }).catch(({ code }) => code),
  "whether it is whole": async (memory) => (await memory.check()).isOk,
};

/** Of what `leaveBehind()` left. */
export const LEFT = {
  items: async ({ store }) => itemsOf(await store.search(["left"])),
  thread: ({ checkpointer }) => all(checkpointer.list(configOf("left")), tupleOf),
  "whether it is whole": async (memory) => (await memory.check()).isOk,
};

/** The answers to these of the questions, as JSON gives them back. */
export async function answersOf(memory, questions, names = Object.keys(questions)) {
  const answers = {};
  for (const name of names) answers[name] = await questions[name](memory);
  return JSON.parse(
    JSON.stringify(answers, (_, value) =>
      value instanceof Uint8Array ? { bytes: [...value] } : value,
    ),
  );
}

/** Calls of the command line over it, whose `--json` programs read. */
export const CALLS = [
  ["inspect"],
  ["ls"],
  ["get", "user/ada/facts", "drink"],
  ["search", "dogs"],
  ["threads"],
  ["log", "talk"],
  ["audit"],
  ["check"],
  ["prune", "--keep-last", "1"],
  ["forget", "--user", "bob@example.com"],
  ["get", "nowhere", "nothing"],
];

/** The words of a call over that file. */
export const wordsOf = ([name, ...rest], file) => [name, file, ...rest, "--json"];

/** Which names a value has, and of which kinds what they name is. */
export function shapeOf(value) {
  if (Array.isArray(value)) return value.map(shapeOf).reduce(merged, []);
  if (value === null || typeof value !== "object") return value === null ? "null" : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, shapeOf(of)]));
}

// Of the elements of a list, all of whose names are told.
function merged(list, shape) {
  if (typeof shape === "string" || Array.isArray(shape)) return [shape];
  return [{ ...list[0], ...shape }];
}
