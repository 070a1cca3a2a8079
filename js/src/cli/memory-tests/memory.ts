// The memory that a file of tests runs against: new and in memory, or a copy of a file.

import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { KeepsakeError } from "../../errors.js";
import { type Memory, openMemory } from "../../memory.js";
import { missingFolder } from "../../node/file-error.js";
import { lockFile } from "../../node/file-lock.js";
import { isOnlyReadable } from "../../node/read-only.js";
import type { ScopeOptions } from "../../scope/scope.js";
import type { SqliteStore } from "../../store/store.js";
import { keyOfFile } from "../key.js";
import { located } from "./fields.js";
import type { ConversationFixture, Fixture, MemoryChoice, PutFixture } from "./fixture.js";

// What of a database is not in its file yet.
const BESIDE = ["", "-wal", "-journal"];
// Who has it open keeps it for longer than anybody waits for a copy.
const LOCK_TIMEOUT_MS = 1_000;

/** What of a memory is seen: all of it, or a scope's part. */
export interface Tier {
  store: SqliteStore;
  checkpointer: Memory["checkpointer"];
  /** Where it lies in the memory. */
  place: readonly string[];
}

/** A file that tests begin with: copied once, so that nothing of theirs gets into it. */
export class Original {
  readonly #folder: string | undefined;
  #copies = 0;

  private constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** Without a path each copy is a new memory. The copy is made while nobody has the file open. */
  static async of(path: string | undefined): Promise<Original> {
    if (path === undefined) return new Original(undefined);
    if (!existsSync(path)) {
      const why = missingFolder(path) ?? `there is no file ${path}`;
      throw new KeepsakeError("not_found", why);
    }
    if (statSync(path).size === 0 && !existsSync(`${path}-wal`)) {
      throw new KeepsakeError("not_a_database", `the file is empty: ${path}`);
    }
    const folder = mkdtempSync(join(tmpdir(), "keepsake-test-"));
    try {
      const lock = await lockFile(path, LOCK_TIMEOUT_MS).catch((error) => {
        if (isOnlyReadable(path, error)) return undefined;
        throw error;
      });
      try {
        copyAll(path, join(folder, "original.db"));
      } finally {
        lock?.release();
      }
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
    return new Original(folder);
  }

  /** The path of another copy; `:memory:` for a new memory. */
  copy(): string {
    if (this.#folder === undefined) return ":memory:";
    this.#copies += 1;
    const path = join(this.#folder, `copy-${this.#copies}.db`);
    copyAll(join(this.#folder, "original.db"), path);
    return path;
  }

  remove(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}

function copyAll(from: string, to: string): void {
  for (const suffix of BESIDE) {
    if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
  }
}

/** A memory with all that a file of tests puts in, at the times that it says. */
export class TestMemory {
  readonly memory: Memory;
  readonly #clock: Clock;
  readonly #tiers = new Map<string, Tier>();

  private constructor(memory: Memory, clock: Clock) {
    this.memory = memory;
    this.#clock = clock;
  }

  static async open(
    original: Original,
    fixture: Fixture,
    choice: MemoryChoice,
  ): Promise<TestMemory> {
    const path = original.copy();
    const clock = new Clock(fixture.now);
    const options = { ...choice, ...fixture.options };
    const key = path === ":memory:" ? undefined : keyOfFile();
    const memory = await openMemory({ ...options, path, now: () => clock.now(), key });
    const opened = new TestMemory(memory, clock);
    try {
      await opened.#fill(fixture);
      // Also that of a table which is loaded later.
      if (options.index !== undefined) await memory.store.reembed();
    } catch (error) {
      await memory.close();
      throw error;
    }
    return opened;
  }

  /** The whole memory, or what a scope sees of it. */
  tier(scope: ScopeOptions | undefined): Tier {
    const name = JSON.stringify(scope) ?? "";
    const tier = this.#tiers.get(name) ?? this.#makeTier(scope);
    this.#tiers.set(name, tier);
    return tier;
  }

  #makeTier(scope: ScopeOptions | undefined): Tier {
    if (scope !== undefined) return this.memory.scoped(scope);
    const { store, checkpointer } = this.memory;
    return { store, checkpointer, place: [] };
  }

  async close(): Promise<void> {
    await this.memory.close();
  }

  async #fill({ file, puts, conversations, setup }: Fixture): Promise<void> {
    for (const { from, together } of runsOf(puts)) {
      const [first] = together as [PutFixture];
      this.#clock.set(first.at);
      await this.#put(first.scope, together).catch(located(`items[${from}] of ${file}`));
    }
    for (const [i, conversation] of conversations.entries()) {
      await this.#converse(conversation).catch(located(`conversations[${i}] of ${file}`));
    }
    this.#clock.set(undefined);
    if (setup !== undefined) await setup(this.memory);
  }

  async #put(scope: ScopeOptions | undefined, puts: PutFixture[]): Promise<void> {
    const operations = puts.map(({ namespace, key, value, index, options }) => ({
      namespace,
      key,
      value,
      ...(index !== undefined && { index }),
      ...options,
    }));
    await this.tier(scope).store.batch(operations);
  }

  async #converse({ scope, namespace, thread, messages }: ConversationFixture): Promise<void> {
    const { store, checkpointer } = this.tier(scope);
    for (const [i, { role, content, at }] of messages.entries()) {
      if (namespace === undefined) break;
      this.#clock.set(at);
      const date = at === undefined ? {} : { date: new Date(at).toISOString() };
      const value = { thread_id: thread, role, content, ...date };
      await store.put(namespace, `${thread}:${i}`, value);
    }
    const said = messages.map(({ role, content }) => ({ role, content }));
    const checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(0),
      channel_values: { messages: said },
      channel_versions: { messages: 1 },
    };
    await checkpointer.put(
      { configurable: { thread_id: thread, checkpoint_ns: "" } },
      checkpoint,
      { source: "input", step: -1, parents: {} },
      { messages: 1 },
    );
  }
}

/** Of a memory: it stands where a test sets it, and else at the time of the tests. */
class Clock {
  readonly #usual: number | undefined;
  #set: number | undefined;

  constructor(usual: number | undefined) {
    this.#usual = usual;
  }

  set(at: number | undefined): void {
    this.#set = at;
  }

  now(): number {
    return this.#set ?? this.#usual ?? Date.now();
  }
}

/** Items that can be put at once, so that a model is asked for their vectors together. */
function runsOf(puts: readonly PutFixture[]): { from: number; together: PutFixture[] }[] {
  const runs: { from: number; together: PutFixture[] }[] = [];
  for (const [i, put] of puts.entries()) {
    const run = runs.at(-1);
    const before = run?.together[0];
    const isAlike =
      before?.at === put.at && JSON.stringify(before?.scope) === JSON.stringify(put.scope);
    // What it supersedes must be there, and what has its key must be older.
    const isAlone =
      put.options.supersedes !== undefined || run?.together.some(({ key }) => key === put.key);
    if (run === undefined || !isAlike || isAlone) runs.push({ from: i, together: [put] });
    else run.together.push(put);
  }
  return runs;
}
