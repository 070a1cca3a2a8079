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
const KEYS = ["1", "2", "user/a/t"];
const TEXTS = ["green tea", "black tea, please", "a walk in Paris", "Paris in May 2023"];
const MODES = ["text", "contains", "hybrid", "auto"];
const THREADS = ["t", "user/a/t", "ab"];

// mulberry32: small, and the same everywhere.
function randomFrom(seed) {
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
  const config = { configurable: { thread_id: of(THREADS), checkpoint_ns: "" } };
  const calls = [
    (m, ns = namespace(), key = of(KEYS), text = of(TEXTS)) => m.store.put(ns, key, { text }),
    (m, ns = namespace(), key = of(KEYS)) => m.store.get(ns, key),
    (m, ns = namespace(), key = of(KEYS)) => m.store.delete(ns, key),
    (m, ns = namespace()) => m.store.search(ns.slice(1), { limit: 5 }),
    (m, ns = namespace(), query = of(TEXTS), mode = of(MODES)) =>
      m.store.search(ns.slice(1), { query, mode }),
    (m, suffix = namespace()) => m.store.listNamespaces({ suffix }),
    (m, prefix = namespace()) => m.store.listNamespaces({ prefix, maxDepth: 1 }),
    (m, ns = namespace()) => m.store.clearNamespace(ns),
    (m, ns = namespace()) => m.store.listKeys(ns),
    (m, ns = namespace(), key = of(KEYS)) => m.store.whyNot(ns, key, { query: "tea" }),
    (m, id = `1ef4f797-8335-6428-800${random(9)}-8a1503f9b875`) =>
      m.checkpointer.put(
        config,
        checkpoint(id),
        { source: "loop", step: 1, parents: {} },
        { n: 1 },
      ),
    (m) => m.checkpointer.getTuple(config),
    (m) => listed(m.checkpointer.list({ configurable: {} }, { limit: 4 })),
    async (m) =>
      (await listed(m.checkpointer.listThreads())).map((one) => [one.threadId, one.checkpointId]),
    (m) => m.checkpointer.deleteThread(config.configurable.thread_id),
    (m, target = of(THREADS)) => m.checkpointer.copyThread(config.configurable.thread_id, target),
  ];
  return of([...calls, calls[0], calls[0], calls[10]]);
}

const told = async (call) => {
  try {
    return JSON.stringify((await call()) ?? null);
  } catch (error) {
    return String(error.code);
  }
};

/**
 * How an answer of a scope differs from that of a memory of its own, or "". `openOwn` opens
 * one; both have the same clock.
 */
export async function differenceOf(memory, openOwn, { seed, calls }) {
  const random = randomFrom(seed);
  const pairs = [];
  for (const scope of SCOPES) pairs.push([memory.scoped(scope), await openOwn()]);
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
