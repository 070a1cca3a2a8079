// A page of React's over a memory whose name is in the address.

import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { openMemory } from "keepsake";
import { useMemories, useMemorySearch, useThreads } from "keepsake/react";
import { createElement as h, StrictMode } from "react";
import { createRoot } from "react-dom/client";

const name = new URL(location.href).searchParams.get("name") ?? "react";

// Texts with "slow" in them wait until they are let go.
const held = [];
const embeddings = async (texts) => {
  if (texts.some((text) => text.includes("slow")))
    await new Promise((resolve) => held.push(resolve));
  return texts.map((text) => [text.includes("tea") ? 1 : 0, 1]);
};
globalThis.letGo = () => {
  for (const go of held.splice(0)) go();
};

const memory = await openMemory({ name, index: { dims: 2, fields: ["text"], embeddings } });
globalThis.memory = memory;

// How often each namespace was asked for.
globalThis.asked = {};
const search = memory.store.search.bind(memory.store);
memory.store.search = (prefix, options) => {
  const label = prefix.join("/");
  globalThis.asked[label] = (globalThis.asked[label] ?? 0) + 1;
  return search(prefix, options);
};

const told = ({ data, error, loading }) =>
  loading ? "loading" : `${data?.join(", ") ?? "nothing"}${error ? ` (${error.code})` : ""}`;

const keysOf = (answer) => told({ ...answer, data: answer.data?.map(({ key }) => key) });

function Page({ prefix = ["notes"], query = "", filter, memory: given }) {
  const items = useMemories(given, prefix, { limit: 3, ...(filter && { filter }) });
  const hits = useMemorySearch(given, prefix, { query, ranking: { mode: "vector" } });
  const threads = useThreads(given, { limit: 5 });
  const ids = threads.data?.map(({ threadId, step }) => `${threadId}:${step}`);
  return h(
    "dl",
    {},
    h("dd", { id: "items" }, keysOf(items)),
    h("dd", { id: "hits" }, keysOf(hits)),
    h("dd", { id: "threads" }, told({ ...threads, data: ids })),
  );
}

const place = document.createElement("div");
document.body.append(place);
const root = createRoot(place);

globalThis.show = (properties) => {
  const scoped = properties.user ? memory.scoped({ user: properties.user }) : memory;
  const given = properties.isClosed ? undefined : scoped;
  root.render(h(StrictMode, {}, h(Page, { ...properties, memory: given })));
};
globalThis.leave = () => root.unmount();

globalThis.step = (thread_id, step) =>
  memory.checkpointer.put(
    { configurable: { thread_id, checkpoint_ns: "" } },
    { ...emptyCheckpoint(), id: `1ef${String(step).padStart(3, "0")}` },
    { source: "loop", step, parents: {} },
    {},
  );
globalThis.ready = true;
