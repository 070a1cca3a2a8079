// Which paths a glob pattern means, and which directories can hold them. A pattern becomes a
// machine that is in several states at once, so that no pattern and no name takes longer than
// the product of their lengths.

import { checkText } from "../checks.js";
import { invalid } from "../errors.js";

export interface Glob {
  matches(path: string): boolean;
  /** The names that every match begins with. */
  base: string[];
  /** How many names a match has below `base` at most. */
  depth: number;
  /** The last name of every match, if the pattern says it in full. */
  name: string | undefined;
}

type Test = (sign: string) => boolean;
type Part =
  | { kind: "sign"; sign: string }
  | { kind: "one"; test: Test }
  | { kind: "star" }
  /** Any number of names, each with a "/" behind it. */
  | { kind: "names" }
  /** Whatever is left; with `isBehind`, nothing or a "/" and the rest. */
  | { kind: "rest"; isBehind: boolean }
  | { kind: "group"; choices: Part[][]; least: 0 | 1; isRepeated: boolean };

/** A step of the machine: a sign to read, or two places to go on at. */
type Step = { test: Test } | { to: [number, number] };

const LONGEST = 1000;
const PLAIN_NAME = /^[\w. -]+$/;
const DEEP = Number.POSITIVE_INFINITY;
const isAny: Test = () => true;
const isOfName: Test = (sign) => sign !== "/";
const REPEATS = {
  "@": { least: 1, isRepeated: false },
  "?": { least: 0, isRepeated: false },
  "*": { least: 0, isRepeated: true },
  "+": { least: 1, isRepeated: true },
} as const;

export function globOf(pattern: string): Glob {
  if (checkText("a pattern", pattern) === "") {
    throw invalid('a pattern must not be empty: give one such as "**/*.md"');
  }
  if (pattern.length > LONGEST) {
    throw invalid(`a pattern must not be longer than ${LONGEST} characters: ${pattern.length}`);
  }
  const isNegated = pattern.startsWith("!") && pattern[1] !== "(";
  const positive = (isNegated ? pattern.slice(1) : pattern).replace(/^(\.\/)+/, "");
  const parts = new Parser(positive).parts();
  const machine = new Machine(parts);
  const matches = (path: string) => path === pattern || machine.accepts(path) !== isNegated;
  if (isNegated) return { matches, base: [], depth: DEEP, name: undefined };
  const last = positive.slice(positive.lastIndexOf("/") + 1);
  const name = PLAIN_NAME.test(last) ? last : undefined;
  const special = parts.findIndex(({ kind }) => kind !== "sign");
  const plain = signsOf(special < 0 ? parts : parts.slice(0, special));
  const base = plain.split("/").slice(0, -1).filter(Boolean);
  const left = special < 0 ? [] : parts.slice(special);
  const isDeep = left.some(({ kind }) => kind !== "sign" && kind !== "one" && kind !== "star");
  return { matches, base, depth: isDeep ? DEEP : signsOf(left).split("/").length, name };
}

function signsOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.kind === "sign" ? part.sign : "")).join("");
}

/** pattern = { "**" | "*" | "?" | "[a-z]" | "{a,b}" | [ "@" | "?" | "*" | "+" ] "(a|b)" | "\" sign | sign } */
class Parser {
  readonly #signs: string[];
  #at = 0;

  constructor(pattern: string) {
    this.#signs = [...pattern];
  }

  parts(): Part[] {
    return this.#sequence("", true);
  }

  // Until one of `ends`, or to the end. `isFirst`: what comes here begins a name.
  #sequence(ends: string, isFirst: boolean): Part[] {
    const parts: Part[] = [];
    while (this.#at < this.#signs.length && !ends.includes(this.#sign() || " ")) {
      const before = parts.at(-1);
      const begins = before === undefined ? isFirst : isSlash(before) || before.kind === "names";
      this.#one(parts, ends, begins);
    }
    return parts;
  }

  #one(parts: Part[], ends: string, begins: boolean): void {
    const sign = this.#sign();
    const repeat = REPEATS[sign as keyof typeof REPEATS];
    if (repeat !== undefined && this.#sign(1) === "(" && this.#group(parts, 2, "|", ")", repeat)) {
      return;
    }
    if (sign === "!" && this.#sign(1) === "(" && this.#closing(2, "(", ")") > 0) {
      throw invalid(
        'a pattern must not have "!(…)": begin it with "!" to mean all that it does not match',
      );
    }
    if (sign === "(" && this.#group(parts, 1, "|", ")", REPEATS["@"])) return;
    if (sign === "{" && this.#braces(parts, begins)) return;
    if (sign === "[" && this.#set(parts)) return;
    if (sign === "*") {
      this.#stars(parts, ends, begins);
      return;
    }
    this.#at++;
    if (sign === "?") parts.push({ kind: "one", test: isOfName });
    else if (sign !== "\\" || this.#at === this.#signs.length) parts.push({ kind: "sign", sign });
    else parts.push({ kind: "sign", sign: this.#signs[this.#at++] as string });
  }

  #stars(parts: Part[], ends: string, begins: boolean): void {
    let count = 0;
    while (this.#sign() === "*" && !(count > 0 && this.#sign(1) === "(")) {
      this.#at++;
      count++;
    }
    const isWhole = count > 1 && begins;
    // Twice is as once.
    while (isWhole && /^\/\*\*(\/|$)/.test(this.#signs.slice(this.#at, this.#at + 4).join(""))) {
      this.#at += 3;
    }
    const isEnd = this.#at === this.#signs.length || ends.includes(this.#sign());
    if (!isWhole || !(isEnd || this.#sign() === "/")) {
      parts.push({ kind: "star" });
    } else if (isEnd) {
      // "a/**" means "a", too; "*/**" only what lies in something.
      const isBehind = isSlash(parts.at(-1)) && !isOpen(parts.at(-2));
      if (isBehind) parts.pop();
      parts.push({ kind: "rest", isBehind });
    } else {
      this.#at++;
      parts.push({ kind: "names" });
    }
  }

  #braces(parts: Part[], begins: boolean): boolean {
    const end = this.#closing(1, "{", "}");
    if (end < 0) return false;
    const inside = this.#signs.slice(this.#at + 1, end).join("");
    const range = /^(.)\.\.(.)$/u.exec(inside);
    if (range !== null) {
      const [low = "", high = ""] = range.slice(1).sort();
      parts.push({ kind: "one", test: (sign) => sign >= low && sign <= high });
      this.#at = end + 1;
      return true;
    }
    if (/^-?\w+\.\.-?\w+(\.\.-?\d+)?$/.test(inside)) {
      throw invalid(
        `a pattern must not have the range {${inside}}: name what it means, as {1,2,3}`,
      );
    }
    if (!this.#isDivided(end)) return false;
    return this.#group(parts, 1, ",", "}", REPEATS["@"], begins);
  }

  // Whether a comma stands between the braces, and in no inner ones.
  #isDivided(end: number): boolean {
    let depth = 0;
    for (let at = this.#at + 1; at < end; at++) {
      const sign = this.#signs[at];
      if (sign === "\\") at++;
      else if (sign === "{") depth++;
      else if (sign === "}") depth--;
      else if (sign === "," && depth === 0) return true;
    }
    return false;
  }

  #group(
    parts: Part[],
    opening: number,
    divider: string,
    closing: string,
    repeat: { least: 0 | 1; isRepeated: boolean },
    begins = false,
  ): boolean {
    if (this.#closing(opening, closing === "}" ? "{" : "(", closing) < 0) return false;
    this.#at += opening;
    const choices: Part[][] = [];
    do {
      choices.push(this.#sequence(divider + closing, begins));
    } while (this.#signs[this.#at++] === divider);
    parts.push({ kind: "group", choices, ...repeat });
    return true;
  }

  // A set, or what it is letter by letter: "[id]" is a common name.
  #set(parts: Part[]): boolean {
    const isNegated = this.#sign(1) === "!" || this.#sign(1) === "^";
    let at = this.#at + (isNegated ? 2 : 1);
    const ranges: [string, string][] = [];
    for (const first = at; at < this.#signs.length; at++) {
      if (this.#signs[at] === "]" && at > first) break;
      if (this.#signs[at] === "\\") at++;
      const low = this.#signs[at] ?? "";
      const isRange = this.#signs[at + 1] === "-" && (this.#signs[at + 2] ?? "]") !== "]";
      if (isRange) at += 2;
      ranges.push([low, this.#signs[at] ?? ""]);
    }
    if (at >= this.#signs.length) return false;
    const isIn: Test = (sign) => ranges.some(([low, high]) => sign >= low && sign <= high);
    const set: Part = { kind: "one", test: (sign) => sign !== "/" && isIn(sign) !== isNegated };
    const written = this.#signs.slice(this.#at, at + 1);
    const signs = written.map((sign): Part => ({ kind: "sign", sign }));
    parts.push({ kind: "group", choices: [[set], signs], least: 1, isRepeated: false });
    this.#at = at + 1;
    return true;
  }

  // Where the bracket is closed whose inside begins `from` here; −1 if it is not.
  #closing(from: number, opening: string, closing: string): number {
    let depth = 1;
    for (let at = this.#at + from; at < this.#signs.length; at++) {
      const sign = this.#signs[at];
      if (sign === "\\") at++;
      else if (sign === opening) depth++;
      else if (sign === closing && --depth === 0) return at;
    }
    return -1;
  }

  #sign(ahead = 0): string {
    return this.#signs[this.#at + ahead] ?? "";
  }
}

function isOpen(part: Part | undefined): boolean {
  return part === undefined || part.kind === "star" || part.kind === "names";
}

function isSlash(part: Part | undefined): boolean {
  return part?.kind === "sign" && part.sign === "/";
}

/** Reads a path sign by sign, in all states that it may be in. */
class Machine {
  readonly #steps: Step[] = [];

  constructor(parts: readonly Part[]) {
    this.#add(parts);
  }

  accepts(path: string): boolean {
    let states = this.#reached([0]);
    for (const sign of path) {
      const after: number[] = [];
      for (const at of states) {
        const step = this.#steps[at];
        if (step !== undefined && "test" in step && step.test(sign)) after.push(at + 1);
      }
      if (after.length === 0) return false;
      states = this.#reached(after);
    }
    return states.has(this.#steps.length);
  }

  // With where it may go on without a sign.
  #reached(from: readonly number[]): Set<number> {
    const states = new Set<number>();
    const open = [...from];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (states.has(at)) continue;
      states.add(at);
      const step = this.#steps[at];
      if (step !== undefined && "to" in step) open.push(...step.to);
    }
    return states;
  }

  #add(parts: readonly Part[]): void {
    for (const part of parts) this.#addOne(part);
  }

  #addOne(part: Part): void {
    switch (part.kind) {
      case "sign":
        this.#steps.push({ test: (sign) => sign === part.sign });
        break;
      case "one":
        this.#steps.push({ test: part.test });
        break;
      case "star":
        this.#loop(isOfName);
        break;
      case "names":
        this.#choose([() => this.#loop(isAny, "/"), () => {}]);
        break;
      case "rest":
        if (part.isBehind) this.#choose([() => this.#tail(), () => {}]);
        else this.#loop(isAny);
        break;
      case "group":
        this.#addGroup(part);
    }
  }

  #tail(): void {
    this.#steps.push({ test: (sign) => sign === "/" });
    this.#loop(isAny);
  }

  // Any number of such signs, and then `end`.
  #loop(test: Test, end?: string): void {
    const at = this.#steps.length;
    this.#steps.push({ to: [at + 1, at + 3] }, { test }, { to: [at, at] });
    if (end !== undefined) this.#steps.push({ test: (sign) => sign === end });
  }

  #addGroup({ choices, least, isRepeated }: Extract<Part, { kind: "group" }>): void {
    const begin = this.#steps.length;
    const entry = { to: [begin + 1, begin + 1] as [number, number] };
    this.#steps.push(entry);
    this.#choose(choices.map((choice) => () => this.#add(choice)));
    const end = this.#steps.length;
    if (isRepeated) this.#steps.push({ to: [begin + 1, end + 1] });
    if (least === 0) entry.to[1] = this.#steps.length;
  }

  // One of them: each but the last begins with a way to the next, and ends with one to the end.
  #choose(choices: readonly (() => void)[]): void {
    const exits: { to: [number, number] }[] = [];
    for (const [i, add] of choices.entries()) {
      const isLast = i === choices.length - 1;
      const entry = { to: [this.#steps.length + 1, 0] as [number, number] };
      if (!isLast) this.#steps.push(entry);
      add();
      if (isLast) break;
      const exit = { to: [0, 0] as [number, number] };
      exits.push(exit);
      this.#steps.push(exit);
      entry.to[1] = this.#steps.length;
    }
    for (const exit of exits) exit.to = [this.#steps.length, this.#steps.length];
  }
}
