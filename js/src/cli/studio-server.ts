// A server of HTTP on this machine for an application that answers requests of the web.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { invalid, messageOf } from "../errors.js";

/** What answers requests: an application of Hono. @internal */
export interface Application {
  fetch(request: Request): Response | Promise<Response>;
}

const HOST = "127.0.0.1";
// Of a request: messages with a few pictures.
const MOST_BYTES = 16 * 1024 * 1024;
const LOCAL = /^(localhost|127\.0\.0\.1)(:\d+)?$/;
const ALLOWED = {
  "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
  "access-control-expose-headers": "content-location, x-pagination-total",
  "access-control-allow-private-network": "true",
  vary: "origin",
};

/**
 * Serves it until the process ends. Only pages of these origins, and of this machine, are
 * answered: the memory is nobody else's business. → the address
 * @internal
 */
export async function listen(
  application: Application,
  { port, origins }: { port: number; origins: readonly string[] },
): Promise<string> {
  const server = createServer((request, response) => {
    answer(application, origins, request, response).catch((error) => {
      if (!response.headersSent) end(response, 500, messageOf(error));
      else response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) =>
      reject(invalid(`--port ${port} can't be used: ${messageOf(cause)}`)),
    );
    server.listen(port, HOST, resolve);
  });
  return `http://localhost:${(server.address() as { port: number }).port}`;
}

async function answer(
  application: Application,
  origins: readonly string[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { origin, host = "" } = request.headers;
  // Another name that leads here was made up by a page of somebody's.
  if (!LOCAL.test(host)) return end(response, 403, `this server is localhost, not ${host}`);
  if (origin !== undefined && !isAllowed(origin, origins)) {
    return end(response, 403, `${origin} may not read this memory: start with --origin ${origin}`);
  }
  const headers = origin ? { ...ALLOWED, "access-control-allow-origin": origin } : {};
  if (request.method === "OPTIONS") {
    const asked = request.headers["access-control-request-headers"] ?? "content-type";
    response.writeHead(204, { ...headers, "access-control-allow-headers": asked }).end();
    return;
  }
  const body = await bodyOf(request);
  if (body === undefined) {
    response.once("finish", () => request.destroy());
    return end(response, 413, `a request must not be larger than ${MOST_BYTES} bytes`);
  }
  const answered = await application.fetch(toRequest(request, body, response));
  response.writeHead(answered.status, { ...Object.fromEntries(answered.headers), ...headers });
  if (answered.body === null) response.end();
  else await pipeline(Readable.fromWeb(answered.body as never), response);
}

function isAllowed(origin: string, origins: readonly string[]): boolean {
  return origins.includes(origin) || (URL.canParse(origin) && LOCAL.test(new URL(origin).host));
}

// Undefined where it is too large, and then no more of it is read.
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > MOST_BYTES) return undefined;
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    size += piece.length;
    if (size > MOST_BYTES) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function toRequest(request: IncomingMessage, given: Buffer, response: ServerResponse): Request {
  const { method = "GET", url = "/" } = request;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, String(value));
  }
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const body = method === "GET" || method === "HEAD" ? null : given;
  const options = { method, headers, body, signal: gone.signal };
  return new Request(new URL(url, `http://${HOST}`), options as RequestInit);
}

function end(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error }));
}
