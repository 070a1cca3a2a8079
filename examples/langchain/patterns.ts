// Four ways to lay out a store: a profile that grows, knowledge that all share, tools of a model,
// and a cache. Each is a namespace.
//
// Needs: Node 22.18, and what README.md installs; no key.

import { openMemory } from "keepsake";
import { recallTool } from "keepsake/langchain";

// In the place of an embedding model of yours: which of three topics a text is about.
const topics = [/tea|drink/i, /refund|money/i, /rain|weather/i];
const embeddings = async (texts: string[]) =>
  texts.map((text) => [...topics.map((topic) => (topic.test(text) ? 1 : 0)), 0.1]);
const memory = await openMemory({ path: "patterns.db", index: { dims: 4, embeddings } });
const { store } = memory;

// A profile: read, merged, put back. What is not known yet stays as it was.
async function learn(user: string, facts: Record<string, unknown>) {
  const profile = (await store.get(["users", user], "profile"))?.value ?? {};
  await store.put(["users", user], "profile", { ...profile, ...facts });
}
await learn("ada", { name: "Ada", drink: "tea" });
await learn("ada", { city: "Porto", drink: "oolong tea" });
console.log("profile:", JSON.stringify((await store.get(["users", "ada"], "profile"))?.value));

// Knowledge for all: shown only if it is near enough.
await store.put(["knowledge"], "refunds", { text: "A refund takes three days." });
await store.put(["docs", "drinks"], "oolong", { text: "Oolong is a tea." });
for (const query of ["When do I get my money back?", "Who painted this?"]) {
  const hits = await store.search(["knowledge"], { query, ranking: { mode: "vector" } });
  const sure = hits.filter(({ score = 0 }) => score > 0.8);
  console.log(`${query} ${sure.map(({ value }) => value.text).join() || "nothing is known"}`);
}

// The same for a model, which asks by itself.
const recall = recallTool({ memory, namespace: ["knowledge"], ranking: { minScore: 0.1 } });
console.log((await recall.invoke({ query: "refund" })).split("\n")[2]);

// A cache: an answer lives for ten minutes, and no search by meaning finds it.
async function weatherIn(city: string) {
  const cached = await store.get(["cache", "weather"], city);
  if (cached !== null) return `${cached.value.text} (cached)`;
  const text = "It rains."; // a slow call
  await store.put(["cache", "weather"], city, { text }, false, { ttl: 10 });
  return text;
}
console.log(await weatherIn("Bergen"));
console.log(await weatherIn("Bergen"));
await memory.close();
