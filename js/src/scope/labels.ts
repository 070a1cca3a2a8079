// Any text as a label of a namespace, and back: LangGraph allows no ".", ":" and NUL in one.

import { checkText } from "../checks.js";

const FORBIDDEN = /[%.:\0]/g;
const EMPTY = "%";

/**
 * A label for any text, such as an e-mail address: "%", ".", ":" and NUL as in a URL. Texts
 * that need nothing stay as they are. `decodeLabel()` is the way back.
 */
export function encodeLabel(text: string): string {
  checkText("a label", text);
  if (text === "") return EMPTY;
  if (text === "*") return "%2A"; // stands for any label in listNamespaces()
  return text.replace(
    FORBIDDEN,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}

/** The text of which `encodeLabel()` made this label. */
export function decodeLabel(label: string): string {
  checkText("a label", label);
  if (label === EMPTY) return "";
  return label.replace(/%([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
