// What the app of every bundler does: it remembers how often it was visited.

import { InMemoryStore, openMemory } from "keepsake";

async function visit(options) {
  const memory = await openMemory({ name: "app", ...options });
  const visits = ((await memory.store.get(["app"], "visits"))?.value.count ?? 0) + 1;
  await memory.store.put(["app"], "visits", { count: visits });
  await memory.close();
  return { visits, persistence: memory.persistence };
}

/** Until the page is left. */
async function keepOpen() {
  globalThis.memory = await openMemory({ name: "app" });
}

async function useMemoryOnly() {
  const store = new InMemoryStore();
  await store.put(["a"], "k", { n: 1 });
  const { value } = await store.get(["a"], "k");
  await store.close();
  return value;
}

globalThis.visit = visit;
globalThis.keepOpen = keepOpen;
globalThis.useMemoryOnly = useMemoryOnly;
