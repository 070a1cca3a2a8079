// The checksums of a file's pages, written as core/src/sql/file_sums.h says: for tests that change
// a file by another program, and mean what is in it.

const PAGE = 4096;
const MASK = (1n << 64n) - 1n;

const rotl = (word, by) => ((word << by) | (word >> (64n - by))) & MASK;
const mix = (hash, word) =>
  rotl(((hash ^ ((word * 0x9e3779b97f4a7c15n) & MASK)) * 0xc2b2ae3d27d4eb4fn) & MASK, 31n);

/** The one of core/src/base/hash.h. */
export function hashOf(bytes, seed) {
  let even = seed ^ BigInt(bytes.length);
  let odd = ~seed & MASK;
  let i = 0;
  for (; i + 16 <= bytes.length; i += 16) {
    even = mix(even, bytes.readBigUInt64LE(i));
    odd = mix(odd, bytes.readBigUInt64LE(i + 8));
  }
  for (; i < bytes.length; i++) even = mix(even, BigInt(bytes[i]));
  let hash = mix(even, odd);
  hash ^= hash >> 32n;
  return mix(hash, hash >> 29n);
}

function sumOf(page, number) {
  const content = page.subarray(0, PAGE - 8);
  if (number !== 1) return hashOf(content, BigInt(number));
  // Without the page size and what belongs to the log of the moment.
  const [start, header] = [content.subarray(0, 16), content.subarray(24, 72)];
  return hashOf(content.subarray(92), hashOf(header, hashOf(start, 1n)));
}

/** The bytes of a database, each page with the checksum of what it holds. */
export function sealed(bytes) {
  const file = Buffer.from(bytes);
  for (let at = 0; at + PAGE <= file.length; at += PAGE) {
    const page = file.subarray(at, at + PAGE);
    page.writeBigUInt64LE(sumOf(page, at / PAGE + 1), PAGE - 8);
  }
  return file;
}
