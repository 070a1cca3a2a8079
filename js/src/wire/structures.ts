// How what operations and answers are made of travels: core/src/wire/layout.h, in TypeScript.

import { JoinedBlob } from "./joined-blob.js";
import type { Reader } from "./reader.js";
import {
  type Blob,
  type ChannelValue,
  type ChannelVersion,
  type CheckpointKey,
  type CheckpointTuple,
  DEFAULT_TTL,
  Durability,
  type FieldVector,
  type ForeignSkip,
  Fusion,
  type Item,
  type ItemRef,
  type MatchCondition,
  MatchType,
  type NewCheckpoint,
  type NewValue,
  type OpenOptions,
  Origin,
  type PendingWrite,
  type Provenance,
  type PutRequest,
  type Ranking,
  type ScorePart,
  type SearchItem,
  SearchMode,
  SearchPlan,
  type SearchRequest,
  type Snippet,
  type Validity,
} from "./types.js";
import type { Writer } from "./writer.js";

const IndexKind = { storeDefault: 0, none: 1, paths: 2 } as const;

export function writeNothing(): void {}

export function writeBlob(writer: Writer, blob: Blob): void {
  writer.text(blob.type);
  if (blob.text === undefined) writer.bytes(blob.bytes);
  else writer.text(blob.text);
}

export function writeFieldVector(writer: Writer, vector: FieldVector): void {
  writer.text(vector.path);
  writer.floats(vector.values);
}

function writeIndexChoice(writer: Writer, index: PutRequest["index"]): void {
  const paths = index || [];
  if (index === undefined) writer.u8(IndexKind.storeDefault);
  else writer.u8(index === false ? IndexKind.none : IndexKind.paths);
  writer.texts(paths);
}

export function writePut(writer: Writer, put: PutRequest): void {
  writer.texts(put.namespace);
  writer.text(put.key);
  writer.flag(put.value !== null);
  if (put.value !== null) writer.text(put.value);
  writeIndexChoice(writer, put.index);
  writer.i64(put.ttl ?? DEFAULT_TTL);
  writer.list(put.vectors ?? [], writeFieldVector);
  writer.optional(put.validity, writeValidity);
  writer.optional(put.supersedes, writeItemRef);
  writer.optional(put.provenance, writeProvenance);
}

function writeProvenance(writer: Writer, { origin, source, isQuarantined }: Provenance): void {
  writer.u8(Origin[origin]);
  writer.text(source);
  writer.flag(isQuarantined);
}

export function readItemRef(reader: Reader): ItemRef {
  return { namespace: reader.texts(), key: reader.text() };
}

export function writeSearch(writer: Writer, search: SearchRequest): void {
  writer.texts(search.namespacePrefix);
  writer.text(search.filter ?? "");
  writer.text(search.query ?? "");
  writer.u32(search.limit ?? 10);
  writer.u32(search.offset ?? 0);
  writer.u8(SearchMode[search.mode ?? "auto"]);
  writer.flag(search.refreshTtl ?? true);
  writer.floats(search.queryVector ?? new Float32Array());
  writer.optional(search.ranking, writeRanking);
  writer.optional(search.near, writeItemRef);
  writer.u8(SearchPlan[search.plan ?? "auto"]);
  writer.u32(search.efSearch ?? 0);
  writer.optional(search.asOf, writeTime);
  writer.flag(search.includeSuperseded ?? false);
  writer.flag(search.includeQuarantined ?? false);
}

function writeTime(writer: Writer, time: number): void {
  writer.i64(time);
}

function writeValidity(writer: Writer, { from, until }: Validity): void {
  writer.optional(from, writeTime);
  writer.optional(until, writeTime);
}

export function writeItemRef(writer: Writer, item: ItemRef): void {
  writer.texts(item.namespace);
  writer.text(item.key);
}

export function writeWeighted(writer: Writer, field: { path: string; weight: number }): void {
  writer.text(field.path);
  writer.f64(field.weight);
}

function writeRanking(writer: Writer, ranking: Ranking): void {
  writer.optional(ranking.minScore, (out, score) => out.f64(score));
  writer.u8(Fusion[ranking.fusion]);
  writer.f64(ranking.vectorWeight);
  writer.f64(ranking.recency);
  writer.i64(ranking.halfLife);
  writer.list(ranking.boosts, writeWeighted);
  writer.f64(ranking.diversity);
  writer.flag(ranking.explain);
  writer.u32(ranking.snippetLength);
  writer.list(ranking.origins, (out, { origin, weight }) => {
    out.u8(Origin[origin]);
    out.f64(weight);
  });
}

export function writeMatchCondition(writer: Writer, condition: MatchCondition): void {
  writer.u8(MatchType[condition.matchType]);
  writer.texts(condition.path);
}

export function writeKey(writer: Writer, key: CheckpointKey): void {
  writer.text(key.threadId);
  writer.text(key.checkpointNs);
  writer.text(key.checkpointId);
}

function writeChannelVersion(writer: Writer, version: ChannelVersion): void {
  writer.text(version.channel);
  writer.text(version.version);
}

function writeChannelValue(writer: Writer, value: ChannelValue): void {
  writeChannelVersion(writer, value);
  writeBlob(writer, value.value);
}

export function writePendingWrite(writer: Writer, write: PendingWrite): void {
  writer.text(write.taskId);
  writer.i32(write.idx);
  writer.text(write.channel);
  writeBlob(writer, write.value);
  writer.text(write.taskPath);
}

export function writeCheckpoint(writer: Writer, checkpoint: NewCheckpoint): void {
  writeKey(writer, checkpoint.key);
  writer.text(checkpoint.parentCheckpointId);
  writeBlob(writer, checkpoint.checkpoint);
  writeBlob(writer, checkpoint.metadata);
  writer.list(checkpoint.channelVersions, writeChannelVersion);
  writer.texts(checkpoint.newVersions);
  writer.list(checkpoint.values, writeNewValue);
}

function writeNewValue(writer: Writer, value: NewValue): void {
  writeChannelValue(writer, value);
  writer.i64(value.delta?.stamp ?? 0);
  writer.i64(value.delta?.baseStamp ?? 0);
  writer.i64(value.delta?.prefix ?? 0);
  writer.i64(value.delta?.suffix ?? 0);
}

export function writeText(writer: Writer, text: string): void {
  writer.text(text);
}

const NO_KEYS = new Uint8Array(0);

export function writeOpenOptions(writer: Writer, options: OpenOptions): void {
  writer.text(options.path);
  writer.u8(Durability[options.durability ?? "relaxed"]);
  writer.text(options.vfs ?? "");
  writer.flag(options.verifies ?? false);
  writer.bytes(options.keys ?? NO_KEYS);
}

export function writePage(writer: Writer, page: { cursor: string; limit: number }): void {
  writer.text(page.cursor);
  writer.u32(page.limit);
}

// ---- of answers

export function readNothing(): undefined {
  return undefined;
}

export function readCount(reader: Reader): number {
  return reader.i64();
}

export function readTexts(reader: Reader): string[] {
  return reader.texts();
}

export function readBlob(reader: Reader): Blob {
  return { type: reader.text(), bytes: reader.sharedBytes() };
}

export function readItem(reader: Reader): Item {
  return {
    namespace: reader.namespace(),
    key: reader.text(),
    value: reader.text(),
    createdAt: reader.i64(),
    updatedAt: reader.i64(),
    validity: reader.flag() ? readValidity(reader) : undefined,
    provenance: reader.flag() ? readProvenance(reader) : undefined,
  };
}

function readProvenance(reader: Reader): Provenance {
  return {
    origin: readName(reader, Origin),
    source: reader.text(),
    isQuarantined: reader.flag(),
  };
}

export function readValidity(reader: Reader): Validity {
  return {
    from: reader.flag() ? reader.i64() : undefined,
    until: reader.flag() ? reader.i64() : undefined,
  };
}

function readSnippet(reader: Reader): Snippet {
  return {
    text: reader.text(),
    highlights: reader.list((highlight) => ({ begin: highlight.u32(), end: highlight.u32() })),
  };
}

// Each by its name: of an object that another is spread into, V8 makes a slow one.
export function readSearchItem(reader: Reader): SearchItem {
  return {
    namespace: reader.namespace(),
    key: reader.text(),
    value: reader.text(),
    createdAt: reader.i64(),
    updatedAt: reader.i64(),
    validity: reader.flag() ? readValidity(reader) : undefined,
    provenance: reader.flag() ? readProvenance(reader) : undefined,
    score: reader.flag() ? reader.f64() : undefined,
    parts: reader.list(readPart),
    snippet: reader.flag() ? readSnippet(reader) : undefined,
    plan: reader.text(),
  };
}

export function readPart(reader: Reader): ScorePart {
  return { name: reader.text(), value: reader.f64() };
}

/** That of these names which has the number. */
export function readName<Name extends string>(reader: Reader, names: Record<Name, number>): Name {
  const number = reader.u8();
  for (const name in names) if (names[name] === number) return name;
  throw new RangeError(`no such name: ${number}`);
}

export function readKey(reader: Reader): CheckpointKey {
  return { threadId: reader.text(), checkpointNs: reader.text(), checkpointId: reader.text() };
}

function readChannelValue(reader: Reader): ChannelValue {
  return { channel: reader.text(), version: reader.text(), value: readBlob(reader) };
}

export function readPendingWrite(reader: Reader): PendingWrite {
  return {
    taskId: reader.text(),
    idx: reader.i32(),
    channel: reader.text(),
    value: readBlob(reader),
    taskPath: reader.text(),
  };
}

/** The tuples of a list, in which values that begin alike share bytes. */
export function readTuples(reader: Reader): CheckpointTuple[] {
  const wholes: Uint8Array[] = [];
  const readValue = (): ChannelValue => {
    const channel = reader.text();
    const version = reader.text();
    const type = reader.text();
    const shared = reader.u32();
    const whole = reader.u32();
    const rest = reader.sharedBytes();
    if (shared > 0) {
      const start = wholes[whole]?.subarray(0, shared);
      if (start?.length !== shared) throw new RangeError("a value that begins with none");
      return { channel, version, value: new JoinedBlob(type, start, rest) };
    }
    wholes.push(rest);
    return { channel, version, value: { type, bytes: rest } };
  };
  return reader.list(() => readTupleOf(reader, readValue));
}

export function readTuple(reader: Reader): CheckpointTuple {
  return readTupleOf(reader, readChannelValue);
}

function readTupleOf(reader: Reader, readValue: (reader: Reader) => ChannelValue): CheckpointTuple {
  return {
    key: readKey(reader),
    parentCheckpointId: reader.text(),
    checkpoint: readBlob(reader),
    metadata: readBlob(reader),
    values: reader.list(readValue),
    pendingWrites: reader.list(readPendingWrite),
  };
}

export function readFieldVector(reader: Reader): FieldVector {
  return { path: reader.text(), values: reader.floats() };
}

export function readSkip(reader: Reader): ForeignSkip {
  return { row: reader.text(), why: reader.text() };
}

export function readPage<Row>(reader: Reader, readRow: (reader: Reader) => Row) {
  return {
    rows: reader.list(readRow),
    skipped: reader.list(readSkip),
    cursor: reader.text(),
    done: reader.flag(),
  };
}
