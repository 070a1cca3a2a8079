// Both tiers over a SQLite connection that the application has.

import createLeanModule from "#lean-glue";
import { checkOptions } from "../checks.js";
import { Connection } from "../connection.js";
import type { EngineStatus } from "../engine/engine.js";
import { refuseKey } from "../engine/keys.js";
import { LocalEngine, type SessionSource } from "../engine/local-engine.js";
import { Memory, TIER_OPTIONS, type TierOptions } from "../memory.js";
import { WasmInstance } from "../wasm/loader.js";
import { ConnectionHost } from "./connection-host.js";
import { ConnectionSession, HOST } from "./connection-session.js";
import { driverOf, type SqliteConnection } from "./driver.js";
import { leanModule } from "./module.js";

// One engine for each connection, however many memories look at it.
const engines = new WeakMap<SqliteConnection, LocalEngine>();

class ConnectionEngine extends LocalEngine {
  readonly #host: ConnectionHost;

  constructor(host: ConnectionHost, source: SessionSource, onClosed: () => void) {
    super(source, onClosed);
    this.#host = host;
  }

  override async status(): Promise<EngineStatus> {
    const { persistence } = await super.status();
    return { persistence, details: { durability: this.#host.durability } };
  }
}

function engineOver(connection: SqliteConnection): LocalEngine {
  const existing = engines.get(connection);
  if (existing !== undefined) return existing;
  const host = new ConnectionHost(driverOf(connection));
  const engine = new ConnectionEngine(
    host,
    {
      name: "the connection",
      isPersistent: true,
      persistence: "connection",
      durability: "the connection's",
      async open(configurations) {
        const instance = await WasmInstance.load({
          module: leanModule(),
          hosts: new Map([[HOST, host]]),
          createModule: createLeanModule,
        });
        return new ConnectionSession(instance, host, configurations);
      },
      release: () => {},
    },
    () => engines.delete(connection),
  );
  engines.set(connection, engine);
  return engine;
}

/**
 * Both tiers over an open SQLite connection of `node:sqlite`, `better-sqlite3`, `libsql` or
 * `bun:sqlite`, in tables beside the application's, whose names begin with `keepsake_`.
 * Several processes may share one file: what another one wrote is seen by the next call.
 *
 *     const memory = memoryOver(new Database("app.db"));
 *
 * Each call is one transaction; within a transaction of the application it is part of it.
 * `close()` leaves the connection open.
 */
export function memoryOver(connection: SqliteConnection, options: TierOptions = {}): Memory {
  refuseKey(options, "encrypt the file of the connection");
  const given = checkOptions("memoryOver", TIER_OPTIONS, options);
  const engine = engineOver(connection);
  return new Memory(
    given,
    Connection.toEngine(() =>
      engines.get(connection) === engine ? engine : engineOver(connection),
    ),
    "connection",
  );
}
