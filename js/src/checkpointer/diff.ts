// What is different between two checkpoints, by their channels.

/** What is different between two checkpoints. */
export interface CheckpointDiff {
  /** Channels that only the second one has. */
  added: Record<string, unknown>;
  /** Channels that only the first one has. */
  removed: Record<string, unknown>;
  /** `appended` is what a list that else is the same has more. */
  changed: Record<string, { before: unknown; after: unknown; appended?: unknown[] }>;
  /** Channels of both, the same. */
  unchanged: string[];
}

/** @internal */
export function differenceBetween(
  a: Map<string, unknown>,
  b: Map<string, unknown>,
): CheckpointDiff {
  const names = [...new Set([...a.keys(), ...b.keys()])];
  const of = (values: Map<string, unknown>, channels: string[]) =>
    Object.fromEntries(channels.map((name) => [name, values.get(name)]));
  const shared = names.filter((name) => a.has(name) && b.has(name));
  const isSame = (name: string) => isSameJson(plain(a.get(name)), plain(b.get(name)));
  const changed = shared.filter((name) => !isSame(name));
  return {
    added: of(
      b,
      names.filter((name) => !a.has(name)),
    ),
    removed: of(
      a,
      names.filter((name) => !b.has(name)),
    ),
    changed: Object.fromEntries(changed.map((name) => [name, changeOf(a.get(name), b.get(name))])),
    unchanged: shared.filter(isSame),
  };
}

function changeOf(before: unknown, after: unknown): CheckpointDiff["changed"][string] {
  if (!Array.isArray(before) || !Array.isArray(after)) return { before, after };
  if (after.length < before.length) return { before, after };
  const isPrefix = before.every((element, i) => isSameJson(plain(element), plain(after[i])));
  return isPrefix ? { before, after, appended: after.slice(before.length) } : { before, after };
}

// Messages and other classes as they are stored.
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value) ?? "null");
}

/** @internal */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) &&
      isSameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}
