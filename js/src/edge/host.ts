// What an engine needs of its host: here an isolate at the edge, without files and
// names. What must stay is in a Durable Object: `keepsake/cloudflare`.

import type { Engine, ForeignDatabase } from "../engine/engine.js";
import { type Key, refuseKey } from "../engine/keys.js";
import { LocalEngine } from "../engine/local-engine.js";
import type { OpenFiles } from "../engine/open-files.js";
import { checkCommonOptions, type DatabaseOptions } from "../engine/options.js";
import { invalid, KeepsakeError } from "../errors.js";
import { openSharedSession } from "./instance.js";

/** Checked. @internal */
export interface ResolvedOptions extends DatabaseOptions {
  isVolatile: true;
}

/** @internal */
export function resolveOptions(options: DatabaseOptions): ResolvedOptions {
  if (typeof options !== "object" || options === null) throw invalid("options must be an object");
  checkCommonOptions(options);
  if (options.path !== ":memory:") throw noDatabases();
  refuseKey(options, "what is in memory is not written");
  return { ...options, isVolatile: true };
}

/** A new engine in linear memory. @internal */
export function memoryEngine({
  path = "memory",
  durability = "relaxed",
}: DatabaseOptions = {}): Engine {
  return new LocalEngine(
    {
      name: path,
      isPersistent: false,
      durability,
      open: () => openSharedSession(),
      release: () => {},
    },
    () => {},
  );
}

/** The module with files comes with `keepsake/bucket`, so that only who imports that has it. @internal */
export const openFiles: OpenFiles = () => {
  throw new KeepsakeError("unsupported", "import keepsake/bucket in the same build as keepsake");
};

/** @internal */
export function databaseEngine(_options: ResolvedOptions): Engine {
  throw noDatabases();
}

/** @internal */
export function foreignDatabase(_source: unknown): { name: string; database: ForeignDatabase } {
  throw noDatabases();
}

/** @internal */
export async function keysOfForeign(key: Key | undefined, ..._of: unknown[]): Promise<undefined> {
  refuseKey({ key }, "here an export of format portable arrives");
}

/** Nothing arrives that could be. @internal */
export async function refuseForeignUtf16(..._of: unknown[]): Promise<void> {}

function noDatabases(): KeepsakeError {
  return new KeepsakeError(
    "unsupported",
    "there are no files here: use keepsake/cloudflare in a Durable Object, or the path :memory:",
  );
}
