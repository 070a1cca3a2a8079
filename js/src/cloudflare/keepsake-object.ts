// A Durable Object that keeps one tenant's memory, and how a Worker reaches it.

import { DurableObject } from "cloudflare:workers";
import { checkOptions, type NamesOf, show } from "../checks.js";
import { Connection } from "../connection.js";
import { type ObjectStub, ObjectTransport } from "../edge/object-transport.js";
import type { Request, Response } from "../edge/rpc.js";
import type { ObjectStorage } from "../edge/sql-host.js";
import { RemoteEngine } from "../engine/remote-engine.js";
import { KeepsakeError, messageOf } from "../errors.js";
import { Memory, TIER_OPTIONS, type TierOptions } from "../memory.js";
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

  /** What `keepsake()` calls. @internal */
  async keepsakeExecute({ frame, changes, configurations }: Request): Promise<Response> {
    try {
      const engine = objectEngine(this.#storage);
      for (const operation of configurations) await engine.ensureConfigured(operation, Date.now());
      return await engine.forward(frame, changes);
    } catch (error) {
      const code = error instanceof KeepsakeError ? error.code : "internal";
      return { code, message: messageOf(error).replace(/^\[keepsake\] /, "") };
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

/** How a Worker wants its memory. */
export interface StubOptions extends TierOptions {
  /** Where the object is made if it is new: Cloudflare's hint, `"weur"` for example. */
  locationHint?: string | undefined;
}

const STUB_OPTIONS: NamesOf<StubOptions> = { locationHint: 1, ...TIER_OPTIONS };

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
  checkOptions("keepsake", STUB_OPTIONS, options);
  const { locationHint } = options;
  const id = namespace.idFromName(name);
  const connect = (): ObjectStub =>
    namespace.get(id, locationHint === undefined ? {} : { locationHint });
  const engine = new RemoteEngine(new ObjectTransport(name, connect));
  return new Memory(
    options,
    Connection.toEngine(() => engine),
    "durable-object",
  );
}
