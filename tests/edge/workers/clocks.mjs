// Objects whose clock a test sets, as the memory is opened.

import { KeepsakeObject, keepsake } from "keepsake/cloudflare";

// By the ids of objects, which are in this isolate, too.
const clocks = new Map();

export class ClockedObject extends KeepsakeObject {
  memoryOptions() {
    return { now: () => (clocks.get(String(this.ctx.id)) ?? Date.now)() };
  }
}

/** As keepsake(), with `now` for the object. `to` is where its stubs come from. */
export function clocked(namespace, name, { now, ...options } = {}, to = namespace) {
  if (now !== undefined) clocks.set(String(namespace.idFromName(name)), now);
  return keepsake(to, name, options);
}
