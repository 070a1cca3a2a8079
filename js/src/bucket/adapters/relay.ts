// A bucket by way of a server of your own: `serveBucket()` answers there, `httpBucket()` asks. Where
// callers must not have a store's credentials, or a Durable Object is the store.
//
//   GET    <url>/<key>     200 and the bytes; with `range: bytes=a-b` 206, or 416 behind the end;
//                          204 if there is no such object
//   PUT    <url>/<key>     with `if-none-match: *`: 201 if it was created, 200 if there is one
//   DELETE <url>/<key>     204, also if there is none
//   GET    <url>?prefix=&after=&limit=    200 and { "keys": […] }, in ascending order
//
// What a device meets each time that it asks for news is no failure: a browser would write a red line
// into its console for a 404 or a 412.
//
// Every answer has the header `keepsake-bucket: 1`, so that no page of somebody else passes for one.
// 400 a wrong request, 403 a key outside of what the caller may see, 405 another method,
// 408 an object that did not come whole, 413 one that is too large, 428 a PUT without the header, 502 the store refuses, 503 it does not answer.

import {
  checkListener,
  checkOptions,
  checkWhole,
  type NamesOf,
  readInput,
  show,
} from "../../checks.js";
import { detailOf, invalid, KeepsakeError, orUndefined } from "../../errors.js";
import { Bucket } from "../bucket.js";
import { refused, unreachable } from "../guard.js";
import { checkFolder, checkKey, checkKeyPrefix } from "../keys.js";
import type { ByteRange, ListRange } from "../port.js";
import {
  type Answer,
  type Fetch,
  failureOf,
  fetcherOf,
  isPassing,
  rangeHeader,
  rangeOf,
  send,
  textOf,
  urlIn,
  wordsOf,
} from "./http.js";
import { readAll } from "./parts.js";

const SIGN = "keepsake-bucket";
const VERSION = "1";
const MOST_KEYS = 1000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Where a server answers with `serveBucket()`. */
export interface HttpBucketOptions {
  /** Such as `https://example.com/memories`. */
  url: string;
  /** Sent with each request, such as `{ authorization }`; a function is asked each time. */
  headers?:
    | Record<string, string>
    | (() => Record<string, string> | Promise<Record<string, string>>)
    | undefined;
  /** A folder that all is below, such as `agents/ada`. @default none */
  prefix?: string | undefined;
  /** @default the global one */
  fetch?: Fetch | undefined;
}

const HTTP_OPTIONS: NamesOf<HttpBucketOptions> = { url: 1, headers: 1, prefix: 1, fetch: 1 };

/** The bucket that a server offers with `serveBucket()`. */
export function httpBucket(options: HttpBucketOptions): Bucket {
  const { url, headers, prefix, fetch } = checkOptions("httpBucket", HTTP_OPTIONS, options);
  const root = urlIn(url);
  if (root === undefined || root.search !== "") {
    throw invalid(
      "url must be an address such as https://example.com/memories, without a name, a password or a query: what lets a caller in belongs into headers",
    );
  }
  if (!root.pathname.endsWith("/")) root.pathname += "/";
  checkListener("fetch", fetch);
  const fetcher = fetcherOf(fetch);
  const place = `${root.href}${checkFolder("prefix", prefix)}`;
  const own = typeof headers === "function" ? headers : headersOf(headers);

  const ask = async (
    method: string,
    key: string,
    added: Record<string, string> = {},
    { query = {}, body }: { query?: Record<string, string>; body?: Uint8Array } = {},
  ): Promise<Answer> => {
    const target = new URL(root.pathname + key, root);
    // A framework may send whoever asks for a path with "/" at its end to the one without.
    if (key === "" && root.pathname !== "/") target.pathname = root.pathname.slice(0, -1);
    for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
    const given = typeof own === "function" ? headersOf(await own()) : own;
    const call = { method, url: target, headers: { ...given, ...added }, body };
    const answer = await send(place, fetcher, call);
    const { status } = answer;
    if (isRelay(answer) || isPassing(status)) return answer;
    // Whoever lets callers in answers before the relay does.
    if (status === 401 || status === 403) throw failureOf(place, answer, wordsOf(answer));
    throw refused(
      place,
      `what answers there (${status}) is no serveBucket(): see \`url\`, and, of another origin, that the header "${SIGN}" is exposed`,
    );
  };
  const failure = (answer: Answer) => {
    const words = wordsOf(answer);
    return answer.status === 502 && isRelay(answer)
      ? refused(place, `its store refuses: ${words}`)
      : failureOf(place, answer, words);
  };

  const get = async (key: string, range?: ByteRange): Promise<Uint8Array | undefined> => {
    const answer = await ask("GET", key, rangeHeader(range));
    const { status } = answer;
    if (status === 200 || status === 206) return rangeOf(place, answer, range);
    if (status === 204) return undefined;
    if (status === 416 && range !== undefined) return new Uint8Array();
    throw failure(answer);
  };

  const create = async (key: string, body: Uint8Array): Promise<boolean> => {
    const answer = await ask("PUT", key, { "if-none-match": "*" }, { body });
    if (answer.status === 201) return true;
    if (answer.status === 200) return false;
    throw failure(answer);
  };

  const list = async (begin: string, { after, limit }: ListRange = {}): Promise<string[]> => {
    const query = {
      prefix: begin,
      ...(after !== undefined && { after }),
      ...(limit !== undefined && { limit: String(limit) }),
    };
    const answer = await ask("GET", "", {}, { query });
    if (answer.status !== 200) throw failure(answer);
    const keys: unknown = orUndefined(() => JSON.parse(textOf(answer.bytes)).keys);
    if (Array.isArray(keys)) return keys;
    throw unreachable(place, "it answers no list of keys");
  };

  const remove = async (key: string): Promise<void> => {
    const answer = await ask("DELETE", key);
    if (answer.status !== 204) throw failure(answer);
  };

  return new Bucket({ get, create, list, delete: remove }, place, prefix);
}

// A gateway between may answer, too.
function isRelay({ headers }: Answer): boolean {
  return headers.get(SIGN) === VERSION;
}

// In small letters, so that ours take the place of others of the same name. An error never shows a
// value, which may be a secret.
function headersOf(given: unknown): Record<string, string> {
  if (given === undefined) return {};
  return readInput("headers", () => {
    if (typeof given !== "object" || given === null) {
      throw invalid(`headers must be { name: text }: ${show(typeof given)}`);
    }
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(given)) {
      if (typeof value !== "string") {
        throw invalid(
          `the header "${name}" must be a text; is a variable of the environment missing?`,
        );
      }
      headers[name.toLowerCase()] = value;
    }
    return headers;
  });
}

/** What a server lets its callers do. */
export interface ServeBucketOptions {
  /** The path that it is mounted at, such as `/memories`. @default "/" */
  path?: string | undefined;
  /** The folder that all keys must be in, such as `users/ada`: whoever calls gives it, too. */
  prefix?: string | undefined;
  /** How large an object may be. @default 64 MiB */
  maxBytes?: number | undefined;
  /** Told what the store refused or did not answer: a caller is not told its words. */
  onError?: ((error: unknown) => void) | undefined;
}

const SERVE_OPTIONS: NamesOf<ServeBucketOptions> = { path: 1, prefix: 1, maxBytes: 1, onError: 1 };

/**
 * Answers a request of `httpBucket()` from a bucket: in any server, Worker or Durable Object. Whom it
 * answers is yours to decide, before you call it; `prefix` keeps each caller to a folder. It never
 * rejects for what a caller sent.
 */
export async function serveBucket(
  bucket: Bucket,
  request: Request,
  options?: ServeBucketOptions,
): Promise<Response> {
  const { path, prefix, maxBytes, onError } = checkOptions("serveBucket", SERVE_OPTIONS, options);
  if (typeof bucket?.port?.get !== "function") {
    throw invalid(
      `serveBucket takes a bucket, as s3(), durableBucket() and others make it: ${show(bucket)}`,
    );
  }
  const root = checkPath(path);
  const folder = checkFolder("prefix", prefix);
  const most = checkWhole("maxBytes", maxBytes ?? MAX_BYTES, 1);
  checkListener("onError", onError);
  try {
    return await answered(bucket, request, root, folder, most);
  } catch (error) {
    const code = error instanceof KeepsakeError ? error.code : undefined;
    if (code === "invalid_argument") return saying(400, detailOf(error));
    onError?.(error);
    return code === "bucket_refused"
      ? saying(502, "see the server's log")
      : saying(503, "the store does not answer");
  }
}

async function answered(
  { port }: Bucket,
  request: Request,
  root: string,
  folder: string,
  most: number,
): Promise<Response> {
  const { method, headers } = request;
  const { pathname, searchParams } = new URL(request.url);
  if (`${pathname}/` === root || pathname === root) {
    if (method !== "GET") return saying(405, "only GET lists keys");
    const prefix = checkKeyPrefix("prefix", searchParams.get("prefix") ?? "");
    if (!prefix.startsWith(folder)) return saying(403, OUTSIDE);
    const after = searchParams.get("after") ?? undefined;
    const asked = searchParams.get("limit");
    if (asked !== null && !/^\d{1,9}$/.test(asked)) return saying(400, "limit must be a number");
    const limit = Math.min(Number(asked ?? MOST_KEYS), MOST_KEYS);
    const keys = await port.list(prefix, { after, limit });
    return answer(200, JSON.stringify({ keys }), { "content-type": "application/json" });
  }
  if (!pathname.startsWith(root)) return new Response("it is not here", { status: 404 });
  const key = checkKey(pathname.slice(root.length));
  if (!key.startsWith(folder)) return saying(403, OUTSIDE);
  switch (method) {
    case "GET": {
      const range = rangeIn(headers.get("range"));
      const bytes = await port.get(key, range);
      if (bytes === undefined) return answer(204);
      const type = { "content-type": "application/octet-stream" };
      if (range === undefined) return answer(200, bytes, type);
      if (bytes.length === 0) return saying(416, "it ends before");
      const last = range.from + bytes.length - 1;
      return answer(206, bytes, { ...type, "content-range": `bytes ${range.from}-${last}/*` });
    }
    case "PUT": {
      if (headers.get("if-none-match") !== "*") {
        return saying(428, "an object is only created: if-none-match: *");
      }
      const bytes = await bodyOf(request, most);
      if (bytes === "too large") return saying(413, `an object has ${most} bytes at most`);
      if (bytes === "cut off") return saying(408, "the object did not come whole");
      return (await port.create(key, bytes)) ? answer(201) : answer(200);
    }
    case "DELETE":
      await port.delete(key);
      return answer(204);
    default:
      return saying(405, "GET, PUT and DELETE are known");
  }
}

const OUTSIDE = "the key is outside of what you may see";

function checkPath(path = "/"): string {
  if (typeof path === "string" && /^\/[\w.~/-]*$/.test(path)) {
    return path.endsWith("/") ? path : `${path}/`;
  }
  throw invalid(`path must be where the bucket is mounted, such as "/memories": ${show(path)}`);
}

function rangeIn(header: string | null): ByteRange | undefined {
  const [, from, last] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(header ?? "") ?? [];
  if (from === undefined || Number(last) < Number(from)) return undefined;
  return { from: Number(from), to: Number(last) + 1 };
}

class TooLarge extends Error {}

// What is too large is not read to its end.
async function bodyOf(
  { headers, body }: Request,
  most: number,
): Promise<Uint8Array | "too large" | "cut off"> {
  const told = headers.get("content-length");
  if (told !== null && Number(told) > most) return "too large";
  try {
    const bytes = await readAll(body, (length) => {
      if (length > most) throw new TooLarge();
    });
    return told === null || Number(told) === bytes.length ? bytes : "cut off";
  } catch (error) {
    return error instanceof TooLarge ? "too large" : "cut off";
  }
}

function saying(status: number, words: string): Response {
  return answer(status, words, { "content-type": "text/plain" });
}

function answer(
  status: number,
  body: Uint8Array | string | null = null,
  headers: Record<string, string> = {},
): Response {
  return new Response(body as BodyInit | null, {
    status,
    headers: {
      ...headers,
      [SIGN]: VERSION,
      "cache-control": "no-store",
      "access-control-expose-headers": `${SIGN}, content-range`,
      "x-content-type-options": "nosniff",
    },
  });
}
