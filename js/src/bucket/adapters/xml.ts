// What two stores answer in XML, of which a few texts matter. They send no comments, no CDATA, and
// no markup within those texts.

const ENTITIES: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/**
 * The texts of all elements of this name, as they were before they were written in XML. Each
 * character is looked at once, whatever a store sends.
 *
 * @internal
 */
export function textsIn(xml: string, element: string): string[] {
  const texts: string[] = [];
  for (let at = xml.indexOf(`<${element}`); at >= 0; at = xml.indexOf(`<${element}`, at)) {
    at += element.length + 1;
    if (!/[\s>]/.test(xml.charAt(at))) continue;
    const begin = xml.indexOf(">", at) + 1;
    const end = xml.indexOf("<", begin);
    if (begin === 0 || end < 0) break;
    if (xml.startsWith(`</${element}>`, end)) texts.push(unescaped(xml.slice(begin, end)));
    at = end;
  }
  return texts;
}

function unescaped(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** A store's own words for what is wrong. @internal */
export function errorIn(xml: string): { code: string; words: string } {
  const [code = ""] = textsIn(xml, "Code");
  const [message = ""] = textsIn(xml, "Message");
  const [line = ""] = message.split("\n");
  return { code, words: [code, line.trim()].filter((text) => text !== "").join(": ") };
}
