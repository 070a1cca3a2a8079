// AWS Signature Version 4 of one request. A package that does it would have to be found by every
// bundler, also where nobody uses S3; these are its lines.

import { KeepsakeError } from "../../errors.js";
import type { Call } from "./http.js";

/** As the AWS SDK's credential providers answer them. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

const ALGORITHM = "AWS4-HMAC-SHA256";

/** The headers of the call, with those that sign it. @internal */
export async function signed(
  { method, url, headers, body }: Call,
  region: string,
  { accessKeyId, secretAccessKey, sessionToken }: S3Credentials,
  now: Date,
): Promise<Record<string, string>> {
  const time = now.toISOString().replaceAll(/[:-]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const bodyHash = hexOf(await digest(body ?? new Uint8Array()));
  const all: Record<string, string> = {
    ...headers,
    "x-amz-content-sha256": bodyHash,
    "x-amz-date": time,
    ...(sessionToken !== undefined && { "x-amz-security-token": sessionToken }),
  };
  // `fetch` sends the host by itself.
  const toSign = Object.entries({ ...all, host: url.host }).sort(byName);
  const names = toSign.map(([name]) => name).join(";");
  const request = [
    method,
    url.pathname
      .split("/")
      .map((part) => encoded(decodeURIComponent(part)))
      .join("/"),
    [...url.searchParams]
      .map(([name, value]): [string, string] => [encoded(name), encoded(value)])
      .sort(byName)
      .map((pair) => pair.join("="))
      .join("&"),
    ...toSign.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, " ")}`),
    "",
    names,
    bodyHash,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = [ALGORITHM, time, scope, hexOf(await digest(bytesOf(request)))].join("\n");
  let key: Uint8Array = bytesOf(`AWS4${secretAccessKey}`);
  for (const part of scope.split("/")) key = await hmac(key, part);
  const signature = hexOf(await hmac(key, text));
  const credential = `Credential=${accessKeyId}/${scope}`;
  return {
    ...all,
    authorization: `${ALGORITHM} ${credential}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function byName([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : 1;
}

function encoded(text: string): string {
  const more = (sign: string) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, more);
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function digest(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await subtle().digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
}

async function hmac(key: Uint8Array, text: string): Promise<Uint8Array> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const raw = key as Uint8Array<ArrayBuffer>;
  const imported = await subtle().importKey("raw", raw, algorithm, false, ["sign"]);
  return new Uint8Array(await subtle().sign("HMAC", imported, bytesOf(text)));
}

function subtle(): SubtleCrypto {
  const { subtle } = globalThis.crypto ?? {};
  if (subtle !== undefined) return subtle;
  throw new KeepsakeError(
    "unsupported",
    "signing a request to S3 needs crypto.subtle, which a page has by https and on localhost",
  );
}
