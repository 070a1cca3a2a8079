// Secrets in values: found by the form that their makers give them, before anything is
// embedded or stored.

import { checkChoice } from "../checks.js";
import { KeepsakeError } from "../errors.js";
import type { StoreOperation } from "../wire/operations.js";

/** What happens to a put whose value holds a secret. */
export type SecretHandling = "mask" | "refuse" | "allow";

/** What `put()` resolves to if it masked something; else it resolves to undefined. */
export interface MaskedSecrets {
  /** The kind of each, such as `github token`. */
  masked: string[];
}

const HANDLINGS: Record<SecretHandling, 1> = { mask: 1, refuse: 1, allow: 1 };

interface Kind {
  name: string;
  /** One of these is part of each. */
  signs: string[];
  form: RegExp;
  /** Where one ends whose form is only its beginning, which is up to here. */
  endOf?: (text: string, at: number) => number;
  /** The first group stands before the secret and stays, the second one is it. */
  isBehind?: boolean;
  isSecret?: (match: string) => boolean;
}

// Not within a longer word: "task-…" holds no "sk-…". The letter of an escape is none of a word,
// be it before the form ("\\nsk-…") or its first one, where there is no form ("\\npm_…").
const START = String.raw`(?:(?<![A-Za-z0-9_-])(?<!(?<!\\)(?:\\\\)*\\)|(?<=\\[nrt]))`;
const form = (text: string) => new RegExp(START + text, "g");
// Of what people or style sheets write with dashes, nothing looks so.
const isMixed = (text: string) => /\d/.test(text) && /[A-Z]/.test(text) && /[a-z]/.test(text);

const KEY_LINE = "[A-Z ]*PRIVATE KEY(?: BLOCK)?-----";
// Of the lines behind the first: so much at a time, since each step takes stack.
const KEY_BODY = new RegExp(String.raw`(?:[^"\\-]+|\\.|-(?!----END ${KEY_LINE})){1,1000}`, "y");
const KEY_END = new RegExp(`-----END ${KEY_LINE}`, "y");

// Or the end of the text, if it has none.
function endOfKey(text: string, at: number): number {
  let end = at;
  for (KEY_BODY.lastIndex = at; KEY_BODY.test(text); ) end = KEY_BODY.lastIndex;
  KEY_END.lastIndex = end;
  return KEY_END.test(text) ? KEY_END.lastIndex : end;
}

const KINDS: readonly Kind[] = [
  {
    name: "private key",
    signs: ["PRIVATE KEY"],
    form: new RegExp(`-----BEGIN ${KEY_LINE}`, "g"),
    endOf: endOfKey,
  },
  {
    name: "anthropic key",
    signs: ["sk-ant-"],
    form: form("sk-ant-[\\w-]{20,}"),
    isSecret: isMixed,
  },
  { name: "openai key", signs: ["sk-"], form: form("sk-[\\w-]{20,}"), isSecret: isMixed },
  { name: "aws key", signs: ["AKIA", "ASIA"], form: form("A[KS]IA[0-9A-Z]{16}(?![0-9A-Za-z])") },
  {
    name: "github token",
    signs: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
    form: form("(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\\w{50,})"),
  },
  { name: "gitlab token", signs: ["glpat-"], form: form("glpat-[\\w-]{20,}") },
  {
    name: "google key",
    signs: ["AIza", "ya29.", "GOCSPX-"],
    form: form("(?:AIza[\\w-]{35,}|ya29\\.[\\w-]{30,}|GOCSPX-[\\w-]{24,})"),
    isSecret: isMixed,
  },
  {
    name: "slack token",
    signs: ["xox"],
    form: form("xox[abeoprs]-[A-Za-z0-9-]{20,}"),
    isSecret: (text) => /\d/.test(text),
  },
  {
    name: "stripe key",
    signs: ["_live_", "_test_", "whsec_"],
    form: form("(?:(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
  },
  { name: "sendgrid key", signs: ["SG."], form: form("SG\\.[\\w-]{16,}\\.[\\w-]{32,}") },
  { name: "npm token", signs: ["npm_"], form: form("npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])") },
  { name: "pypi token", signs: ["pypi-"], form: form("pypi-[\\w-]{50,}") },
  {
    name: "hugging face token",
    signs: ["hf_"],
    form: form("hf_[A-Za-z0-9]{30,}"),
    isSecret: isMixed,
  },
  { name: "digitalocean token", signs: ["_v1_"], form: form("do[opr]_v1_[0-9a-f]{64}\\w*") },
  { name: "telegram token", signs: [":AA"], form: form("\\d{8,10}:AA[\\w-]{33}(?![\\w-])") },
  {
    name: "json web token",
    signs: ["eyJ"],
    form: form("eyJ[\\w-]{10,}\\.eyJ[\\w-]{10,}\\.[\\w-]{16,}"),
  },
  {
    name: "bearer token",
    signs: ["earer "],
    form: form("([Bb]earer )([\\w.~+/-]{20,}=*)"),
    isBehind: true,
    isSecret: isMixed,
  },
  {
    name: "password in a url",
    signs: ["://"],
    form: /(:\/\/[^\s"@/:?#]+:)([^\s"@/?#\\]+)@[\w.-]/g,
    isBehind: true,
  },
];

// Digits in fours, as on the card, or in one piece.
const CARD: Kind = {
  name: "card number",
  signs: [],
  form: form(
    String.raw`(?<!\d(?:[.]|[eE][+]))(?:[2-6]\d{3}([ -]?)\d{4}\1\d{4}\1\d{4}|3[47]\d{2}([ -]?)\d{6}\2\d{5})(?![\w-]|\.\d)`,
  ),
  isSecret: (text) => BEGINNING.test(text) && hasCheckDigit(text.replace(/\D/g, "")),
};
// Most values hold none of these, and one look is enough for them.
const SIGNS = new RegExp(
  KINDS.flatMap(({ signs }) => signs)
    .map((sign) => sign.replace(".", "\\."))
    .join("|"),
);
const DIGITS = /\d{4}[ -]?\d{4,6}[ -]?\d{4}/;
// Of the numbers that are given to cards.
const BEGINNING = /^(?:4|5[1-5]|2[2-7]|3[47]|6(?:011|4|5))/;

/** @internal */
export function checkSecretHandling(
  handling: SecretHandling | undefined,
  usual: SecretHandling,
): SecretHandling {
  return handling === undefined ? usual : checkChoice("secrets", HANDLINGS, handling);
}

/** A value, and the kind of each secret that was masked in it. @internal */
export interface Guarded<T> extends MaskedSecrets {
  value: T;
}

/** What a model is about to store, with its secrets masked or refused. @internal */
export function guarded<T>(value: T, handling: SecretHandling, what: string): Guarded<T> {
  if (handling === "allow") return { value, masked: [] };
  const { text, masked } = maskSecrets(JSON.stringify(value));
  if (masked.length === 0) return { value, masked };
  if (handling === "refuse") throw refused(what, masked);
  return { value: JSON.parse(text) as T, masked };
}

/** The same for a name, in which nothing can be masked. @internal */
export function guardName(name: string, handling: SecretHandling, what: string): void {
  if (handling !== "allow") guarded(name, "refuse", what);
}

/** What a model is told of it, behind its answer. @internal */
export function maskedNote(masked: readonly string[]): string {
  if (masked.length === 0) return "";
  return ` Masked, because it looks like a secret: ${[...new Set(masked)].join(", ")}.`;
}

/**
 * Masks or refuses secrets in the values of puts. Answers what was masked, by the position of
 * the operation; undefined for nothing. @internal
 */
export function guardSecrets(
  operations: StoreOperation[],
  handling: SecretHandling,
): Map<number, MaskedSecrets> | undefined {
  if (handling === "allow") return undefined;
  let reports: Map<number, MaskedSecrets> | undefined;
  for (let position = 0; position < operations.length; position++) {
    const operation = operations[position] as StoreOperation;
    if (operation.kind !== "put" || operation.value === null) continue;
    const { text, masked } = maskSecrets(operation.value);
    if (masked.length === 0) continue;
    if (handling === "refuse")
      throw refused(`the value of ${JSON.stringify(operation.key)}`, masked);
    operations[position] = { ...operation, value: text };
    reports ??= new Map();
    reports.set(position, { masked });
  }
  return reports;
}

function refused(what: string, kinds: string[]): KeepsakeError {
  return new KeepsakeError(
    "secret_found",
    `${what} holds a secret (${[...new Set(kinds)].join(", ")}): leave it out, or allow it with secrets: "allow"`,
  );
}

/** Of a JSON text. A secret never reaches over the end of a string. @internal */
export function maskSecrets(json: string): { text: string; masked: string[] } {
  const masked: string[] = [];
  let text = json;
  for (const kind of SIGNS.test(json) ? KINDS : []) {
    if (kind.signs.some((sign) => text.includes(sign))) text = without(kind, text, masked);
  }
  if (DIGITS.test(text)) text = without(CARD, text, masked);
  return { text, masked };
}

function without(kind: Kind, text: string, masked: string[]): string {
  const { name, form, endOf, isBehind, isSecret } = kind;
  const isInString = stringTracker(text);
  let kept = "";
  let done = 0;
  form.lastIndex = 0;
  for (let match = form.exec(text); match !== null; match = form.exec(text)) {
    const [whole, before, behind] = match as unknown as [string, string, string];
    const secret = isBehind ? behind : whole;
    if (isSecret?.(secret) === false) continue;
    masked.push(name);
    const begin = match.index + (isBehind ? before.length : 0);
    kept += text.slice(done, begin) + (isInString(match.index) ? `[${name}]` : `"[${name}]"`);
    done = endOf?.(text, form.lastIndex) ?? begin + secret.length;
    form.lastIndex = Math.max(form.lastIndex, done);
  }
  return kept + text.slice(done);
}

// A number of JSON may be a card's, too. Each place is behind the last one, so that a text with
// many is read once.
function stringTracker(json: string): (place: number) => boolean {
  let isInside = false;
  let at = 0;
  return (place) => {
    for (; at < place; at++) {
      if (json[at] === "\\") at++;
      else if (json[at] === '"') isInside = !isInside;
    }
    return isInside;
  };
}

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
