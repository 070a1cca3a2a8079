// A memory with something of everything, and what it answers: equal where it has
// travelled. For Node and for Workers.

/** Vectors that tell words apart. */
export const embeddings = {
  embedDocuments: async (texts) => texts.map(vectorOf),
  embedQuery: async (text) => vectorOf(text),
};

export const options = { index: { dims: 16, embeddings, fields: ["text"] } };

function vectorOf(text) {
  const vector = new Array(16).fill(0.01);
  for (const word of text.toLowerCase().split(/\W+/)) {
    let hash = 7;
    for (const letter of word) hash = (hash * 31 + letter.codePointAt(0)) % 997;
    vector[hash % 16] += 1;
  }
  return vector;
}

const WORDS = ["tea", "coffee", "bicycle", "mountain", "river", "violin", "garden", "snow"];

/** `items` of about `size` bytes, and a few threads of `turns`. */
export async function fill({ store, checkpointer }, { items = 40, size = 100, turns = 6 } = {}) {
  const padding = "x".repeat(size);
  for (let from = 0; from < items; from += 50) {
    const puts = [];
    for (let i = from; i < Math.min(items, from + 50); i++) {
      const text = `${WORDS[i % 8]} and ${WORDS[(i * 3 + 1) % 8]} number ${i}`;
      puts.push({ namespace: ["notes", `n${i % 5}`], key: `k${i}`, value: { text, padding } });
    }
    await store.batch(puts);
  }
  await store.put(["ttl"], "stays", { text: "stays" }, undefined, { ttl: 60 });
  await store.search(["notes"], { query: "tea", ranking: { mode: "text" } });
  for (let thread = 0; thread < 3; thread++) await talk(checkpointer, `thread ${thread}`, turns);
  await checkpointer.copyThread("thread 0", "copy of 0");
}

export async function talk(checkpointer, thread_id, turns, from = 0) {
  let config = { configurable: { thread_id, checkpoint_ns: "" } };
  if (from > 0) config = (await checkpointer.getTuple(config)).config;
  const messages = [];
  for (let turn = 0; turn < from + turns; turn++) {
    messages.push(`turn ${turn} of ${thread_id}: ${"words and more words ".repeat(20)}`);
    if (turn < from) continue;
    const checkpoint = {
      v: 4,
      id: `1ef4f797-8335-6428-8001-${String(turn).padStart(12, "0")}`,
      ts: "2026-01-01T00:00:00.000Z",
      channel_values: { messages: [...messages], counter: turn },
      channel_versions: { messages: turn + 1, counter: turn + 1 },
      versions_seen: {},
    };
    const metadata = { source: "loop", step: turn, parents: {} };
    config = await checkpointer.put(config, checkpoint, metadata, {
      messages: turn + 1,
      counter: turn + 1,
    });
    await checkpointer.putWrites(config, [["messages", `pending ${turn}`]], `task-${turn}`);
  }
}

/** Everything that can be asked of it. */
export async function describeMemory({ store, checkpointer }) {
  const items = await all(store, []);
  const near = await store.search(["notes"], { query: "tea garden", limit: 7 });
  const found = await store.search(["notes"], {
    query: "violin",
    ranking: { mode: "text" },
    limit: 7,
  });
  const tuples = [];
  for await (const tuple of checkpointer.list({ configurable: {} })) {
    const { config, checkpoint, metadata, parentConfig, pendingWrites } = tuple;
    tuples.push({ config, checkpoint, metadata, parentConfig, pendingWrites });
  }
  return JSON.parse(
    JSON.stringify({
      items,
      near: near.map(({ key, score }) => [key, score.toFixed(6)]),
      found: found.map(({ key, score }) => [key, score.toFixed(6)]),
      tuples,
    }),
  );
}

async function all(store, namespace) {
  const items = [];
  for (let offset = 0; ; offset += 500) {
    const page = await store.search(namespace, { limit: 500, offset });
    for (const { key, value, createdAt, updatedAt, namespace: ns } of page) {
      items.push({ ns, key, text: value.text, createdAt, updatedAt });
    }
    if (page.length < 500) break;
  }
  return items.sort((a, b) => (`${a.ns} ${a.key}` < `${b.ns} ${b.key}` ? -1 : 1));
}
