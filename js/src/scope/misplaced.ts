// A memory, or a scope, in the place of one of its tiers, as in compile({ store: memory }).

import { KeepsakeCache } from "../cache/cache.js";
import { SqliteSaver } from "../checkpointer/checkpointer.js";
import { refuseMethodsOf } from "../checks.js";
import { invalid } from "../errors.js";
import { SqliteStore } from "../store/store.js";

const TIERS = { store: SqliteStore, checkpointer: SqliteSaver, cache: KeepsakeCache };

/** Each method of a tier that the class has none of says where it is. Its caller knows it as `called`. @internal */
export function refuseMisplaced(whole: { prototype: object }, called: string): void {
  const tiers = Object.values(TIERS).map(({ prototype }) => prototype);
  refuseMethodsOf(tiers, whole.prototype, (name) =>
    invalid(`${called}: it has no ${name}(): ${remedyFor(name)}`),
  );
}

function remedyFor(name: string): string {
  const calls = Object.entries(TIERS)
    .filter(([, { prototype }]) => name in prototype)
    .map(([tier]) => `memory.${tier}.${name}()`);
  return `call ${calls.join(" or ")}; compile() takes memory.store, memory.checkpointer and memory.cache`;
}
