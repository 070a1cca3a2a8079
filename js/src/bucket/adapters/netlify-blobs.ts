// Netlify Blobs, by a store of its package.

import { checkOptions, type NamesOf, show } from "../../checks.js";
import { invalid, KeepsakeError, messageOf } from "../../errors.js";
import { Bucket } from "../bucket.js";
import { refused, unreachable } from "../guard.js";
import { checkFolder } from "../keys.js";
import type { ByteRange, ListRange } from "../port.js";

/** What is needed of a store, as `getStore()` of `@netlify/blobs` makes it, from version 10. */
export interface NetlifyStore {
  get(
    key: string,
    options: { type: "arrayBuffer"; consistency: "strong" },
  ): Promise<ArrayBuffer | null>;
  getMetadata(key: string, options: { consistency: "strong" }): Promise<object | null>;
  set(
    key: string,
    data: ArrayBuffer,
    options: { onlyIfNew: true },
  ): Promise<{ modified: boolean; etag?: string }>;
  list(options: { prefix: string }): Promise<{ blobs: { readonly key: string }[] }>;
  delete(key: string): Promise<void>;
}

/** How a store is used. */
export interface NetlifyBlobsOptions {
  /** A folder that all is below, such as `agents/ada`. @default none */
  prefix?: string | undefined;
}

const NETLIFY_OPTIONS: NamesOf<NetlifyBlobsOptions> = { prefix: 1 };
const METHODS = ["get", "getMetadata", "set", "list", "delete"] as const;
// All that its errors tell of an answer: the rights of a build, a wrong token or site, settings that
// lack something.
const LASTING =
  /could not write to store|environment has not been configured|\b40[01345] status code/;

/**
 * A store of Netlify Blobs, which must be strongly consistent, also in its lists:
 * `netlifyBlobs(getStore({ name: "agents", consistency: "strong" }))`.
 */
export function netlifyBlobs(store: NetlifyStore, options?: NetlifyBlobsOptions): Bucket {
  const { prefix } = checkOptions("netlifyBlobs", NETLIFY_OPTIONS, options);
  const place = `Netlify Blobs/${checkFolder("prefix", prefix)}`;
  if (!METHODS.every((name) => typeof store?.[name] === "function")) {
    throw invalid(
      `netlifyBlobs takes a store, as getStore() of @netlify/blobs makes it: ${show(store)}`,
    );
  }
  // Lists take it from nowhere else; where it is kept is the package's own affair.
  const { client } = store as { client?: { consistency?: unknown } };
  if (client?.consistency === "eventual") {
    throw invalid(
      'netlifyBlobs needs a store that reads what was just written: getStore({ name, consistency: "strong" })',
    );
  }
  const failure = (error: unknown) => {
    if (error instanceof KeepsakeError) return error;
    const message = messageOf(error);
    return LASTING.test(message)
      ? refused(place, message, error)
      : unreachable(place, message, error);
  };

  // It has no ranges.
  const get = async (key: string, range?: ByteRange): Promise<Uint8Array | undefined> => {
    try {
      const found = await store.get(key, { type: "arrayBuffer", consistency: "strong" });
      if (found === null) return undefined;
      return new Uint8Array(found).subarray(range?.from ?? 0, range?.to);
    } catch (error) {
      throw failure(error);
    }
  };

  const create = async (key: string, bytes: Uint8Array): Promise<boolean> => {
    try {
      const { modified, etag } = await store.set(key, bytes.slice().buffer, { onlyIfNew: true });
      if (!modified) return false;
      if (etag) return true;
      // The package says so of any answer but "it is there", also of a refusal. This one tells.
      await store.getMetadata(key, { consistency: "strong" });
      throw unreachable(place, "the store did not confirm it");
    } catch (error) {
      throw failure(error);
    }
  };

  // It promises no order and begins behind no key: all pages are read, and put in order here.
  const list = async (begin: string, { after = "", limit }: ListRange = {}): Promise<string[]> => {
    try {
      const { blobs } = await store.list({ prefix: begin });
      const keys = blobs.map(({ key }) => key).filter((key) => key > after);
      return keys.sort((a, b) => (a < b ? -1 : 1)).slice(0, limit);
    } catch (error) {
      throw failure(error);
    }
  };

  const remove = async (key: string): Promise<void> => {
    await store.delete(key).catch((error) => {
      throw failure(error);
    });
  };

  return new Bucket({ get, create, list, delete: remove }, place, prefix);
}
