// The floors that searches by words are measured against: plain FTS5 and plain BM25, both without
// stop words and with Porter's stems. Items are { key, value }; all texts of a value count.

import Database from "better-sqlite3";
import { Bm25 } from "./bm25.mjs";

const USUAL_LIMIT = 10;
const STOP_WORDS = new Set(
  (
    "a an and are as at be because been but by can could did do does for from had has have he her" +
    " his how i if in into is it me my no not of on or our she should so such than that the their" +
    " then there these they this to too very was we were what when where which who whom why will" +
    " with would you your"
  ).split(" "),
);

export class Fts5 {
  #db = new Database(":memory:");
  #keys = [];
  constructor() {
    this.#db.exec("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'porter unicode61')");
  }
  async add(items) {
    const insert = this.#db.prepare("INSERT INTO t(rowid, x) VALUES (?, ?)");
    for (const { key, value } of items) {
      insert.run(this.#keys.push(key), wordsOf(stringsIn(value).join(" ")).join(" "));
    }
  }
  async search(text, limit = USUAL_LIMIT) {
    const words = [...new Set(wordsOf(text))].filter((word) => !STOP_WORDS.has(word));
    if (words.length === 0) return [];
    return this.#db
      .prepare("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?")
      .all(words.map((word) => `"${word}"`).join(" OR "), limit)
      .map(({ rowid }) => this.#keys[rowid - 1]);
  }
  async close() {
    this.#db.close();
  }
}

export class PlainBm25 {
  #index = new Bm25();
  async add(items) {
    for (const { key, value } of items)
      this.#index.add(key, plainWords(stringsIn(value).join(" ")));
  }
  async search(text, limit = USUAL_LIMIT) {
    return this.#index.search(plainWords(text), limit);
  }
}

const stringsIn = (value) =>
  typeof value === "string"
    ? [value]
    : value && typeof value === "object"
      ? Object.values(value).flatMap(stringsIn)
      : [];

// Of what is written without spaces pairs of characters are words.
const wordsOf = (text) =>
  (text.toLowerCase().match(/[\u3040-\u9fff]+|[^\P{L}\u3040-\u9fff]+|\p{N}+/gu) ?? []).flatMap(
    (word) =>
      /[\u3040-\u9fff]/.test(word) && word.length > 1
        ? [...word].slice(1).map((character, i) => word[i] + character)
        : [word],
  );

/** The stems of a text's words, without stop words. */
export const plainWords = (text) => stemsOf(wordsOf(text).filter((word) => !STOP_WORDS.has(word)));

// As FTS5's porter makes them.
const stems = new Map();
const stemmer = new Database(":memory:");
stemmer.exec("CREATE VIRTUAL TABLE words USING fts5(word, tokenize = 'porter unicode61')");
stemmer.exec("CREATE VIRTUAL TABLE stems USING fts5vocab(words, 'instance')");
const addWord = stemmer.prepare("INSERT INTO words(rowid, word) VALUES (?, ?)");
function stemsOf(words) {
  const unknown = [...new Set(words)].filter((word) => !stems.has(word));
  if (unknown.length > 0) {
    stemmer.exec("DELETE FROM words");
    for (const [i, word] of unknown.entries()) addWord.run(i, word);
    for (const { term, doc } of stemmer.prepare("SELECT term, doc FROM stems").iterate()) {
      stems.set(unknown[doc], term);
    }
  }
  return words.map((word) => stems.get(word) ?? word);
}
