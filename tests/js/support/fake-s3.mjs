// A server that answers as S3's documentation says, and as strictly: a request whose signature it
// does not compute itself is refused.

import { createHash, createHmac } from "node:crypto";
import { serveNode } from "./local-server.mjs";

const sha256 = (data) => createHash("sha256").update(data).digest("hex");
const hmac = (key, data) => createHmac("sha256", key).update(data).digest();
const rfc3986 = (text) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
const escaped = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/**
 * `faults`: functions of the request that answer { status, code, … } or undefined, each asked once
 * for one request before anything else, or "done" if it has answered. The bucket is in the path.
 */
export async function fakeS3({
  bucket = "memories",
  region = "eu-test-1",
  accessKeyId = "AKIATEST",
  secretAccessKey = "secret/of+test",
  sessionToken,
  pageSize = 1000,
} = {}) {
  const objects = new Map();
  const requests = [];
  const settings = { faults: [], pageSize, clockSkewMs: 0, headers: {} };

  const url = await serveNode((request, response, body) => {
    const { pathname, searchParams } = new URL(request.url, "http://s3");
    requests.push({ method: request.method, url: request.url, headers: request.headers });
    const send = (status, headers = {}, content = "") => {
      response.writeHead(status, {
        date: new Date(Date.now() + settings.clockSkewMs).toUTCString(),
        ...settings.headers,
        ...headers,
        "content-length": Buffer.byteLength(content),
      });
      response.end(content);
    };
    const fail = ({ status, code, message = "in a sentence", more = "", headers = {} }) =>
      send(
        status,
        { "content-type": "application/xml", ...headers },
        `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${escaped(message)}</Message>${more}<RequestId>1</RequestId></Error>`,
      );

    // Of a page of another origin, if `headers` let it in.
    if (request.method === "OPTIONS") return send(200);
    const fault = settings.faults.shift()?.(request, response);
    if (fault === "done") return;
    if (fault !== undefined) return fail(fault);
    const refusal = refusalOf(request, body);
    if (refusal !== undefined) return fail(refusal);

    const [, named, ...path] = pathname.split("/");
    if (named !== bucket) {
      return fail({
        status: 404,
        code: "NoSuchBucket",
        message: "The specified bucket does not exist",
      });
    }
    const key = decodeURIComponent(path.join("/"));
    if (request.method === "GET" && key === "") return send(200, {}, listed(searchParams));
    const object = objects.get(key);
    if (request.method === "PUT") {
      if (request.headers["if-none-match"] === "*" && object !== undefined) {
        return fail({ status: 412, code: "PreconditionFailed" });
      }
      objects.set(key, body);
      return send(200, { etag: `"${sha256(body).slice(0, 32)}"` });
    }
    if (request.method === "DELETE") {
      objects.delete(key);
      return send(204);
    }
    if (object === undefined) {
      return fail({ status: 404, code: "NoSuchKey", message: "The specified key does not exist." });
    }
    const [, from, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    if (from === undefined) return send(200, {}, object);
    if (Number(from) >= object.length) return fail({ status: 416, code: "InvalidRange" });
    const end = Math.min(Number(last) + 1, object.length);
    const range = `bytes ${from}-${end - 1}/${object.length}`;
    return send(206, { "content-range": range }, object.subarray(Number(from), end));
  });

  function refusalOf({ method, url: target, headers }, body) {
    const [, id, day, place, signedNames, signature] =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
        headers.authorization ?? "",
      ) ?? [];
    if (id === undefined) return { status: 403, code: "AccessDenied", message: "Access Denied" };
    if (id !== accessKeyId) return { status: 403, code: "InvalidAccessKeyId" };
    if (headers["x-amz-security-token"] !== sessionToken) {
      return { status: 400, code: "InvalidToken" };
    }
    if (place !== region) {
      return {
        status: 400,
        code: "AuthorizationHeaderMalformed",
        message: `the region '${place}' is wrong; expecting '${region}'`,
        more: `<Region>${region}</Region>`,
      };
    }
    const time = headers["x-amz-date"];
    const at = Date.parse(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
    if (Math.abs(at - Date.now() - settings.clockSkewMs) > 15 * 60_000) {
      return { status: 403, code: "RequestTimeTooSkewed" };
    }
    const names = signedNames.split(";");
    const mustBe = Object.keys(headers).filter(
      (name) => name.startsWith("x-amz-") || name === "host" || name === "if-none-match",
    );
    if (!time.startsWith(day) || !mustBe.every((name) => names.includes(name))) {
      return {
        status: 403,
        code: "AccessDenied",
        message: "There were headers present in the request which were not signed",
      };
    }
    const hash = headers["x-amz-content-sha256"];
    if (hash !== "UNSIGNED-PAYLOAD" && hash !== sha256(body)) {
      return { status: 400, code: "XAmzContentSHA256Mismatch" };
    }
    const [path, query = ""] = target.split("?");
    const canonical = [
      method,
      path
        .split("/")
        .map((part) => rfc3986(decodeURIComponent(part)))
        .join("/"),
      [...new URLSearchParams(query)]
        .map(([name, value]) => `${rfc3986(name)}=${rfc3986(value)}`)
        .sort()
        .join("&"),
      ...[...names].sort().map((name) => `${name}:${headers[name].trim()}`),
      "",
      signedNames,
      hash,
    ].join("\n");
    const scope = `${day}/${region}/s3/aws4_request`;
    const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
    const key = scope.split("/").reduce(hmac, `AWS4${secretAccessKey}`);
    if (hmac(key, text).toString("hex") === signature) return undefined;
    return {
      status: 403,
      code: "SignatureDoesNotMatch",
      message: "The request signature we calculated does not match the signature you provided.",
      more: `<AWSAccessKeyId>${accessKeyId}</AWSAccessKeyId><StringToSign>${text}</StringToSign>`,
    };
  }

  function listed(query) {
    const isEncoded = query.get("encoding-type") === "url";
    // As S3 writes them: a space is a plus.
    const name = (text) =>
      escaped(isEncoded ? rfc3986(text).replaceAll("%20", "+").replaceAll("%2F", "/") : text);
    const token = query.get("continuation-token");
    const after = token === null ? (query.get("start-after") ?? "") : atob(token);
    const all = [...objects.keys()]
      .filter((key) => key.startsWith(query.get("prefix") ?? ""))
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .filter((key) => Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0);
    const page = all.slice(0, Math.min(Number(query.get("max-keys") ?? 1000), settings.pageSize));
    const isTruncated = page.length < all.length;
    return [
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
      `<Name>${bucket}</Name><Prefix>${name(query.get("prefix") ?? "")}</Prefix>`,
      `<KeyCount>${page.length}</KeyCount><IsTruncated>${isTruncated}</IsTruncated>`,
      isEncoded ? "<EncodingType>url</EncodingType>" : "",
      isTruncated
        ? `<NextContinuationToken>${btoa(page.at(-1) ?? "")}</NextContinuationToken>`
        : "",
      ...page.map(
        (key) =>
          `<Contents><Key>${name(key)}</Key><ETag>&quot;1&quot;</ETag><Size>1</Size></Contents>`,
      ),
      "</ListBucketResult>",
    ].join("");
  }

  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  return {
    url,
    objects,
    requests,
    settings,
    credentials,
    options: { bucket, region, endpoint: url },
  };
}
