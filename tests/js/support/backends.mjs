// The same agent over every backend of a platform, and what the guide says of them.

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

/** What that agent finds over what `open` answers, and whether it is there when it is opened again. */
export async function tryBackend(open) {
  const storeOf = (opened) => opened.store ?? opened;
  const first = await open();
  const found = await readOver(storeOf(first));
  await first.close();
  const again = await open();
  const isKept = (await storeOf(again).get(["ada", "memories"], "tea")) !== null;
  await again.close();
  return { found, isKept };
}

/** What docs/backends.md makes one expect of a backend that it recommends. */
export function expectedByGuide(guide, backend) {
  const row = guide
    .split("\n")
    .find((line) => line.includes("|") && line.includes(`\`${backend}\``));
  return { found: ["tea"], isKept: !row.includes("nothing is kept") };
}
