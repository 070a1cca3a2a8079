// What a page, its hub and the hubs of other tabs say to each other. A hub is the one
// worker of a page for one database; the hub that owns the database is its owner.

import type { Derivation, Key } from "../engine/keys.js";
import { detailOf, KeepsakeError, type KeepsakeErrorCode } from "../errors.js";
import type { Changes } from "../wire/changes.js";
import type { StorageKind } from "./browser-storage.js";
import type { SealedKey } from "./key-proof.js";

/**
 * Raised when tabs with the older number would misunderstand: these messages, or the layout of
 * frames (tests/js/layout.test.mjs notices that). The newer tab wins.
 */
export const PROTOCOL = 1;

/** The Web Lock that the owner holds, and the BroadcastChannel of all hubs. */
export function channelName(database: string): string {
  return `keepsake:${database}`;
}

/** What a hub is told to begin with. */
export interface Settings {
  name: string;
  storage: "auto" | StorageKind;
  durability: "relaxed" | "strict";
  /** Where the module is, or its bytes. */
  wasm: string | Uint8Array;
  /** Goes to the workers of the page that was given it, and nowhere else. */
  key?: Key | undefined;
  /** What it is being changed to: as long as it is not known whether it was. */
  nextKey?: Key | undefined;
}

/** A compiled module, which threads of one page hand to each other. */
export interface SharedModule {
  module: WebAssembly.Module;
  /** Of which build. A page that is older than a release may start a worker that is not. */
  build: string;
}

export type ExportPhase = "begin" | "read" | "end";

/** One thing for the owner to do. */
export type Job =
  | {
      kind: "execute";
      request: Uint8Array;
      /** What it changes if it succeeds. */
      changes: Changes | undefined;
      /** Whether it may use the reserve of a full disk. */
      makesRoom: boolean;
      /** What it does of an export. */
      exports: ExportPhase | undefined;
      /** It must not be made again when nobody knows whether it was. */
      isOnce: boolean;
    }
  /** Lets the database open this file as `name`, until it is taken back. */
  | { kind: "lend"; name: string; file: Blob }
  | { kind: "takeBack"; name: string }
  /** The key itself only where page and owner are one tab. */
  | { kind: "changeKey"; key: Key | SealedKey };

/** A response frame; nothing for lend and takeBack. */
export type Result =
  | { ok: true; response: Uint8Array | undefined }
  | { ok: false; failure: Failure };

/** A KeepsakeError that can be posted. */
export interface Failure {
  code: KeepsakeErrorCode;
  message: string;
  /** Where a damaged database was put. */
  aside?: { kind: StorageKind; name: string } | undefined;
}

export function failureOf(error: unknown): Failure {
  const code = error instanceof KeepsakeError ? error.code : "internal";
  return { code, message: detailOf(error) };
}

/** What becomes of a job that may be made only once, and of which no answer came. */
export function unknownOutcome(): Failure {
  return {
    code: "io_error",
    message: "the tab that was importing is gone; whether everything was replaced is not known",
  };
}

/** What becomes of everything when the memory that held it is gone. */
export function lost(): Failure {
  return {
    code: "lost",
    message:
      "the tab that had the memory is gone, or its engine failed, and what was in it is lost",
  };
}

/** What becomes of calls while the lock can't be had from an owner that hangs. */
export function ownerHangs(name: string): Failure {
  return {
    code: "busy",
    message: `the tab that has "${name}" open does not answer: close or reload it, then call again; what it had begun may be stored`,
  };
}

export function otherStorage(name: string, existing: string, wanted: string): Failure {
  return {
    code: "conflicting_options",
    message: `another tab has "${name}" open with storage "${existing}", not "${wanted}"`,
  };
}

export function newerVersion(): Failure {
  return {
    code: "newer_version",
    message: "another tab runs a newer version of keepsake; reload this page",
  };
}

/** What the owner tells of itself. */
export interface OwnerInfo {
  hub: string;
  epoch: number;
  storage: StorageKind;
  fallbackReason: string | undefined;
  /** Of an encrypted database: how a key becomes what followers prove that they have. */
  lock?: Derivation | undefined;
}

/** What a hub tells its page. */
export interface HubInfo {
  owner: OwnerInfo;
  isOwner: boolean;
  /** How requests reach the owner. */
  transport: "direct" | "port" | "broadcast";
  lastError: string | undefined;
}

export type PageToHub =
  /** `life` is a Web Lock that a hub in a worker holds as long as it lives. */
  | { type: "start"; settings: Settings; life?: string; shared?: SharedModule | undefined }
  | { type: "job"; id: number; job: Job }
  /** A job that every owner to come must do first. */
  | { type: "configure"; id: number; job: Job }
  | { type: "describe"; id: number }
  /** Asks for `alive`. */
  | { type: "ping" }
  /** A port of the broker, which was asked for. */
  | { type: "broker"; port: MessagePort }
  /** After the jobs that are there. */
  | { type: "close" };

export type HubToPage =
  /** The answer to `start`: the worker is ours. `isAlive`: it holds the lock that tells so. */
  | { type: "started"; isAlive: boolean }
  /** It does not hang: an answer to `ping`, or said while it is at long work. */
  | { type: "alive" }
  /** For the workers to come. */
  | { type: "compiled"; shared: SharedModule }
  /** All of the database is in this hub's memory, and goes with it. */
  | { type: "holdsAll" }
  | { type: "done"; id: number; result: Result }
  | { type: "described"; id: number; info: HubInfo }
  | { type: "changed"; changes: Changes }
  | { type: "read"; name: string; bytes: number }
  | { type: "broker" }
  /** `isFree`: nothing goes on in its thread any more. */
  | { type: "closed"; isFree: boolean };

/** What the owner knows of a hub that asked. */
export interface OwnerAnswer {
  to: string;
  /** How many of its jobs have no answer yet. */
  running: number;
}

/** Among hubs. */
export type HubMessageBody =
  /** Asks for the owner, if there is one after this epoch. */
  | { type: "who"; epoch: number }
  /** Whoever holds the lock is at work. */
  | { type: "alive" }
  /** Begins an ownership, or answers `who`. */
  | { type: "owner"; owner: OwnerInfo; answer?: OwnerAnswer | undefined }
  | { type: "job"; epoch: number; number: number; job: Job }
  /** Of an encrypted database, before the first job of an epoch. */
  | { type: "unlock"; epoch: number; proof: string }
  | { type: "unlocked"; to: string; epoch: number; isRight: boolean }
  | { type: "done"; to: string; epoch: number; number: number; result: Result }
  | { type: "read"; to: string; name: string; bytes: number }
  | { type: "changed"; changes: Changes }
  /** Whoever held the lock could not have the files: so it is for all who wait. */
  | { type: "failed"; failure: Failure }
  /** The database was damaged and is set aside: nobody may go on as if it had been empty. */
  | { type: "damaged"; failure: Failure }
  /** The port that this comes through is the owner's. */
  | { type: "hello" };

/** Every message says which protocol its sender speaks, and who that is. */
export type HubMessage = HubMessageBody & { protocol: number; from: string };

/** To the broker, which hands the port that comes with `connect` to another hub. */
export type ToBroker =
  | { type: "join"; hub: string }
  | { type: "leave"; hub: string }
  | { type: "connect"; to: string };
