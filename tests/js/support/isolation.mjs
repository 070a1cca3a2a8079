// Random calls within scopes of one memory, each of which a memory of its own must answer alike.

// None lies in another; some look alike.
const SCOPES = [
  { user: "a" },
  { user: "ab" },
  { user: "a/b" },
  { user: "a%2Fb" },
  { user: "a.b:c" },
  { user: "*" },
  { conversation: "a" },
  { global: true },
  { place: ["users", "a"] },
];
const LABELS = ["a", "ab", "user", "*", "%", "ü", "a/b"];
const WITH_HISTORY = "a";
const KEYS = ["1", "2", "user/a/t"];
const TEXTS = ["green tea", "black tea, please", "a walk in Paris", "Paris in May 2023"];
const MODES = ["text", "contains", "hybrid", "vector", "auto"];
const THREADS = ["t", "user/a/t", "ab"];

// No two texts of TEXTS are alike.
function vectorOf(text) {
  const vector = Array(8).fill(0.1);
  for (const letter of text) vector[letter.codePointAt(0) % 8] += 1;
  return vector;
}

const index = {
  dims: 8,
  fields: ["text"],
  embeddings: {
    embedQuery: async (text) => vectorOf(text),
    embedDocuments: async (texts) => texts.map(vectorOf),
  },
};

/** Of a memory with which a seed is played: every other one has vectors. */
export const optionsOf = (seed) => ({ now: () => 1_800_000_000_000, ...(seed % 2 && { index }) });

/** So many calls in portions of a thousand: seed and calls of each. */
export const portionsOf = (calls) =>
  Array.from({ length: Math.ceil(calls / 1000) }, (_, i) => ({
    seed: i + 1,
    calls: Math.min(1000, calls - i * 1000),
  }));

// mulberry32: small, and the same everywhere.
export function randomFrom(seed) {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % bound;
  };
}

const checkpoint = (id) => ({
  v: 4,
  id,
  ts: "2026-01-01T00:00:00.000Z",
  channel_values: { n: id },
  channel_versions: { n: 1 },
  versions_seen: {},
});

async function listed(iterable) {
  const all = [];
  for await (const one of iterable) all.push(one);
  return all;
}

function nextCall(random) {
  const of = (list) => list[random(list.length)];
  const namespace = () => Array.from({ length: 1 + random(2) }, () => of(LABELS));
  const thread = of(THREADS);
  const config = { configurable: { thread_id: thread, checkpoint_ns: "" } };
  const id = () => `1ef4f797-8335-6428-800${random(9)}-8a1503f9b875`;
  const at = (checkpoint_id = id()) => ({
    configurable: { ...config.configurable, checkpoint_id },
  });
  const calls = [
    (m, ns = namespace(), key = of(KEYS), text = of(TEXTS)) => m.store.put(ns, key, { text }),
    (m, ns = namespace(), key = of(KEYS), source = of(TEXTS)) =>
      m.store.put(ns, key, { text: source }, undefined, { origin: "web", source }),
    (m, source = of(TEXTS)) => m.revoke({ source }).then(({ erased }) => ({ ...erased, bytes: 0 })),
    (m, ns = namespace(), key = of(KEYS)) => m.store.get(ns, key),
    (m, ns = namespace(), key = of(KEYS)) => m.store.delete(ns, key),
    (m, ns = namespace()) => m.store.search(ns.slice(1), { limit: 5 }),
    (m, ns = namespace(), query = of(TEXTS), mode = of(MODES)) =>
      m.store.search(ns.slice(1), { query, ranking: { mode } }),
    (m, ns = namespace(), near = { namespace: namespace(), key: of(KEYS) }) =>
      m.store.search(ns.slice(1), { near }),
    (m, ns = namespace(), text = of(TEXTS)) =>
      m.store.search(ns.slice(1), { filter: { text: { $ne: text } }, limit: 20 }),
    (m, prefix = ["*", ...namespace()]) => m.store.listNamespaces({ prefix }),
    (m, ns = namespace(), keys = [of(KEYS), of(KEYS)]) =>
      m.store.batch([
        { namespace: ns, key: keys[0], value: { text: "a batch of tea" } },
        { namespace: ns, key: keys[1] },
        { namespacePrefix: ns.slice(1), limit: 3 },
        { matchConditions: undefined, limit: 5, offset: 0 },
      ]),
    (m, namespaces = [namespace()]) =>
      m.forget({ namespaces }).then(({ erased }) => ({ ...erased, bytes: 0 })),
    (m, ns = namespace(), key = of(KEYS)) =>
      m.store.history(ns, key).then((all) => all.map(({ change, value }) => [change, value])),
    (m, ns = namespace(), key = of(KEYS), time = random(2)) =>
      m.asOf(1_800_000_000_000 - time).get(ns, key),
    (m, suffix = namespace()) => m.store.listNamespaces({ suffix }),
    (m, prefix = namespace()) => m.store.listNamespaces({ prefix, maxDepth: 1 }),
    (m, ns = namespace()) => m.store.clearNamespace(ns),
    (m, ns = namespace()) => m.store.listKeys(ns),
    (m, ns = namespace(), key = of(KEYS)) => m.store.whyNot(ns, key, { query: "tea" }),
    (m, checkpointId = id()) =>
      m.checkpointer.put(
        config,
        checkpoint(checkpointId),
        { source: "loop", step: 1, parents: {} },
        { n: 1 },
      ),
    (m) => m.checkpointer.getTuple(config),
    (m) => listed(m.checkpointer.list({ configurable: {} }, { limit: 4 })),
    async (m) =>
      (await listed(m.checkpointer.listThreads())).map((one) => [one.threadId, one.checkpointId]),
    (m) => m.checkpointer.deleteThread(thread),
    (m, target = of(THREADS)) => m.checkpointer.copyThread(thread, target),
    (m, target = of(THREADS)) => m.checkpointer.renameThread(thread, target),
    (m, task = of(KEYS)) => m.checkpointer.putWrites(at(), [["n", task]], task),
    (m) => m.checkpointer.getTuple(at()),
    (m, before = at(), after = at()) => m.checkpointer.diff(before, after),
    (m, keepLast = 1 + random(3)) =>
      m.checkpointer.prune({ keepLast }).then(({ checkpoints }) => checkpoints),
    (m, threads = [thread]) =>
      m.forget({ threads }).then(({ erased }) => ({ ...erased, bytes: 0 })),
  ];
  const [put] = calls;
  const save = calls.find((call) => String(call).includes("checkpointer.put("));
  return of([...calls, put, put, put, save, save, save]);
}

const told = async (call) => {
  try {
    return JSON.stringify((await call()) ?? null);
  } catch (error) {
    return String(error.code);
  }
};

/**
 * How an answer of a scope differs from that of a memory of its own, or "". Both are opened with
 * optionsOf(seed).
 */
export async function differenceOf(memory, openMemory, { seed, calls }) {
  const openOwn = () => openMemory({ path: ":memory:", ...optionsOf(seed) });
  const random = randomFrom(seed);
  const pairs = [];
  for (const scope of SCOPES) {
    const [scoped, own] = [memory.scoped(scope), await openOwn()];
    await memory.store.keepHistory([...scoped.place, WITH_HISTORY]);
    await own.store.keepHistory([WITH_HISTORY]);
    pairs.push([scoped, own]);
  }
  try {
    for (let i = 0; i < calls; ++i) {
      const which = random(pairs.length);
      const state = seed * 1_000_003 + i;
      const answers = [];
      for (const one of pairs[which])
        answers.push(await told(() => nextCall(randomFrom(state))(one)));
      if (answers[0] !== answers[1]) {
        return `scope ${which}, call ${i}: ${answers[0]} instead of ${answers[1]}`;
      }
    }
    return "";
  } finally {
    for (const [, own] of pairs) await own.close();
  }
}
