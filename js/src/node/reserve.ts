// Room that a database keeps on its disk, so that what is deleted can be logged when the disk
// is full: the file `<path>-reserve`, while the database is open and was written to. Where the disk
// is nearly full then, it stays when the database is closed.

import * as fs from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSession } from "../engine/session.js";
import type { EngineFiles } from "../wasm/engine-file.js";
import { encodeRequest, failureCodeOf } from "../wire/codec.js";
import { isWholeReserve, mayBeReserve, newReserve, refuseOtherReserve } from "./side-files.js";

const TRY_AGAIN_AFTER_MS = 300;
// Who opens a file on a disk that is nearly full may find it full.
const NEARLY_FULL_BYTES = 64 << 20;

/** @internal */
export class Reserve {
  /** Set by a file that found no room. */
  isNeeded = false;
  readonly #path: string;
  #isWanted = false;
  #isThere = false;
  #triedAt = Number.NEGATIVE_INFINITY;

  constructor(path: string) {
    this.#path = `${path}-reserve`;
  }

  /** What has its name is removed when it is made: it may not be somebody's file. */
  refuseOther(): void {
    refuseOtherReserve(this.#path);
  }

  /** Called with each write to the file. */
  noteWrite(): void {
    this.#isWanted = true;
  }

  /**
   * Makes it if the file was written to, and it is not there. With a call that wrote, because who
   * writes in a loop may never let a timer run.
   */
  makeIfWanted(): void {
    if (!this.#isWanted || this.#isThere) return;
    const now = performance.now();
    if (now - this.#triedAt < TRY_AGAIN_AFTER_MS) return;
    this.#triedAt = now;
    this.#isThere = isWholeReserve(this.#path) || this.#make();
  }

  /** False if there was none. */
  release(): boolean {
    this.#isThere = false;
    this.#triedAt = performance.now();
    try {
      if (!mayBeReserve(this.#path)) return false;
      fs.rmSync(this.#path);
      return true;
    } catch {
      return false;
    }
  }

  /** When the file is closed. */
  close(): void {
    if (!isNearlyFull(this.#path)) this.release();
  }

  // Of bytes that a disk has to keep, because it may leave out zeros. Made anew, because what
  // has its name may be another file's second name, or a folder.
  #make(): boolean {
    let file: number | undefined;
    try {
      if (!mayBeReserve(this.#path)) return false;
      fs.rmSync(this.#path, { force: true });
      file = fs.openSync(this.#path, "wx", 0o600);
      writeAll(file, newReserve(), 0);
      return true;
    } catch {
      // Half a reserve is only in the way.
      if (file !== undefined) fs.rmSync(this.#path, { force: true });
      return false;
    } finally {
      if (file !== undefined) fs.closeSync(file);
    }
  }
}

function isNearlyFull(path: string): boolean {
  try {
    const { bavail, bsize } = fs.statfsSync(dirname(path));
    return bavail * bsize < NEARLY_FULL_BYTES;
  } catch {
    return false; // not every system tells
  }
}

/** Throws if there is no room for all of it. @internal */
export function writeAll(file: number, bytes: Uint8Array, at: number): void {
  for (let count = 0; count < bytes.length; ) {
    count += fs.writeSync(file, bytes, count, bytes.length - count, at + count);
  }
}

/** A session that tries again when the disk is full, for what makes room with the reserve's. @internal */
export class ReservingSession implements DatabaseSession {
  readonly #session: DatabaseSession;
  readonly #reserve: Reserve;
  readonly #onClosed: () => void;

  /** `onClosed` hears when the files are closed, and not if that failed. */
  constructor(session: DatabaseSession, reserve: Reserve, onClosed: () => void) {
    this.#session = session;
    this.#reserve = reserve;
    this.#onClosed = onClosed;
  }

  get isBroken(): boolean {
    return this.#session.isBroken;
  }

  get isGrown(): boolean {
    return this.#session.isGrown ?? false;
  }

  execute(request: Uint8Array, spare?: number): Uint8Array {
    const response = this.#session.execute(request, spare);
    if (!this.#reserve.isNeeded) {
      this.#reserve.makeIfWanted();
      return response;
    }
    this.#reserve.isNeeded = false;
    if (spare === undefined || failureCodeOf(response) !== "storage_full") return response;
    // The encoder of requests has one buffer.
    const again = request.slice();
    // What spares no memory makes room.
    if (spare === 0) this.#reserve.release();
    // The log moves into the database first, and has as much room again as it had.
    const header = { clientId: 0, sequence: 0, now: Date.now() };
    this.#session.execute(encodeRequest(header, [{ kind: "flush" }]));
    const outcome = this.#session.execute(again, spare);
    this.#reserve.isNeeded = false;
    this.#reserve.makeIfWanted();
    return outcome;
  }

  lend(files: EngineFiles): () => void {
    return this.#session.lend(files);
  }

  close(): void {
    try {
      this.#session.close();
      this.#onClosed();
    } finally {
      this.#reserve.close();
    }
  }
}
