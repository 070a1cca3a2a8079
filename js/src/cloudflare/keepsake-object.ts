// A Durable Object that keeps one tenant's memory, and how a Worker reaches it.

import { DurableObject } from "cloudflare:workers";
import { checkOptions, type NamesOf, show } from "../checks.js";
import { Connection } from "../connection.js";
import { type ObjectStub, ObjectTransport } from "../edge/object-transport.js";
import type { Request, Response } from "../edge/rpc.js";
import type { ObjectStorage } from "../edge/sql-host.js";
import { refuseKey } from "../engine/keys.js";
import { RemoteEngine } from "../engine/remote-engine.js";
import { KeepsakeError, messageOf } from "../errors.js";
import { Memory, TIER_OPTIONS, type TierOptions } from "../memory.js";
import { authorOf } from "../scope/access.js";
import { levelOf, type ScopeOptions } from "../scope/scope.js";
import { tagsOf, within, withoutReplace } from "../wire/codec.js";
import { OPERATIONS, type Operation } from "../wire/operations.js";
import { Levels } from "../wire/scope.js";
import { durableMemory, objectEngine } from "./durable-memory.js";

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

  /** The memory of this object, with the options of `memoryOptions()`. */
  get memory(): Memory {
    this.#memory ??= durableMemory(this.#storage, this.memoryOptions());
    return this.#memory;
  }

  /** Index, TTL and serialiser of `memory`: override it to have any. */
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
  async keepsakeExecute(request: Request): Promise<Response> {
    try {
      const scope = await this.#scopeFor(request.caller);
      const engine = objectEngine(this.#storage);
      for (const operation of request.configurations) {
        const configuration = configurationFrom(operation, scope !== undefined);
        await engine.ensureConfigured(configuration, Date.now());
      }
      const { frame, changes } = scope === undefined ? request : scopedRequest(request, scope);
      return await engine.forward(frame, changes);
    } catch (error) {
      const code = error instanceof KeepsakeError ? error.code : "internal";
      return { code, message: messageOf(error).replace(/^\[keepsake\] /, "") };
    }
  }

  async #scopeFor(caller: unknown): Promise<ScopeOptions | undefined> {
    try {
      return await this.policyFor(caller);
    } catch (error) {
      if (error instanceof KeepsakeError) throw error;
      throw new KeepsakeError("access_denied", `memory access denied: ${messageOf(error)}`);
    }
  }

  get #storage(): ObjectStorage {
    return this.ctx.storage;
  }
}

// The index and the TTL of a caller's store are of the whole memory; vectors that are there
// stay, whatever it says.
function scopedRequest(
  { frame, changes }: Request,
  scope: ScopeOptions,
): Pick<Request, "frame" | "changes"> {
  const configures = tagsOf(frame).every((tag) => tag === OPERATIONS.configureStore.tag);
  if (configures) return { frame: withoutReplace(frame), changes };
  const levels = new Levels([levelOf("policyFor", scope)], authorOf(scope)?.());
  return { frame: within(levels, frame), changes: changes && levels.outward(changes) };
}

// What a caller's store is configured with, and nothing else that it may call so.
function configurationFrom(operation: Operation, isScoped: boolean): Operation {
  if (operation.kind !== "configureStore") {
    throw new KeepsakeError("invalid_operation", `${operation.kind} is no configuration`);
  }
  if (!isScoped || operation.index === undefined) return operation;
  return { ...operation, index: { ...operation.index, replaceVectors: false } };
}

/** A binding to Durable Objects of `KeepsakeObject` or a class derived from it. */
export interface MemoryNamespace {
  idFromName(name: string): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the ids and stubs of Cloudflare's own types.
  get(id: any, options?: any): any;
}

/** How a Worker wants its memory. */
export interface StubOptions extends TierOptions {
  /** Where the object is made if it is new: Cloudflare's hint, `"weur"` for example. */
  locationHint?: string | undefined;
  /** Who calls, for `policyFor()` of the object: anything that RPC carries. */
  caller?: unknown;
}

const STUB_OPTIONS: NamesOf<StubOptions> = { locationHint: 1, caller: 1, ...TIER_OPTIONS };

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
