// The text that LangGraph's own serialiser makes of a value, without a call for each of
// its members: plain data by the native function, and a message by the names that the
// first one with the same fields showed. Whatever else is left to the serialiser.

import {
  DEEPEST,
  fieldOf,
  isMessage,
  isPlainList,
  isPlainObject,
  type Members,
  MOST_SHARED,
} from "./messages.js";

// Of an object with one of these, more than its members decides.
const TELLING = new Set(["lc", "lc_serializable", "__lc_escaped__", "__proto__", "lg_name"]);

enum Kind {
  Plain, // the native function gives the right text
  Mixed, // plain, but for messages
  Unknown,
}

/** The text; undefined if only the serialiser knows it. @internal */
export function textOf(value: unknown): string | undefined {
  switch (kindOf(value, DEEPEST)) {
    case Kind.Plain:
      return JSON.stringify(value);
    case Kind.Mixed:
      return textOfMixed(value as object);
    default:
      return undefined;
  }
}

function kindOf(value: unknown, depth: number): Kind {
  if (typeof value !== "object" || value === null) {
    const isPlain =
      typeof value === "string" ||
      typeof value === "number" ||
      typeof value === "boolean" ||
      value === null;
    return isPlain ? Kind.Plain : Kind.Unknown;
  }
  if (depth === 0) return Kind.Unknown;
  if (isPlainList(value)) return kindOfList(value, depth - 1);
  if (isPlainObject(value)) return kindOfObject(value, depth - 1);
  return isMessage(value) ? Kind.Mixed : Kind.Unknown;
}

function kindOfList(list: unknown[], depth: number): Kind {
  let kind = Kind.Plain;
  for (let i = 0; i < list.length; i++) {
    kind = Math.max(kind, kindOf(list[i], depth));
    if (kind === Kind.Unknown) break;
  }
  return kind;
}

function kindOfObject(value: Members, depth: number): Kind {
  let kind = Kind.Plain;
  for (const key of Object.keys(value)) {
    kind = TELLING.has(key) ? Kind.Unknown : Math.max(kind, kindOf(value[key], depth));
    if (kind === Kind.Unknown) break;
  }
  return kind;
}

function textOfMixed(value: object): string | undefined {
  if (isMessage(value)) return textOfMessage(value);
  if (Array.isArray(value)) {
    const texts = value.map(textOf);
    return texts.includes(undefined) ? undefined : `[${texts.join()}]`;
  }
  const texts = Object.keys(value).map((key) => {
    const text = textOf((value as Members)[key]);
    return text && `${JSON.stringify(key)}:${text}`;
  });
  return texts.includes(undefined) ? undefined : `{${texts.join()}}`;
}

/** How messages of a class and with some fields are written. */
interface Template {
  readonly start: string;
  /** `"name":` of each field, in their order. */
  readonly names: readonly string[];
}

// By class, and by the names of fields; undefined if they are not written one by one.
const templates = new Map<unknown, Map<string, Template | undefined>>();
const MOST_TEMPLATES = 200;

function textOfMessage(message: Members): string | undefined {
  const names = Object.keys(message.lc_kwargs as Members);
  const texts: string[] = [];
  for (const name of names) {
    const value = fieldOf(message, name);
    if (kindOf(value, DEEPEST) !== Kind.Plain) return undefined;
    texts.push(JSON.stringify(value));
  }
  const template = templateOf(message, names, texts);
  return template && fill(template, texts);
}

function fill({ start, names }: Template, texts: readonly string[]): string {
  let text = start;
  for (let i = 0; i < texts.length; i++) text += `${i > 0 ? "," : ""}${names[i]}${texts[i]}`;
  return `${text}}}`;
}

function templateOf(
  message: Members,
  names: readonly string[],
  texts: readonly string[],
): Template | undefined {
  if (names.length > MOST_SHARED) return undefined;
  const known = templates.get(message.constructor) ?? new Map<string, Template | undefined>();
  templates.set(message.constructor, known);
  const key = JSON.stringify(names);
  if (known.has(key)) return known.get(key);
  const template = makeTemplate(message);
  const isRight = fill(template, texts) === JSON.stringify(message);
  if (known.size >= MOST_TEMPLATES) known.clear();
  known.set(key, isRight ? template : undefined);
  return known.get(key);
}

function makeTemplate(message: Members): Template {
  const { kwargs, ...rest } = (message as unknown as { toJSON(): Members }).toJSON();
  return {
    start: `${JSON.stringify(rest).slice(0, -1)},"kwargs":{`,
    names: Object.keys(kwargs as Members).map((name) => `${JSON.stringify(name)}:`),
  };
}
