// What opens an encrypted file. WebCrypto derives 32 bytes from what the user has; those cross to
// the engine, which decrypts the file's own key with them. How they were derived is in the file, in
// plain (core/src/sql/file_seal.h).

import { isBytes } from "../bytes.js";
import { readInput } from "../checks.js";
import { invalid, KeepsakeError } from "../errors.js";
import type { EngineFile, EngineFiles } from "../wasm/engine-file.js";

/** 32 random bytes, or a passphrase. */
export type Key = Uint8Array | string;

// Persistent: what a slot's kind means.
const Kind = { raw: 1, passphrase: 2 } as const;

const KEY_BYTES = 32;
const SALT_BYTES = 16;
// What OWASP asks for of PBKDF2 with SHA-256.
const ITERATIONS = 600_000;
// More would only be somebody's way to keep us busy.
const MOST_ITERATIONS = 10_000_000;
const PURPOSE = "keepsake file key";

const BLOCK_BYTES = 4096;
const SLOTS = [512, 1024];
const KIND_AT = 4;
const ITERATIONS_AT = 8;
const SALT_AT = 12;

/** How a key is derived, as a file says it. @internal */
export interface Derivation {
  readonly kind: number;
  readonly iterations: number;
  readonly salt: Uint8Array;
}

/** Of a key that came from outside: a copy, so that nobody changes it. @internal */
export function checkKey(name: string, key: unknown): Key {
  if (typeof key === "string" && key !== "" && key.isWellFormed()) return key.normalize("NFKC");
  if (isBytes(key) && key.length === KEY_BYTES) return key.slice();
  // Never what it is: it may be nearly right.
  throw invalid(`${name} must be a Uint8Array of ${KEY_BYTES} random bytes, or a passphrase`);
}

/** @internal */
export function isSameKey(a: Key | undefined, b: Key | undefined): boolean {
  if (typeof a !== "object" || typeof b !== "object") return a === b;
  return a.every((byte, i) => byte === b[i]);
}

/** @internal */
export function wrongKey(name: string): KeepsakeError {
  return new KeepsakeError(
    "wrong_key",
    `${name} is open with another key: give the key that it was made with, or that changeKey() gave it last`,
  );
}

/** @internal */
export function keyRequired(name: string): KeepsakeError {
  return new KeepsakeError(
    "key_required",
    `${name} is encrypted: give the key that it was made with, or that changeKey() gave it last`,
  );
}

/** @internal */
export function notEncrypted(name: string): KeepsakeError {
  return new KeepsakeError(
    "wrong_key",
    `${name} is not encrypted: open it without a key, and import its export into a new one that has a key`,
  );
}

/** Of options of what no key is for. @internal */
export function refuseKey(options: object | undefined, why: string): void {
  const { key } = readInput("its options", () => ({
    ...(options as { key?: unknown } | undefined),
  }));
  if (key !== undefined) throw noKeyHere(why);
}

/** @internal */
export function noKeyHere(why: string): KeepsakeError {
  return new KeepsakeError("unsupported", `key is for files, OPFS and IndexedDB: ${why}`);
}

/** For a new file, or a new key of one. @internal */
export function newDerivation(key: Key): Derivation {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  return typeof key === "string"
    ? { kind: Kind.passphrase, iterations: ITERATIONS, salt }
    : { kind: Kind.raw, iterations: 0, salt };
}

/** How the keys of a file are derived; none of a new or plain one. @internal */
export function derivationsIn(database: EngineFile): Derivation[] {
  const block = new Uint8Array(BLOCK_BYTES);
  if (database.getSize() < BLOCK_BYTES || database.read(block, { at: 0 }) < BLOCK_BYTES) return [];
  return derivationsOf(block);
}

function derivationsOf(block: Uint8Array): Derivation[] {
  const found = new Map<string, Derivation>();
  const view = new DataView(block.buffer, block.byteOffset);
  for (const at of SLOTS) {
    const salt = block.slice(at + SALT_AT, at + SALT_AT + SALT_BYTES);
    const iterations = view.getUint32(at + ITERATIONS_AT, true);
    const kind = block[at + KIND_AT] as number;
    if (isKnown(kind, iterations)) found.set(salt.join(), { kind, iterations, salt });
  }
  return [...found.values()];
}

function isKnown(kind: number, iterations: number): boolean {
  if (kind === Kind.raw) return iterations === 0;
  return kind === Kind.passphrase && iterations > 0 && iterations <= MOST_ITERATIONS;
}

/** 32 bytes; undefined if a key of this form can't have been derived so. @internal */
export async function deriveKey(
  key: Key,
  { kind, iterations, salt }: Derivation,
): Promise<Uint8Array | undefined> {
  const isPassphrase = typeof key === "string";
  if (kind !== (isPassphrase ? Kind.passphrase : Kind.raw)) return undefined;
  const algorithm = isPassphrase ? "PBKDF2" : "HKDF";
  const material = isPassphrase ? new TextEncoder().encode(key) : key;
  const info = new TextEncoder().encode(PURPOSE);
  const base = await crypto.subtle.importKey("raw", material as BufferSource, algorithm, false, [
    "deriveBits",
  ]);
  const bits = await crypto.subtle.deriveBits(
    { name: algorithm, hash: "SHA-256", salt: salt as BufferSource, iterations, info },
    base,
    8 * KEY_BYTES,
  );
  return new Uint8Array(bits);
}

/** As the engine reads it: kind, iterations, salt, key. @internal */
export function encodeKey(derivation: Derivation, derived: Uint8Array): Uint8Array {
  const encoded = new Uint8Array(5 + SALT_BYTES + KEY_BYTES);
  encoded[0] = derivation.kind;
  new DataView(encoded.buffer).setUint32(1, derivation.iterations, true);
  encoded.set(derivation.salt, 5);
  encoded.set(derived, 5 + SALT_BYTES);
  return encoded;
}

/** A new derivation of the key, encoded. @internal */
export async function encodeNewKey(key: Key): Promise<Uint8Array> {
  const derivation = newDerivation(key);
  return encodeKey(derivation, (await deriveKey(key, derivation)) as Uint8Array);
}

// All that may open the file: each key, as each of its slots wants it.
async function encodeKeys(keys: readonly Key[], found: Derivation[]): Promise<Uint8Array> {
  const encoded: number[] = [];
  for (const derivation of found) {
    for (const key of keys) {
      const derived = await deriveKey(key, derivation);
      if (derived !== undefined) encoded.push(...encodeKey(derivation, derived));
    }
  }
  // Of a new file. Of any other it is the wrong one, and the engine says so.
  if (encoded.length === 0) encoded.push(...(await encodeNewKey(keys[0] as Key)));
  return Uint8Array.from(encoded);
}

/** What may open a database that is only read; undefined without a key. @internal */
export async function keysOfForeign(
  key: Key | undefined,
  name: string,
  database: EngineFiles | Uint8Array | Blob,
): Promise<Uint8Array | undefined> {
  if (key === undefined) return undefined;
  const known = checkKey("key", key);
  if (database instanceof Map) {
    const file = database.get(name);
    return encodeKeys([known], file === undefined ? [] : derivationsIn(file));
  }
  const begin =
    database instanceof Uint8Array
      ? database.slice(0, BLOCK_BYTES)
      : new Uint8Array(await database.slice(0, BLOCK_BYTES).arrayBuffer());
  return encodeKeys([known], begin.length < BLOCK_BYTES ? [] : derivationsOf(begin));
}

/** The key of a database that is open. Its bytes show in no message and no log. @internal */
export class KeyRing {
  readonly #name: string;
  // More than one after a change of which nobody knows whether it was made.
  #keys: Key[];

  constructor(name: string, ...keys: (Key | undefined)[]) {
    this.#name = name;
    this.#keys = keys.filter((key) => key !== undefined);
  }

  get isEmpty(): boolean {
    return this.#keys.length === 0;
  }

  /** Throws if whoever has `key` may not have the database. */
  admit(key: Key | undefined): void {
    if (key === undefined && this.isEmpty) return;
    if (key === undefined) throw keyRequired(this.#name);
    if (this.isEmpty) throw notEncrypted(this.#name);
    if (!this.#keys.some((known) => isSameKey(known, key))) throw wrongKey(this.#name);
  }

  /**
   * What this key derives for the file, and how: enough for others with the key to prove that they
   * have it. Undefined if the file is not encrypted.
   */
  async shared(
    database: EngineFile,
  ): Promise<{ derivation: Derivation; derived: Uint8Array } | undefined> {
    for (const derivation of derivationsIn(database)) {
      for (const key of this.#keys) {
        const derived = await deriveKey(key, derivation);
        if (derived !== undefined) return { derivation, derived };
      }
    }
    return undefined;
  }

  /** For the engine; undefined of a plain file. */
  async forFile(database: EngineFile | undefined): Promise<Uint8Array | undefined> {
    if (this.isEmpty) return undefined;
    // The engine says that there is no such file.
    return database === undefined
      ? encodeNewKey(this.#keys[0] as Key)
      : encodeKeys(this.#keys, derivationsIn(database));
  }

  /** `write` gets the new key for the engine. */
  async change(key: Key, write: (encoded: Uint8Array) => Promise<void>): Promise<void> {
    if (this.isEmpty) {
      throw new KeepsakeError(
        "unsupported",
        `${this.#name} is not encrypted: import an export of it into a new memory that has a key`,
      );
    }
    const encoded = await encodeNewKey(key);
    this.#keys = [...this.#keys, key];
    await write(encoded);
    this.#keys = [key];
  }

  toJSON(): string {
    return "[KeyRing]";
  }
}
