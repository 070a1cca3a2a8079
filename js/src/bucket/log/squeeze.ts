// Contents, compressed where that makes them smaller.
//
//   content := 0 bytes | 1 deflated bytes

import { detailOf } from "../../errors.js";

const STORED = 0;
const DEFLATED = 1;
const WORTH_A_TRY = 200;

/** @internal */
export async function squeeze(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const deflated =
    bytes.length < WORTH_A_TRY
      ? undefined
      : await through(new CompressionStream("deflate-raw"), bytes);
  const isSmaller = deflated !== undefined && deflated.length < bytes.length;
  const body = isSmaller ? deflated : bytes;
  const content = new Uint8Array(1 + body.length);
  content[0] = isSmaller ? DEFLATED : STORED;
  content.set(body, 1);
  return content;
}

/** Rejects with a RangeError if it is not what squeeze() makes, or more than `most` bytes. @internal */
export async function unsqueeze(
  content: Uint8Array,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const body = content.slice(1);
  if (content[0] === STORED && body.length <= most) return body;
  if (content[0] !== DEFLATED) throw new RangeError("it is compressed in no way that is known");
  try {
    return await through(new DecompressionStream("deflate-raw"), body, most);
  } catch (error) {
    throw error instanceof RangeError ? error : new RangeError(detailOf(error), { cause: error });
  }
}

async function through(
  stream: ReadableWritablePair<Uint8Array, BufferSource>,
  bytes: Uint8Array,
  most = Number.POSITIVE_INFINITY,
): Promise<Uint8Array<ArrayBuffer>> {
  const writer = stream.writable.getWriter();
  // What goes wrong is told by the reader.
  writer.write(bytes as BufferSource).catch(() => {});
  writer.close().catch(() => {});
  const reader = stream.readable.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new RangeError(`it takes more than ${most} bytes`);
    }
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
