// Writes core/src/text/unicode_tables.inc from the Unicode data of the Node that
// runs it:  node scripts/unicode-tables.mjs
// The file is committed, so that every platform and every year has the same tokens;
// a newer Unicode changes tokens, and with them what is stored.

import { writeFileSync } from "node:fs";

const LAST = 0x323af; // the end of the ideographs; private and unassigned planes follow

// As CharacterClass in analysis.cc.
const NONE = 0;
const LETTER = 1;
const DIGIT = 2;
const UNSPACED = 3; // scripts that do not part words by spaces
const EMOJI = 4;
const IGNORED = 5; // marks that fold away

const isUnspaced =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Bopo}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}ー]/u;
const isWord = /[\p{L}\p{M}\p{N}]/u;
// Marks of scripts whose words stay readable without them. Elsewhere they are vowels.
const IGNORED_RANGES = [
  [0xad, 0xad],
  [0x200b, 0x200d],
  [0x2060, 0x2060],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff], // joiners
  [0x300, 0x36f],
  [0x1ab0, 0x1aff],
  [0x1dc0, 0x1dff],
  [0x20d0, 0x20ff],
  [0xfe20, 0xfe2f], // Latin, Greek
  [0x483, 0x487], // Cyrillic
  [0x591, 0x5bd],
  [0x5bf, 0x5bf],
  [0x5c1, 0x5c2],
  [0x5c4, 0x5c5],
  [0x5c7, 0x5c7], // Hebrew
  [0x610, 0x61a],
  [0x640, 0x640],
  [0x64b, 0x65f],
  [0x670, 0x670],
  [0x6d6, 0x6dc], // Arabic
  [0x6df, 0x6e4],
  [0x6e7, 0x6e8],
  [0x6ea, 0x6ed],
  [0x1f3fb, 0x1f3ff], // the colour of an emoji's skin
];
const isIgnored = (character) => {
  const codePoint = character.codePointAt(0);
  return IGNORED_RANGES.some(([first, last]) => first <= codePoint && codePoint <= last);
};
const isEmoji = /\p{Extended_Pictographic}|\p{Regional_Indicator}/u;

function classOf(codePoint) {
  const character = String.fromCodePoint(codePoint);
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) return NONE;
  if (isIgnored(character)) return IGNORED;
  if (/\p{Nd}/u.test(character)) return DIGIT;
  if (isUnspaced.test(character) && isWord.test(character)) return UNSPACED;
  if (isWord.test(character)) return LETTER;
  return isEmoji.test(character) ? EMOJI : NONE;
}

// Letters that Unicode does not decompose, and that people type without.
const SPELLED = {
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ł: "l",
  ħ: "h",
  ı: "i",
  ŧ: "t",
  ĸ: "k",
  ŋ: "n",
  ſ: "s",
};

// Kana and Hangul keep their marks: が is not か.
function foldOf(character) {
  const codePoint = character.codePointAt(0);
  if (codePoint >= 0x3041 && codePoint <= 0x30ff) return character;
  if (codePoint >= 0xac00 && codePoint <= 0xd7a3) return character;
  if (/\p{Nd}/u.test(character)) return digitOf(codePoint);
  // ß has no lower case that is folded, its upper case has.
  const folded = character.normalize("NFKD").toUpperCase().toLowerCase().normalize("NFKD");
  const spelled = [...folded].map((c) => SPELLED[c] ?? c).join("");
  return [...spelled]
    .filter((c) => !isIgnored(c))
    .join("")
    .replace(/ς/gu, "σ")
    .normalize("NFC");
}

// Decimal digits of a script are ten in a row.
function digitOf(codePoint) {
  let zero = codePoint;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && codePoint - zero < 9) --zero;
  // The mathematical digits are five rows of ten without a gap.
  if (codePoint >= 0x1d7ce && codePoint <= 0x1d7ff) zero = codePoint - ((codePoint - 0x1d7ce) % 10);
  return String(codePoint - zero);
}

// Numbers of 7 bits each, the highest bit says that more follow.
function varint(number, out) {
  for (; number >= 0x80; number = Math.floor(number / 128)) out.push((number % 128) | 0x80);
  out.push(number);
}

const zigzag = (number) => (number < 0 ? -2 * number - 1 : 2 * number);

// Runs of one class: length and class.
function classTable() {
  const out = [];
  let current = classOf(0x80);
  let begin = 0x80;
  for (let codePoint = 0x81; codePoint <= LAST + 1; ++codePoint) {
    const next = codePoint > LAST ? -1 : classOf(codePoint);
    if (next === current) continue;
    varint((codePoint - begin) * 8 + current, out);
    begin = codePoint;
    current = next;
  }
  return out;
}

// Signs that hardly anybody types, and that would be half of the table: radicals,
// compatibility ideographs, enclosed CJK and alphanumerics, Arabic mathematics.
const isRareSign =
  /[\u2F00-\u2FDF\u3200-\u33FF\uF900-\uFAFF\u{1EE00}-\u{1EEFF}\u{1F100}-\u{1F2FF}\u{2F800}-\u{2FA1F}]/u;

function foldings() {
  const single = [];
  const several = [];
  for (let codePoint = 0x80; codePoint <= LAST; ++codePoint) {
    const kind = classOf(codePoint);
    if (kind !== LETTER && kind !== DIGIT && kind !== UNSPACED && kind !== NONE) continue;
    const character = String.fromCodePoint(codePoint);
    if (isRareSign.test(character)) continue;
    const folded = [...foldOf(character)];
    // What is no part of a word is only folded if it stands for words: ㎏, Ⓐ.
    if (kind === NONE && !folded.every((c) => /[\p{L}\p{Nd}]/u.test(c))) continue;
    if (folded.length === 0 || folded.join("") === character) continue;
    if (folded.length === 1) single.push([codePoint, folded[0].codePointAt(0)]);
    else if (folded.every((c) => /[a-z0-9]/.test(c)) && folded.length <= 3)
      several.push([codePoint, folded.join("")]);
  }
  return { single, several };
}

// Runs with one stride and one distance to their folding, or with one folding each
// that follows the last: gap, count, stride, step of the target, distance.
function singleTable(single) {
  const out = [];
  let last = 0x80;
  for (let i = 0; i < single.length; ) {
    const [from, to] = single[i];
    let count = 1;
    let stride = 1;
    let step = 0;
    if (i + 1 < single.length) {
      const [nextFrom, nextTo] = single[i + 1];
      if (nextFrom - from <= 2 && [0, 1, 2].includes(nextTo - to)) {
        stride = nextFrom - from;
        step = nextTo - to;
        while (
          i + count < single.length &&
          single[i + count][0] === from + count * stride &&
          single[i + count][1] === to + count * step
        )
          ++count;
      }
    }
    varint(((from - last) * 2 + (stride - 1)) * 4 + step, out);
    varint(count, out);
    varint(zigzag(to - from), out);
    last = from;
    i += count;
  }
  return out;
}

function severalTable(several) {
  const out = [];
  let last = 0x80;
  for (const [codePoint, folded] of several) {
    varint((codePoint - last) * 4 + folded.length, out);
    for (const character of folded) out.push(character.codePointAt(0));
    last = codePoint;
  }
  return out;
}

function array(name, bytes) {
  const lines = [];
  for (let i = 0; i < bytes.length; i += 24)
    lines.push(`    ${bytes.slice(i, i + 24).join(", ")},`);
  return `constexpr std::uint8_t ${name}[] = {\n${lines.join("\n")}\n};\n`;
}

const { single, several } = foldings();
writeFileSync(
  new URL("../core/src/text/unicode_tables.inc", import.meta.url),
  `// Made by scripts/unicode-tables.mjs from Unicode ${process.versions.unicode}; the layouts are there. Not edited.
// clang-format off
${array("kClassRuns", classTable())}${array("kFoldRuns", singleTable(single))}${array("kFoldToSeveral", severalTable(several))}// clang-format on
`,
);
