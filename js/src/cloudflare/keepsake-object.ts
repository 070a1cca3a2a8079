// A Durable Object that keeps one tenant's memory, and how a Worker reaches it.

import { DurableObject } from "cloudflare:workers";
import { checkOptions, type NamesOf, show } from "../checks.js";
import { Connection } from "../connection.js";
import { type ObjectStub, ObjectTransport } from "../edge/object-transport.js";
import type { Request, Response } from "../edge/rpc.js";
import type { ObjectStorage } from "../edge/sql-host.js";
import { refuseKey } from "../engine/keys.js";
import type { LocalEngine } from "../engine/local-engine.js";
import { RemoteEngine } from "../engine/remote-engine.js";
import { detailOf, KeepsakeError, orUndefined } from "../errors.js";
import { Memory, TIER_OPTIONS, type TierOptions } from "../memory.js";
import { authorOf } from "../scope/access.js";
import { levelOf, type ScopeOptions } from "../scope/scope.js";
import { checkStoreOptions, configurationOf } from "../store/options.js";
import { requestOf } from "../wire/codec.js";
import type { StoreConfiguration } from "../wire/layout.js";
import type { OperationOf } from "../wire/operations.js";
import { Levels } from "../wire/scope.js";
import { changesIn } from "../wire/sent-request.js";
import { admit, refuseSettings } from "./admission.js";
import { durableMemory, objectEngine } from "./durable-memory.js";

interface OwnSettings {
  options: TierOptions;
  configuration: OperationOf<"configureStore"> | undefined;
}

/**
 * A Durable Object that keeps a memory. Export it from the Worker as it is, or
 * derive the agent from it, which then finds its memory beside it:
 *
 *     export { KeepsakeObject } from "keepsake/cloudflare";
 *
 *     export class Agent extends KeepsakeObject {
 *       graph = builder.compile({ checkpointer: this.memory.checkpointer, store: this.memory.store });
 *     }
 */
export class KeepsakeObject<Env = unknown> extends DurableObject<Env> {
  #memory: Memory | undefined;
  #own: OwnSettings | undefined;

  /** The memory of this object, with the options of `memoryOptions()`. */
  get memory(): Memory {
    this.#memory ??= durableMemory(this.#storage, this.#settings.options);
    return this.#memory;
  }

  /**
   * What the memory of this object has: `index`, `text` and `now` also for its callers, the rest
   * for `memory`. Override it to have any. Asked once.
   */
  protected memoryOptions(): TierOptions {
    return {};
  }

  /**
   * What a caller of `keepsake()` may see, by what it said as `caller`: a scope, with its
   * policy; undefined for the whole memory. Throw to refuse it. Override it: the object
   * decides, not its caller.
   */
  protected policyFor(
    _caller: unknown,
  ): ScopeOptions | undefined | Promise<ScopeOptions | undefined> {
    return undefined;
  }

  /** What `keepsake()` calls. @internal */
  async keepsakeExecute({ frame, settings, caller }: Request): Promise<Response> {
    try {
      const scope = await this.#scopeFor(caller);
      const engine = objectEngine(this.#storage);
      await this.#configure(engine, settings, scope);
      const { now = Date.now } = this.#settings.options;
      const within = scope && new Levels([levelOf("policyFor", scope)], authorOf(scope)?.());
      const sent = admit(frame, { within, now: now() });
      // The encoder's buffer is used again while it waits.
      const request = requestOf(sent, sent.operations.length, sent.body).slice();
      return await engine.forward(request, () => changesIn(sent));
    } catch (error) {
      const code = error instanceof KeepsakeError ? error.code : "internal";
      return { code, message: detailOf(error) };
    }
  }

  // The object's own come first, so that a caller never decides what holds for the others.
  async #configure(
    engine: LocalEngine,
    given: StoreConfiguration | undefined,
    scope: ScopeOptions | undefined,
  ): Promise<void> {
    const { configuration } = this.#settings;
    if (configuration !== undefined) await engine.ensureConfigured(configuration, Date.now());
    if (given === undefined) return;
    if (scope !== undefined) return refuseSettings(given, configuration);
    // What else it says would be an operation of its own.
    const { index, text } = given;
    await engine.ensureConfigured({ kind: "configureStore", index, text }, Date.now());
  }

  get #settings(): OwnSettings {
    if (this.#own === undefined) {
      const options = this.memoryOptions();
      this.#own = { options, configuration: configurationOf(checkStoreOptions(options)) };
    }
    return this.#own;
  }

  async #scopeFor(caller: unknown): Promise<ScopeOptions | undefined> {
    try {
      return await this.policyFor(caller);
    } catch (error) {
      if (error instanceof KeepsakeError) throw error;
      throw new KeepsakeError("access_denied", `memory access denied: ${detailOf(error)}`);
    }
  }

  get #storage(): ObjectStorage {
    return this.ctx.storage;
  }
}

/** A binding to Durable Objects of `KeepsakeObject` or a class derived from it. */
export interface MemoryNamespace {
  idFromName(name: string): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the ids and stubs of Cloudflare's own types.
  get(id: any, options?: any): any;
}

/** How a Worker wants its memory. The time is that of the object, which stores. */
export interface StubOptions extends Omit<TierOptions, "now"> {
  /** Where the object is made if it is new: Cloudflare's hint, `"weur"` for example. */
  locationHint?: string | undefined;
  /** Who calls, for `policyFor()` of the object: anything that RPC carries. */
  caller?: unknown;
}

const { now: _, ...OPTIONS } = TIER_OPTIONS;
const STUB_OPTIONS: NamesOf<StubOptions> = { locationHint: 1, caller: 1, ...OPTIONS };

/**
 * The memory of `name`, which is a tenant, in an object of its own: the same `store`
 * and `checkpointer` as everywhere, by RPC.
 *
 *     const { store, checkpointer } = keepsake(env.MEMORY, userId);
 */
export function keepsake(
  namespace: MemoryNamespace,
  name: string,
  options: StubOptions = {},
): Memory {
  if (typeof namespace?.idFromName !== "function") {
    throw new KeepsakeError(
      "invalid_argument",
      `keepsake takes a binding to Durable Objects, such as env.MEMORY: ${show(namespace)}`,
    );
  }
  if (typeof name !== "string" || name === "") {
    throw new KeepsakeError("invalid_argument", "the name of a memory must be a non-empty string");
  }
  refuseKey(options, "Cloudflare encrypts what a Durable Object keeps");
  refuseNow(options);
  checkOptions("keepsake", STUB_OPTIONS, options);
  const { locationHint, caller } = options;
  const id = namespace.idFromName(name);
  const connect = (): ObjectStub =>
    namespace.get(id, locationHint === undefined ? {} : { locationHint });
  const engine = new RemoteEngine(new ObjectTransport(name, connect, caller));
  return new Memory(
    options,
    Connection.toEngine(() => engine),
    "durable-object",
  );
}

function refuseNow(options: object | null | undefined): void {
  if (orUndefined(() => (options as { now?: unknown }).now) === undefined) return;
  throw new KeepsakeError(
    "invalid_argument",
    "now is the object's, which stores: give it in memoryOptions() of the object",
  );
}
