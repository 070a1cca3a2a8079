// Derives the secret of an encrypted log, and the name of its objects, from the key and the memory's
// name. So names tell nothing, and nothing must be read to know them. Persistent.

import { deriveKey, type Key } from "../../engine/keys.js";
import { hexOf, importSecret, joined } from "./seal.js";

const ITERATIONS = 600_000;
const KIND_RAW = 1;
const KIND_PASSPHRASE = 2;

/** @internal */
export async function deriveSecrets(
  key: Key,
  name: string,
): Promise<{ name: string; secret: CryptoKey }> {
  const isPassphrase = typeof key === "string";
  const ofName = new TextEncoder().encode(`keepsake log\n${name}`);
  const salt = new Uint8Array(await crypto.subtle.digest("SHA-256", ofName as BufferSource));
  const derived = (await deriveKey(key, {
    kind: isPassphrase ? KIND_PASSPHRASE : KIND_RAW,
    iterations: isPassphrase ? ITERATIONS : 0,
    salt,
  })) as Uint8Array;
  const secret = await labelled("encryption", derived);
  const shown = await labelled("name", derived);
  return { name: hexOf(shown.subarray(0, 16)), secret: await importSecret(secret) };
}

async function labelled(label: string, derived: Uint8Array): Promise<Uint8Array> {
  const bytes = joined(new TextEncoder().encode(`keepsake log ${label}\n`), derived);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}
