import type { Blob } from "./types.js";

/** A blob that begins as another one does. Its bytes are made each time they are asked for. @internal */
export class JoinedBlob implements Blob {
  /** `start` is a view of the other one. */
  constructor(
    readonly type: string,
    readonly start: Uint8Array,
    readonly rest: Uint8Array,
  ) {}

  get bytes(): Uint8Array {
    const { start, rest } = this;
    const bytes = new Uint8Array(start.length + rest.length);
    bytes.set(start);
    bytes.set(rest, start.length);
    return bytes;
  }
}

/** How many bytes a blob has, without making them. @internal */
export function sizeOf(blob: Blob): number {
  return blob instanceof JoinedBlob ? blob.start.length + blob.rest.length : blob.bytes.length;
}
