// A server of this process, on a port of its own.

import { createServer } from "node:http";

const servers = new Set();

/** `answer(request, response, body)` of Node's own; its address. */
export async function serveNode(answer) {
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    await answer(request, response, Buffer.concat(parts));
  });
  servers.add(server);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}`;
}

/** `answer(request)` of the web's; its address. */
export function serveWeb(answer) {
  return serveNode(async (request, response, body) => {
    const { method, headers, url } = request;
    const hasBody = method !== "GET" && method !== "HEAD";
    const asked = new Request(`http://${headers.host}${url}`, {
      method,
      headers,
      ...(hasBody && { body }),
    });
    const answered = await answer(asked);
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    response.end(Buffer.from(await answered.arrayBuffer()));
  });
}

export function closeServers() {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  servers.clear();
}
