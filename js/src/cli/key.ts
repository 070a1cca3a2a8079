// The key of an encrypted file. It comes from the environment: every process of the machine sees
// the arguments of a command, and a shell keeps them.

import type { Key } from "../engine/keys.js";
import { invalid } from "../errors.js";

const VARIABLE = "KEEPSAKE_KEY";
const RANDOM = /^hex:(?:[\da-f]{2}){32}$/i;

/** @internal */
export const KEY_HELP = `The variable ${VARIABLE} of the environment has the key of an encrypted file: a passphrase, or "hex:" and 64 digits for 32 random bytes.`;

/** Undefined for a plain file. @internal */
export function keyOfFile(): Key | undefined {
  const text = process.env[VARIABLE];
  if (text === undefined) return undefined;
  if (text !== "" && !text.startsWith("hex:")) return text;
  // Never what it is: it may be nearly right.
  if (!RANDOM.test(text)) {
    throw invalid(
      `${VARIABLE} must be a passphrase, or "hex:" and the 64 digits of 32 random bytes; unset it for a plain file`,
    );
  }
  return Uint8Array.from(Buffer.from(text.slice("hex:".length), "hex"));
}
