// Serves the page on this machine until Ctrl-C, and a bucket beside it, by which the page's two
// devices meet. What the agent remembers never leaves the browser.
import { createServer } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, constants, gzipSync } from "node:zlib";
import { UsageError } from "../options.mjs";
import { isOfBucket, openBucket } from "./bucket.mjs";
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

// → {server, address}. Without a port, the usual one or else a free one. `bucket` is its folder,
// or false for a server that only hands out files.
export async function servePage({ port, bucket } = {}) {
  const [files, served] = await Promise.all([pack(), bucket !== false && openBucket(bucket)]);
  const answer = handler(files);
  const server = createServer((request, response) =>
    served && isOfBucket(request) ? served(request, response) : answer(request, response),
  );
  await (port === undefined ? listenAnywhere(server) : listen(server, port));
  return { server, address: `http://localhost:${server.address().port}/` };
}

// Before anybody asks: a visit measures how long it waits for the first answer.
async function pack() {
  const files = await buildPage();
  const packing = [...new Set(files.values())].map(async (file) => {
    file.br = await brotli(file.body);
  });
  await Promise.all(packing);
  return files;
}

const PARAMS = { [constants.BROTLI_PARAM_QUALITY]: 9 };
const brotli = (body) => promisify(brotliCompress)(body, { params: PARAMS });

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

// The better first.
const CODINGS = ["br", "gzip"];

function codingFor(accepted = "") {
  const names = accepted.split(",").map((part) => part.split(";")[0].trim());
  return CODINGS.find((name) => names.includes(name));
}

// By gzip once for each file, for who knows nothing better.
function compressed(file, coding) {
  if (coding === undefined) return file.body;
  file[coding] ??= gzipSync(file.body);
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
