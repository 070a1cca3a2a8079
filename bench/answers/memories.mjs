// What a reader is given of a conversation: the same number of tokens, chosen in different ways.

import { InMemoryStore } from "keepsake";
import { staticEmbedder } from "keepsake/embed";
import { Fts5, PlainBm25 } from "../plain.mjs";

const NAMESPACE = ["talk"];
const FIELDS = ["text", "caption", "content"];
// No line is shorter than this.
const LEAST_TOKENS = 8;

/**
 * By their names. `open(talk, { index })` answers what ranks the items of a talk: `search(question,
 * limit)` → keys, the best first. `isWhole` is not held to the budget.
 */
export const MEMORIES = {
  keepsake: {
    title: "Keepsake, no option set",
    open: (talk) => filled(talk, {}),
  },
  hybrid: {
    title: "Keepsake, `english()`",
    open: async (talk) => filled(talk, { index: { ...(await english()), fields: FIELDS } }),
  },
  bm25: {
    title: "plain BM25",
    open: (talk) => filledWith(new PlainBm25(), talk),
  },
  fts5: {
    title: "FTS5",
    open: (talk) => filledWith(new Fts5(), talk),
  },
  vectors: {
    title: "vectors alone",
    open: async (talk, { index }) =>
      filled(talk, { index: { ...(await index()), fields: FIELDS }, ranking: { mode: "vector" } }),
  },
  oracle: {
    title: "the evidence (oracle)",
    open: async () => ({ search: async ({ evidence }) => evidence }),
  },
  full: {
    title: "the whole conversation",
    isWhole: true,
    open: async ({ items }) => {
      const keys = items.map(({ key }) => key);
      return { search: async () => keys };
    },
  },
  nothing: {
    title: "nothing",
    open: async () => ({ search: async () => [] }),
  },
};

/** What `english()` of packages/english answers; `npm run build` makes its table. */
export async function english() {
  const { bytes } = await import("../../packages/english/dist/table.js");
  const embeddings = staticEmbedder(bytes());
  return { dims: embeddings.dims, embeddings };
}

async function filled({ items, at }, options) {
  const now = at === undefined ? {} : { now: () => at };
  const store = new InMemoryStore({ ...options, ...now });
  await store.batch(items.map(({ key, value }) => ({ namespace: NAMESPACE, key, value })));
  if (options.index !== undefined) await store.reembed();
  return {
    search: async ({ text }, limit) =>
      (await store.search(NAMESPACE, { query: text, limit })).map(({ key }) => key),
    close: () => store.close(),
  };
}

async function filledWith(finder, { items }) {
  await finder.add(items);
  return {
    search: ({ text }, limit) => finder.search(text, limit),
    close: async () => finder.close?.(),
  };
}

/** Tokens of a text, as far as that can be told without its model: a quarter of its bytes. */
export const tokensOf = (text) => Math.ceil(Buffer.byteLength(text) / 4);

/** How many hits may fit, so that a search need not rank all. */
export const mostHits = (budget) => Math.ceil(budget / LEAST_TOKENS);

/**
 * The lines of the best items that fit, in the order in which they were said; one that is too long
 * does not stand in the way of the next. With them their keys, and the tokens of all.
 */
export function packed({ items }, ranked, budget) {
  const places = new Map(items.map(({ key }, place) => [key, place]));
  const chosen = new Set();
  let bytes = 0;
  for (const key of ranked) {
    const place = places.get(key);
    if (chosen.has(place)) continue;
    const more = Buffer.byteLength(items[place].line) + 1;
    if (Math.ceil((bytes + more) / 4) > budget) continue;
    bytes += more;
    chosen.add(place);
  }
  const notes = [...chosen].sort((a, b) => a - b).map((place) => items[place]);
  const lines = notes.map(({ line }) => line);
  return { keys: notes.map(({ key }) => key), lines, tokens: tokensOf(lines.join("\n")) };
}
