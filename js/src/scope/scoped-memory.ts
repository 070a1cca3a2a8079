// The part of a memory that one user, one conversation or one application may see.

import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { KeepsakeCache } from "../cache/cache.js";
import type { SqliteSaver } from "../checkpointer/checkpointer.js";
import type { Connection } from "../connection.js";
import type { ChangeListener } from "../engine/changes.js";
import { nameError, withNamedErrors } from "../errors.js";
import type { StoreOptions } from "../store/options.js";
import type { PastStore } from "../store/past-store.js";
import { SqliteStore } from "../store/store.js";
import { observersOf } from "./access.js";
import { type AuditEntry, type AuditLogOptions, auditLog } from "./audit.js";
import {
  checkReceipt,
  type ErasureCheck,
  type ErasureReceipt,
  type ForgetOptions,
  forget,
  type RevokeOptions,
  revoke,
} from "./erasure.js";
import { type EvictionReport, type EvictOptions, evict } from "./eviction.js";
import { type Moment, momentOf } from "./history.js";
import { decodeLabel } from "./labels.js";
import { refuseMisplaced } from "./misplaced.js";
import { type PlacedPolicy, placedPolicies } from "./policy.js";
import { MemoryProvider } from "./provider.js";
import { checkScope, levelOf, type ScopeName, type ScopeOptions } from "./scope.js";
import { type CheckpointerForOptions, ScopedSaver } from "./scoped-saver.js";

// As its caller knows it: errors begin with that.
const CALLED = "memory.scoped()";

/** @internal */
export interface ScopedTierOptions extends StoreOptions {
  /** Of the whole memory. */
  saver: SqliteSaver;
}

/**
 * Both tiers, seen from a scope. Namespaces and thread ids are those within it: nothing has a
 * name that lies outside. `memory.scoped()` makes one; it needs no closing.
 */
export class ScopedMemory {
  /** As it is printed, however a bundler calls the class. @internal */
  static readonly name: string = "ScopedMemory";

  readonly store: SqliteStore;
  readonly checkpointer: SqliteSaver;
  /** As `memory.cache`, of the scope alone. */
  readonly cache: KeepsakeCache;
  /** Where it lies in the memory: `["user", "ada"]`. */
  readonly place: readonly string[];
  readonly #options: ScopedTierOptions;
  readonly #connection: Connection;

  static {
    refuseMisplaced(ScopedMemory, CALLED);
  }

  /** @internal */
  constructor(options: ScopedTierOptions, connection: Connection, scope: ScopeOptions) {
    const given = checkScope("scoped", scope);
    const level = levelOf("scoped", given);
    this.place = [...(connection.levels?.place ?? []), ...level.place];
    this.#options = options;
    this.#connection = connection.within(level, observersOf(this.place.join("/"), given));
    this.store = new SqliteStore(options, this.#connection);
    for (const label of level.place) {
      this.store.secrets?.name(decodeLabel(label), "a label of the scope");
    }
    this.checkpointer = options.saver.within(this.#connection);
    this.cache = new KeepsakeCache(this.#connection, options.saver.serde, options.now ?? Date.now);
  }

  /**
   * The policies that hold here, the outermost first: its own, and those of the scopes around it.
   * Not what `policyFor()` of a Durable Object adds.
   */
  get policies(): PlacedPolicy[] {
    return placedPolicies(this.#connection.levels?.levels ?? []);
  }

  /** A scope within this one; both policies hold. */
  scoped(scope: ScopeOptions): ScopedMemory {
    try {
      return new ScopedMemory(this.#options, this.#connection, scope);
    } catch (error) {
      throw nameError(CALLED, error);
    }
  }

  /** As `memory.checkpointerFor()`, of scopes within this one. */
  checkpointerFor(scope: ScopeName, options?: CheckpointerForOptions): BaseCheckpointSaver {
    try {
      return new ScopedSaver(this.#options.saver, this.#connection, scope, options);
    } catch (error) {
      throw nameError(CALLED, error);
    }
  }

  /** The same as `store`, `recall`, `delete` and `clear_namespace` of entries. */
  provider(): MemoryProvider {
    return new MemoryProvider(this.store);
  }

  /** Forgets for good: everything in the scope, or what the options name of it. */
  async forget(options?: ForgetOptions): Promise<ErasureReceipt> {
    return withNamedErrors(CALLED, () => forget(this.#connection, options));
  }

  /** As `memory.revoke()`, of what lies in the scope. */
  async revoke(options: RevokeOptions): Promise<ErasureReceipt> {
    return withNamedErrors(CALLED, () => revoke(this.#connection, options));
  }

  /** As `memory.checkReceipt()`, of a receipt of this scope. */
  async checkReceipt(receipt: ErasureReceipt): Promise<ErasureCheck> {
    return withNamedErrors(CALLED, () => checkReceipt(this.#connection, receipt));
  }

  /** As `memory.evict()`, of everything in the scope unless the options name a part of it. */
  async evict(options: EvictOptions): Promise<EvictionReport> {
    return withNamedErrors(CALLED, () => evict(this.#connection, options, this.#options.now));
  }

  /** As `memory.auditLog()`, of what lies in the scope. */
  async auditLog(options?: AuditLogOptions): Promise<AuditEntry[]> {
    const { now = Date.now } = this.#options;
    return withNamedErrors(CALLED, () => auditLog(this.#connection, options, now()));
  }

  /** As `memory.asOf()`, of the scope. */
  asOf(moment: Moment): PastStore {
    try {
      return this.store.pastAt(momentOf(this.checkpointer, moment));
    } catch (error) {
      throw nameError(CALLED, error);
    }
  }

  /** Calls `listener` after something was written in the scope. Answers how to stop. */
  onChange(listener: ChangeListener): () => void {
    try {
      return this.#connection.onChange(listener);
    } catch (error) {
      throw nameError(CALLED, error);
    }
  }

  /** Lets go of its share of the database. */
  async close(): Promise<void> {
    await withNamedErrors(CALLED, async () => {
      const closing = [this.store.close(), this.checkpointer.close(), this.#connection.close()];
      await Promise.all(closing);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  toJSON(): string {
    return "[ScopedMemory]";
  }
}
