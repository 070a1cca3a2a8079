// What layout.txt can't say, by hand: values that are not what travels, and what readers share.

import type { Reader } from "./reader.js";
import { STATUS_CODES, type StatusCode } from "./status.js";
import type { Writer } from "./writer.js";

export type { StatusCode };

export function nothing(): undefined {
  return undefined;
}

/** That of these names which has the number. */
export function readName<Name extends string>(reader: Reader, names: Record<Name, number>): Name {
  const number = reader.u8();
  for (const name in names) if (names[name] === number) return name;
  throw new RangeError(`no such name: ${number}`);
}

export function readStatusCode(reader: Reader): StatusCode {
  return STATUS_CODES[reader.u16()] ?? "internal";
}

export interface Blob {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** What the bytes are in UTF-8, if that is known: it is encoded where it goes. */
  readonly text?: string;
}

export function writeBlob(writer: Writer, blob: Blob): void {
  writer.text(blob.type);
  if (blob.text === undefined) writer.bytes(blob.bytes);
  else writer.text(blob.text);
}

export function readBlob(reader: Reader): Blob {
  return { type: reader.text(), bytes: reader.sharedBytes() };
}

/** A blob that begins as another one does. Its bytes are made each time they are asked for. */
export class JoinedBlob implements Blob {
  /** `start` is a view of the other one. */
  constructor(
    readonly type: string,
    readonly start: Uint8Array,
    readonly rest: Uint8Array,
  ) {}

  get bytes(): Uint8Array {
    const { start, rest } = this;
    const bytes = new Uint8Array(start.length + rest.length);
    bytes.set(start);
    bytes.set(rest, start.length);
    return bytes;
  }
}

/** How many bytes a blob has, without making them. */
export function sizeOf(blob: Blob): number {
  return blob instanceof JoinedBlob ? blob.start.length + blob.rest.length : blob.bytes.length;
}

interface Listed {
  readonly channel: string;
  readonly version: string;
  readonly type: string;
  readonly shared: number;
  readonly whole: number;
  readonly rest: Uint8Array;
}

/** The tuples of a list, whose values that begin alike share bytes. */
export function joined<Tuple extends { readonly values: readonly Listed[] }>(tuples: Tuple[]) {
  const wholes: Uint8Array[] = [];
  const join = ({ channel, version, type, shared, whole, rest }: Listed) => {
    if (shared > 0) {
      const start = wholes[whole]?.subarray(0, shared);
      if (start?.length !== shared) throw new RangeError("a value that begins with none");
      return { channel, version, value: new JoinedBlob(type, start, rest) };
    }
    wholes.push(rest);
    return { channel, version, value: { type, bytes: rest } };
  };
  return tuples.map((tuple) => Object.assign(tuple, { values: tuple.values.map(join) }));
}

/** Which texts of a value are embedded: the store's default, none, or those at these paths. */
export type IndexChoice = undefined | false | readonly string[];

const IndexKind = { storeDefault: 0, none: 1, paths: 2 } as const;

export function writeIndexChoice(writer: Writer, index: IndexChoice): void {
  if (index === undefined) writer.u8(IndexKind.storeDefault);
  else writer.u8(index === false ? IndexKind.none : IndexKind.paths);
  writer.texts(index || []);
}

const DEFAULT_TTL = -1;
export const NO_TTL = 0;

/** The TTL of a put that has none of its own, by a caller with this default; as PutOp::AsDefault(). */
export function defaultTtlOf(ms: number): number {
  return ms === NO_TTL ? DEFAULT_TTL : -1 - ms;
}
