// The adapters that need nobody else's program: each over the whole contract, and what it makes of
// a store that refuses, is busy or answers half.

import { readFileSync } from "node:fs";
import { AwsClient } from "aws4fetch";
import { customBucket, folder, httpBucket, s3, serveBucket } from "keepsake/bucket";
import { bytesOf, callsOf, describeBucket } from "../contract/bucket.mjs";
import { fakeS3 } from "./support/fake-s3.mjs";
import { closeServers, serveNode, serveWeb } from "./support/local-server.mjs";
import { memoryPort } from "./support/memory-bucket.mjs";
import { expectRefused } from "./support/refusal.mjs";

afterAll(closeServers);

describe("customBucket()", () => {
  const shared = memoryPort();
  // The folder is part of the store's own names here.
  describeBucket("an object of functions", (prefix) => {
    const below = (key) => `${prefix}/${key}`;
    return customBucket({
      get: (key, range) => shared.port.get(below(key), range),
      create: (key, bytes) => shared.port.create(below(key), bytes),
      async list(begin, { after, limit } = {}) {
        const from = after && below(after);
        const keys = await shared.port.list(below(begin), { after: from, limit });
        return keys.map((key) => key.slice(prefix.length + 1));
      },
      delete: (key) => shared.port.delete(below(key)),
    });
  });

  test("it takes an instance of a class, whose methods keep their `this`", async () => {
    class Files {
      #files = new Map();
      opened = true;
      async get(key) {
        return this.#files.get(key);
      }
      async create(key, bytes) {
        this.#files.set(key, bytes);
        return true;
      }
      async list() {
        return [...this.#files.keys()];
      }
      async delete(key) {
        this.#files.delete(key);
      }
    }
    const { port } = customBucket(new Files(), "our files");
    expect(await port.create("a", bytesOf(3))).toBe(true);
    expect(await port.get("a")).toEqual(bytesOf(3));
    expect(await port.list("")).toEqual(["a"]);
  });

  test("what is no port is refused by what it lacks", async () => {
    const { port } = memoryPort();
    await expectRefused(() => customBucket({ ...port, remove: 1 }), "invalid_argument", /"remove"/);
    await expectRefused(() => customBucket({ ...port, get: 1 }), "invalid_argument", /get must be/);
    await expectRefused(
      () => customBucket(undefined),
      "invalid_argument",
      /get must be a function/,
    );
    await expectRefused(() => customBucket(port, ""), "invalid_argument", /place/);
  });

  test.each([
    "",
    "/a",
    "a/",
    "a//b",
    "../a",
    "a/../b",
    "a/.",
    ".",
    "a b",
    "ä",
    "a\\b",
    "a%2Fb",
    "a\0",
    "x".repeat(401),
    7,
    undefined,
  ])("the key %j is refused before the store is asked", async (key) => {
    const { port, objects } = memoryPort();
    const bucket = customBucket(port).port;
    await expectRefused(() => bucket.get(key), "invalid_argument", /key/);
    await expectRefused(() => bucket.create(key, bytesOf(1)), "invalid_argument", /key/);
    await expectRefused(() => bucket.delete(key), "invalid_argument", /key/);
    expect(objects.size).toBe(0);
  });

  test("ranges, beginnings, limits and bytes that are none are refused", async () => {
    const { port } = customBucket(memoryPort().port);
    for (const range of [{ from: 2, to: 1 }, { from: -1, to: 1 }, { from: 0 }, 7, null]) {
      await expectRefused(() => port.get("a", range), "invalid_argument");
    }
    for (const prefix of ["/", "../", "a//", "a b", undefined]) {
      await expectRefused(() => port.list(prefix), "invalid_argument", /prefix/);
    }
    await expectRefused(() => port.list("", { after: "../a" }), "invalid_argument", /after/);
    await expectRefused(() => port.list("", { limit: 0 }), "invalid_argument", /limit/);
    for (const bytes of ["text", [1], undefined, new ArrayBuffer(1)]) {
      await expectRefused(() => port.create("a", bytes), "invalid_argument", /bytes/);
    }
  });

  test("what a store rejects with is `unreachable`, but for what it says itself", async () => {
    const broken = new Error("the cable is out");
    const { port } = memoryPort();
    const fails = () => {
      throw broken;
    };
    const bucket = customBucket({ ...port, get: fails, create: fails }, "our files");
    const error = await expectRefused(
      () => bucket.port.get("a"),
      "unreachable",
      /the cable is out/,
    );
    expect(error.cause).toBe(broken);
    await expectRefused(() => bucket.port.create("a", bytesOf(1)), "unreachable", /is not known/);
    const refusal = await expectRefused(() => folder("/nowhere").port.get("a"), "bucket_refused");
    const passes = customBucket({ ...port, get: () => Promise.reject(refusal) });
    expect(await passes.port.get("a").catch((same) => same)).toBe(refusal);
  });

  test("an answer that breaks a rule is an error, and never passed on", async () => {
    const answering = (changed) => customBucket({ ...memoryPort().port, ...changed }).port;
    const refusedFor = (call, message) => expectRefused(call, "bucket_refused", message);
    await refusedFor(() => answering({ get: async () => "text" }).get("a"), /Uint8Array/);
    const whole = answering({ get: async () => bytesOf(9) });
    await refusedFor(() => whole.get("a", { from: 1, to: 3 }), /a range alone/);
    await refusedFor(
      () => answering({ create: async () => undefined }).create("a", bytesOf(1)),
      /true or false/,
    );
    const listing = (keys) => answering({ list: async () => keys });
    await refusedFor(() => listing(["b", "a"]).list(""), /ascending/);
    await refusedFor(() => listing(["a", "a"]).list(""), /ascending/);
    await refusedFor(() => listing(["a", "b"]).list("", { after: "a" }), /behind `after`/);
    await refusedFor(() => listing(["b"]).list("a"), /begin with the prefix/);
    await refusedFor(() => listing([1]).list(""), /list of keys/);
    await refusedFor(() => listing(undefined).list(""), /list of keys/);
    expect(await answering({ get: async () => null }).get("a")).toBeUndefined();
  });
});

describe("s3()", () => {
  let store;
  beforeAll(async () => {
    store = await fakeS3({ pageSize: 4 });
  });
  beforeEach(() => store.requests.splice(0));

  const bucketOf = (changed) => s3({ ...store.options, ...store.credentials, ...changed });
  const withFaults = (...faults) => store.settings.faults.push(...faults);

  describeBucket("S3", (prefix) => bucketOf({ prefix }));

  test("the signature is the one of AWS's own example", async () => {
    let sent;
    const { port } = s3({
      bucket: "examplebucket",
      region: "us-east-1",
      endpoint: "https://s3.amazonaws.com",
      pathStyle: false,
      accessKeyId: "AKIAIOSFODNN7EXAMPLE",
      secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      fetch: async (url, init) => {
        sent = { url, ...init.headers };
        return new Response("x");
      },
    });
    const { now } = Date;
    Date.now = () => Date.UTC(2013, 4, 24);
    try {
      await port.get("test.txt", { from: 0, to: 10 });
    } finally {
      Date.now = now;
    }
    // "Example: GET Object" of "Authenticating Requests: Using the Authorization Header".
    expect(sent.url).toBe("https://examplebucket.s3.amazonaws.com/test.txt");
    expect(sent.authorization).toBe(
      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    );
  });

  test("the fake takes another client's signatures, and refuses wrong ones", async () => {
    const ask = (changed) =>
      new AwsClient({
        ...store.credentials,
        service: "s3",
        region: "eu-test-1",
        retries: 0,
        ...changed,
      }).fetch(`${store.url}/memories/by-another?x=${encodeURIComponent("a b+c/d")}`, {
        method: "PUT",
        body: "text",
        headers: { "if-none-match": "*" },
      });
    expect((await ask()).status).toBe(200);
    expect((await ask({ secretAccessKey: "wrong" })).status).toBe(403);
    expect(await (await ask()).text()).toContain("PreconditionFailed");
  });

  test("a conflict of two writers is asked again", async () => {
    const conflict = () => ({ status: 409, code: "ConditionalRequestConflict" });
    withFaults(conflict, conflict);
    expect(await bucketOf().port.create("conflict", bytesOf(1))).toBe(true);
    expect(store.requests.length).toBe(3);
    withFaults(conflict, conflict, conflict, conflict, conflict);
    const { port } = bucketOf();
    await expectRefused(() => port.create("other", bytesOf(1)), "unreachable", /409.*Conflict/);
  });

  test.each([
    [{ status: 503, code: "SlowDown" }, /503.*SlowDown/],
    [{ status: 500, code: "InternalError" }, /InternalError/],
    [{ status: 429, code: "TooManyRequests" }, /429/],
    [{ status: 400, code: "RequestTimeout" }, /RequestTimeout/],
  ])("%j is `unreachable`", async (fault, message) => {
    for (const call of callsOf(bucketOf())) {
      withFaults(() => fault);
      await expectRefused(call, "unreachable", message);
    }
  });

  test.each([
    [{ status: 403, code: "AccessDenied", message: "Access Denied" }, /AccessDenied.*ListBucket/],
    [{ status: 404, code: "NoSuchBucket" }, /NoSuchBucket/],
    [{ status: 501, code: "NotImplemented" }, /501.*NotImplemented/],
    [{ status: 400, code: "InvalidArgument", message: "a header & more" }, /a header & more/],
  ])("%j is `bucket_refused`", async (fault, message) => {
    for (const call of callsOf(bucketOf())) {
      withFaults(() => fault);
      await expectRefused(call, "bucket_refused", message);
    }
  });

  test("wrong credentials are refused in S3's words, without a secret", async () => {
    const wrong = { secretAccessKey: "not/the+secret" };
    for (const call of callsOf(bucketOf(wrong))) {
      const error = await expectRefused(call, "bucket_refused", /SignatureDoesNotMatch/);
      expect(`${error.stack} ${JSON.stringify(error)}`).not.toMatch(/not\/the|AKIATEST/);
    }
    const { port } = bucketOf({ accessKeyId: "AKIAOTHER" });
    await expectRefused(() => port.get("a"), "bucket_refused", /InvalidAccessKeyId/);
  });

  test("a wrong region is told by the right one, however the store tells it", async () => {
    const { port } = bucketOf({ region: "us-east-1" });
    await expectRefused(() => port.get("a"), "bucket_refused", /region eu-test-1, not us-east-1/);
    withFaults(() => ({
      status: 301,
      code: "PermanentRedirect",
      headers: { "x-amz-bucket-region": "ap-south-1", location: "https://elsewhere.example" },
    }));
    const elsewhere = bucketOf().port;
    await expectRefused(() => elsewhere.get("a"), "bucket_refused", /region ap-south-1, not eu-/);
  });

  test("a bucket that is not there, and what is no S3, are refused", async () => {
    for (const call of callsOf(bucketOf({ bucket: "nowhere" }))) {
      await expectRefused(call, "bucket_refused", /NoSuchBucket: The specified bucket/);
    }
    const page = await serveWeb(() => new Response("<h1>not found</h1>", { status: 404 }));
    for (const call of callsOf(bucketOf({ endpoint: page }))) {
      await expectRefused(call, "bucket_refused", /is no S3/);
    }
    const empty = await serveWeb(() => new Response("<h1>welcome</h1>"));
    await expectRefused(
      () => bucketOf({ endpoint: empty }).port.list(""),
      "unreachable",
      /no list/,
    );
  });

  test("an answer that is cut off is `unreachable`", async () => {
    const { port } = bucketOf();
    await port.create("cut", bytesOf(1000));
    withFaults((_, response) => {
      response.writeHead(200, { "content-length": 1000 });
      response.write(bytesOf(400), () => response.destroy());
      return "done";
    });
    await expectRefused(() => port.get("cut"), "unreachable");
    const short = bucketOf({
      fetch: async () => new Response(bytesOf(400), { headers: { "content-length": "1000" } }),
    });
    await expectRefused(() => short.port.get("cut"), "unreachable", /400 of 1000 bytes/);
    withFaults((_, response) => {
      response.writeHead(200, {});
      response.end("<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key>");
      return "done";
    });
    await expectRefused(() => port.list(""), "unreachable", /no list/);
  });

  test("a store that is not there is `unreachable`, and its reason is told", async () => {
    const { port } = bucketOf({ endpoint: "http://127.0.0.1:9" });
    await expectRefused(() => port.get("a"), "unreachable", /ECONNREFUSED|bad port/);
    await expectRefused(() => port.create("a", bytesOf(1)), "unreachable", /stored is not known/);
  });

  test("a clock that is wrong is set by the store's", async () => {
    store.settings.clockSkewMs = 3 * 60 * 60_000;
    const { port } = bucketOf();
    expect(await port.get("nothing")).toBeUndefined();
    expect(store.requests.length).toBe(2);
    expect(await port.get("nothing")).toBeUndefined();
    expect(store.requests.length).toBe(3);
    store.settings.clockSkewMs = 0;
  });

  test("keys of others, of any name, are left out, however many there are", async () => {
    const { port } = bucketOf({ prefix: "odd" });
    const strange = ["ä&b", "a<b>", 'a "b"', "a+b", "a%20b", "\u{1f600}", "a//b", "a/"];
    for (const key of strange) store.objects.set(`odd/${key}`, Buffer.from("x"));
    for (let i = 0; i < 9; i++) store.objects.set(`odd/ ${i}`, Buffer.from("x"));
    expect(await port.list("")).toEqual([]);
    await port.create("z", bytesOf(1));
    expect(await port.list("")).toEqual(["z"]);
    expect(await port.list("", { limit: 1 })).toEqual(["z"]);
  });

  test("a store that does not know encoding-type=url is understood, too", async () => {
    const list = (key) =>
      `<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>${key}</Key></Contents></ListBucketResult>`;
    const { port } = bucketOf({ fetch: async () => new Response(list("a&#x2d;b&#45;c")) });
    expect(await port.list("")).toEqual(["a-b-c"]);
    const broken = bucketOf({
      fetch: async () =>
        new Response(
          list("%zz").replace("<Contents>", "<EncodingType>url</EncodingType><Contents>"),
        ),
    });
    await expectRefused(() => broken.port.list(""), "unreachable", /can't be read/);
  });

  test("credentials that change are asked for each time, with their session", async () => {
    const session = await fakeS3({ sessionToken: "a/session+token" });
    const given = [{ ...session.credentials, sessionToken: "an old one" }, session.credentials];
    const { port } = s3({ ...session.options, credentials: async () => given.shift() });
    await expectRefused(() => port.get("a"), "bucket_refused", /InvalidToken/);
    expect(await port.get("a")).toBeUndefined();
    await expectRefused(() => port.get("a"), "invalid_argument", /accessKeyId/);
    const fails = s3({
      ...session.options,
      credentials: () => Promise.reject(new Error("no role")),
    });
    await expectRefused(() => fails.port.get("a"), "unreachable", /no role/);
  });

  test("where a bucket is named follows the options", async () => {
    const urlOf = async (options) => {
      let asked;
      const fetch = async (url) => {
        asked = url;
        return new Response("x");
      };
      await s3({
        bucket: "b-1",
        region: "eu-north-1",
        ...store.credentials,
        fetch,
        ...options,
      }).port.get("k");
      return asked;
    };
    expect(await urlOf({})).toBe("https://b-1.s3.eu-north-1.amazonaws.com/k");
    expect(await urlOf({ bucket: "b.1" })).toBe("https://s3.eu-north-1.amazonaws.com/b.1/k");
    expect(await urlOf({ region: "cn-north-1" })).toBe(
      "https://b-1.s3.cn-north-1.amazonaws.com.cn/k",
    );
    const endpoint = "https://minio.example/store/";
    expect(await urlOf({ endpoint })).toBe("https://minio.example/store/b-1/k");
    expect(await urlOf({ endpoint, pathStyle: false })).toBe("https://b-1.minio.example/store/k");
    expect(await urlOf({ prefix: "p/q/" })).toBe("https://b-1.s3.eu-north-1.amazonaws.com/p/q/k");
  });

  test("its place tells where it is, and no secret", () => {
    const { place } = bucketOf({ prefix: "ada" });
    expect(place).toBe(`s3://memories/ada/ at ${new URL(store.url).host}`);
  });

  test("mistakes in its options are refused", async () => {
    const refused = (changed, message, code = "invalid_argument") =>
      expectRefused(() => bucketOf(changed), code, message);
    await refused({ bucket: "a/b" }, /bucket/);
    await refused({ bucket: undefined }, /bucket/);
    await refused({ region: undefined }, /region/);
    await refused({ endpoint: "minio:9000" }, /endpoint/);
    await refused({ endpoint: "https://me:secret@minio.example" }, /without a name/);
    await refused({ accessKeyId: undefined }, /environment/);
    await refused({ secretAccessKey: "" }, /environment/);
    await refused({ accesKeyId: "x" }, /"accessKeyId"/);
    await refused({ credentials: () => ({}) }, /one of them/, "conflicting_options");
    await refused({ prefix: "a b" }, /prefix/);
    await refused({ pathStyle: "yes" }, /pathStyle/);
    await refused({ fetch: "fetch" }, /fetch/);
  });
});

describe("serveBucket() and httpBucket()", () => {
  const { port, objects } = memoryPort();
  const store = customBucket(port);
  let url;
  let options;

  beforeAll(async () => {
    url = await serveWeb((request) =>
      request.headers.get("authorization") === "Bearer right"
        ? serveBucket(store, request, options)
        : new Response("who are you?", { status: 401, headers: { "content-type": "text/plain" } }),
    );
  });
  beforeEach(() => {
    objects.clear();
    options = { path: "/memories" };
  });

  const headers = { authorization: "Bearer right" };
  const bucketOf = (changed) => httpBucket({ url: `${url}/memories`, headers, ...changed });
  const ask = (path, init) =>
    fetch(`${url}/memories${path}`, { ...init, headers: { ...headers, ...init?.headers } });

  describeBucket("a relay over HTTP", (prefix) => bucketOf({ prefix }));

  test("a caller who is not let in is refused in the server's words", async () => {
    for (const call of callsOf(bucketOf({ headers: { authorization: "Bearer wrong" } }))) {
      const error = await expectRefused(call, "bucket_refused", /401.*who are you\?/);
      expect(error.message).not.toContain("wrong");
    }
    const later = [{}, headers];
    const { port: asked } = bucketOf({ headers: async () => later.shift() });
    await expectRefused(() => asked.get("a"), "bucket_refused");
    expect(await asked.get("a")).toBeUndefined();
  });

  test("a page of somebody else is no answer", async () => {
    for (const status of [200, 201, 204, 404, 412, 416]) {
      const body = status === 204 ? null : "<h1>Log in to this network</h1>";
      const portal = await serveWeb(() => new Response(body, { status }));
      for (const call of callsOf(httpBucket({ url: portal }))) {
        await expectRefused(call, "bucket_refused", /is no serveBucket\(\)/);
      }
    }
    const elsewhere = bucketOf({ url: `${url}/memory` });
    await expectRefused(() => elsewhere.port.get("a"), "bucket_refused", /404/);
  });

  test("a gateway that is busy is `unreachable`, also with 502", async () => {
    for (const status of [502, 503, 504, 429, 408]) {
      const gateway = await serveWeb(() => new Response("busy", { status }));
      for (const call of callsOf(httpBucket({ url: gateway }))) {
        await expectRefused(call, "unreachable", new RegExp(String(status)));
      }
    }
  });

  test("what is wrong with the store is told to the server, and not in its words", async () => {
    const told = [];
    const failing = async (code) => {
      const failure = await expectRefused(() => folder("/nowhere").port.get("a"), "bucket_refused");
      const thrown = code === "bucket_refused" ? failure : new Error("the secret of the store");
      const broken = customBucket({ ...port, get: () => Promise.reject(thrown) });
      const onError = (error) => told.push(error.code);
      const at = await serveWeb((request) => serveBucket(broken, request, { onError }));
      const error = await expectRefused(() => httpBucket({ url: at }).port.get("a"), code);
      expect(error.message).not.toMatch(/secret|nowhere/);
    };
    await failing("bucket_refused");
    await failing("unreachable");
    expect(told).toEqual(["bucket_refused", "unreachable"]);
  });

  test.each([
    ["GET", "/a%2Fb", 400],
    ["GET", "/a%00", 400],
    ["GET", "/a//b", 400],
    ["GET", "/%2e%2e%2fa", 400],
    ["GET", "?prefix=../", 400],
    ["GET", "?limit=-1", 400],
    ["GET", "?limit=0", 400],
    ["GET", "?after=%00", 400],
    ["POST", "/a", 405],
    ["HEAD", "/a", 405],
    ["OPTIONS", "/a", 405],
    ["PATCH", "/a", 405],
    ["POST", "", 405],
    ["DELETE", "", 405],
    ["PUT", "/a", 428],
  ])("%s %s of a hostile caller is answered by %i", async (method, path, status) => {
    objects.set("a", bytesOf(3));
    const answer = await ask(path, { method, ...(method === "PUT" && { body: "x" }) });
    expect(answer.status).toBe(status);
    expect(objects.size).toBe(1);
  });

  test("a path that leaves the folder is another path", async () => {
    objects.set("secret", bytesOf(3));
    options = { path: "/memories", prefix: "users/ada" };
    // As fetch() would not send it.
    const path = "/memories/users/ada/../../secret";
    const request = { method: "GET", url: `http://x${path}`, headers: new Headers() };
    expect((await serveBucket(store, request, options)).status).toBe(403);
  });

  test("a caller is kept to a folder, whose name begins another's", async () => {
    options = { path: "/memories", prefix: "users/1" };
    for (const key of ["users/1/a", "users/10/a", "users/1", "other"]) objects.set(key, bytesOf(1));
    const hers = bucketOf({ prefix: "users/1" }).port;
    expect(await hers.get("a")).toEqual(bytesOf(1));
    expect(await hers.list("")).toEqual(["a"]);
    for (const path of ["/users/10/a", "/users/1", "/other", "?prefix=users/1", "?prefix="]) {
      expect([path, (await ask(path)).status]).toEqual([path, 403]);
    }
    for (const call of callsOf(bucketOf({ prefix: "users/10" }))) {
      await expectRefused(call, "bucket_refused", /403.*outside/);
    }
    const answer = await ask("/users/10/a", { method: "DELETE" });
    expect([answer.status, objects.has("users/10/a")]).toEqual([403, true]);
  });

  test("an object that is too large is not read to its end", async () => {
    options = { path: "/memories", maxBytes: 1000 };
    const { port: hers } = bucketOf();
    expect(await hers.create("a", bytesOf(1000))).toBe(true);
    await expectRefused(() => hers.create("b", bytesOf(1001)), "bucket_refused", /413.*1000 bytes/);
    let pulled = 0;
    const endless = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(400));
      },
    });
    const request = new Request(`${url}/memories/b`, {
      method: "PUT",
      body: endless,
      duplex: "half",
      headers: { "if-none-match": "*" },
    });
    expect((await serveBucket(store, request, options)).status).toBe(413);
    expect(pulled).toBeLessThan(10);
    expect([...objects.keys()]).toEqual(["a"]);
  });

  test("an object that does not come whole is not created", async () => {
    const asked = (headers, body) =>
      serveBucket(
        store,
        new Request(`${url}/memories/b`, {
          method: "PUT",
          body,
          duplex: "half",
          headers: { "if-none-match": "*", ...headers },
        }),
        options,
      );
    expect((await asked({ "content-length": "10" }, bytesOf(4))).status).toBe(408);
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(bytesOf(4));
        controller.error(new Error("the cable is out"));
      },
    });
    expect((await asked({}, broken)).status).toBe(408);
    expect(objects.size).toBe(0);
  });

  test("a header of the caller does not take the place of one that matters", async () => {
    const sly = { ...headers, "If-None-Match": "no", RANGE: "bytes=0-0" };
    const { port: hers } = bucketOf({ headers: sly });
    expect(await hers.create("a", bytesOf(100))).toBe(true);
    expect(await hers.get("a", { from: 5, to: 9 })).toEqual(bytesOf(100).slice(5, 9));
  });

  test("a list that is none is `unreachable`", async () => {
    for (const body of ["{}", "no JSON", '{"keys":7}']) {
      const at = await serveNode((_, response) => {
        response.writeHead(200, { "keepsake-bucket": "1" });
        response.end(body);
      });
      await expectRefused(() => httpBucket({ url: at }).port.list(""), "unreachable", /no list/);
    }
  });

  test("mistakes in their options are refused", async () => {
    await expectRefused(() => httpBucket({ url: "example.com" }), "invalid_argument", /url/);
    await expectRefused(() => httpBucket({ url: `${url}?token=x` }), "invalid_argument", /headers/);
    await expectRefused(
      () => httpBucket({ url, headers: { authorization: undefined } }),
      "invalid_argument",
      /environment/,
    );
    await expectRefused(() => httpBucket({ url, header: {} }), "invalid_argument", /"headers"/);
    const request = new Request(url);
    const refused = (bucket, given, message) =>
      expectRefused(() => serveBucket(bucket, request, given), "invalid_argument", message);
    await refused(store, { path: "memories" }, /path/);
    await refused(store, { prefix: ".." }, /prefix/);
    await refused(store, { maxBytes: 0 }, /maxBytes/);
    await refused(port, {}, /takes a bucket/);
  });

  test("the protocol is the one that its file describes", () => {
    const text = readFileSync("js/src/bucket/adapters/relay.ts", "utf8");
    for (const status of [400, 403, 405, 408, 412, 413, 416, 428, 502, 503]) {
      expect(text.slice(0, text.indexOf("import"))).toContain(String(status));
    }
  });
});
