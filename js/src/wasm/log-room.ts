// How large a database gets when the commits of a log move into it. If it could not grow, no
// checkpoint would succeed any more, and the log, which could never begin anew, would fill up
// what room is left: then nothing could be deleted either. So a log that is written to takes
// only what the database has room for.

import type { EngineFile } from "./engine-file.js";

// log   := header (32 bytes) frame*
// frame := header (24 bytes) page
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_BYTES = 4096;
const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES;
const GROWTH_BYTES = 1 << 18;

const MAGIC = new TextEncoder().encode("Keepsake sealed");

/** How many bytes a database has before its first page: a block, if it is encrypted. @internal */
export function bytesBeforePages(database: EngineFile): number {
  const begin = new Uint8Array(MAGIC.length);
  const isWhole = database.read(begin, { at: 0 }) === begin.length;
  return isWhole && MAGIC.every((byte, i) => byte === begin[i]) ? PAGE_BYTES : 0;
}

/** @internal */
export class LogRoom {
  readonly #database: EngineFile;
  readonly #grow: (from: number, to: number) => void;
  #size: number | undefined;
  #before = 0;

  /** `grow` makes the database longer, and throws if there is no room. */
  constructor(database: EngineFile, grow: (from: number, to: number) => void) {
    this.#database = database;
    this.#grow = grow;
  }

  /** Before these bytes of the log are written. */
  make(bytes: Uint8Array, at: number): void {
    // A checkpoint, which may cut the database, goes before the log's header.
    if (at === 0) this.#size = undefined;
    const pages = pagesAfterCommit(bytes, at);
    if (pages === 0) return;
    if (this.#size === undefined) {
      this.#size = this.#database.getSize();
      this.#before = bytesBeforePages(this.#database);
    }
    const wanted = this.#before + PAGE_BYTES * pages;
    if (wanted <= this.#size) return;
    // Seldom, and what is too much is cut off by the next checkpoint.
    const grown = Math.ceil(wanted / GROWTH_BYTES) * GROWTH_BYTES;
    this.#grow(this.#size, grown);
    this.#size = grown;
  }
}

/** How large the database is to be, if the last frame that begins in `bytes` is a commit's; else 0. */
function pagesAfterCommit(bytes: Uint8Array, at: number): number {
  const end = at + bytes.length - FRAME_HEADER_BYTES;
  const last = Math.floor((end - LOG_HEADER_BYTES) / FRAME_BYTES);
  const position = LOG_HEADER_BYTES + last * FRAME_BYTES - at;
  if (last < 0 || position < 0) return 0;
  let pages = 0;
  for (let i = 4; i < 8; i++) pages = pages * 256 + (bytes[position + i] as number);
  return pages;
}
