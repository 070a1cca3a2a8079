// What is done about secrets in what is stored. Nothing, unless an option says so. Only spans that
// are surely secret are masked, in texts: no number, no type and no name of a field changes.

import {
  checkChoice,
  checkEach,
  checkListener,
  checkOptions,
  checkText,
  type NamesOf,
  show,
} from "../checks.js";
import { invalid, KeepsakeError } from "../errors.js";
import type { StoreOperation } from "../wire/operations.js";
import { faultOfForm, SecretFinder } from "./secret-finder.js";

/** `allow` keeps a value as it is given, `mask` masks secrets in it, `refuse` is `secret_found`. */
export type SecretHandling = "mask" | "refuse" | "allow";

/** A kind of secrets of your own. */
export interface SecretPattern {
  /** `[name]` takes its place. */
  name: string;
  /**
   * Such as `acme_[A-Za-z0-9]{32,64}`: literal, but for characters in brackets and how many there
   * are. What stands in `<…>` is masked, else all of it.
   */
  forms: string[];
}

/** What was masked. */
export interface MaskedSecrets {
  /** The kind of each, such as `github token`. */
  masked: string[];
  /** Of the item, where a store masked it. */
  namespace?: string[];
  key?: string;
}

/** What is done about secrets, and which they are. */
export interface SecretOptions {
  mode: SecretHandling;
  /** Kinds beside those that are built in. */
  patterns?: SecretPattern[] | undefined;
  /** Names of kinds that are left alone, such as `card number`. */
  except?: string[] | undefined;
  /** Told of what was masked: by a store, once it is stored. */
  onMasked?: ((report: MaskedSecrets) => void) | undefined;
}

const HANDLINGS: Record<SecretHandling, 1> = { mask: 1, refuse: 1, allow: 1 };
const OPTIONS: NamesOf<SecretOptions> = { mode: 1, patterns: 1, except: 1, onMasked: 1 };
const PATTERN: NamesOf<SecretPattern> = { name: 1, forms: 1 };
const PATTERN_NAME = /^[\w .-]{1,64}$/;

/** A value, and the kind of each secret that was masked in it. */
export interface Masked<T> {
  value: T;
  masked: string[];
}

/**
 * A copy of a value as JSON has it, whose secrets are masked; the same value if it has none.
 * `secret_found` if the name of a field holds one, since no name is changed.
 */
export function maskSecrets<T>(value: T, options?: Omit<SecretOptions, "mode">): Masked<T> {
  const given = checkOptions("maskSecrets", OPTIONS, { mode: "mask", ...options } as SecretOptions);
  return (SecretGuard.of(given, "mask") as SecretGuard).value(value, "the value");
}

let usualFinder: SecretFinder | undefined;

/** Masks or refuses secrets, as an option says. @internal */
export class SecretGuard {
  readonly #refuses: boolean;
  readonly #finder: SecretFinder;
  readonly #onMasked: SecretOptions["onMasked"];

  private constructor({ mode, patterns, except, onMasked }: SecretOptions) {
    this.#refuses = mode === "refuse";
    this.#finder = finderOf(patterns, except);
    this.#onMasked = onMasked;
  }

  /** Undefined if secrets are allowed. */
  static of(
    given: SecretHandling | SecretOptions | undefined,
    usual: SecretHandling,
  ): SecretGuard | undefined {
    const options =
      typeof given === "object" && given !== null
        ? checkOptions("secrets", OPTIONS, given)
        : { mode: given ?? usual };
    checkChoice(typeof given === "object" ? "secrets.mode" : "secrets", HANDLINGS, options.mode);
    checkListener("secrets.onMasked", options.onMasked);
    const guard = new SecretGuard(options);
    return options.mode === "allow" ? undefined : guard;
  }

  /** What is told of it names no secret. */
  value<T>(value: T, what: string): Masked<T> {
    const { json, masked } = this.#json(JSON.stringify(value) ?? "null", what);
    if (masked.length === 0) return { value, masked };
    this.#onMasked?.({ masked });
    return { value: JSON.parse(json) as T, masked };
  }

  /** A text that is sent to somebody, and not stored: masked in both modes. */
  sent(text: string): string {
    const found = this.#finder.all(text, "");
    return found.length === 0 ? text : without(found, text);
  }

  /** In a name nothing can be masked. */
  name(name: string, what: string): void {
    const found = this.#finder.all(name, "");
    if (found.length > 0) throw refused(what, found, "a name can't be masked");
  }

  /** The names of an item: its labels and its key. */
  item(namespace: readonly string[], key: string): void {
    for (const label of namespace) this.name(label, "a label of the namespace");
    this.name(key, `a key in ${JSON.stringify(namespace)}`);
  }

  /** The puts of a batch. Answers what to tell when they are stored. */
  puts(operations: StoreOperation[]): () => void {
    const reports: MaskedSecrets[] = [];
    for (let position = 0; position < operations.length; position++) {
      const operation = operations[position] as StoreOperation;
      if (operation.kind !== "put" || operation.value === null) continue;
      const { namespace, key, supersedes, provenance } = operation;
      this.item(namespace, key);
      if (supersedes !== undefined) this.item(supersedes.namespace, supersedes.key);
      const { json, masked } = this.#json(operation.value, `the value of ${JSON.stringify(key)}`);
      const source =
        provenance &&
        this.#json(JSON.stringify(provenance.source), `the source of ${JSON.stringify(key)}`);
      if (source !== undefined) masked.push(...source.masked);
      if (masked.length === 0) continue;
      operations[position] = {
        ...operation,
        value: json,
        provenance: source && { ...provenance, source: JSON.parse(source.json) as string },
      };
      reports.push({ namespace: [...namespace], key, masked });
    }
    return () => {
      for (const report of reports) this.#onMasked?.(report);
    };
  }

  #json(json: string, what: string): { json: string; masked: string[] } {
    const masked: string[] = [];
    let kept = "";
    let done = 0;
    let field = "";
    for (const { begin, end, isName } of stringsIn(json)) {
      const raw = json.slice(begin, end);
      const text = raw.includes("\\") ? (JSON.parse(raw) as string) : raw.slice(1, -1);
      if (isName) {
        field = text;
        this.name(text, `the name of a field in ${what}`);
        continue;
      }
      const found = this.#finder.all(text, field);
      if (found.length === 0) continue;
      if (this.#refuses) throw refused(what, found, "leave it out");
      masked.push(...found.map(({ name }) => name));
      kept += json.slice(done, begin) + JSON.stringify(without(found, text));
      done = end;
    }
    return { json: kept + json.slice(done), masked };
  }
}

/** The same of what may be allowed. @internal */
export function guarded<T>(guard: SecretGuard | undefined, value: T, what: string): Masked<T> {
  return guard?.value(value, what) ?? { value, masked: [] };
}

/** What a model is told of it, behind its answer. @internal */
export function maskedNote(masked: readonly string[]): string {
  if (masked.length === 0) return "";
  return ` Masked, because it looks like a secret: ${[...new Set(masked)].join(", ")}.`;
}

function finderOf(
  patterns: SecretOptions["patterns"],
  except: SecretOptions["except"],
): SecretFinder {
  usualFinder ??= SecretFinder.usual();
  if (patterns === undefined && except === undefined) return usualFinder;
  const finder = SecretFinder.usual();
  checkEach("secrets.patterns", patterns ?? [], (given) => {
    const { name, forms } = checkOptions("a pattern of secrets", PATTERN, given);
    if (!PATTERN_NAME.test(checkText("name of a pattern", name))) {
      throw invalid(
        `name of a pattern must be 1 to 64 letters, digits, spaces, ".", "_" or "-": ${show(name)}`,
      );
    }
    checkEach(`forms of ${show(name)}`, forms, (form) => {
      const fault = faultOfForm(checkText("a form", form));
      if (fault !== undefined) throw invalid(`a form of ${show(name)} ${fault}: ${show(form)}`);
      finder.addForm(name, form);
    });
  });
  checkEach("secrets.except", except ?? [], (name) => {
    if (finder.names.includes(checkText("a kind", name))) return;
    throw invalid(`secrets.except has no kind ${show(name)}: it takes ${finder.names.join(", ")}`);
  });
  finder.without(except ?? []);
  return finder;
}

function refused(what: string, found: readonly { name: string }[], remedy: string): KeepsakeError {
  const kinds = [...new Set(found.map(({ name }) => name))].join(", ");
  return new KeepsakeError(
    "secret_found",
    `${what} holds a secret (${kinds}): ${remedy}, or allow it with secrets: "allow"`,
  );
}

function without(
  found: readonly { name: string; begin: number; end: number }[],
  text: string,
): string {
  let kept = "";
  let done = 0;
  for (const { name, begin, end } of found) {
    kept += `${text.slice(done, begin)}[${name}]`;
    done = end;
  }
  return kept + text.slice(done);
}

interface JsonString {
  /** With its quotes. */
  begin: number;
  end: number;
  /** Of a member. */
  isName: boolean;
}

function* stringsIn(json: string): Generator<JsonString> {
  for (let begin = json.indexOf('"'); begin >= 0; ) {
    let end = begin + 1;
    while (json[end] !== '"') end += json[end] === "\\" ? 2 : 1;
    end++;
    let after = end;
    while (json[after] === " ") after++;
    yield { begin, end, isName: json[after] === ":" };
    begin = json.indexOf('"', end);
  }
}
