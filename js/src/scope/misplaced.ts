// A memory, or a scope, in the place of one of its tiers, as in compile({ store: memory }).

import { KeepsakeCache } from "../cache/cache.js";
import { SqliteSaver } from "../checkpointer/checkpointer.js";
import { invalid } from "../errors.js";
import { SqliteStore } from "../store/store.js";

const TIERS = { store: SqliteStore, checkpointer: SqliteSaver, cache: KeepsakeCache };

/** Each method of a tier that the class has none of says where it is. @internal */
export function refuseMisplaced(whole: { readonly name: string; prototype: object }): void {
  for (const name of methodsOf(Object.values(TIERS).map(({ prototype }) => prototype))) {
    if (name in whole.prototype) continue;
    const misplaced = () => {
      throw invalid(`${whole.name}: it has no ${name}(): ${remedyFor(name)}`);
    };
    Object.defineProperty(whole.prototype, name, { value: misplaced, configurable: true });
  }
}

function methodsOf(prototypes: object[]): Set<string> {
  const names = new Set<string>();
  for (let object of prototypes) {
    for (; object !== Object.prototype; object = Object.getPrototypeOf(object)) {
      for (const name of Object.getOwnPropertyNames(object)) names.add(name);
    }
  }
  return names;
}

function remedyFor(name: string): string {
  const calls = Object.entries(TIERS)
    .filter(([, { prototype }]) => name in prototype)
    .map(([tier]) => `memory.${tier}.${name}()`);
  return `call ${calls.join(" or ")}; compile() takes memory.store, memory.checkpointer and memory.cache`;
}
