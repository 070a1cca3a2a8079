// One request to a store over HTTP, with all that can be wrong with its answer.

import { messageOf, orUndefined } from "../../errors.js";
import { refused, unreachable } from "../guard.js";
import type { ByteRange } from "../port.js";
import { readAll } from "./parts.js";

/** A `fetch()` of the caller's, such as one that goes through a proxy. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** @internal */
export interface Call {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: Uint8Array | undefined;
}

/** The whole of an answer. @internal */
export interface Answer {
  status: number;
  headers: Headers;
  bytes: Uint8Array;
}

// Of a connection that says nothing; and how slow an upload may be, of which nothing is heard.
const SILENCE_MS = 30_000;
const SLOWEST_BYTES_PER_MS = 16;

/** Sends it once. What it throws never names the URL, which may hold a signature. @internal */
export async function send(place: string, fetcher: Fetch, call: Call): Promise<Answer> {
  const { method, url, headers, body } = call;
  const ending = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => ending.abort(new Error("it is silent")), ms);
  };
  const init: RequestInit = {
    method,
    headers,
    redirect: "manual",
    signal: ending.signal,
    ...withoutCache(),
    ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> }),
  };
  try {
    wait(SILENCE_MS + (body?.length ?? 0) / SLOWEST_BYTES_PER_MS);
    const response = await fetcher(url.href, init);
    const bytes = await readAll(response.body, () => wait(SILENCE_MS));
    const { status, headers: answered } = response;
    const length = answered.get("content-length");
    // Compressed on its way, it has another length.
    const isWhole =
      length === null || answered.has("content-encoding") || Number(length) === bytes.length;
    if (!isWhole) throw new Error(`${bytes.length} of ${length} bytes came`);
    return { status, headers: answered, bytes };
  } catch (error) {
    throw unreachable(place, reasonOf(error, url), withoutUrl(error, url));
  } finally {
    clearTimeout(timer);
  }
}

// A browser, or a framework, that keeps answers would go on saying that a key is not there. Old
// Workers refuse the option.
function withoutCache(): RequestInit {
  try {
    new Request("https://store.invalid/", { cache: "no-store" });
    return { cache: "no-store" };
  } catch {
    return {};
  }
}

// "fetch failed" alone helps nobody.
function reasonOf(error: unknown, url: URL): string {
  const cause = orUndefined(() => (error as Error).cause);
  const text = cause === undefined ? messageOf(error) : `${messageOf(error)}: ${messageOf(cause)}`;
  return withoutQuery(text, url);
}

function withoutUrl(error: unknown, url: URL): unknown {
  return withoutQuery(messageOf(error), url) === messageOf(error) ? error : undefined;
}

function withoutQuery(text: string, { search }: URL): string {
  return search === "" ? text : text.replaceAll(search, "");
}

/** Whether the next try may succeed. @internal */
export function isPassing(status: number): boolean {
  if (status === 501 || status === 505) return false;
  return status >= 500 || [408, 409, 425, 429].includes(status);
}

/** What any other status than those of success means; `words` are the store's own. @internal */
export function failureOf(place: string, { status }: Answer, words: string): Error {
  // A browser tells no more of a redirection.
  const isRedirection = status === 0 || (status >= 300 && status < 400);
  const told = words === "" ? "" : `: ${words}`;
  if (isRedirection) {
    return refused(place, `it sends its callers elsewhere (${status || "a redirection"})${told}`);
  }
  return isPassing(status)
    ? unreachable(place, `it answers ${status}${told}`)
    : refused(place, `it refuses (${status})${told}`);
}

/** The first words of an answer that is a text. @internal */
export function wordsOf({ headers, bytes }: Answer): string {
  if (!/^text\/plain|json/.test(headers.get("content-type") ?? "")) return "";
  return textOf(bytes).replaceAll(/\s+/g, " ").trim().slice(0, 200);
}

/** @internal */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** A header that asks for a range; for none of its bytes, which no header can, for one. @internal */
export function rangeHeader(range: ByteRange | undefined): Record<string, string> {
  if (range === undefined) return {};
  return { range: `bytes=${range.from}-${Math.max(range.to, range.from + 1) - 1}` };
}

const CONTENT_RANGE = /^bytes (\d+)-\d+\//;

/** What was asked for, of a store that may have sent the whole object. @internal */
export function rangeOf(place: string, answer: Answer, range: ByteRange | undefined): Uint8Array {
  const { status, headers, bytes } = answer;
  if (range === undefined) {
    if (status === 200) return bytes;
    throw unreachable(place, `it answers a part (${status}) of an object that was asked for whole`);
  }
  if (status !== 206) return bytes.subarray(range.from, range.to);
  // A page of another origin is not shown the header.
  const told = headers.get("content-range");
  const from = told === null ? range.from : Number(CONTENT_RANGE.exec(told)?.[1]);
  if (from !== range.from) throw unreachable(place, `it answers another range: ${told}`);
  return bytes.subarray(0, range.to - range.from);
}

/** An address that requests go to, without what has no place in it. @internal */
export function urlIn(address: unknown): URL | undefined {
  if (typeof address !== "string" && !(address instanceof URL)) return undefined;
  try {
    const url = new URL(address);
    const isPlain = url.username === "" && url.password === "" && url.hash === "";
    return isPlain && /^https?:$/.test(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/** The default looks up `fetch` with each call, since some replace it. @internal */
export function fetcherOf(given: Fetch | undefined): Fetch {
  return given ?? ((url, init) => fetch(url, init));
}
