// Cloudflare R2, by its binding in a Worker.

import { checkOptions, type NamesOf, show } from "../../checks.js";
import { invalid, messageOf } from "../../errors.js";
import { Bucket } from "../bucket.js";
import { refused, unreachable } from "../guard.js";
import { checkFolder } from "../keys.js";
import type { ByteRange, ListRange } from "../port.js";

/** What is needed of `env.BUCKET`, an `R2Bucket` of Cloudflare's types. */
export interface R2Binding {
  get(
    key: string,
    options?: { range?: { offset: number; length: number } },
  ): Promise<{ readonly size: number; arrayBuffer(): Promise<ArrayBuffer> } | null>;
  head(key: string): Promise<{ readonly size: number } | null>;
  put(
    key: string,
    value: Uint8Array,
    options: { onlyIf: { etagDoesNotMatch: string } },
  ): Promise<object | null>;
  list(options: {
    prefix?: string;
    startAfter?: string;
    limit?: number;
    cursor?: string;
  }): Promise<{
    objects: { readonly key: string }[];
    truncated: boolean;
    cursor?: string;
  }>;
  delete(key: string): Promise<void>;
}

/** How a binding is used. */
export interface R2Options {
  /** A folder that all is below, such as `agents/ada`. @default none */
  prefix?: string | undefined;
}

const R2_OPTIONS: NamesOf<R2Options> = { prefix: 1 };
const METHODS = ["get", "head", "put", "list", "delete"] as const;
const MOST_KEYS = 1000;
// Of the numbers that R2 puts behind its messages those that stay: no right, no such bucket, not
// switched on, too large.
const LASTING = /\((?:10002|10003|10006|10042|100100)\)\s*$/;

/** A bucket of R2, in a Worker that has it as a binding: `r2(env.BUCKET)`. */
export function r2(binding: R2Binding, options?: R2Options): Bucket {
  const { prefix } = checkOptions("r2", R2_OPTIONS, options);
  const place = `R2/${checkFolder("prefix", prefix)}`;
  if (!METHODS.every((name) => typeof binding?.[name] === "function")) {
    throw invalid(
      `r2 takes a bucket's binding, which env has by the name that wrangler's r2_buckets gives it: ${show(binding)}`,
    );
  }
  const failure = (error: unknown) => {
    const message = messageOf(error);
    return LASTING.test(message)
      ? refused(place, message, error)
      : unreachable(place, message, error);
  };

  const get = async (key: string, range?: ByteRange): Promise<Uint8Array | undefined> => {
    // Of none of its bytes it has no range.
    const length = range && Math.max(range.to - range.from, 1);
    try {
      const part = range && { range: { offset: range.from, length: length as number } };
      const found = await binding.get(key, part);
      if (found === null) return undefined;
      const bytes = new Uint8Array(await found.arrayBuffer());
      const wanted = range ? Math.min(length as number, found.size - range.from) : found.size;
      if (bytes.length !== wanted) throw new Error(`${bytes.length} of ${wanted} bytes came`);
      return range ? bytes.subarray(0, range.to - range.from) : bytes;
    } catch (error) {
      // So it answers where a range begins behind the end; at the end, its local one by no number.
      const found = range && (await binding.head(key).catch(() => null));
      if (found && found.size <= (range as ByteRange).from) return new Uint8Array();
      throw failure(error);
    }
  };

  const create = async (key: string, bytes: Uint8Array): Promise<boolean> => {
    try {
      return (await binding.put(key, bytes, { onlyIf: { etagDoesNotMatch: "*" } })) !== null;
    } catch (error) {
      throw failure(error);
    }
  };

  const list = async (begin: string, { after, limit }: ListRange = {}): Promise<string[]> => {
    const range = { ...(after !== undefined && { startAfter: after }) };
    let cursor: string | undefined;
    try {
      do {
        const { objects, ...page } = await binding.list({
          prefix: begin,
          ...(limit !== undefined && { limit: Math.min(limit, MOST_KEYS) }),
          ...(cursor === undefined ? range : { cursor }),
        });
        if (objects.length > 0) return objects.map(({ key }) => key);
        cursor = page.truncated ? page.cursor : undefined;
      } while (cursor !== undefined);
      return [];
    } catch (error) {
      throw failure(error);
    }
  };

  const remove = async (key: string): Promise<void> => {
    await binding.delete(key).catch((error) => {
      throw failure(error);
    });
  };

  return new Bucket({ get, create, list, delete: remove }, place, prefix);
}
