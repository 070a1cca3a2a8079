// How a tab shows the owner of an encrypted database that it has its key, without telling it: each
// derives the same 32 bytes from it, as the file says how.

import { type Derivation, deriveKey, type Key } from "../engine/keys.js";

/** A key that only who has the database's can read. @internal */
export interface SealedKey {
  iv: Uint8Array;
  text: Uint8Array;
}

/** @internal */
export class SharedSecret {
  readonly #derived: Uint8Array;

  constructor(derived: Uint8Array) {
    this.#derived = derived;
  }

  /** Undefined if a key of this form is not the one. */
  static async from(key: Key, derivation: Derivation): Promise<SharedSecret | undefined> {
    const derived = await deriveKey(key, derivation);
    return derived && new SharedSecret(derived);
  }

  /** For one owner and one epoch, so that it is of no use afterwards. */
  async proof(owner: string, epoch: number): Promise<string> {
    return (await this.#tag(`follower ${owner} ${epoch}`)).join();
  }

  async seal(key: Key): Promise<SealedKey> {
    const iv = crypto.getRandomValues(new Uint8Array(12));
    const plain = typeof key === "string" ? [1, ...new TextEncoder().encode(key)] : [0, ...key];
    const cipher = await this.#cipher("encrypt");
    const text = await crypto.subtle.encrypt(
      { name: "AES-GCM", iv },
      cipher,
      Uint8Array.from(plain),
    );
    return { iv, text: new Uint8Array(text) };
  }

  /** Rejects if it was sealed by another secret. */
  async open({ iv, text }: SealedKey): Promise<Key> {
    const cipher = await this.#cipher("decrypt");
    const opened = await crypto.subtle.decrypt(
      { name: "AES-GCM", iv: iv as BufferSource },
      cipher,
      text as BufferSource,
    );
    const [isText, ...bytes] = new Uint8Array(opened);
    const key = Uint8Array.from(bytes);
    return isText === 1 ? new TextDecoder().decode(key) : key;
  }

  async #tag(text: string): Promise<Uint8Array> {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const usages: KeyUsage[] = ["sign"];
    const raw = this.#derived as BufferSource;
    const key = await crypto.subtle.importKey("raw", raw, algorithm, false, usages);
    const message = new TextEncoder().encode(`keepsake ${text}`);
    return new Uint8Array(await crypto.subtle.sign("HMAC", key, message));
  }

  async #cipher(usage: KeyUsage): Promise<CryptoKey> {
    const raw = (await this.#tag("new key")) as BufferSource;
    return crypto.subtle.importKey("raw", raw, "AES-GCM", false, [usage]);
  }

  toJSON(): string {
    return "[SharedSecret]";
  }
}
