// Stores a text unless it is known: without a model, by its words.
//
//   known    each of its sentences is in some item, word for word and in order: nothing is stored.
//            So what was just recalled is not stored again.
//   merged   it has all words of an item, and few more: it takes that item's place.
//   replaced the caller says which item it takes the place of.
//   pinned   that item is pinned by the user, whose word counts more: nothing is stored.
//   stored   else; items that are alike are named, so that the caller may decide.
//
// What is displaced stays in `supersedes`, with the reason, unless it is of a tool or of the web:
// nothing of that stays, and what only adds to it is stored beside it.

import { fnv1a } from "../bytes.js";
import { textOf, unfenced } from "../prompt/item-text.js";
import { isForeign } from "../store/provenance.js";
import type { Item, SearchItem } from "../store/store-operations.js";
import { deleteCopies, isPinnedByUser, likely } from "./copies.js";
import { BY_MODEL, itemAt, type Place } from "./place.js";
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
  outcome: "known" | "merged" | "replaced" | "pinned" | "stored" | "missing";
  key: string;
  /** The item that has the text already, or that it replaced; or else items that are like it. */
  others: (SearchItem | Item)[];
  /** A policy keeps what was stored in quarantine. */
  isHidden?: boolean;
}

const CANDIDATES = 10;
// A text takes the place of an item that has at least this share of its words.
const MERGED_SHARE = 2 / 3;
const ALIKE = 0.5;
// Of the length of a sentence: within so many words of an item it is known.
const SAID_WITHIN = 1.5;
// A text of more words is compared with nothing: under the key that its words make it is stored
// once all the same. Of an item so many are looked at.
const MOST_WORDS = 1000;
const MOST_OF_ITEM = 20_000;
// Of what an item displaced, and of its sources.
const KEPT = 10;
const SENTENCE_END = /(?<=[.!?。！？])\s+|\n+/;

/** How a text is remembered. @internal */
export interface RememberOptions {
  /** The key of the item that it takes the place of. */
  replaces?: string | undefined;
  /** Keys of items that are about to go, unless they are pinned: what they say is not known. */
  except?: ReadonlySet<string> | undefined;
  /** Whatever else its item is to have. */
  more?: object | undefined;
}

/** Twice is as once. @internal */
export async function remember(
  place: Place,
  given: string,
  source: Source | undefined,
  options: RememberOptions = {},
): Promise<Remembered> {
  const judged = await judge(place, given, options);
  const text = unfenced(given);
  const { outcome, key, others } = judged;
  if (outcome === "stored") {
    await put(place, key, { ...options.more, text, ...sourcesOf({}, source) });
  } else if (outcome === "merged" || outcome === "replaced") {
    const old = others[0] as Item;
    await supersede(place, old, { ...options.more, text }, source, outcome);
    // Else recall would go on to tell what is no longer true.
    if (outcome === "replaced") {
      await deleteCopies(place, old);
      // The model may have stored the text before it was told what that corrects.
      const isItsOwn = (copy: Item) => copy.key !== key && copy.origin === "model";
      await deleteCopies(place, { ...old, value: { text } }, isItsOwn);
    }
  } else return judged;
  return { ...judged, isHidden: (await itemAt(place, key)) === undefined };
}

/** What `remember()` would do. @internal */
export async function judge(
  place: Place,
  given: string,
  { replaces, except }: RememberOptions = {},
): Promise<Remembered> {
  const text = unfenced(given);
  const words = wordsOf(text);
  if (replaces !== undefined) {
    const old = await itemAt(place, replaces);
    if (old === undefined) return { outcome: "missing", key: replaces, others: [] };
    if (isPinnedByUser(old)) return { outcome: "pinned", key: replaces, others: [old] };
    if (!isForeign(old) || !isWithin(wordsOf(textOf(old.value)).slice(0, MOST_OF_ITEM), words)) {
      return { outcome: "replaced", key: replaces, others: [old] };
    }
  }
  if (words.length > MOST_WORDS)
    return { outcome: "stored", key: hashKey(words.join(" ")), others: [] };
  const found = await likely(place, text, CANDIDATES);
  const candidates = found.filter(({ key, value }) => !except?.has(key) || value.pinned === true);
  const sentences = sentencesOf(text);
  const saying = candidates.map((item) => {
    const whole = sayingOf(item);
    return { item, said: sentences.map((words) => says(whole, words)) };
  });
  if (sentences.every((_, i) => saying.some(({ said }) => said[i]))) {
    const knowing = saying.filter(({ said }) => said.includes(true)).map(({ item }) => item);
    return { outcome: "known", key: knowing[0]?.key ?? "", others: knowing };
  }
  const own = candidates.filter(({ namespace }) => namespace.length === place.labels.length);
  const lesser = own.find(
    (item) =>
      !isForeign(item) && !isPinnedByUser(item) && isLess(wordsOf(textOf(item.value)), words),
  );
  if (lesser) return { outcome: "merged", key: lesser.key, others: [lesser] };
  const others = own.filter(({ value }) => areAlike(textOf(value), text));
  return { outcome: "stored", key: hashKey(words.join(" ")), others };
}

/** Whether two texts share at least half of their words. @internal */
export function areAlike(one: string, other: string): boolean {
  return likeness(wordsOf(one), wordsOf(other)) >= ALIKE;
}

// All else that the item had stays: it may be pinned.
function supersede(
  place: Place,
  old: Item,
  news: { text: string },
  source: Source | undefined,
  reason: Superseded["reason"],
): Promise<void> {
  const { key, value } = old;
  if (isForeign(old)) return put(place, key, { ...news, ...sourcesOf({}, source) });
  const text = textOf(value);
  const isSame = text === news.text;
  const supersedes = isSame ? value.supersedes : latest(value.supersedes, { text, reason });
  const kept = supersedes === undefined ? {} : { supersedes };
  return put(place, key, { ...value, ...news, ...kept, ...sourcesOf(value, source) });
}

// In a list, where a search does not take the thread for what belongs together.
function sourcesOf(value: Item["value"], source: Source | undefined): { sources?: Source[] } {
  return source === undefined ? {} : { sources: latest(value.sources, source) };
}

function latest<T>(list: unknown, last: T): T[] {
  const earlier: T[] = Array.isArray(list) ? list : [];
  if (JSON.stringify(earlier.at(-1)) === JSON.stringify(last)) return earlier;
  return [...earlier, last].slice(-KEPT);
}

// Only the text is embedded, whatever else the index says.
function put({ store, labels }: Place, key: string, value: object): Promise<void> {
  return store.put(labels, key, value, ["text"], BY_MODEL);
}

function sentencesOf(text: string): string[][] {
  return text
    .split(SENTENCE_END)
    .map(wordsOf)
    .filter((words) => words.length > 0);
}

// Recalled lines begin with the key.
function sayingOf({ key, value }: SearchItem): string[] {
  return [...wordsOf(key), ...wordsOf(textOf(value))].slice(0, MOST_OF_ITEM);
}

// In a long text the words of nearly any sentence follow each other somehow, so that they have to
// be near each other.
function says(whole: string[], words: string[]): boolean {
  return isWithin(words, whole, Math.floor(words.length * SAID_WITHIN));
}

function isLess(known: string[], words: string[]): boolean {
  return known.length >= words.length * MERGED_SHARE && isWithin(known, words);
}

/**
 * The same text makes the same key, so that two calls at once store one item. Short, because
 * models read it with each item; of 64 bits, because a key that meets another would replace it. @internal
 */
export function hashKey(text: string): string {
  const points = Array.from(text, (char) => char.codePointAt(0) as number);
  return [fnv1a(points), fnv1a(points, 0x9747b28c)]
    .map((hash) => hash.toString(36).padStart(7, "0"))
    .join("");
}
