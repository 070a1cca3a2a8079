// The same agent over every backend of a platform.

import { Annotation, START, StateGraph } from "@langchain/langgraph";

/** A graph whose one node reads the user's memories, wherever they are kept. */
export function readerGraph(store, checkpointer) {
  const read = async (_state, { store, configurable }) => {
    const namespace = configurable.store_namespace ?? [configurable.user_id, "memories"];
    const items = await store.search(namespace);
    return { found: items.map(({ key }) => key) };
  };
  return new StateGraph(Annotation.Root({ found: Annotation() }))
    .addNode("read", read)
    .addEdge(START, "read")
    .compile({ store, checkpointer });
}

/** What it finds over a store, after one item was put there. */
export async function readOver(store) {
  await store.put(["ada", "memories"], "tea", { likes: true });
  const { found } = await readerGraph(store).invoke({}, { configurable: { user_id: "ada" } });
  return found;
}
