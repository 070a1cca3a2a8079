// Both tiers over the SQLite of a Durable Object.

import { checkOptions } from "../checks.js";
import { Connection } from "../connection.js";
import { openSharedSession } from "../edge/instance.js";
import { type ObjectStorage, SqlHost } from "../edge/sql-host.js";
import { refuseKey } from "../engine/keys.js";
import { LocalEngine } from "../engine/local-engine.js";
import { KeepsakeError } from "../errors.js";
import { Memory, TIER_OPTIONS, type TierOptions } from "../memory.js";

// One engine for each object, however many memories look at it.
const engines = new WeakMap<ObjectStorage, LocalEngine>();

/** @internal */
export function objectEngine(storage: ObjectStorage): LocalEngine {
  const existing = engines.get(storage);
  if (existing !== undefined) return existing;
  if (typeof storage?.transactionSync !== "function" || typeof storage.sql?.exec !== "function") {
    throw new KeepsakeError(
      "invalid_argument",
      "durableMemory takes the ctx.storage of a Durable Object with SQLite (new_sqlite_classes)",
    );
  }
  const engine = new LocalEngine(
    {
      name: "the Durable Object",
      isPersistent: true,
      persistence: "durable-object",
      // Cloudflare lets no answer out before it is written.
      durability: "strict",
      open: () => openSharedSession(new SqlHost(storage)),
      release: () => {},
    },
    () => engines.delete(storage),
  );
  engines.set(storage, engine);
  return engine;
}

/**
 * Both tiers over a Durable Object's own SQLite: give `store` and `checkpointer` to
 * `compile()`, inside the object.
 *
 *     export class Agent extends DurableObject {
 *       memory = durableMemory(this.ctx.storage);
 *     }
 *
 * It is opened by the first call. Memories of one object share one engine.
 */
export function durableMemory(storage: ObjectStorage, options: TierOptions = {}): Memory {
  refuseKey(options, "Cloudflare encrypts what a Durable Object keeps");
  const given = checkOptions("durableMemory", TIER_OPTIONS, options);
  return new Memory(
    given,
    Connection.toEngine(() => objectEngine(storage)),
    "durable-object",
  );
}
