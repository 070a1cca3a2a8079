// Arguments of commands: words by their place, and options by their names.

import { parseArgs } from "node:util";
import { nearest } from "../checks.js";
import { invalid, messageOf } from "../errors.js";
import { encodeLabel } from "../scope/labels.js";

/** An option of a command. @internal */
export interface Option {
  type: "string" | "boolean";
  /** Of what it takes: "N". */
  takes?: string;
  multiple?: true;
  says: string;
}

/** What a command is given. @internal */
export class Arguments {
  readonly words: readonly string[];
  readonly #values: Record<string, unknown>;

  constructor(words: readonly string[], values: Record<string, unknown>) {
    this.words = words;
    this.#values = values;
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  text(name: string): string | undefined {
    return this.#values[name] as string | undefined;
  }

  texts(name: string): string[] | undefined {
    return this.#values[name] as string[] | undefined;
  }

  number(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const number = Number(text);
    if (text.trim() !== "" && Number.isFinite(number) && number >= 0) return number;
    throw invalid(`--${name} takes a number: ${JSON.stringify(text)}`);
  }

  json(name: string): Record<string, unknown> | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    return parsed(`--${name}`, text, '{"kind":"fact"}') as Record<string, unknown>;
  }
}

/** What a command takes. */
interface Wanted {
  options: Record<string, Option>;
  words: readonly string[];
  isMany?: true;
}

/** The last word may be several: `QUERY…`, which are one text unless `isMany` says more. @internal */
export function parse(given: string[], { options, words, isMany }: Wanted): Arguments {
  checkNames(given, Object.keys(options));
  const { positionals, values } = withNamedErrors(() =>
    parseArgs({
      args: given,
      options: Object.fromEntries(
        Object.entries(options).map(([name, { type, multiple = false }]) => [
          name,
          { type, multiple },
        ]),
      ),
      allowPositionals: true,
    }),
  );
  const least = words.filter((word) => !word.startsWith("[")).length;
  if (positionals.length < least) {
    throw invalid(missing(words.slice(positionals.length, least)));
  }
  if (isMany) return new Arguments(positionals, values);
  if (words.at(-1)?.endsWith("…")) {
    const last = words.length - 1;
    const joined = positionals.slice(last).join(" ");
    return new Arguments([...positionals.slice(0, last), joined], values);
  }
  if (positionals.length > words.length) {
    throw invalid(`there is a word too many: ${JSON.stringify(positionals[words.length])}`);
  }
  return new Arguments(positionals, values);
}

function missing(words: readonly string[]): string {
  const names = words.map((word) => word.replace("…", ""));
  const last = names.at(-1);
  return names.length === 1
    ? `${last} is missing`
    : `${names.slice(0, -1).join(", ")} and ${last} are missing`;
}

/** What was meant, or else all that there is, each with `sign` before it. @internal */
export function remedyFor(name: string, known: readonly string[], sign = ""): string {
  const meant = nearest(name, known);
  if (meant !== undefined) return `did you mean "${sign}${meant}"?`;
  return `there is ${known.map((each) => `${sign}${each}`).join(", ")}`;
}

// `parseArgs()` does not say what was meant.
function checkNames(given: readonly string[], known: readonly string[]): void {
  const end = given.indexOf("--");
  for (const word of end < 0 ? given : given.slice(0, end)) {
    const name = /^--([^=]+)/.exec(word)?.[1];
    if (name === undefined || known.includes(name)) continue;
    throw invalid(`unknown option "--${name}": ${remedyFor(name, known, "--")}`);
  }
}

function withNamedErrors<T>(body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw invalid(messageOf(error));
  }
}

/** @internal */
export function parsed(name: string, text: string, example: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(`${name} takes JSON, such as '${example}': ${text}`);
  }
}

/**
 * `users/ada`, as `ls` prints it with a slash at its end, or `["a/b"]` where a label has one;
 * "" is everything. What no label has is written as `encodeLabel()` does, so that an e-mail
 * address may be typed. @internal
 */
export function namespaceOf(text: string | undefined): string[] {
  const plain = text?.replace(/^\/|\/$/g, "");
  if (plain === undefined || plain === "") return [];
  if (!plain.startsWith("[")) return plain.replace(/[.:]/g, encodeLabel).split("/");
  const labels = parsed("a namespace", plain, '["users","ada"]');
  if (Array.isArray(labels) && labels.every((label) => typeof label === "string")) return labels;
  throw invalid(`a namespace is users/ada or ["users","ada"]: ${text}`);
}
