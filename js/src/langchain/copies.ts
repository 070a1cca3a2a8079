// Items that say the same word for word. A model is shown one of them, and forgets all: one that
// reads a fact five times learns nothing from four of them.

import { textOf } from "../prompt/item-text.js";
import { isForeign } from "../store/provenance.js";
import { HYBRID } from "../store/ranking.js";
import type { Item, SearchItem } from "../store/store-operations.js";
import { facts, type Place } from "./place.js";
import { gistOf } from "./words.js";

// Looked for at once.
const MANY = 100;
// Of a text, to find its copies by.
const ASKED = 2000;

/** One of each, where the first of them stands: the first of those whose word counts most. */
export function withoutCopies<T extends Item>(items: readonly T[]): T[] {
  const shown = new Map<string | T, T>();
  for (const item of items) {
    const gist = gistOf(textOf(item.value)) || item;
    const known = shown.get(gist);
    if (known === undefined || trustIn(item) > trustIn(known)) shown.set(gist, item);
  }
  return [...shown.values()];
}

// What the program put counts more than what a model did, and less than the user's own.
function trustIn(item: Item): number {
  if (isForeign(item)) return 0;
  return { model: 1, user: 3 }[item.origin as string] ?? 2;
}

export interface Forgotten {
  forgotten: number;
  left: number;
}

/** Items that may say the same. */
export function likely(place: Place, text: string, limit: number): Promise<SearchItem[]> {
  // Quotes would be a condition.
  const query = text.replace(/["“”„*]/g, " ");
  return facts(place, { query, limit, refreshTtl: false, ranking: HYBRID });
}

export function isPinnedByUser({ origin, value }: Item): boolean {
  return origin === "user" && value.pinned === true;
}

/**
 * Deletes an item and its copies beside it. Says how many these were, and how many are left in
 * namespaces below.
 */
export async function forgetCopies(place: Place, item: Item): Promise<Forgotten> {
  await place.store.delete(place.labels, item.key);
  return deleteCopies(place, item, () => true);
}

/** The same of the copies alone, but for those that the user has pinned. */
export async function deleteCopies(
  { store, labels }: Place,
  { key, value }: Item,
  mayGo = (copy: Item) => copy.key !== key && !isPinnedByUser(copy),
): Promise<Forgotten> {
  const text = textOf(value);
  const gist = gistOf(text);
  if (gist === "") return { forgotten: 0, left: 0 };
  for (let forgotten = 0; ; ) {
    const hits = await likely({ store, labels }, text.slice(0, ASKED).toWellFormed(), MANY);
    const copies = hits.filter((hit) => gistOf(textOf(hit.value)) === gist && mayGo(hit));
    const beside = copies.filter(({ namespace }) => namespace.length === labels.length);
    await Promise.all(beside.map((copy) => store.delete(labels, copy.key)));
    forgotten += beside.length;
    if (beside.length === 0 || hits.length < MANY) {
      return { forgotten, left: copies.length - beside.length };
    }
  }
}
