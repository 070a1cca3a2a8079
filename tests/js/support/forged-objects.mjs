// Objects of a log without a key, as anybody can make them who may write into the bucket.

import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";

const LARGEST = 9_999_999_999_999;
const NO_PRIOR = Buffer.alloc(32);
// magic, form, prior and digest
const FRONT_BYTES = 69;

export const recordKey = (number) => `ada/l/${String(LARGEST - number).padStart(13, "0")}`;

/** Puts a record of requests there. It does not say what it follows. */
export function forgeRequests({ objects }, number, requests) {
  const list = [u32(requests.length), ...requests.flatMap((one) => [u32(one.length), one])];
  forgeRecord(objects, number, 1, Buffer.concat(list));
}

/** Puts a record there that says that the memory is replaced. */
export function forgeImage({ objects }, number, base) {
  forgeRecord(objects, number, 2, Buffer.concat([u32(base.length), Buffer.from(base)]));
}

/** Puts a record there that says that this number was deleted. */
export function forgeFence({ objects }, number) {
  forgeRecord(objects, number, 3, Buffer.alloc(0));
}

/** Changes what the newest base says of itself to what `change` makes of that: a text, or an object. */
export function forgeManifest({ objects }, change) {
  const [key] = [...objects.keys()].filter((one) => /\/l\/\d+\./.test(one)).sort();
  const object = Buffer.from(objects.get(key));
  const end = 8 + object.readUInt32LE(4);
  const manifest = change(JSON.parse(opened(object.subarray(8, end))));
  const text = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
  const [number, id] = key.slice("ada/l/".length).split(".");
  const body = sealed(objects, "base", LARGEST - Number(number), id, Buffer.from(text));
  const front = Buffer.alloc(8);
  front.write("KSB1");
  front.writeUInt32LE(body.length, 4);
  objects.set(key, new Uint8Array(Buffer.concat([front, body, object.subarray(end)])));
}

function forgeRecord(objects, number, kind, content) {
  const front = Buffer.alloc(17 + 4);
  front[0] = kind;
  front.writeBigInt64LE(5n, 1);
  front.writeBigInt64LE(BigInt(Date.now()), 9);
  const object = sealed(objects, "record", number, "", Buffer.concat([front, content]));
  objects.set(recordKey(number), new Uint8Array(object));
}

function sealed(objects, kind, number, detail, content) {
  const head = JSON.parse(Buffer.from(objects.get("ada/log").subarray(FRONT_BYTES)));
  const context = `keepsake\n${head.id}\n${kind}\n${number}\n${detail}\n`;
  const squeezed = Buffer.concat([Buffer.of(1), deflateRawSync(content)]);
  const digest = createHash("sha256").update(context).update(NO_PRIOR).update(squeezed).digest();
  return Buffer.concat([Buffer.from("KSO1\0"), NO_PRIOR, digest, squeezed]);
}

function opened(object) {
  const squeezed = object.subarray(FRONT_BYTES);
  const content = squeezed.subarray(1);
  return (squeezed[0] === 1 ? inflateRawSync(content) : content).toString();
}

function u32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
