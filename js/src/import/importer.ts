// Brings in what other programs keep in SQLite files: LangGraph's JavaScript and
// Python SqliteSaver, Python's SqliteStore, and a plain store_kv(ns, key, value).
// What can't be brought in is reported and does not stop the rest. The same file
// may be imported again: what is there already is kept, unless told otherwise.

import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { foreignDatabase, keysOfForeign, refuseForeignUtf16 } from "#host";
import { toPutOperation } from "../checkpointer/checkpoint-operations.js";
import { isPlainObject } from "../checkpointer/serde/messages.js";
import { dump, nameOfChannel } from "../checkpointer/serde/serde.js";
import type { Connection } from "../connection.js";
import { whenIndexed } from "../engine/indexing.js";
import type { Key } from "../engine/keys.js";
import {
  detailOf,
  invalid,
  isStackOverflow,
  KeepsakeError,
  tell,
  throwIfEnded,
} from "../errors.js";
import { reencodeValue } from "../store/json-value.js";
import { NO_TTL } from "../wire/custom.js";
import type {
  Blob,
  CheckpointKey,
  ForeignCheckpoint,
  ForeignItem,
  ForeignItemPage,
  ForeignTableInfo,
  ForeignTables,
  ForeignWrite,
  PendingWrite,
  SalvageReport,
} from "../wire/layout.js";
import type { Operation, PutOperation } from "../wire/operations.js";
import type { ImportOptions, ImportReport, ImportSource } from "./options.js";
import { decodePythonValue, isPythonType } from "./python-serde.js";

/** @internal */
export type PutImported = (
  put: PutOperation,
  createdAt: number,
  updatedAt: number,
) => Promise<void>;

/** Where rows go: items to `putItem`, checkpoints and writes through `serde`. @internal */
export interface ImportTarget extends ImportOptions {
  putItem?: PutImported | undefined;
  serde?: SerializerProtocol | undefined;
}

const PAGE = 256;
const LONGEST_TEXT = 400;
// So long timers and other calls may have to wait.
const TURN_MS = 8;

interface Page {
  cursor: string;
  limit: number;
}

/** @internal */
export async function importFile(
  connection: Connection,
  source: ImportSource,
  target: ImportTarget,
): Promise<ImportReport> {
  // The engine has one foreign file open at a time.
  return connection.exclusively(async () => {
    const { name, database } = foreignDatabase(source);
    await refuseForeignUtf16(name, database);
    return connection.lending(name, database, async () => {
      // What an import that was cut off has left is not to go on.
      await connection.call([{ kind: "foreignClose" }]);
      try {
        const tables = await whenIndexed(async () => {
          throwIfEnded(target.signal);
          return (await connection.call([{ kind: "foreignOpen", path: name }]))[0];
        });
        return await new Import(connection, tables, target).run();
      } finally {
        await connection.call([{ kind: "foreignClose" }]);
      }
    });
  });
}

/** Fills a new memory with what can be read of a damaged file. @internal */
export async function salvageFile(
  connection: Connection,
  source: ImportSource,
  key: Key | undefined,
): Promise<SalvageReport> {
  return connection.exclusively(async () => {
    const { name, database } = foreignDatabase(source);
    const keys = await keysOfForeign(key, name, database);
    return connection.lending(name, database, async () => {
      const [report] = await connection.call([{ kind: "salvage", path: name, keys }]);
      return report;
    });
  });
}

class Import {
  readonly #connection: Connection;
  readonly #tables: ForeignTableInfo[];
  readonly #target: ImportTarget;
  readonly #report: ImportReport = {
    items: 0,
    checkpoints: 0,
    writes: 0,
    kept: 0,
    skipped: [],
  };
  // By checkpoint, so that a channel value that its parent has is stored once.
  readonly #versions = new Map<string, ChannelVersions>();
  // The writes that a checkpoint had before the import came to them.
  #written: { name: string; ids: Set<string> } | undefined;
  #done = 0;
  #turnBegan = performance.now();

  constructor(connection: Connection, tables: ForeignTables, target: ImportTarget) {
    this.#connection = connection;
    this.#target = target;
    this.#tables = tables.readable.filter(({ table }) =>
      table === "saverCheckpoints" || table === "saverWrites" ? target.serde : target.putItem,
    );
    for (const { row, why } of tables.skipped) this.#skip(row, why);
  }

  async run(): Promise<ImportReport> {
    const { putItem, serde, maxRows = Number.POSITIVE_INFINITY } = this.#target;
    if (this.#total() > maxRows) {
      throw new KeepsakeError(
        "too_large",
        `the file has ${this.#total()} rows to import, and maxRows is ${maxRows}`,
      );
    }
    for (const { table } of this.#tables) {
      if (table === "saverCheckpoints" && serde) await this.#importCheckpoints(serde);
      else if (table === "saverWrites" && serde) await this.#importWrites(serde);
      else if ((table === "pythonStore" || table === "plainStoreKv") && putItem)
        await this.#importItems(table, putItem);
    }
    return this.#report;
  }

  #importItems(table: "pythonStore" | "plainStoreKv", putItem: PutImported): Promise<void> {
    return this.#eachRow(
      async (page) => (await this.#connection.call([{ kind: "foreignItems", table, ...page }]))[0],
      ({ item }: ForeignItem) => `item ${JSON.stringify(item.namespace)} ${item.key}`,
      async (row) => {
        const { namespace, key } = row.item;
        if (await this.#isTaken({ kind: "get", namespace, key, refreshTtl: false })) return;
        await importItem(row, putItem);
        this.#report.items++;
      },
    );
  }

  #importCheckpoints(serde: SerializerProtocol): Promise<void> {
    return this.#eachRow(
      async (page) => (await this.#connection.call([{ kind: "foreignCheckpoints", ...page }]))[0],
      ({ key }: ForeignCheckpoint) => `checkpoint ${checkpointName(key)}`,
      async (row) => {
        if (await this.#isTaken({ kind: "getTuple", key: row.key })) return;
        await this.#importCheckpoint(row, serde);
        this.#report.checkpoints++;
      },
    );
  }

  async #importCheckpoint(row: ForeignCheckpoint, serde: SerializerProtocol): Promise<void> {
    const { key, parentCheckpointId } = row;
    const decoded = await decode(serde, row.checkpoint);
    if (!isPlainObject(decoded)) throw invalid("checkpoint must be an object");
    const checkpoint = withNumericVersions(decoded as unknown as Checkpoint);
    const metadata = (await decode(serde, row.metadata)) as CheckpointMetadata;
    const parent =
      this.#versions.get(checkpointName({ ...key, checkpointId: parentCheckpointId })) ?? {};
    const versions = Object.entries(checkpoint.channel_versions);
    const newVersions = Object.fromEntries(
      versions.filter(([channel, version]) => parent[channel] !== version),
    );
    this.#versions.set(checkpointName(key), checkpoint.channel_versions);
    await this.#connection.call([
      await toPutOperation(serde, { key, parentCheckpointId, checkpoint, metadata, newVersions }),
    ]);
  }

  #importWrites(serde: SerializerProtocol): Promise<void> {
    return this.#eachRow(
      async (page) => (await this.#connection.call([{ kind: "foreignWrites", ...page }]))[0],
      ({ key, write }: ForeignWrite) => `write ${checkpointName(key)}/${write.taskId}/${write.idx}`,
      async ({ key, write }) => {
        if (await this.#hasWrite(key, write)) return;
        const value = await dump(
          serde,
          nameOfChannel(write.channel),
          await decode(serde, write.value),
        );
        const stored: PendingWrite = { ...write, value };
        await this.#connection.call([{ kind: "putWrites", key, writes: [stored] }]);
        this.#report.writes++;
      },
    );
  }

  async #hasWrite(key: CheckpointKey, write: PendingWrite): Promise<boolean> {
    if (this.#target.onConflict === "replace") return false;
    const name = checkpointName(key);
    if (this.#written?.name !== name) {
      const [tuple] = await this.#connection.call([{ kind: "getTuple", key }]);
      this.#written = { name, ids: new Set(tuple?.pendingWrites.map(idOf)) };
    }
    const isThere = this.#written.ids.has(idOf(write));
    if (isThere) this.#report.kept++;
    return isThere;
  }

  async #isTaken(look: Extract<Operation, { kind: "get" | "getTuple" }>): Promise<boolean> {
    if (this.#target.onConflict === "replace") return false;
    const [found] = await this.#connection.call([look]);
    const isTaken = found !== undefined && found !== null;
    if (isTaken) this.#report.kept++;
    return isTaken;
  }

  async #eachRow<Row>(
    read: (page: Page) => Promise<Omit<ForeignItemPage, "rows"> & { rows: Row[] }>,
    nameOfRow: (row: Row) => string,
    importRow: (row: Row) => Promise<void>,
  ): Promise<void> {
    for (let cursor = "", done = false; !done; ) {
      const page = await read({ cursor, limit: PAGE });
      for (const { row, why } of page.skipped) this.#skip(row, why);
      for (const row of page.rows) {
        await this.#attempt(row, nameOfRow, importRow);
        await this.#takeTurns();
      }
      ({ cursor, done } = page);
      this.#done += page.rows.length + page.skipped.length;
      tell(this.#target.onProgress, { done: this.#done, total: this.#total() });
    }
  }

  async #takeTurns(): Promise<void> {
    if (performance.now() - this.#turnBegan > TURN_MS) {
      await new Promise((resolve) => setTimeout(resolve));
      this.#turnBegan = performance.now();
    }
    throwIfEnded(this.#target.signal);
  }

  async #attempt<Row>(
    row: Row,
    nameOfRow: (row: Row) => string,
    importRow: (row: Row) => Promise<void>,
  ): Promise<void> {
    try {
      await importRow(row);
    } catch (error) {
      if (!isAboutTheRow(error)) throw error;
      this.#skip(nameOfRow(row), ruleOf(error));
    }
  }

  #skip(what: string, why: string): void {
    this.#report.skipped.push({ what: brief(what), why: brief(why) });
  }

  #total(): number {
    return this.#tables.reduce((total, { rows }) => total + rows, 0);
  }
}

function idOf({ taskId, idx }: PendingWrite): string {
  return `${idx} ${taskId}`;
}

function ruleOf(error: unknown): string {
  if (isStackOverflow(error)) return "it is nested too deeply";
  return detailOf(error);
}

// A file may hold names of any length, and millions of them.
function brief(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}…`;
}

// A full disk or a broken engine stops the import; a row that breaks a rule does not.
function isAboutTheRow(error: unknown): boolean {
  return (
    !(error instanceof KeepsakeError) ||
    error.code.startsWith("invalid_") ||
    error.code === "thread_id_required" ||
    error.code === "too_large"
  );
}

async function importItem(row: ForeignItem, putItem: PutImported): Promise<void> {
  const { item, ttl, expiresAt, vectors } = row;
  const { namespace, key } = item;
  const lives = ttl > 0 && expiresAt > 0;
  // Where the file knows no time, it is now. What expires does so when it would have.
  const createdAt = item.createdAt || Date.now();
  const updatedAt = Math.max(createdAt, lives ? expiresAt - ttl : item.updatedAt);
  const value = reencodeValue(item.value);
  await putItem(
    { kind: "put", namespace, key, value, vectors, ttl: lives ? ttl : NO_TTL },
    createdAt,
    updatedAt,
  );
}

async function decode(serde: SerializerProtocol, { type, bytes }: Blob): Promise<unknown> {
  // What the official savers write of a function.
  if (type === "json" && bytes.length === 0) return undefined;
  return isPythonType(type)
    ? decodePythonValue(type, bytes)
    : serde.loadsTyped(type, bytes.slice());
}

// Python counts in texts such as "00000000000000000000000000000002.0.2437"; a graph
// in JavaScript goes on only from numbers.
function withNumericVersions(checkpoint: Checkpoint): Checkpoint {
  const toNumber = (version: unknown) =>
    typeof version === "string" && /^\d{32}(\.|$)/.test(version)
      ? Number.parseInt(version, 10)
      : version;
  const convert = (versions: object | undefined) =>
    Object.fromEntries(
      Object.entries(versions ?? {}).map(([channel, version]) => [channel, toNumber(version)]),
    );
  return {
    ...checkpoint,
    channel_versions: convert(checkpoint.channel_versions) as ChannelVersions,
    versions_seen: Object.fromEntries(
      Object.entries(checkpoint.versions_seen ?? {}).map(([node, seen]) => [node, convert(seen)]),
    ) as Checkpoint["versions_seen"],
  };
}

function checkpointName({ threadId, checkpointNs, checkpointId }: CheckpointKey): string {
  return [threadId, checkpointNs, checkpointId].join("/");
}
