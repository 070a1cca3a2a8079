// Texts that others wrote, whatever they are: looked through in linear time.

// Up to this length an engine's own search is linear: V8's tables hold no more.
const SHORT = 200;

/** Where a part is in a text, from a place on, or −1: in time that grows with both, not with their product. @internal */
export function finderOf(part: string): (text: string, from?: number) => number {
  if (part.length <= SHORT) return (text, from = 0) => text.indexOf(part, from);
  // Knuth, Morris and Pratt: how much of the part is still found where the next sign differs.
  const borders = new Uint32Array(part.length);
  const next = (found: number, sign: number) => {
    let length = found;
    while (length > 0 && part.charCodeAt(length) !== sign) length = borders[length - 1] as number;
    return part.charCodeAt(length) === sign ? length + 1 : 0;
  };
  for (let i = 1, found = 0; i < part.length; i++) {
    found = next(found, part.charCodeAt(i));
    borders[i] = found;
  }
  return (text, from = 0) => {
    for (let i = from, found = 0; i < text.length; i++) {
      found = next(found, text.charCodeAt(i));
      if (found === part.length) return i + 1 - found;
    }
    return -1;
  };
}

/** A text without each occurrence of a part, which is not empty: what stands between them. @internal */
export function splitAt(text: string, part: string): string[] {
  const find = finderOf(part);
  const pieces: string[] = [];
  let from = 0;
  for (let at = find(text); at >= 0; at = find(text, from)) {
    pieces.push(text.slice(from, at));
    from = at + part.length;
  }
  return [...pieces, text.slice(from)];
}
