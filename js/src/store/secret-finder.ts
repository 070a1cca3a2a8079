// Finds secrets in a text: by the forms of secret-kinds.ts, by the name of what has a value, and
// card numbers. core/src/json/secrets.cc finds the same ones, and reads in the same order.
// It can't ask the core: maskSecrets() answers at once and without an engine, with forms of the
// caller's own, also before a text is sent to a model and over stores that are not ours.
// A run of characters is never read shorter than it is, so that no text is read again and again.

import {
  CARD_WORDS,
  KEY_NAMES,
  OTHER_NUMBERS,
  PASSWORDS,
  PLACEHOLDERS,
  ROWS,
} from "./secret-kinds.js";

/** A secret in a text. @internal */
export interface Found {
  name: string;
  begin: number;
  end: number;
}

type Span = Pick<Found, "begin" | "end">;

/** A kind, and whether one begins at a place. The context is the name of the field. */
interface Matcher {
  name: string;
  find(text: string, at: number, context: string): Span | undefined;
}

/** A literal, a run of characters, or where the secret begins and ends. */
type Part = string | { begins: boolean } | CharRun;

interface CharRun {
  set: boolean[];
  least: number;
  /** Of an exact count no more are read; else one more is too many. */
  most: number;
  isExact: boolean;
}

/** The kind of what only its name says. */
const SECRET_KEY = "secret key";
const LONGEST_RUN = 4000;
const LEAST_LITERAL = 3;
const WORD = setOf("A-Za-z0-9_");
const NAME = setOf("A-Za-z0-9_-");
const DIGIT = setOf("0-9");
const BASE64 = setOf("A-Za-z0-9+/=");
const ASSIGNED = setOf("A-Za-z0-9_+/.~-");
const KEY_NAME = setOf("A-Z0-9 ");
const BLANK = setOf(" \t'\"");

/** All kinds that are looked for, by the first character of each. @internal */
export class SecretFinder {
  readonly #first: (Matcher[] | undefined)[] = [];
  readonly #names = new Set<string>();

  /** With the kinds that are built in. */
  static usual(): SecretFinder {
    const finder = new SecretFinder();
    finder.#add("-", { name: "private key", find: findPrivateKey });
    for (const [name, form, isMixed] of ROWS) finder.addForm(name, form, isMixed);
    for (const sign of "=:") finder.#add(sign, { name: SECRET_KEY, find: findAssigned });
    for (const digit of "23456") finder.#add(digit, { name: "card number", find: findCard });
    return finder;
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  addForm(name: string, form: string, isMixed?: boolean): void {
    const parts = partsOf(form);
    const [head] = parts;
    const find = (text: string, at: number) => matchForm(parts, text, at, isMixed);
    const signs = typeof head === "string" ? head.charAt(0) : "0123456789";
    for (const sign of signs) this.#add(sign, { name, find });
  }

  without(names: readonly string[]): void {
    const isKept = ({ name }: Matcher) => !names.includes(name);
    this.#first.forEach((matchers, code) => {
      this.#first[code] = matchers?.filter(isKept);
    });
  }

  /** In their order. */
  all(text: string, context: string): Found[] {
    const found: Found[] = [];
    const byName = findNamed(text, context);
    if (byName !== undefined && this.#has("=", SECRET_KEY)) {
      const inner = this.#at(text, byName.begin, byName.begin, context);
      return [inner ?? { name: SECRET_KEY, ...byName }];
    }
    let from = 0;
    for (let at = 0; at < text.length; ) {
      const one = this.#at(text, at, from, context);
      if (one === undefined) at++;
      else {
        found.push(one);
        at = one.end;
        from = at;
      }
    }
    return found;
  }

  // What is assigned or sent may be of a kind that says more.
  #at(text: string, at: number, from: number, context: string): Found | undefined {
    const code = text.charCodeAt(at);
    const matchers = code < 128 ? this.#first[code] : undefined;
    if (matchers === undefined || !isStart(text, at, from)) return undefined;
    for (const { name, find } of matchers) {
      const span = find(text, at, context);
      if (span === undefined) continue;
      const inner = span.begin > at ? this.#at(text, span.begin, span.begin, context) : undefined;
      return inner ?? { name, ...span };
    }
    return undefined;
  }

  #add(sign: string, matcher: Matcher): void {
    this.#names.add(matcher.name);
    const code = sign.charCodeAt(0);
    this.#first[code] ??= [];
    this.#first[code].push(matcher);
  }

  #has(sign: string, wanted: string): boolean {
    return this.#first[sign.charCodeAt(0)]?.some(({ name }) => name === wanted) ?? false;
  }
}

/** Why a text is no form; undefined if it is one. @internal */
export function faultOfForm(form: string): string | undefined {
  try {
    const [head] = partsOf(form);
    if (typeof head === "string" && head.length >= LEAST_LITERAL) return undefined;
    return `must begin with ${LEAST_LITERAL} characters that are always there, such as "acme_"`;
  } catch (error) {
    return (error as Error).message;
  }
}

function partsOf(form: string): Part[] {
  const parts: Part[] = [];
  let literal = "";
  const take = (part: Part) => {
    if (literal !== "") parts.push(literal);
    literal = "";
    parts.push(part);
  };
  for (let at = 0; at < form.length; at++) {
    const char = form.charAt(at);
    if (char === "<" || char === ">") take({ begins: char === "<" });
    else if (char === "[") {
      const [whole, chars = "", least = "", most] =
        /^\[([ -~]+?)\]\{(\d{1,4})(?:,(\d{1,4}))?\}/.exec(form.slice(at)) ?? [];
      if (whole === undefined) {
        throw new Error('must say how many characters there are, such as "[A-Za-z0-9]{32,64}"');
      }
      const run = { least: +least, most: +(most ?? least), isExact: most === undefined };
      if (run.least > run.most || run.most < 1 || run.most > LONGEST_RUN) {
        throw new Error(`must have 1 to ${LONGEST_RUN} characters of a kind: ${whole}`);
      }
      take({ set: setOf(chars), ...run });
      at += whole.length - 1;
    } else if (char >= " " && char <= "~") literal += char;
    else throw new Error("must be of ASCII");
  }
  if (literal !== "") parts.push(literal);
  if (!parts.some((part) => typeof part === "object" && "set" in part)) {
    throw new Error('must have characters that differ, such as "[A-Za-z0-9]{32}"');
  }
  return parts;
}

// "A-Za-z_-": a dash at the end is one.
function setOf(chars: string): boolean[] {
  const set: boolean[] = new Array(128).fill(false);
  for (let i = 0; i < chars.length; i++) {
    const isRange = chars[i + 1] === "-" && i + 2 < chars.length;
    const [from, to] = [chars.charCodeAt(i), chars.charCodeAt(isRange ? i + 2 : i)];
    set.fill(true, from, to + 1);
    if (isRange) i += 2;
  }
  return set;
}

const isIn = (set: boolean[], text: string, at: number) => set[text.charCodeAt(at)] === true;

// Not within a longer word: "task-…" holds no "sk-…". In text that was escaped once more the
// letter of an escape is none of a word, nor is what was found before.
function isStart(text: string, at: number, from: number): boolean {
  if (at === from || text[at] === "-" || !isIn(NAME, text, at) || !isIn(NAME, text, at - 1)) {
    return true;
  }
  return text[at - 2] === "\\" && "nrt".includes(text.charAt(at - 1));
}

function matchForm(
  parts: readonly Part[],
  text: string,
  from: number,
  isMixed: boolean | undefined,
): Span | undefined {
  let at = from;
  let begin = from;
  let end = -1;
  let varied = -1;
  let last: boolean[] = WORD;
  for (const part of parts) {
    if (typeof part === "string") {
      if (!text.startsWith(part, at)) return undefined;
      at += part.length;
    } else if ("begins" in part) {
      if (part.begins) begin = at;
      else end = at;
    } else {
      const runBegin = at;
      at = endOfRun(text, at, part.set, part.most);
      if (at - runBegin < part.least) return undefined;
      if (!part.isExact && isIn(part.set, text, at)) return undefined;
      if (varied < 0) varied = runBegin;
      last = part.set;
    }
  }
  if (end < 0) {
    if (isIn(last, text, at) || isIn(WORD, text, at)) return undefined;
    // The end of the sentence.
    for (end = at; text[end - 1] === "."; ) end--;
  }
  return isSecret(text.slice(Math.max(begin, varied), end), isMixed) ? { begin, end } : undefined;
}

function endOfRun(text: string, from: number, set: boolean[], most: number): number {
  let at = from;
  while (at - from < most && isIn(set, text, at)) at++;
  return at;
}

// What examples have in its place is none.
function isSecret(text: string, isMixed: boolean | undefined): boolean {
  let [digits, capitals, small, distinct] = [0, 0, 0, 0];
  const seen: boolean[] = [];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x30 && code <= 0x39) digits++;
    else if (code >= 0x41 && code <= 0x5a) capitals++;
    else if (code >= 0x61 && code <= 0x7a) small++;
    if (!seen[code]) distinct++;
    seen[code] = true;
  }
  if (distinct < Math.min(8, text.length / 2)) return false;
  if (isMixed !== false && digits === 0) return false;
  if (isMixed === true && (capitals === 0 || small === 0)) return false;
  const plain = smallOf(text);
  return !PLACEHOLDERS.some((word) => plain.includes(word)) && !PASSWORDS.includes(plain);
}

// ---- a block of PEM

const LEAST_BODY = 40;

// Behind "-----BEGIN RSA PRIVATE KEY-----", or 0.
function endOfKeyLine(text: string, at: number, beginning: string): number {
  if (!text.startsWith(beginning, at)) return 0;
  const from = at + beginning.length;
  const end = endOfRun(text, from, KEY_NAME, 85);
  const isKey = /PRIVATE KEY(?: BLOCK)?$/.test(text.slice(from, end));
  return isKey && text.startsWith("-----", end) ? end + 5 : 0;
}

// As a whole. The line that it begins with is none, whatever comes behind it.
function findPrivateKey(text: string, at: number): Span | undefined {
  const body = endOfKeyLine(text, at, "-----BEGIN ");
  if (body === 0) return undefined;
  const dashes = text.indexOf("-----", body);
  const end = dashes < 0 ? 0 : endOfKeyLine(text, dashes, "-----END ");
  if (end === 0) return undefined;
  let longest = 0;
  for (let from = body; from < dashes; ) {
    const runEnd = endOfRun(text, from, BASE64, dashes - from);
    longest = Math.max(longest, runEnd - from);
    from = runEnd + 1;
  }
  return longest < LEAST_BODY ? undefined : { begin: at, end };
}

// ---- what a name says of a value

const LONGEST_NAME = 64;
const LEAST_ASSIGNED = 20;

// "api_key = …", at the sign.
function findAssigned(text: string, at: number): Span | undefined {
  let end = at;
  while (end > 0 && at - end < 3 && isIn(BLANK, text, end - 1)) end--;
  let from = end;
  while (from > 0 && end - from < LONGEST_NAME && isIn(NAME, text, from - 1)) from--;
  if (from === end || !isKeyName(text.slice(from, end))) return undefined;
  let begin = at + 1;
  if (text[begin] === "=" || text[begin] === ">") begin++;
  const most = begin + 5;
  while (begin < most && isIn(BLANK, text, begin)) begin++;
  return keyAt(text, begin);
}

// The value of a field with such a name, if it is nothing else.
function findNamed(text: string, context: string): Span | undefined {
  if (context === "" || !isKeyName(context)) return undefined;
  const span = keyAt(text, 0);
  return span?.end === text.length ? span : undefined;
}

function isKeyName(name: string): boolean {
  const plain = smallOf(name).replace(/[_-]/g, "");
  return KEY_NAMES.some((ending) => plain.endsWith(ending));
}

function keyAt(text: string, begin: number): Span | undefined {
  let end = endOfRun(text, begin, ASSIGNED, LONGEST_RUN);
  if (end - begin < LEAST_ASSIGNED || isIn(ASSIGNED, text, end)) return undefined;
  for (let more = 0; more < 2 && text[end] === "="; more++) end++;
  while (text[end - 1] === ".") end--;
  const value = text.slice(begin, end);
  const isHex = value.length >= 32 && /^(?:[0-9a-f]+|[0-9A-F]+)$/.test(value);
  return isSecret(value, isHex ? undefined : true) ? { begin, end } : undefined;
}

// ---- cards

const AROUND = 48;

// In groups as on the card, or in one piece where a word says that it is one.
function findCard(text: string, at: number, context: string): Span | undefined {
  const isLong = text[at] !== "3" || (text[at + 1] !== "4" && text[at + 1] !== "7");
  const sizes = isLong ? [4, 4, 4, 4] : [4, 6, 5];
  const separator = " -".includes(text.charAt(at + 4)) ? text.charAt(at + 4) : "";
  let end = at;
  let digits = "";
  for (const [i, size] of sizes.entries()) {
    if (i > 0 && separator !== "" && text[end++] !== separator) return undefined;
    const groupEnd = endOfRun(text, end, DIGIT, size);
    if (groupEnd - end < size) return undefined;
    digits += text.slice(end, groupEnd);
    end = groupEnd;
  }
  if (isIn(NAME, text, end) || !BEGINNING.test(digits) || !hasCheckDigit(digits)) return undefined;
  if (isOfLonger(text, at, end, separator)) return undefined;
  const says = whatIsSaid(text, at, end, context);
  return says === "card" || (says === "nothing" && separator !== "")
    ? { begin: at, end }
    : undefined;
}

// Of the numbers that are given to cards.
const BEGINNING = /^(?:4|5[1-5]|2[2-7]|3[47]|6(?:011|4|5))/;

// "0.4111…", or another group of an IBAN.
function isOfLonger(text: string, at: number, end: number, separator: string): boolean {
  const before = text.charAt(at - 1);
  if (before === "." && isIn(DIGIT, text, at - 2)) return true;
  if (before === "+" && /e/i.test(text.charAt(at - 2))) return true;
  if (text[end] === "." && isIn(DIGIT, text, end + 1)) return true;
  if (separator === "") return false;
  if (before === separator && isIn(DIGIT, text, at - 2)) return true;
  const group = text[end] === separator ? endOfRun(text, end + 1, DIGIT, 4) - end - 1 : 0;
  return group === 4;
}

type Said = "card" | "other" | "nothing";

// By the nearest word that says it: before the number, by the field's name, then behind it.
function whatIsSaid(text: string, at: number, end: number, context: string): Said {
  let from = at;
  for (let count = 0; count < AROUND && from > 0; count++) {
    from--;
    const isHalf = (text.charCodeAt(from) & 0xfc00) === 0xdc00;
    if (isHalf && from > 0 && (text.charCodeAt(from - 1) & 0xfc00) === 0xd800) from--;
  }
  const before = saidBy(wordsOf(text.slice(from, at)).reverse());
  if (before !== "nothing") return before;
  const field = saidBy(wordsOf(context).reverse());
  return field === "nothing" ? saidBy(wordsOf(text.slice(end, end + AROUND / 2))) : field;
}

function saidBy(words: string[]): Said {
  for (const word of words) {
    if (OTHER_NUMBERS.includes(word)) return "other";
    if (CARD_WORDS.some((one) => (one < "\u0080" ? word.startsWith(one) : word.includes(one)))) {
      return "card";
    }
  }
  return "nothing";
}

// "cardNumber" is two.
const wordsOf = (text: string) =>
  text.match(/[A-Z]*[a-z\u0080-\uffff]+|[A-Z]+/g)?.map(smallOf) ?? [];
const smallOf = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

// Luhn's.
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = digit * 2 > 9 ? digit * 2 - 9 : digit * 2;
    sum += i % 2 === 0 ? digit : doubled;
  }
  return sum % 10 === 0;
}
