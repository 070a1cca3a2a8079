// Serves the page on this machine until Ctrl-C. The server only hands out files: what the
// page remembers never leaves the browser.
import { createServer } from "node:http";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { UsageError } from "../options.mjs";
import { buildPage } from "./build.mjs";

const USUAL_PORT = 4173;
const HOST = "127.0.0.1";

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  // An endpoint of the person's choice.
  "connect-src 'self' https: http:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

export async function runPageDemo({ port }) {
  const { server, address } = await servePage({ port });
  // Before the address is told: whoever reads it may end us at once.
  const interrupted = untilInterrupted();
  process.stdout.write(`\nKeepsake's demo: ${address}\nCtrl-C ends it.\n\n`);
  await interrupted;
  await closed(server);
  return 0;
}

// → {server, address}. Without a port, the usual one or else a free one.
export async function servePage({ port } = {}) {
  const server = createServer(handler(await buildPage()));
  await (port === undefined ? listenAnywhere(server) : listen(server, port));
  return { server, address: `http://localhost:${server.address().port}/` };
}

function handler(files) {
  return ({ method, url, headers }, response) => {
    const file = files.get(new URL(url, "http://localhost").pathname);
    if (method !== "GET" && method !== "HEAD") return end(response, 405, "only GET and HEAD");
    if (file === undefined) return end(response, 404, "there is no such file");
    const coding = codingFor(headers["accept-encoding"]);
    const body = compressed(file, coding);
    response.writeHead(200, {
      "content-type": file.type,
      "content-length": body.length,
      vary: "accept-encoding",
      ...(coding && { "content-encoding": coding }),
      ...headersFor(url),
    });
    return response.end(method === "HEAD" ? undefined : body);
  };
}

const CODINGS = {
  br: (body) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (body) => gzipSync(body),
};

function codingFor(accepted = "") {
  const names = accepted.split(",").map((part) => part.split(";")[0].trim());
  return Object.keys(CODINGS).find((name) => names.includes(name));
}

// Once for each file and coding.
function compressed(file, coding) {
  if (coding === undefined) return file.body;
  file[coding] ??= CODINGS[coding](file.body);
  return file[coding];
}

function end(response, status, text) {
  response.writeHead(status, { "content-type": "text/plain" }).end(`${text}\n`);
}

function headersFor(url) {
  return {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "cache-control": url.startsWith("/v-") ? "public, max-age=31536000, immutable" : "no-cache",
    "x-content-type-options": "nosniff",
  };
}

async function listenAnywhere(server) {
  try {
    await listen(server, USUAL_PORT);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    await listen(server, 0);
  }
}

function listen(server, port) {
  return new Promise((resolve, reject) => {
    const fail = (cause) => reject(isTaken(cause) ? portTaken(port, cause) : cause);
    server.once("error", fail);
    server.listen(port, HOST, () => {
      server.off("error", fail);
      resolve();
    });
  });
}

function isTaken({ code }) {
  return code === "EADDRINUSE" || code === "EACCES";
}

function portTaken(port, cause) {
  return new UsageError(`port ${port} can't be used: ${cause.code}`, { cause });
}

function untilInterrupted() {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, resolve);
  });
}

function closed(server) {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
}
