// What IndexedDB knows of a database, and the files that were set aside there.

import { noSuchAside, SUFFIXES, splitAsideName } from "./database-name.js";
import { answerTo, type Body, Connection, type Durability, tooSlow } from "./idb-connection.js";
import { inTime } from "./in-time.js";
import type { Block } from "./mirror-file.js";
import { HOME, type Home, readFiles, recordsFrom, stateIn } from "./mirror-reader.js";
import { MirrorStorage } from "./mirror-storage.js";
import { isQuotaError, storageError } from "./storage-error.js";

const ANSWER_LIMIT_MS = 10_000;

/** Throws what the browser throws if there is no IndexedDB. @internal */
export async function connectMirror(name: string): Promise<Mirror> {
  const connection = new Connection(name);
  try {
    const connected = connection.run("readonly", "relaxed", async ({ meta, records, aside }) => {
      const { sizes, firstRecord } = await stateIn(meta);
      const home = await answerTo<Home | undefined>(meta.get(HOME));
      const unfolded = await answerTo<number>(records.count(recordsFrom(firstRecord)));
      const isEmpty = sizes[0] === 0 && unfolded === 0;
      const hasAside = (await answerTo<number>(aside.count())) > 0;
      return new Mirror(connection, { isEmpty, hasAside, home });
    });
    return await inTime(connected, ANSWER_LIMIT_MS, () => tooSlow(name, ANSWER_LIMIT_MS));
  } catch (error) {
    connection.close();
    throw isQuotaError(error) ? storageError("can't open", name, error) : error;
  }
}

/** @internal */
export function readAsideFromMirror(asideName: string): Promise<Blob> {
  const { name, suffix } = splitAsideName(asideName);
  return withConnection(name, "readonly", async ({ aside }) => {
    const blocks = await answerTo<Block[]>(aside.getAll(blocksOfAside(suffix)));
    if (blocks.length === 0) throw noSuchAside(asideName);
    return new Blob(blocks, { type: "application/octet-stream" });
  });
}

/** @internal */
export function listAsideInMirror(name: string): Promise<string[]> {
  return withConnection(name, "readonly", async ({ aside }) => {
    const keys = await answerTo<IDBValidKey[]>(aside.getAllKeys());
    const suffixes = keys.map((key) => (key as [string, number])[0]);
    return [...new Set(suffixes)].map((suffix) => name + suffix);
  });
}

/** With its log and its journal. @internal */
export function deleteAsideInMirror(asideName: string): Promise<void> {
  const { name, suffix } = splitAsideName(asideName);
  return withConnection(name, "readwrite", ({ aside }) => {
    for (const part of SUFFIXES) aside.delete(blocksOfAside(suffix + part));
  });
}

function blocksOfAside(suffix: string): IDBKeyRange {
  return IDBKeyRange.bound([suffix, 0], [suffix, Number.POSITIVE_INFINITY]);
}

async function withConnection<T>(
  name: string,
  mode: IDBTransactionMode,
  body: Body<T>,
): Promise<T> {
  const connection = new Connection(name);
  try {
    return await connection.run(mode, "relaxed", body);
  } catch (error) {
    throw storageError(mode === "readonly" ? "can't read" : "can't change", name, error);
  } finally {
    connection.close();
  }
}

/** What IndexedDB knows of a database. @internal */
export class Mirror {
  readonly name: string;
  readonly isEmpty: boolean;
  /** Whether a damaged database of this name was set aside here. */
  readonly hasAside: boolean;
  /** Where it lives if not here, or whether it is here only because OPFS was refused. */
  readonly home: Home | undefined;
  readonly #connection: Connection;

  constructor(
    connection: Connection,
    { isEmpty, hasAside, home }: Pick<Mirror, "isEmpty" | "hasAside" | "home">,
  ) {
    this.name = connection.name;
    this.isEmpty = isEmpty;
    this.hasAside = hasAside;
    this.home = home;
    this.#connection = connection;
  }

  async mark(home: Home): Promise<void> {
    if (this.home === home) return;
    await this.#connection.run("readwrite", "strict", ({ meta }) => meta.put(home, HOME));
  }

  close(): void {
    this.#connection.close();
  }

  /** Reads the files. The connection is the storage's from now on. */
  async load(durability: Durability, fallbackReason: string | undefined): Promise<MirrorStorage> {
    try {
      const loaded = await this.#connection.run("readonly", "relaxed", (stores) =>
        readFiles(stores, this.name),
      );
      return new MirrorStorage(this.#connection, loaded, durability, fallbackReason);
    } catch (error) {
      this.close();
      throw storageError("can't load", this.name, error);
    }
  }
}
