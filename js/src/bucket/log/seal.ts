// How an object is bound to its place, and encrypted if there is a key.
//
//   object := magic (4) form u8 prior (32) body
//   body   := digest (32) content                     form 0: anybody may read it
//           | nonce (12) ciphertext                   form 1: AES-256-GCM
//   what is encrypted := length u32, content, zeros up to a multiple of 4096 bytes
//
// The digest is SHA-256 of the context and the content; the ciphertext is authenticated together
// with the context. The context says of which log it is, what kind of object, and its number; and
// `prior`, the digest of the object before it. So what is damaged, or was put in another's place, is
// noticed in either form. Only with a key can nobody make one up. Persistent.

import { KeepsakeError } from "../../errors.js";

const MAGIC = [0x4b, 0x53, 0x4f, 0x31]; // KSO1
const PLAIN = 0;
const SEALED = 1;
const PRIOR_AT = 5;
const BODY_AT = 37;
const DIGEST_BYTES = 32;
const NONCE_BYTES = 12;
const PAGE = 4096;

/** Where an object belongs. @internal */
export interface Place {
  /** Of the log: 16 bytes, in hexadecimal. */
  readonly logId: string;
  readonly kind: "head" | "record" | "base" | "piece";
  /** Of the record, or of the one that a base was made after. */
  readonly number: number;
  /** Tells bases of one number apart, and pieces of a base. */
  readonly detail?: string;
}

/** 32 zeros: of what has nothing before it. @internal */
export const NO_PRIOR = new Uint8Array(DIGEST_BYTES);

/** @internal */
export async function digestOf(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as BufferSource));
}

/** @internal */
export function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** @internal */
export function importSecret(bytes: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", bytes as BufferSource, "AES-GCM", false, [
    "encrypt",
    "decrypt",
  ]);
}

/** Makes objects, and opens them. @internal */
export class Seal {
  readonly #secret: CryptoKey | undefined;

  /** Without a secret, objects are readable by anybody. */
  constructor(secret: CryptoKey | undefined) {
    this.#secret = secret;
  }

  get isSealed(): boolean {
    return this.#secret !== undefined;
  }

  async close(place: Place, prior: Uint8Array, content: Uint8Array): Promise<Uint8Array> {
    const context = contextOf(place, prior);
    const body =
      this.#secret === undefined
        ? joined(await digestOf(joined(context, content)), content)
        : await encrypt(this.#secret, context, content);
    return joined(
      Uint8Array.of(...MAGIC, this.#secret === undefined ? PLAIN : SEALED),
      prior,
      body,
    );
  }

  /** What is in an object that was made for this place. Throws `corrupt` if it was not, or was changed. */
  async open(
    place: Place,
    object: Uint8Array,
  ): Promise<{ prior: Uint8Array; content: Uint8Array }> {
    const form = object[PRIOR_AT - 1];
    const isOurs = object.length >= BODY_AT && MAGIC.every((byte, i) => object[i] === byte);
    if (!isOurs || (form !== PLAIN && form !== SEALED)) throw damaged(place, "it is none of ours");
    if ((form === SEALED) !== this.isSealed) {
      // The head was opened, so that its form is right.
      if (place.kind !== "head") throw damaged(place, "it is of another form than the log");
      throw ofOtherForm(place, form === SEALED);
    }
    const prior = object.slice(PRIOR_AT, BODY_AT);
    const context = contextOf(place, prior);
    const body = object.subarray(BODY_AT);
    const content =
      this.#secret === undefined
        ? await unwrap(context, body)
        : await decrypt(this.#secret, context, body);
    if (content === undefined) throw damaged(place, "it was changed, or is another's");
    return { prior, content };
  }
}

async function unwrap(context: Uint8Array, body: Uint8Array): Promise<Uint8Array | undefined> {
  const content = body.slice(DIGEST_BYTES);
  const digest = await digestOf(joined(context, content));
  return isSameBytes(digest, body.subarray(0, DIGEST_BYTES)) ? content : undefined;
}

async function encrypt(
  secret: CryptoKey,
  context: Uint8Array,
  content: Uint8Array,
): Promise<Uint8Array> {
  const padded = new Uint8Array(Math.ceil((4 + content.length) / PAGE) * PAGE);
  new DataView(padded.buffer).setUint32(0, content.length, true);
  padded.set(content, 4);
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const algorithm = { name: "AES-GCM", iv: nonce, additionalData: context as BufferSource };
  const ciphertext = await crypto.subtle.encrypt(algorithm, secret, padded);
  return joined(nonce, new Uint8Array(ciphertext));
}

async function decrypt(
  secret: CryptoKey,
  context: Uint8Array,
  body: Uint8Array,
): Promise<Uint8Array | undefined> {
  const algorithm = {
    name: "AES-GCM",
    iv: body.slice(0, NONCE_BYTES),
    additionalData: context as BufferSource,
  };
  let padded: Uint8Array;
  try {
    padded = new Uint8Array(
      await crypto.subtle.decrypt(algorithm, secret, body.slice(NONCE_BYTES)),
    );
  } catch {
    return undefined;
  }
  const length = new DataView(padded.buffer).getUint32(0, true);
  return padded.slice(4, 4 + length);
}

function contextOf({ logId, kind, number, detail = "" }: Place, prior: Uint8Array): Uint8Array {
  const text = ["keepsake", logId, kind, number, detail].join("\n");
  return joined(new TextEncoder().encode(`${text}\n`), prior);
}

/** @internal */
export function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** @internal */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @internal */
export function bytesOfHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function damaged({ kind, number }: Place, why: string): KeepsakeError {
  return new KeepsakeError("corrupt", `${kind} ${number} of the log is damaged: ${why}`);
}

function ofOtherForm({ kind, number }: Place, isSealed: boolean): KeepsakeError {
  return isSealed
    ? new KeepsakeError("key_required", `${kind} ${number} of the log is encrypted: give its key`)
    : new KeepsakeError("wrong_key", `${kind} ${number} of the log is not encrypted: give no key`);
}
