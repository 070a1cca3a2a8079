// The texts and questions of the benchmarks of search by words, the same wherever they are made.
//
// Texts are made of words with the frequencies of a language (Zipf): of 8 to 32 words, of 150 to
// 350, of names such as w1k3f9, of numbers, of 200 to 400 Chinese characters; or they are strings
// that are given.

export const QUESTIONS = 200;
/** So many more are put when the others can be found. */
export const MORE = 500;
const MOST_WORDS = 400;

// Of the command line, where there is one.
const options = globalThis.process?.argv ?? [];
export const optionOf = (name) =>
  options.find((option) => option.startsWith(`--${name}=`))?.slice(name.length + 3);
export const sizesAsked = (optionOf("sizes") ?? "1000,10000,100000").split(",").map(Number);

let seed = 7;
const random = () => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return seed / 2 ** 32;
};

// The n-th of them is 1/n as frequent as the first.
const oneOf = (words) => words[Math.floor(words.length ** random()) - 1];
const many = (least, most, make) =>
  Array.from({ length: least + Math.floor(random() * (most - least + 1)) }, make);

// Of two to four syllables.
function madeWords() {
  const syllables = ["ka", "lo", "mi", "ren", "sta", "vo", "tu", "bel", "nor", "pi", "gra", "shu"];
  return Array.from({ length: 20_000 }, () =>
    many(2, 4, () => syllables[Math.floor(random() * syllables.length)]).join(""),
  );
}

function chineseWords() {
  const character = () => String.fromCodePoint(0x4e00 + Math.floor(3000 * random() ** 2));
  return Array.from({ length: 20_000 }, () => many(1, 3, character).join(""));
}

const codes = (base) =>
  Array.from({ length: 20_000 }, (_, i) => {
    const digits = (Math.imul(i + 1, 2_654_435_761) >>> 0).toString(base);
    return base === 36 ? `w${digits}` : digits;
  });

const KINDS = {
  short: (words = madeWords()) => ({
    text: () => many(8, 32, () => oneOf(words)).join(" "),
    question: () => many(5, 5, () => oneOf(words)).join(" "),
    tokenize: "porter unicode61",
  }),
  long: (words = madeWords()) => ({
    ...KINDS.short(words),
    text: () => many(150, 350, () => oneOf(words)).join(" "),
  }),
  names: () => KINDS.short(codes(36)),
  numbers: () => KINDS.short(codes(10)),
  chinese: (words = chineseWords()) => ({
    text: () => many(100, 200, () => oneOf(words)).join(""),
    question: () => many(6, 6, () => oneOf(words)).join(""),
    tokenize: "trigram",
  }),
};

// Of strings that are given each comes again, with a word of its own, where there are too few. A
// question is some words of a text.
export function setOf(kind, size, strings = []) {
  seed = 7;
  const made = KINDS[kind]();
  const textAt = (i) =>
    strings.length === 0
      ? made.text()
      : strings[i % strings.length] + (i < strings.length ? "" : ` n${i}`);
  const texts = Array.from({ length: size + MORE }, (_, i) => textAt(i));
  const questionOf = (text) => {
    if (kind === "chinese") return text.slice(0, 200).slice(-12);
    const words = text.split(/\s+/).slice(0, MOST_WORDS);
    return many(5, 5, () => words[Math.floor(random() * words.length)]).join(" ");
  };
  const question = () =>
    strings.length === 0 ? made.question() : questionOf(texts[Math.floor(random() * size)]);
  const questions = many(QUESTIONS, QUESTIONS, question);
  return {
    texts: texts.slice(0, size),
    more: texts.slice(size),
    questions,
    tokenize: made.tokenize,
  };
}

const STOP = new Set(
  "a an and are as at be but by did do for from had has have he her his how i in is it its me my not of on or our she so that the their they this to was we were what when where which who why will with you your".split(
    " ",
  ),
);

/** A question as one writes it for FTS5 by hand: an OR of its words, without stop words. */
export function matchOf(question, tokenize) {
  const words =
    tokenize === "trigram"
      ? Array.from({ length: Math.max(question.length - 2, 0) }, (_, i) => question.slice(i, i + 3))
      : (question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !STOP.has(word));
  return words.map((word) => `"${word.replaceAll('"', '""')}"`).join(" OR ");
}

export const schemaOf = (tokenize) =>
  `CREATE VIRTUAL TABLE IF NOT EXISTS t USING fts5(text, tokenize = '${tokenize}')`;
export const BEST_TEN = "SELECT rowid, text FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT 10";

/** Of ours: 500 at a time, in so many namespaces below one. */
export async function putTexts(store, texts, from, spaces = 1) {
  for (let i = 0; i < texts.length; i += 500) {
    await store.batch(
      texts.slice(i, i + 500).map((text, n) => ({
        namespace: spaces === 1 ? ["n"] : ["n", `${(i + n) % spaces}`],
        key: `${from + i + n}`,
        value: { text },
      })),
    );
  }
}

export const at = (list, share) => [...list].sort((a, b) => a - b)[Math.floor(list.length * share)];
