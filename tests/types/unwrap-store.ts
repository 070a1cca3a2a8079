// Compiled, never run: unwrapStore() takes the store of everything that LangChain and LangGraph
// hand to a node, a tool or a middleware.

import type { ToolRuntime } from "@langchain/core/tools";
import type { LangGraphRunnableConfig, Runtime as NodeRuntime } from "@langchain/langgraph";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { Runtime } from "langchain";
import { type SqliteStore, unwrapStore } from "../../js/src/index.js";

export function inATool(runtime: ToolRuntime): SqliteStore | undefined {
  return unwrapStore<SqliteStore>(runtime.store);
}

export function inAMiddleware(runtime: Runtime): SqliteStore | undefined {
  return unwrapStore<SqliteStore>(runtime.store);
}

export function inANode(config: LangGraphRunnableConfig): BaseStore | undefined {
  return unwrapStore(config.store);
}

export function inARuntime(runtime: NodeRuntime): BaseStore | undefined {
  return unwrapStore(runtime.store);
}

export function ofAStore(store: BaseStore): SqliteStore {
  return unwrapStore<SqliteStore>(store);
}

// @ts-expect-error: what may be missing may be undefined.
export const missing = (runtime: ToolRuntime): BaseStore => unwrapStore(runtime.store);
