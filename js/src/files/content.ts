// What is in a file: text or bytes, its type, and pages of its lines.

import { isBytes } from "../bytes.js";
import { splitAt } from "../text.js";

/** The type of what no extension names, if it is bytes. */
const BYTES = "application/octet-stream";
const TEXT = "text/plain";

// As deepagents types files: what is not here is text/plain.
const TYPES: Record<string, string> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  svg: "image/svg+xml",
  heic: "image/heic",
  heif: "image/heif",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  aiff: "audio/aiff",
  aac: "audio/aac",
  ogg: "audio/ogg",
  flac: "audio/flac",
  mp4: "video/mp4",
  webm: "video/webm",
  mpeg: "video/mpeg",
  mpg: "video/mpeg",
  mov: "video/quicktime",
  avi: "video/x-msvideo",
  flv: "video/x-flv",
  wmv: "video/x-ms-wmv",
  "3gpp": "video/3gpp",
  pdf: "application/pdf",
  ppt: "application/vnd.ms-powerpoint",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  md: "text/markdown",
  markdown: "text/markdown",
  html: "text/html",
  htm: "text/html",
  css: "text/css",
  csv: "text/csv",
  xml: "text/xml",
  json: "application/json",
  js: "application/javascript",
  mjs: "application/javascript",
  cjs: "application/javascript",
};
const TEXTUAL = /^text\/|^application\/(json|javascript)$|^image\/svg\+xml$/;

export type Content = string | Uint8Array;

/** Lines of a text, and where they stand in it. */
export interface Page {
  content: string;
  totalLines?: number;
  /** The first line is 1. */
  startLine?: number;
  endLine?: number;
  /** How many lines come before the next page; absent at the end. */
  nextOffset?: number;
}

function typeByName(name: string): string {
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 ? name.slice(dot + 1).toLowerCase() : "";
  return Object.hasOwn(TYPES, extension) ? (TYPES[extension] as string) : TEXT;
}

/** Whether files of that name hold text. */
export function isTextName(name: string): boolean {
  return TEXTUAL.test(typeByName(name));
}

export function typeOf(name: string, content: Content): string {
  const type = typeByName(name);
  if (TEXTUAL.test(type) === (typeof content === "string")) return type;
  return typeof content === "string" ? TEXT : BYTES;
}

/** Bytes as the text that they are, or else as they are. */
export function contentOf(name: string, bytes: Uint8Array): Content {
  if (!isTextName(name)) return bytes;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes;
  }
}

export function bytesOf(content: Content): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}

/** In bytes of UTF-8. */
export function sizeOf(content: Content): number {
  return typeof content === "string" ? utf8Length(content) : content.byteLength;
}

function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // A pair of surrogates is two units and four bytes.
    length += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return length;
}

/** The value of an item that is a file. */
export function itemOf(content: Content): object {
  return typeof content === "string" ? { text: content } : { bytes: content };
}

/** What a file's item holds; undefined for an item that is no file. */
export function contentOfValue(value: unknown): Content | undefined {
  const { text, bytes } = Object(value) as { text?: unknown; bytes?: unknown };
  if (typeof text === "string") return text;
  return isBytes(bytes) ? bytes : undefined;
}

export function pageOf(text: string, offset: number, limit: number): Page {
  const lines = text.split("\n");
  const totalLines = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  const selected = lines.slice(offset, offset + limit);
  const content = selected.join("\n");
  if (selected.length === 0 || offset >= totalLines) return { content };
  const endLine = Math.min(offset + selected.length, totalLines);
  const page: Page = { content, totalLines, startLine: offset + 1, endLine };
  if (endLine < totalLines) page.nextOffset = endLine;
  return page;
}

/** How often `part` is in the text, none within another. */
export function occurrencesOf(text: string, part: string): number {
  return splitAt(text, part).length - 1;
}
