// The words of a text, as tables of word vectors write them.

const WORD = /[\p{L}\p{N}]+(?:['’][\p{L}]+)*/gu;
// Written without spaces: only a segmenter tells where a word ends.
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

let segmenter: Intl.Segmenter | undefined;

/** Calls `use` with each word of a text, in small letters. @internal */
export function forEachWord(text: string, use: (word: string) => void): void {
  const small = text.toLowerCase();
  if (UNSPACED.test(small) && "Segmenter" in Intl) {
    segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
    for (const { segment, isWordLike } of segmenter.segment(small)) if (isWordLike) use(segment);
    return;
  }
  for (const [word] of small.matchAll(WORD)) use(word);
}

/** The characters of a word of a script without spaces, of which a table may know some. @internal */
export function charactersOf(word: string): string[] {
  return UNSPACED.test(word) ? [...word] : [];
}

/** What else a word may be in a table: `don't` is `do`, `anna's` is `anna`, `café` is `cafe`. @internal */
export function otherForms(word: string): string[] {
  const bare = word.replace(/n?['’]\p{L}+$/u, "");
  return [word.replaceAll(/['’]/g, ""), bare, bare.normalize("NFD").replaceAll(/\p{M}/gu, "")];
}

// An ending has few letters; what is left must tell which word it is.
const LONGEST_ENDING = 3;
const SHORTEST_BEGINNING = 4;

/** `snores` may be known as `snore`, `espressos` as `espresso`: the longest first. @internal */
export function beginningsOf(word: string): string[] {
  if (UNSPACED.test(word)) return [];
  const most = Math.min(LONGEST_ENDING, word.length - SHORTEST_BEGINNING);
  return Array.from({ length: Math.max(most, 0) }, (_, i) => word.slice(0, -1 - i));
}
