// Finds by meaning, and says how long the page was held up by the table.

import { InMemoryStore } from "keepsake";
import { english } from "keepsake-english";

const ns = ["ada"];

async function findByMeaning() {
  const longest = { ms: 0 };
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest.ms = Math.max(longest.ms, now - last);
    last = now;
  });
  const store = new InMemoryStore({ index: await english() });
  await store.put(ns, "dog", { text: "Her dog is called Max" });
  await store.put(ns, "tea", { text: "She drinks green tea" });
  const query = "Has she an animal?";
  const keysOf = async () => (await store.search(ns, { query })).map(({ key }) => key);
  const before = await keysOf();
  const start = performance.now();
  while ((await store.stats()).pending > 0) await new Promise((done) => setTimeout(done, 5));
  const after = await keysOf();
  clearInterval(timer);
  await store.close();
  return { before, first: after[0], ms: performance.now() - start, longestMs: longest.ms };
}

globalThis.visit = findByMeaning;
