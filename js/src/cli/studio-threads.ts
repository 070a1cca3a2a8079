// Threads as LangGraph's embedded server asks for them: what a checkpointer has, and a note
// with metadata beside each.

import type { Memory } from "../memory.js";
import type { SearchItem } from "../store/store-operations.js";

/** Where the notes are. @internal */
export const NOTES = ["studio", "threads"];
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const ALL = 0xffff_ffff;

type Metadata = Record<string, unknown>;

/** @internal */
export interface Thread {
  thread_id: string;
  metadata: Metadata;
  created_at: string;
  updated_at: string;
  status: "idle";
  values?: unknown;
}

interface SearchOptions {
  metadata?: Metadata;
  limit: number;
  offset: number;
  sortBy: "created_at" | "updated_at";
  sortOrder: "asc" | "desc";
}

/** `ThreadSaver` of `@langchain/langgraph-api/experimental/embed`. @internal */
export class StudioThreads {
  readonly #memory: Memory;
  readonly #graphId: string;
  readonly #valuesOf: (threadId: string) => Promise<unknown>;

  /** A thread that no client made belongs to this graph, too. */
  constructor(memory: Memory, graphId: string, valuesOf: (threadId: string) => Promise<unknown>) {
    this.#memory = memory;
    this.#graphId = graphId;
    this.#valuesOf = valuesOf;
  }

  async get(id: string): Promise<Thread> {
    const note = await this.#memory.store.get(NOTES, id, { refreshTtl: false });
    const now = new Date().toISOString();
    return this.#thread(id, note?.value, now, now);
  }

  async set(id: string, options: { kind: "put" | "patch"; metadata?: Metadata }): Promise<Thread> {
    const { metadata: known, created_at } = await this.get(id);
    const metadata = { ...(options.kind === "patch" ? known : {}), ...options.metadata };
    const now = new Date().toISOString();
    const note = { metadata, created_at, updated_at: now };
    await this.#memory.store.put(NOTES, id, note, false);
    return this.#thread(id, note, created_at, now);
  }

  async delete(id: string): Promise<void> {
    await this.#memory.checkpointer.deleteThread(id);
    await this.#memory.store.delete(NOTES, id);
  }

  async *search(options: SearchOptions): AsyncGenerator<{ thread: Thread; total: number }> {
    const { metadata = {}, limit, offset, sortBy, sortOrder } = options;
    const wanted = Object.entries(metadata);
    const threads = (await this.#all()).filter((thread) =>
      wanted.every(([name, value]) => thread.metadata[name] === value),
    );
    const sign = sortOrder === "asc" ? 1 : -1;
    threads.sort((a, b) => sign * a[sortBy].localeCompare(b[sortBy]));
    for (const thread of threads.slice(offset, offset + limit)) {
      const values = await this.#valuesOf(thread.thread_id);
      yield { thread: { ...thread, values }, total: threads.length };
    }
  }

  /** Threads whose ids the server refuses. */
  async unreachable(): Promise<string[]> {
    const ids = [];
    for await (const { threadId } of this.#memory.checkpointer.listThreads()) {
      if (!UUID.test(threadId)) ids.push(threadId);
    }
    return ids;
  }

  // Those of the checkpointer, and those that have no checkpoint yet.
  async #all(): Promise<Thread[]> {
    const { store, checkpointer } = this.#memory;
    const notes: SearchItem[] = await store.search(NOTES, { limit: ALL, refreshTtl: false });
    const byId = new Map(notes.map(({ key, value }) => [key, value]));
    const threads = new Map<string, Thread>();
    for await (const { threadId, lastActivity, metadata } of checkpointer.listThreads()) {
      if (!UUID.test(threadId)) continue;
      const used = (lastActivity ?? new Date(0)).toISOString();
      const note = byId.get(threadId);
      const { source, step, parents, ...ofRun } = metadata ?? {};
      const whole = { ...note, metadata: { ...ofRun, ...(note?.metadata as Metadata) } };
      threads.set(threadId, this.#thread(threadId, whole, used, used));
    }
    for (const [id, note] of byId) {
      if (!threads.has(id)) threads.set(id, this.#thread(id, note, "", ""));
    }
    return [...threads.values()];
  }

  #thread(thread_id: string, note: Metadata = {}, created: string, updated: string): Thread {
    const metadata = { graph_id: this.#graphId, ...(note.metadata as Metadata | undefined) };
    const created_at = (note.created_at as string | undefined) ?? created;
    const noted = (note.updated_at as string | undefined) ?? "";
    const updated_at = updated > noted ? updated : noted;
    return { thread_id, metadata, created_at, updated_at, status: "idle" };
  }
}
