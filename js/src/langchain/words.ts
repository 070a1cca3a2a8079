// The words of a text, to tell whether another one says something new. No stems and no synonyms:
// what is not nearly the same word for word counts as new.

const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+/gu;
// More marks at one letter than any language has: to sort them would take the square of their number.
const MANY_MARKS = /(\p{M}{30})\p{M}+/gu;
// Accents of letters. Other marks are vowels, as those of Hindi.
const ACCENTS = /[\u0300-\u036f]/g;

/** Its words in order, whatever case, accents and punctuation are. */
export function wordsOf(text: string): string[] {
  const plain = text
    .replace(MANY_MARKS, "$1")
    .normalize("NFKD")
    .replace(ACCENTS, "")
    .replace(/['’]/g, "");
  return plain.toLowerCase().match(WORD) ?? [];
}

/** Whether all words of `part` are in `whole`, in their order, and within so many words of it. */
export function isWithin(
  part: readonly string[],
  whole: readonly string[],
  span = whole.length,
): boolean {
  return whole.some((word, at) => word === part[0] && isInOrder(part, whole.slice(at, at + span)));
}

function isInOrder(part: readonly string[], whole: readonly string[]): boolean {
  let next = 0;
  for (const word of whole) if (word === part[next]) next++;
  return next === part.length;
}

/** How many of all their words both have, 0 to 1. */
export function likeness(some: readonly string[], other: readonly string[]): number {
  const [a, b] = [new Set(some), new Set(other)];
  const shared = [...a].filter((word) => b.has(word)).length;
  return shared === 0 ? 0 : shared / (a.size + b.size - shared);
}

// Words that add nothing to what a sentence says.
const SMALL = new Set("a an the that and also so just really very please well oh".split(" "));

/** What it says word for word, but for case, punctuation and small words. */
export function gistOf(text: string): string {
  const said = wordsOf(text);
  const telling = said.filter((word) => !SMALL.has(word));
  return (telling.length === 0 ? said : telling).join(" ");
}
