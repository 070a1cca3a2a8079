// Vercel Blob as its package speaks with it: an API for writing and listing, and a host for each
// store that blobs are read from. It answers as the package's own classes of errors expect.

import { createRequire } from "node:module";
import { serveNode } from "./local-server.mjs";

const PATH = "/api/blob";
const PAGE = 4;

/** Blobs go by the package's own `undici` to the store's host: until `close()` that is here. */
export async function fakeVercel() {
  const token = "vercel_blob_rw_store1_secret";
  const blobs = new Map();
  const faults = [];
  const requests = [];

  const url = await serveNode((request, response, body) => {
    const { pathname, searchParams } = new URL(request.url, "http://vercel");
    requests.push({ method: request.method, url: request.url, headers: request.headers });
    const send = (status, value, headers = {}) => {
      response.writeHead(status, headers);
      response.end(value instanceof Buffer ? value : JSON.stringify(value));
    };
    const fail = (status, code, message = "in a sentence", headers = {}) =>
      send(status, { error: { code, message } }, headers);
    const fault = faults.shift();
    if (fault !== undefined) return fail(...fault);
    if (request.headers.authorization !== `Bearer ${token}`) return fail(403, "forbidden");
    if (!pathname.startsWith(PATH))
      return read(request, decodeURIComponent(pathname.slice(1)), send);
    if (request.headers["x-vercel-blob-store-id"] !== "store1") return fail(404, "store_not_found");
    if (request.method === "PUT") {
      const name = searchParams.get("pathname");
      const { "x-allow-overwrite": overwrites, "x-vercel-blob-access": access } = request.headers;
      if (access !== "private")
        return fail(400, "bad_request", "Cannot use public access on a private store");
      if (blobs.has(name) && overwrites !== "1") {
        return fail(
          400,
          "bad_request",
          "This blob already exists, use `allowOverwrite: true` if you want to overwrite it. Or `addRandomSuffix: true` to generate a unique filename.",
        );
      }
      blobs.set(name, body);
      return send(200, {
        pathname: name,
        url: `https://store1.private.blob.vercel-storage.com/${name}`,
      });
    }
    if (request.method === "POST" && pathname === `${PATH}/delete`) {
      for (const name of JSON.parse(body).urls) blobs.delete(name);
      return send(200, {});
    }
    const names = [...blobs.keys()].filter((name) =>
      name.startsWith(searchParams.get("prefix") ?? ""),
    );
    const begin = Number(searchParams.get("cursor") ?? 0);
    const page = names.slice(begin, begin + PAGE);
    const hasMore = begin + PAGE < names.length;
    return send(200, {
      blobs: page.map((pathname) => ({ pathname, uploadedAt: new Date() })),
      hasMore,
      ...(hasMore && { cursor: String(begin + PAGE) }),
    });
  });

  // What is kept on its way is not asked for: without cache=0 the host would answer old things.
  function read(request, name, send) {
    const isFresh = new URL(request.url, "http://x").searchParams.get("cache") === "0";
    const host = request.headers["x-asked-host"];
    const blob = blobs.get(name);
    if (!isFresh || host !== "store1.private.blob.vercel-storage.com") return send(500, {});
    if (blob === undefined) return send(404, {});
    const [, from, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    if (from === undefined) return send(200, blob);
    if (Number(from) >= blob.length) return send(416, {});
    const part = blob.subarray(Number(from), Number(last) + 1);
    const range = `bytes ${from}-${Number(from) + part.length - 1}/${blob.length}`;
    return send(206, part, { "content-range": range });
  }

  const require = createRequire(import.meta.url);
  const { Agent, getGlobalDispatcher, setGlobalDispatcher } = createRequire(
    require.resolve("@vercel/blob"),
  )("undici");
  class Redirected extends Agent {
    dispatch(options, handler) {
      const { hostname } = new URL(options.origin);
      if (!hostname.endsWith(".vercel-storage.com")) return super.dispatch(options, handler);
      const { headers } = options;
      const added = Array.isArray(headers)
        ? [...headers, "x-asked-host", hostname]
        : { ...headers, "x-asked-host": hostname };
      return super.dispatch({ ...options, origin: url, headers: added }, handler);
    }
  }
  const before = getGlobalDispatcher();
  const agent = new Redirected();
  setGlobalDispatcher(agent);
  process.env.VERCEL_BLOB_API_URL = url + PATH;
  process.env.VERCEL_BLOB_RETRIES = "0";
  return {
    token,
    blobs,
    faults,
    requests,
    async close() {
      setGlobalDispatcher(before);
      await agent.destroy();
    },
  };
}
