// Serves a folder as any web server does, without a header that asks for anything.

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".map": "application/json",
  ".wasm": "application/wasm",
};

const servers = new Set();

/**
 * `headers` go with every answer. `fallback` is the file that is sent for one that is
 * not there, as servers of single-page apps do.
 */
export async function serveFolder(folder, { headers = {}, fallback } = {}) {
  const server = createServer(async ({ url }, response) => {
    const path = normalize(decodeURIComponent(new URL(url, "http://localhost").pathname));
    const name = path.endsWith("/") ? `${path}index.html` : path;
    const found = (await read(folder, name)) ?? (fallback && (await read(folder, fallback)));
    if (!found) return response.writeHead(404, headers).end();
    response.writeHead(200, { "content-type": found.type, ...headers }).end(found.bytes);
  });
  servers.add(server);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/` };
}

async function read(folder, name) {
  try {
    const type = TYPES[extname(name)] ?? "application/octet-stream";
    return { bytes: await readFile(join(folder, name)), type };
  } catch {
    return undefined;
  }
}

export function closeServers() {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  servers.clear();
}

/** For a program that has to be told its port. */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
