// The names of a memory's objects. The newest record is listed first, so that one listing tells how
// far the log goes, and which base to begin from.
//
//   <memory>/log                        how the log is kept: the first object, and the last to go
//   <memory>/l/<left>                   a record; <left> is how many numbers are left after it
//   <memory>/cut                        the first record was deleted
//   <memory>/l/<left>-                  what was forgotten up to that record is in no object any more
//   <memory>/l/<left>.<id>              a base: the whole memory as it was after that record
//
// The id of a base is the second in which it was made (8 hexadecimal digits), 7 by chance, and what
// it is: 1 if it needs no other base; 2 if it is none before the record names it, as what replaces the
// memory; 0 with the number of the oldest base that it needs (13 digits). So a listing tells what may
// be deleted.
//
// Persistent: logs of earlier releases are read by these names.

const LARGEST = 9_999_999_999_999;
const DIGITS = 13;
const ENTRY = /^(\d{13})(?:\.([0-9a-f]{15}(?:[12]|0\d{13}))|(-))?$/;
const WHOLE = "1";
const IMAGE = "2";
const PART = "0";
const KIND_AT = 15;

/** A record, or with an id a base. @internal */
export interface LogName {
  readonly number: number;
  readonly id?: string | undefined;
  /** It says that what was forgotten up to this number is gone. */
  readonly isCleared?: boolean;
}

/** @internal */
export interface BaseName extends LogName {
  readonly id: string;
}

/** @internal */
export class LogNames {
  readonly #memory: string;

  /** `memory` is what all keys begin with. */
  constructor(memory: string) {
    this.#memory = memory;
  }

  get head(): string {
    return `${this.#memory}/log`;
  }

  /** It is there from when the first record is to be deleted. */
  get cut(): string {
    return `${this.#memory}/cut`;
  }

  /** What all records and bases begin with. */
  get entries(): string {
    return `${this.#memory}/l/`;
  }

  record(number: number): string {
    return this.entries + left(number);
  }

  cleared(number: number): string {
    return `${this.record(number)}-`;
  }

  base({ number, id }: BaseName): string {
    return `${this.record(number)}.${id}`;
  }

  /** Undefined of what is none of ours. */
  read(key: string): LogName | undefined {
    const found = ENTRY.exec(key.slice(this.entries.length));
    if (found === null || !key.startsWith(this.entries)) return undefined;
    const isCleared = found[3] !== undefined;
    return { number: LARGEST - Number(found[1]), id: found[2], isCleared };
  }
}

/** What the name of a base tells about it. @internal */
export type BaseKind =
  | { readonly is: "whole" | "image" }
  | { readonly is: "part"; readonly oldest: number };

/** @internal */
export function newBaseId(now: number, random: () => number, kind: BaseKind): string {
  const seconds = Math.floor(now / 1000);
  const chance = Math.floor(random() * 2 ** 28);
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
  return `${hex(seconds, 8)}${hex(chance, 7)}${codeOf(kind)}`;
}

function codeOf(kind: BaseKind): string {
  if (kind.is === "part") return PART + String(kind.oldest).padStart(DIGITS, "0");
  return kind.is === "image" ? IMAGE : WHOLE;
}

/** @internal */
export function isBaseId(id: unknown): id is string {
  return typeof id === "string" && ENTRY.exec(`${left(0)}.${id}`)?.[2] === id;
}

/** @internal */
export interface BaseId {
  /** When it was made, by its writer's clock. */
  readonly at: number;
  /** It needs no other. */
  readonly isWhole: boolean;
  /** A record names it. */
  readonly isImage: boolean;
  /** The number of the oldest base that it needs, if not itself. */
  readonly oldest: number | undefined;
}

/** @internal */
export function readBaseId(id: string): BaseId {
  const kind = id[KIND_AT];
  return {
    at: Number.parseInt(id.slice(0, 8), 16) * 1000,
    isWhole: kind !== PART,
    isImage: kind === IMAGE,
    oldest: kind === PART ? Number(id.slice(KIND_AT + 1)) : undefined,
  };
}

function left(number: number): string {
  return String(LARGEST - number).padStart(DIGITS, "0");
}

/** A memory's name as a key may have it: what is not a letter, a digit, `-` or `_` is escaped. @internal */
export function plainName(name: string): string {
  const bytes = new TextEncoder().encode(name);
  return Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9_-]/.test(character) ? character : `.${byte.toString(16).padStart(2, "0")}`;
  }).join("");
}
