// Helpers for what LangGraph itself hides or needs.

import type { RunnableConfig } from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { readInput, show } from "./checks.js";
import { invalid } from "./errors.js";

/**
 * The store that was given to `compile({ store })`. Inside a graph,
 * `config.store`, `runtime.store` and `getStore()` are LangGraph's wrapper, which
 * drops `index`, `ttl` and every further option and has no `listNamespaces` and
 * `batch`:
 *
 *     const store = unwrapStore<SqliteStore>(config.store);
 *     await store.put(["users", id], "note", { text }, false, { ttl: 60 });
 *
 * A store that is not wrapped is returned as it is, and nothing as undefined. It takes the
 * `store` of a node's config, of a `Runtime` and of a tool's `ToolRuntime`, which is typed as
 * another class.
 */
export function unwrapStore<S extends BaseStore = BaseStore>(store: object): S;
export function unwrapStore<S extends BaseStore = BaseStore>(
  store: object | null | undefined,
): S | undefined;
export function unwrapStore<S extends BaseStore = BaseStore>(
  store: object | null | undefined,
): S | undefined {
  if (store === null || store === undefined) return undefined;
  const wrapper = store as { lg_name?: string; store?: BaseStore };
  return readInput("a store", () => {
    const isWrapped = wrapper.lg_name === "AsyncBatchedStore" && wrapper.store !== undefined;
    return (isWrapped ? wrapper.store : store) as S;
  });
}

/**
 * Runs `body` as part of the node, tool or task that was given `config`: inside
 * it, `interrupt()`, `getStore()`, `getWriter()` and `task()` find their graph.
 * Needed after an `await` where AsyncLocalStorage is missing; harmless elsewhere.
 *
 *     const draft = await model.invoke(state.messages, config);
 *     const answer = withContext(config, () => interrupt(draft.content));
 */
export function withContext<T>(config: RunnableConfig, body: () => T): T {
  if (typeof body !== "function" || typeof config !== "object" || config === null) {
    throw invalid(
      `withContext takes the config of a node and a function, withContext(config, () => …): ${show(typeof body === "function" ? config : body)}`,
    );
  }
  return AsyncLocalStorageProviderSingleton.runWithConfig(config, body);
}

/**
 * Makes `interrupt()`, `getStore()`, `getWriter()` and `task()` work where the
 * runtime has no AsyncLocalStorage (browsers, LangGraph's `/web` entry): up to
 * the first `await` of a node, tool or task, and after it in `withContext()`.
 * Beyond that the context is absent, never that of another node: nodes that run
 * at the same time can't take each other's interrupts. Call it once before the
 * first graph runs. Returns false, and changes nothing, if a storage is installed
 * already.
 */
export function installInterruptShim(): boolean {
  const shim = new SynchronousContext();
  AsyncLocalStorageProviderSingleton.initializeGlobalInstance(shim);
  return AsyncLocalStorageProviderSingleton.getInstance() === shim;
}

// What AsyncLocalStorage does, for as long as a call has not returned. A promise
// is not followed: without help from the engine, whose turn it is can't be known
// once two of them are pending.
class SynchronousContext {
  #current: unknown;
  #depth = 0;

  getStore(): unknown {
    return this.#current;
  }

  run<T>(context: unknown, body: () => T): T {
    const outer = this.#current;
    this.#current = context;
    this.#depth++;
    try {
      return body();
    } finally {
      this.#current = outer;
      this.#depth--;
    }
  }

  // Lasts until the enclosing run() returns, or else to the end of this turn.
  enterWith(context: unknown): void {
    if (this.#depth === 0)
      queueMicrotask(() => {
        this.#current = undefined;
      });
    this.#current = context;
  }
}
