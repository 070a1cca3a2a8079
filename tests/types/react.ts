// What the hooks of `keepsake/react` follow is a memory or a part of one, and no store.

import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { useStream } from "@langchain/react";
import { createAgent, fakeModel } from "langchain";
import type { JSX } from "react";
import type {
  Memory,
  ScopedMemory,
  SearchItem,
  SqliteStore,
  ThreadSummary,
} from "../../js/src/index.js";
import type { KeepsakeInspector } from "../../js/src/inspector.js";
import {
  type Answer,
  graphTransport,
  useMemories,
  useMemorySearch,
  useThreads,
} from "../../js/src/react.js";

export function shown(memory: Memory, scope: ScopedMemory, store: SqliteStore) {
  const items: Answer<SearchItem[]> = useMemories(memory, ["notes"], { filter: { kind: "fact" } });
  const hits: Answer<SearchItem[]> = useMemorySearch(scope, [], {
    query: "tea",
    ranking: { minScore: 0.1 },
  });
  const threads: Answer<ThreadSummary[]> = useThreads(undefined, { limit: 3, filter: { a: 1 } });
  const title: unknown = threads.data?.[0]?.metadata?.title;
  useThreads(memory, { cursor: threads.data?.at(-1) });
  // @ts-expect-error a store tells nobody of changes
  useMemories(store, []);
  // @ts-expect-error a list has no query
  useMemories(memory, [], { query: "tea" });
  return { items, hits, threads, title };
}

export function inspected(memory: Memory, scope: ScopedMemory, inspector: KeepsakeInspector) {
  inspector.memory = memory;
  inspector.memory = undefined;
  document.createElement("keepsake-inspector").memory = memory;
  // @ts-expect-error a scope has no statistics to be shown
  inspector.memory = scope;
}

type InspectorInJsx = JSX.IntrinsicElements["keepsake-inspector"];

export function inJsx(memory: Memory, scope: ScopedMemory): InspectorInJsx[] {
  // @ts-expect-error a scope has no statistics to be shown
  const refused: InspectorInJsx = { memory: scope };
  return [{ memory, scopes: [scope], threadTitle: (id) => `Thread ${id}` }, refused];
}

export function streamed(threadId: string | null) {
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("answer", async () => ({ messages: [] }))
    .addEdge(START, "answer")
    .compile();
  const transport = graphTransport(graph, { threadId, configurable: { user_id: "ada" } });
  graphTransport(createAgent({ model: fakeModel(), tools: [] }), { threadId });
  // @ts-expect-error a graph has to be compiled
  graphTransport(new StateGraph(MessagesAnnotation));
  return useStream<typeof MessagesAnnotation.State>({ transport, threadId });
}
