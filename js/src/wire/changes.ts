// What operations look at and change, so that who listens can be told.

/** What is looked at, or changed. */
export interface Access {
  readonly operation: "recall" | "store" | "delete" | "clear" | "undo" | "forget";
  /** Of items. */
  readonly namespace?: readonly string[] | undefined;
  /** Of checkpoints. */
  readonly threadId?: string | undefined;
}

/** A look at what is in `namespace`, or below it. */
export function recalls(namespace: readonly string[]): Access {
  return { operation: "recall", namespace };
}

/** What was written, in one or several transactions. */
export interface Changes {
  /** Namespaces with items that were put or deleted. */
  namespaces: string[][];
  /** Threads with checkpoints or writes that were put or deleted. */
  threads: string[];
  /** More may have changed than the lists name: an import, a sweep of expired items. */
  everything: boolean;
  /** Then it is only below these places; undefined if it may be anywhere. */
  below?: string[][] | undefined;
}

export function namespaces(namespace: readonly string[]): Changes {
  return { namespaces: [[...namespace]], threads: [], everything: false };
}

export function threads(...ids: string[]): Changes {
  return { namespaces: [], threads: ids, everything: false };
}

export function everything(): Changes {
  return { namespaces: [], threads: [], everything: true };
}

/** Whatever is below these. */
export function everythingBelow(places: readonly (readonly string[])[]): Changes {
  const below = places.map((place) => [...place]);
  return { namespaces: [], threads: [], everything: below.length > 0, below };
}

/** Both; `into` may be changed. */
export function merge(into: Changes | undefined, more: Changes): Changes {
  if (into === undefined) return more;
  for (const namespace of more.namespaces) {
    if (!into.namespaces.some((known) => isSame(known, namespace))) into.namespaces.push(namespace);
  }
  for (const thread of more.threads) {
    if (!into.threads.includes(thread)) into.threads.push(thread);
  }
  if (more.everything) {
    const { everything, below } = into;
    into.below = everything ? below && more.below && [...below, ...more.below] : more.below;
  }
  into.everything ||= more.everything;
  return into;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((label, i) => label === b[i]);
}
