// R2 and a Durable Object's rows as buckets, which the test asks by way of a relay.

import { DurableObject } from "cloudflare:workers";
import { checkBucket, durableBucket, folder, r2, serveBucket } from "keepsake/bucket";
import { refusal } from "./serve.mjs";

export class Relay extends DurableObject {
  bucket = durableBucket(this.ctx.storage);

  fetch(request) {
    return serveBucket(this.bucket, request, { path: "/durable" });
  }

  rows() {
    const { sql } = this.ctx.storage;
    return sql.exec("SELECT count(*) AS n, max(length(bytes)) AS most FROM bucket_objects").one();
  }
}

const methods = {
  check: (env) => checkBucket(r2(env.BUCKET, { prefix: "checked" }), { rounds: 2 }),
  rows: (env) => relayOf(env).rows(),
  // Whatever flags give a Worker a file system, it does not last.
  folder: () => refusal(() => folder("/tmp").port.get("a")),
  // As R2 fails: it is told by the number behind its message.
  async failing(_, message) {
    const fails = () => Promise.reject(new Error(message));
    const { port } = r2({ get: fails, head: fails, put: fails, list: fails, delete: fails });
    const calls = [
      () => port.get("a"),
      () => port.get("a", { from: 0, to: 9 }),
      () => port.create("a", new Uint8Array(1)),
      () => port.list(""),
      () => port.delete("a"),
    ];
    return Promise.all(calls.map(refusal));
  },
  async cutOff() {
    const binding = {
      get: async () => ({ size: 10, arrayBuffer: async () => new ArrayBuffer(4) }),
      head: async () => null,
      put: async () => null,
      list: async () => ({ objects: [], truncated: false }),
      delete: async () => {},
    };
    return refusal(() => r2(binding).port.get("a"));
  },
  noBinding: () => refusal(() => r2(undefined)),
  noStorage: () => refusal(() => durableBucket({})),
};

const relayOf = (env) => env.RELAY.get(env.RELAY.idFromName("relay"));

export default {
  async fetch(request, env) {
    const [, first] = new URL(request.url).pathname.split("/");
    if (first === "r2") return serveBucket(r2(env.BUCKET), request, { path: "/r2" });
    if (first === "durable") return relayOf(env).fetch(request);
    return Response.json((await methods[first](env, ...(await request.json()))) ?? null);
  },
};
