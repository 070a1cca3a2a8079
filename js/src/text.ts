// Texts that others wrote, whatever they are: looked through in linear time, and shown without
// what hides in them.

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

// All that ends a line somewhere.
const LINE_END = /\r\n|[\n\v\f\r\x85\u2028\u2029]/g;
// What nobody sees: control characters, those that turn the order of a line around, tags,
// selectors, letters without a width. Only where writing needs them they stay: within an emoji,
// and between letters of scripts that join.
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}](?<![\n\t]|\p{Extended_Pictographic}\ufe0f|\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?\u200d(?=\p{Extended_Pictographic})|[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Malayalam}\p{Script=Sinhala}][\u200c\u200d](?=[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Malayalam}\p{Script=Sinhala}]))/gu;
const UNPRINTED = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;
const SHORT_ESCAPES: Record<string, string> = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };

/** Without what hides in it, and with "\n" for each end of a line. @internal */
export function withoutHidden(text: string): string {
  return text.toWellFormed().replace(LINE_END, "\n").replace(UNSEEN, "");
}

/** The same of one line of a file, which stays one line. @internal */
export function lineWithoutHidden(line: string): string {
  const body = line.endsWith("\r") ? line.slice(0, -1) : line;
  return withoutHidden(body).replaceAll("\n", " ") + line.slice(body.length);
}

/** With what hides in it, and with ends of lines, as `\n` and `\u{200b}`. @internal */
export function showingHidden(text: string): string {
  return text.replace(UNPRINTED, escaped);
}

function escaped(sign: string): string {
  const code = (sign.codePointAt(0) as number).toString(16);
  return SHORT_ESCAPES[sign] ?? (code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`);
}
