// Paths of files, and the namespaces and keys that they stand for: "/notes/a.md" is the item
// "a.md" of the namespace [...root, "notes"].

import { checkText } from "../checks.js";
import { invalid } from "../errors.js";
import { decodeLabel, encodeLabel } from "../scope/labels.js";

/** Where a file is as an item. */
export interface ItemPath {
  namespace: string[];
  key: string;
}

/** The names on the way to a file or directory: none for the root. */
export function partsOf(path: string): string[] {
  const parts = checkText("a path", path)
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  if (!parts.includes("..")) return parts;
  throw invalid(
    `a path must not contain "..": ${JSON.stringify(path)}; name it from the root, such as "/notes/today.md"`,
  );
}

/** Refuses what can be only a directory. */
export function filePartsOf(path: string): string[] {
  const parts = partsOf(path);
  if (parts.length > 0 && !path.endsWith("/")) return parts;
  throw invalid(
    `${JSON.stringify(path)} names a directory: name a file, such as "/notes/today.md"`,
  );
}

export function pathOf(parts: readonly string[]): string {
  return `/${parts.join("/")}`;
}

export function namespaceOf(root: readonly string[], directory: readonly string[]): string[] {
  return [...root, ...directory.map(encodeLabel)];
}

export function itemPathOf(root: readonly string[], parts: readonly string[]): ItemPath {
  return { namespace: namespaceOf(root, parts.slice(0, -1)), key: parts.at(-1) as string };
}

export function partsOfItem(root: readonly string[], { namespace, key }: ItemPath): string[] {
  return [...namespace.slice(root.length).map(decodeLabel), key];
}

/** Each directory that a file lies in, but for the root. */
export function ancestorsOf(parts: readonly string[]): string[][] {
  return parts.slice(0, -1).map((_, i) => parts.slice(0, i + 1));
}
