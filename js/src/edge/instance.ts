// The one wasm instance of an isolate, which all of its databases share: an isolate
// has 128 MB, and may run many Durable Objects.

import { leanModule } from "#lean";
import type { Session } from "../engine/engine.js";
import { startSession } from "../engine/session.js";
import type { EngineHost, EngineHosts } from "../wasm/engine-host.js";
import { type Instance, loadInstance } from "../wasm/loader.js";

const hosts: EngineHosts = new Map();
let shared: Instance | undefined;
let lastHost = 0;

/** A session on the database of `host`; in memory without. @internal */
export async function openSharedSession(host?: EngineHost): Promise<Session> {
  const instance = await sharedInstance();
  const id = ++lastHost;
  if (host !== undefined) hosts.set(id, host);
  const database = host && { path: String(id) };
  const onClose = () => void hosts.delete(id);
  return startSession(instance.newEngine(), { database, onClose });
}

// Not a promise for all to wait for: what one request of a Worker awaits, another
// must not be needed to settle.
async function sharedInstance(): Promise<Instance> {
  if (shared !== undefined && !shared.isBroken) return shared;
  const made = await loadInstance({ module: leanModule(), hosts });
  if (shared === undefined || shared.isBroken) shared = made;
  return shared;
}
