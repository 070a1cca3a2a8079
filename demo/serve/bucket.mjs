// The bucket of the page's two devices: a folder, which outlives the server.
import { mkdir } from "node:fs/promises";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { folder, serveBucket } from "keepsake/bucket";

const USUAL_FOLDER = fileURLToPath(new URL("../../build/demo-bucket/", import.meta.url));
const PATH = "/bucket";
const MAX_BYTES = 16 << 20;
const WITHOUT_BODY = ["GET", "HEAD"];

export function isOfBucket({ url }) {
  const { pathname } = new URL(url, "http://localhost");
  return pathname === PATH || pathname.startsWith(`${PATH}/`);
}

// → a listener for requests of Node's server
export async function openBucket(path = USUAL_FOLDER) {
  await mkdir(path, { recursive: true });
  const bucket = folder(path);
  return async (request, response) => {
    const options = { path: PATH, maxBytes: MAX_BYTES, onError: (error) => console.warn(error) };
    const answer = await serveBucket(bucket, requestOf(request), options);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  };
}

// As the web has it.
function requestOf(request) {
  const { method, headers, url } = request;
  const body = WITHOUT_BODY.includes(method) ? undefined : Readable.toWeb(request);
  return new Request(new URL(url, "http://localhost"), { method, headers, body, duplex: "half" });
}
