// Vercel Blob, by its package. It is handed in, so that no bundler looks for it where nobody uses it.

import { checkOptions, type NamesOf, show } from "../../checks.js";
import { invalid, messageOf } from "../../errors.js";
import { Bucket } from "../bucket.js";
import { refused, unreachable } from "../guard.js";
import { checkFolder } from "../keys.js";
import type { ByteRange, ListRange } from "../port.js";

/** What is needed of `import * as blob from "@vercel/blob"`, from version 2.3. */
export interface VercelBlobPackage {
  put(
    pathname: string,
    body: Blob,
    options: {
      access: "private";
      addRandomSuffix: boolean;
      allowOverwrite: boolean;
      contentType: string;
      token?: string;
    },
  ): Promise<object>;
  get(
    pathname: string,
    options: {
      access: "private";
      useCache: boolean;
      token?: string;
      headers?: Record<string, string>;
    },
  ): Promise<{
    stream: ReadableStream<Uint8Array> | null;
    headers: { get(name: string): string | null };
  } | null>;
  list(options: { prefix?: string; cursor?: string; token?: string }): Promise<{
    blobs: { readonly pathname: string }[];
    cursor?: string;
    hasMore: boolean;
  }>;
  del(pathname: string, options?: { token?: string }): Promise<void>;
}

/** How the package is used. */
export interface VercelBlobOptions {
  /** @default what the package finds: the project's own, or BLOB_READ_WRITE_TOKEN */
  token?: string | undefined;
  /** A folder that all is below, such as `agents/ada`. @default none */
  prefix?: string | undefined;
}

const VERCEL_OPTIONS: NamesOf<VercelBlobOptions> = { token: 1, prefix: 1 };
const FUNCTIONS = ["put", "get", "list", "del"] as const;
// The package has no class of error for it.
const EXISTS = /already exists/i;
const PASSING = ["BlobServiceNotAvailable", "BlobServiceRateLimited", "BlobUnknownError"];
const FAILED_GET = /Failed to fetch blob: (\d{3})/;
const BEHIND_THE_END = "416";

/** A private store of Vercel Blob: `vercelBlob(blob)`, of `import * as blob from "@vercel/blob"`. */
export function vercelBlob(blob: VercelBlobPackage, options?: VercelBlobOptions): Bucket {
  const { token, prefix } = checkOptions("vercelBlob", VERCEL_OPTIONS, options);
  const place = `Vercel Blob/${checkFolder("prefix", prefix)}`;
  if (!FUNCTIONS.every((name) => typeof blob?.[name] === "function")) {
    throw invalid(
      `vercelBlob takes the package, of version 2.3 or later: import * as blob from "@vercel/blob": ${show(blob)}`,
    );
  }
  if (token !== undefined && (typeof token !== "string" || token === "")) {
    throw invalid("token must be a text; is a variable of the environment missing?");
  }
  const admission = token === undefined ? {} : { token };
  const failure = (error: unknown) =>
    isPassing(blob, error)
      ? unreachable(place, messageOf(error), error)
      : refused(place, messageOf(error), error);

  const get = async (key: string, range?: ByteRange): Promise<Uint8Array | undefined> => {
    const last = range && Math.max(range.to, range.from + 1) - 1;
    try {
      const found = await blob.get(key, {
        access: "private",
        // What is kept on its way would go on saying that a key is not there.
        useCache: false,
        ...admission,
        ...(range && { headers: { range: `bytes=${range.from}-${last}` } }),
      });
      if (found === null || found.stream === null) return undefined;
      const bytes = new Uint8Array(await new Response(found.stream).arrayBuffer());
      const length = found.headers.get("content-length");
      const isPacked = found.headers.get("content-encoding") !== null;
      if (length !== null && !isPacked && Number(length) !== bytes.length) {
        throw new TypeError(`${bytes.length} of ${length} bytes came`);
      }
      if (range === undefined) return bytes;
      const told = found.headers.get("content-range");
      if (told === null) return bytes.subarray(range.from, range.to);
      if (!told.startsWith(`bytes ${range.from}-`)) {
        throw new TypeError(`it answers another range: ${told}`);
      }
      return bytes.subarray(0, range.to - range.from);
    } catch (error) {
      if (range !== undefined && statusOf(error) === BEHIND_THE_END) return new Uint8Array();
      throw failure(error);
    }
  };

  const create = async (key: string, bytes: Uint8Array): Promise<boolean> => {
    const type = "application/octet-stream";
    try {
      await blob.put(key, new Blob([bytes as Uint8Array<ArrayBuffer>], { type }), {
        access: "private",
        addRandomSuffix: false,
        allowOverwrite: false,
        contentType: type,
        ...admission,
      });
      return true;
    } catch (error) {
      if (EXISTS.test(messageOf(error))) return false;
      throw failure(error);
    }
  };

  // It promises no order and begins behind no key: all pages are read, and put in order here.
  const list = async (begin: string, { after = "", limit }: ListRange = {}): Promise<string[]> => {
    const keys: string[] = [];
    let cursor: string | undefined;
    try {
      do {
        const options = { prefix: begin, ...(cursor !== undefined && { cursor }), ...admission };
        const page = await blob.list(options);
        for (const { pathname } of page.blobs) if (pathname > after) keys.push(pathname);
        cursor = page.hasMore ? page.cursor : undefined;
      } while (cursor !== undefined);
    } catch (error) {
      throw failure(error);
    }
    return keys.sort(byBytes).slice(0, limit);
  };

  const remove = async (key: string): Promise<void> => {
    await blob.del(key, admission).catch((error) => {
      throw failure(error);
    });
  };

  return new Bucket({ get, create, list, delete: remove }, place, prefix);
}

function byBytes(a: string, b: string): number {
  return a < b ? -1 : 1;
}

function isPassing(blob: VercelBlobPackage, error: unknown): boolean {
  const status = statusOf(error);
  if (status !== undefined) return /^(5..|408|429)$/.test(status);
  // A bundler may have changed the names of classes, but not those of exports.
  const classes = blob as unknown as Record<string, unknown>;
  const { BlobError } = classes;
  if (typeof BlobError !== "function" || !(error instanceof BlobError)) return true;
  return PASSING.some((name) => {
    const type = classes[name];
    return typeof type === "function" && error instanceof type;
  });
}

function statusOf(error: unknown): string | undefined {
  return FAILED_GET.exec(messageOf(error))?.[1];
}
