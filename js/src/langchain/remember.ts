// Stores a text unless it is known: without a model, by its words.
//
//   known    each of its sentences is in some item, word for word and in order: nothing is stored.
//            So what was just recalled is not stored again.
//   merged   it has all words of an item, and few more: it takes that item's place.
//   replaced the caller says which item it takes the place of.
//   stored   else; items that are alike are named, so that the caller may decide.
//
// What is displaced stays in `supersedes`, with the reason.

import { fnv1a } from "../bytes.js";
import type { Item, SearchItem } from "../store/store-operations.js";
import { textOf, unfenced } from "./item-text.js";
import type { Place } from "./place.js";
import { isWithin, likeness, wordsOf } from "./words.js";

/** Where a text comes from, as far as is known. */
export interface Source {
  thread_id?: string | undefined;
  checkpoint_id?: string | undefined;
  message_id?: string | undefined;
}

/** A text that another one took the place of. */
export interface Superseded {
  text: string;
  reason: "merged" | "replaced";
}

/** What became of a text. */
export interface Remembered {
  outcome: "known" | "merged" | "replaced" | "stored" | "missing";
  key: string;
  /** The item that has it, or that it displaced, or those that are alike. */
  others: (SearchItem | Item)[];
}

const CANDIDATES = 10;
// Of the words of the new text, those that the item has which it takes the place of.
const MERGED_SHARE = 2 / 3;
const ALIKE = 0.5;
// Of the length of a sentence: within so many words of an item it is known.
const SAID_WITHIN = 1.5;
// Of what an item displaced, and of its sources.
const KEPT = 10;
const SENTENCE_END = /(?<=[.!?。！？])\s+|\n+/;

/** @internal */
export async function remember(
  place: Place,
  given: string,
  source: Source | undefined,
  replaces?: string,
): Promise<Remembered> {
  const text = unfenced(given);
  if (replaces !== undefined) return replace(place, text, source, replaces);
  const candidates = await likely(place, text);
  const knowing = candidates.filter((item) => saysAny(item, text));
  if (sentencesOf(text).every((words) => knowing.some((item) => says(item, words)))) {
    return { outcome: "known", key: knowing[0]?.key ?? "", others: knowing };
  }
  const words = wordsOf(text);
  const own = candidates.filter(({ namespace }) => namespace.length === place.labels.length);
  const lesser = own.find(({ value }) => isLess(wordsOf(textOf(value)), words));
  if (lesser) {
    await supersede(place, lesser, text, source, "merged");
    return { outcome: "merged", key: lesser.key, others: [lesser] };
  }
  const key = keyOf(words);
  await put(place, key, { text, ...sourcesOf({}, source) });
  const others = own.filter(({ value }) => likeness(wordsOf(textOf(value)), words) >= ALIKE);
  return { outcome: "stored", key, others };
}

async function replace(
  place: Place,
  text: string,
  source: Source | undefined,
  key: string,
): Promise<Remembered> {
  const old = await place.store.get(place.labels, key);
  if (old === null) return { outcome: "missing", key, others: [] };
  await supersede(place, old, text, source, "replaced");
  return { outcome: "replaced", key, others: [old] };
}

// All else that the item had stays: it may be pinned.
function supersede(
  place: Place,
  { key, value }: Item,
  text: string,
  source: Source | undefined,
  reason: Superseded["reason"],
): Promise<void> {
  const supersedes = latest(value.supersedes, { text: textOf(value), reason });
  return put(place, key, { ...value, text, supersedes, ...sourcesOf(value, source) });
}

// In a list, where a search does not take the thread for what belongs together.
function sourcesOf(value: Item["value"], source: Source | undefined): { sources?: Source[] } {
  return source === undefined ? {} : { sources: latest(value.sources, source) };
}

function latest<T>(list: unknown, last: T): T[] {
  return [...(Array.isArray(list) ? list : []), last].slice(-KEPT);
}

// Only the text is embedded, whatever else the index says.
function put({ store, labels }: Place, key: string, value: object): Promise<void> {
  return store.put(labels, key, value, ["text"]);
}

// Quotes would be a condition.
function likely({ store, labels }: Place, text: string): Promise<SearchItem[]> {
  const query = text.replace(/["“”„*]/g, " ");
  return store.search(labels, { query, mode: "hybrid", limit: CANDIDATES, refreshTtl: false });
}

function sentencesOf(text: string): string[][] {
  return text
    .split(SENTENCE_END)
    .map(wordsOf)
    .filter((words) => words.length > 0);
}

function saysAny(item: SearchItem, text: string): boolean {
  return sentencesOf(text).some((words) => says(item, words));
}

// Recalled lines begin with the key. In a long text the words of nearly any sentence follow each
// other somehow, so that they have to be near each other.
function says({ key, value }: SearchItem, words: string[]): boolean {
  const span = Math.floor(words.length * SAID_WITHIN);
  return isWithin(words, [...wordsOf(key), ...wordsOf(textOf(value))], span);
}

function isLess(known: string[], words: string[]): boolean {
  return known.length >= words.length * MERGED_SHARE && isWithin(known, words);
}

// The same words make the same key, so that two calls at once store one item. Short, because
// models read it with each item; of 64 bits, because a key that meets another would replace it.
function keyOf(words: string[]): string {
  const points = Array.from(words.join(" "), (char) => char.codePointAt(0) as number);
  return [fnv1a(points), fnv1a(points, 0x9747b28c)]
    .map((hash) => hash.toString(36).padStart(7, "0"))
    .join("");
}
