// A memory whose process is killed again and again: how it is opened, and what its ledger says.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openMemory } from "keepsake";

export const MARKER = "a-marker-that-nobody-may-read";
// As the file would have it, if it were not encrypted.
const VECTOR = [Math.PI, Math.E];
export const VECTOR_BYTES = Buffer.from(Float32Array.from(VECTOR).buffer);

export const textOf = (n, length) => `${MARKER} text ${n} ${"x".repeat(length)}`;
export const keyOf = (number) => new Uint8Array(32).fill(1 + (number % 255));
export const pathIn = (folder) => join(folder, "killed.db");

const index = {
  dims: 3,
  embeddings: (texts) => texts.map((text) => [...VECTOR, text.length]),
  fields: ["text"],
};

/** All lines that were written whole, as words. */
export function linesOf(ledger) {
  if (!existsSync(ledger)) return [];
  const lines = readFileSync(ledger, "utf8").split("\n");
  return lines.slice(0, -1).map((line) => line.split(" "));
}

/** Opens it with the key that was acknowledged last, or else with the one it was changing to. */
export async function openStorm(folder, ledger, isEncrypted) {
  const options = { path: pathIn(folder), actor: `${MARKER}-actor`, index };
  if (!isEncrypted) return { memory: await openMemory(options), keyNumber: 0 };
  const lines = linesOf(ledger);
  const numbers = lines.filter(([what]) => what === "key").map(([, number]) => Number(number));
  const known = numbers.at(-1) ?? 0;
  try {
    return { memory: await openMemory({ ...options, key: keyOf(known) }), keyNumber: known };
  } catch (error) {
    if (error.code !== "wrong_key") throw error;
    const [what, number] = lines.findLast(([word]) => word === "changing" || word === "key");
    if (what === "key") throw error;
    const next = Number(number);
    return { memory: await openMemory({ ...options, key: keyOf(next) }), keyNumber: next };
  }
}
