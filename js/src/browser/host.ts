// What an engine needs of its host: here a browser, where databases have names.

import { wasmSource } from "#assets";
import { isBytes } from "../bytes.js";
import { isBlob, show } from "../checks.js";
import type { Engine, ForeignDatabase } from "../engine/engine.js";
import { checkKey, KeyRing, refuseKey } from "../engine/keys.js";
import { LocalEngine } from "../engine/local-engine.js";
import type { OpenFiles } from "../engine/open-files.js";
import { checkCommonOptions, type DatabaseOptions, refuseConflict } from "../engine/options.js";
import { RemoteEngine } from "../engine/remote-engine.js";
import { openSession } from "../engine/session.js";
import { invalid, KeepsakeError } from "../errors.js";
import { checkName } from "./database-name.js";
import { HubTransport } from "./hub-transport.js";
import { compiledModule } from "./module.js";
import type { Settings } from "./protocol.js";

/** Checked. @internal */
export interface ResolvedOptions extends DatabaseOptions {
  name: string;
  isVolatile: boolean;
}

const STORAGES = ["auto", "opfs", "indexeddb", "memory"];

/** Checks them all, so that a constructor can. @internal */
export function resolveOptions(options: DatabaseOptions): ResolvedOptions {
  if (typeof options !== "object" || options === null)
    throw invalid('it takes options with a name, such as { name: "agent" }');
  const { path, name, storage } = options;
  checkCommonOptions(options);
  if (storage !== undefined && !STORAGES.includes(storage)) {
    throw invalid(`storage must be auto, opfs, indexeddb or memory: ${show(storage)}`);
  }
  if (path === ":memory:" || storage === "memory") {
    refuseKey(options, "what is in memory is not written");
  }
  if (path === ":memory:") return { ...options, name: path, isVolatile: true };
  if (name === undefined && path !== undefined) {
    throw new KeepsakeError(
      "unsupported",
      "path is for files outside browsers; here a database has a name",
    );
  }
  checkName(name);
  return { ...options, name, isVolatile: storage === "memory" };
}

/** A new engine in this page's memory; without options it has no database at all. @internal */
export function memoryEngine(options?: ResolvedOptions): Engine {
  const { name = "memory", durability = "relaxed", wasmUrl } = options ?? {};
  const open = async () =>
    openSession({
      module: await compiledModule(wasmSource({ wasmUrl })),
      database: options && { path: ":memory:", durability },
      files: new Map(),
    });
  return new LocalEngine(
    { name, isPersistent: false, worksWhenIdle: true, durability, open, release: () => {} },
    () => {},
  );
}

/** @internal */
export const openFiles: OpenFiles = async (name, files) =>
  openSession({
    module: await compiledModule(wasmSource({})),
    database: { path: name, durability: "relaxed" },
    files,
  });

const engines = new Map<string, { engine: Engine; settings: Settings }>();

/** The page's one engine of the database. @internal */
export function databaseEngine(options: ResolvedOptions): Engine {
  const { name, storage = "auto", durability = "relaxed", worker, wasmUrl } = options;
  const existing = engines.get(name);
  const key = options.key && checkKey("key", options.key);
  if (existing !== undefined) {
    const { key: own, nextKey } = existing.settings;
    new KeyRing(`"${name}"`, own, nextKey).admit(key);
    refuseConflict(name, "durability", existing.settings.durability, durability);
    if (storage !== "auto") refuseConflict(name, "storage", existing.settings.storage, storage);
    return existing.engine;
  }
  const settings: Settings = { name, storage, durability, wasm: wasmSource({ wasmUrl }), key };
  const transport = new HubTransport({ settings, worker }, () => {
    if (engines.get(name) === opened) engines.delete(name);
  });
  const opened = { engine: new RemoteEngine(transport), settings };
  engines.set(name, opened);
  return opened.engine;
}

export { keysOfForeign } from "../engine/keys.js";
export { refuseForeignUtf16 } from "../engine/text-encoding.js";

/** Another program's database, as it is. @internal */
export function foreignDatabase(source: unknown): { name: string; database: ForeignDatabase } {
  if (isBytes(source) || isBlob(source)) {
    return { name: "database to import from", database: source };
  }
  throw invalid(`importFrom takes a Blob or the bytes of a file: ${show(source)}`);
}
