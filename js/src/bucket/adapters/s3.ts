// Amazon S3, and what speaks its protocol: Cloudflare R2, MinIO and others.

import { checkFlag, checkListener, checkOptions, type NamesOf, show } from "../../checks.js";
import { invalid, KeepsakeError } from "../../errors.js";
import { Bucket } from "../bucket.js";
import { refused, unreachable } from "../guard.js";
import { checkFolder } from "../keys.js";
import type { ByteRange, ListRange } from "../port.js";
import {
  type Answer,
  type Fetch,
  failureOf,
  fetcherOf,
  rangeHeader,
  rangeOf,
  send,
  textOf,
  urlIn,
} from "./http.js";
import { type S3Credentials, signed } from "./sigv4.js";
import { errorIn, textsIn } from "./xml.js";

/** Where a bucket of S3 is, and who asks. */
export interface S3Options {
  bucket: string;
  /** Such as `eu-central-1`; of Cloudflare R2 it is `auto`. */
  region: string;
  /** Of another service than Amazon's, such as `https://<account>.r2.cloudflarestorage.com`. */
  endpoint?: string | undefined;
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
  sessionToken?: string | undefined;
  /** In the place of the three: asked before each request, as the AWS SDK's providers are. */
  credentials?: (() => S3Credentials | Promise<S3Credentials>) | undefined;
  /** A folder that all is below, such as `agents/ada`. @default none */
  prefix?: string | undefined;
  /** The bucket's name is in the path, not in the host. @default with `endpoint`, or a dot in the name */
  pathStyle?: boolean | undefined;
  /** @default the global one */
  fetch?: Fetch | undefined;
}

const S3_OPTIONS: NamesOf<S3Options> = {
  bucket: 1,
  region: 1,
  endpoint: 1,
  accessKeyId: 1,
  secretAccessKey: 1,
  sessionToken: 1,
  credentials: 1,
  prefix: 1,
  pathStyle: 1,
  fetch: 1,
};

// Another writer is about to create it, or to delete it.
const CONFLICTS = ["ConditionalRequestConflict", "OperationAborted"];
const CONFLICT_TRIES = 5;
const CONFLICT_MS = 50;

/**
 * A bucket of S3. Its credentials need the rights s3:GetObject, s3:PutObject, s3:DeleteObject and
 * s3:ListBucket. A service of another maker must know `If-None-Match: *`; `checkBucket()` tells.
 */
export function s3(options: S3Options): Bucket {
  const checked = checkOptions("s3", S3_OPTIONS, options);
  const { bucket, region, prefix } = checked;
  const folder = checkFolder("prefix", prefix);
  const root = rootOf(checked);
  const place = `s3://${bucket}/${folder}${checked.endpoint === undefined ? "" : ` at ${root.host}`}`;
  const credentials = credentialsOf(checked);
  checkListener("fetch", checked.fetch);
  const fetcher = fetcherOf(checked.fetch);
  // A clock that is wrong is refused; the store says what time it is.
  let skew = 0;

  const ask = async (
    method: string,
    key: string,
    { query = {}, headers = {}, body }: Partial<Request> = {},
  ): Promise<Answer> => {
    const url = new URL(root.pathname + key, root);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    for (let isFirst = true; ; isFirst = false) {
      const now = Date.now();
      const call = { method, url, headers, body };
      const signedHeaders = await signed(call, region, await credentials(), new Date(now + skew));
      const answer = await send(place, fetcher, { ...call, headers: signedHeaders });
      const told = Date.parse(answer.headers.get("date") ?? "");
      const isSkewed = answer.status === 403 && errorOf(answer).code === "RequestTimeTooSkewed";
      if (!isFirst || !isSkewed || Number.isNaN(told)) return answer;
      skew = told - now;
    }
  };
  const failure = (answer: Answer) => s3Failure(place, answer, region);

  const create = async (key: string, body: Uint8Array): Promise<boolean> => {
    for (let tries = 1; ; tries++) {
      const answer = await ask("PUT", key, { headers: { "if-none-match": "*" }, body });
      if (answer.status === 412) return false;
      if (answer.status >= 200 && answer.status < 300) return true;
      const isConflict = answer.status === 409 && CONFLICTS.includes(errorOf(answer).code);
      if (!isConflict || tries === CONFLICT_TRIES) throw failure(answer);
      const ms = CONFLICT_MS * 2 ** tries * Math.random();
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  };

  const get = async (key: string, range?: ByteRange): Promise<Uint8Array | undefined> => {
    const answer = await ask("GET", key, { headers: rangeHeader(range) });
    const { status } = answer;
    if (status === 200 || status === 206) return rangeOf(place, answer, range);
    if (status === 404 && errorOf(answer).code === "NoSuchKey") return undefined;
    if (status === 416 && range !== undefined) return new Uint8Array();
    throw failure(answer);
  };

  const list = async (begin: string, { after, limit }: ListRange = {}): Promise<string[]> => {
    let token: string | undefined;
    do {
      const query = {
        "list-type": "2",
        "encoding-type": "url",
        prefix: begin,
        ...(after !== undefined && { "start-after": after }),
        ...(limit !== undefined && { "max-keys": String(limit) }),
        ...(token !== undefined && { "continuation-token": token }),
      };
      const answer = await ask("GET", "", { query });
      if (answer.status !== 200) throw failure(answer);
      const xml = textOf(answer.bytes);
      if (!xml.trimEnd().endsWith("</ListBucketResult>")) {
        throw unreachable(place, "it answers no list of objects");
      }
      const keys = keysIn(place, xml);
      [token] = textsIn(xml, "IsTruncated")[0] === "true" ? textsIn(xml, TOKEN) : [];
      if (keys.length > 0) return keys;
    } while (token !== undefined);
    return [];
  };

  const remove = async (key: string): Promise<void> => {
    const answer = await ask("DELETE", key);
    const isGone =
      answer.status < 300 || (answer.status === 404 && errorOf(answer).code === "NoSuchKey");
    if (!isGone) throw failure(answer);
  };

  return new Bucket({ get, create, list, delete: remove }, place, prefix);
}

interface Request {
  query: Record<string, string>;
  headers: Record<string, string>;
  body: Uint8Array;
}

const TOKEN = "NextContinuationToken";

function keysIn(place: string, xml: string): string[] {
  const keys = textsIn(xml, "Key");
  if (textsIn(xml, "EncodingType")[0] !== "url") return keys;
  try {
    return keys.map((key) => decodeURIComponent(key.replaceAll("+", " ")));
  } catch (cause) {
    throw unreachable(place, "it answers a list whose keys can't be read", cause);
  }
}

function errorOf({ bytes }: Answer): { code: string; words: string } {
  return errorIn(textOf(bytes));
}

function s3Failure(place: string, answer: Answer, region: string): Error {
  const { status } = answer;
  const { code, words } = errorOf(answer);
  const right =
    answer.headers.get("x-amz-bucket-region") ?? textsIn(textOf(answer.bytes), "Region")[0];
  if (right !== undefined && right !== region && [301, 400].includes(status)) {
    return refused(place, `it is in the region ${right}, not ${region} (${words || status})`);
  }
  // The same code for a request whose body came too slowly, and a bucket that is being made.
  if (code === "RequestTimeout" || status === 307) return unreachable(place, words || `${status}`);
  if (status === 404 && code === "") {
    return refused(place, "what answers there (404) is no S3: see `endpoint` and `bucket`");
  }
  if (status === 403 && code === "AccessDenied") {
    const hint =
      "without the right s3:ListBucket this is S3's answer for a key that is not there, too";
    return refused(place, `it refuses (403): ${words} (${hint})`);
  }
  return failureOf(place, answer, words);
}

function rootOf({ bucket, region, endpoint, pathStyle }: S3Options): URL {
  if (typeof bucket !== "string" || !/^[\w][\w.-]{1,254}$/.test(bucket)) {
    throw invalid(`bucket must be the name of a bucket: ${show(bucket)}`);
  }
  if (typeof region !== "string" || !/^[a-z0-9-]+$/i.test(region)) {
    throw invalid(
      `region must name where the bucket is, such as "eu-central-1", or "auto": ${show(region)}`,
    );
  }
  checkFlag("pathStyle", pathStyle);
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const url = urlIn(endpoint ?? `https://s3.${region}.${domain}`);
  if (url === undefined || url.search !== "") {
    throw invalid(
      "endpoint must be an address such as https://minio.example, without a name, a password or a query",
    );
  }
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  if (pathStyle ?? (endpoint !== undefined || bucket.includes("."))) url.pathname += `${bucket}/`;
  else url.host = `${bucket}.${url.host}`;
  return url;
}

function credentialsOf(options: S3Options): () => S3Credentials | Promise<S3Credentials> {
  const { accessKeyId, secretAccessKey, sessionToken, credentials } = options;
  const isGiven = [accessKeyId, secretAccessKey, sessionToken].some((one) => one !== undefined);
  if (credentials === undefined) {
    const given = checkCredentials({ accessKeyId, secretAccessKey, sessionToken });
    return () => given;
  }
  if (isGiven) {
    throw new KeepsakeError(
      "conflicting_options",
      "s3 takes credentials, or accessKeyId and secretAccessKey: give one of them",
    );
  }
  checkListener("credentials", credentials);
  return async () => checkCredentials(await credentials());
}

// An error never shows what was given.
function checkCredentials(given: Partial<S3Credentials> | undefined): S3Credentials {
  const { accessKeyId, secretAccessKey, sessionToken } = given ?? {};
  const isText = (text: unknown) => typeof text === "string" && text !== "";
  if (!isText(accessKeyId) || !isText(secretAccessKey)) {
    throw invalid(
      "s3 needs accessKeyId and secretAccessKey, as texts, or credentials: a function that answers both; is a variable of the environment missing?",
    );
  }
  if (sessionToken !== undefined && !isText(sessionToken)) {
    throw invalid("sessionToken must be a text");
  }
  return { accessKeyId, secretAccessKey, sessionToken } as S3Credentials;
}
