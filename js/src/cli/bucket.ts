// `npx keepsake bucket`: a memory that lives in an object store, and whether that can keep one.
// `npx keepsake sync`: a file and such a memory become one.

import type { folder } from "../bucket/adapters/folder.js";
import type { httpBucket } from "../bucket/adapters/relay.js";
import type { s3 } from "../bucket/adapters/s3.js";
import type { checkBucket } from "../bucket/check.js";
import type { LogReport, readLog } from "../bucket/log/read-log.js";
import { invalid, KeepsakeError } from "../errors.js";
import type { Option } from "./arguments.js";
import type { Command } from "./command.js";
import { keyOfFile } from "./key.js";
import { bytes, type Printed, plural, table } from "./output.js";

const NAME: Option = { type: "string", takes: "NAME", says: "what the memory is called there" };
const ADDRESSES = [
  "BUCKET is a folder, the https:// address of a relay, or s3://BUCKET/PREFIX. The environment has",
  "AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL for S3, and",
  "BUCKET_AUTHORIZATION for a relay that asks for it.",
].join("\n");

/** @internal */
export const bucket: Command = {
  words: ["BUCKET"],
  says: "the log of a memory in an object store; without --name, whether that can keep memories",
  notes: ADDRESSES,
  examples: ["bucket shared", "bucket s3://memories/agents --name ada --limit 20"],
  options: {
    name: NAME,
    limit: {
      type: "string",
      takes: "N",
      says: "so many of its last records, as usual 20; 0 for all",
    },
  },
  async perform(given) {
    const entry = await bucketEntry();
    const place = await bucketAt(given.words[0] ?? "");
    const name = given.text("name");
    if (name === undefined) {
      const report = await entry.checkBucket(place);
      const text = [report.sentence, ...report.problems.map((one) => `- ${one}`), ""].join("\n");
      const failure = report.isOk ? undefined : "the store breaks the rules that a memory needs";
      return { data: report, text, failure };
    }
    const limit = (given.number("limit") ?? 20) || undefined;
    return printedLog(await entry.readLog(place, { name, key: keyOfFile(), limit }));
  },
};

function printedLog(log: LogReport): Printed {
  const { records, total, bases, badRecords, last } = log;
  const rows = records.map(({ record, at, device, bytes: size, calls }) => [
    record,
    at.toISOString(),
    device || "-",
    bytes(size),
    Object.entries(calls)
      .map(([kind, times]) => (times === 1 ? kind : `${times} ${kind}`))
      .join(", "),
  ]);
  const text = [
    table(["RECORD", "WRITTEN", "DEVICE", "SIZE", "WHAT"], rows).trimStart(),
    ...badRecords.map(({ record, why }) => `record ${record} can't be read: ${why}\n`),
    `${plural(total, "record")} up to ${last}, ${plural(bases.length, "base")}`,
    bases[0] === undefined ? "\n" : `, the newest after record ${bases[0].record}\n`,
  ].join("");
  const failure = badRecords.length === 0 ? undefined : "the log has records that can't be read";
  return { data: log, text, failure };
}

/** @internal */
export const sync: Command = {
  words: ["FILE", "BUCKET"],
  says: "syncs a file with a memory in an object store, in both directions",
  notes: ADDRESSES,
  examples: ["sync agent.db shared --name ada", "sync new.db s3://memories/agents --name ada"],
  options: {
    name: NAME,
    device: { type: "string", takes: "NAME", says: "what this device is called in the log" },
  },
  creates: true,
  async optionsOf(given) {
    const name = given.text("name");
    if (name === undefined) throw invalid("--name says what the memory is called in the bucket");
    const place = await bucketAt(given.words[1] ?? "");
    return { sync: { bucket: place, name, everyMs: 0, device: given.text("device") } };
  },
  async run(memory) {
    const before = await memory.syncStatus();
    await memory.sync();
    const { record, setAside, badRecords } = await memory.syncStatus();
    const { store, checkpointer } = await memory.stats();
    const text = [
      `sent ${plural(before.waiting, "call")}, and has the log up to record ${record}: `,
      `${plural(store.items, "item")}, ${plural(checkpointer.threads, "thread")}\n`,
      record === 0 ? "the bucket has nothing of this name, or not with this key\n" : "",
      ...setAside.map(({ code, message }) => `set aside: ${code}: ${message}\n`),
      ...badRecords.map((bad) => `record ${bad.record} can't be read: ${bad.why}\n`),
    ].join("");
    const data = { sent: before.waiting, record, setAside, badRecords, store, checkpointer };
    return { data, text };
  },
};

interface BucketEntry {
  folder: typeof folder;
  httpBucket: typeof httpBucket;
  s3: typeof s3;
  checkBucket: typeof checkBucket;
  readLog: typeof readLog;
}

// The entry has its own file, which other commands need not read.
function bucketEntry(): Promise<BucketEntry> {
  const entry = "keepsake/bucket";
  return import(entry);
}

async function bucketAt(address: string) {
  const entry = await bucketEntry();
  if (/^https?:\/\//.test(address)) {
    const authorization = process.env.BUCKET_AUTHORIZATION;
    return entry.httpBucket({ url: address, headers: authorization ? { authorization } : {} });
  }
  if (!address.startsWith("s3://")) return entry.folder(address);
  const [name = "", ...prefix] = address.slice("s3://".length).split("/");
  const { AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  if (AWS_ACCESS_KEY_ID === undefined || AWS_SECRET_ACCESS_KEY === undefined) {
    throw new KeepsakeError(
      "bucket_refused",
      "s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
    );
  }
  return entry.s3({
    bucket: name,
    region: AWS_REGION ?? "us-east-1",
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    sessionToken: AWS_SESSION_TOKEN,
    endpoint: process.env.AWS_ENDPOINT_URL,
    prefix: prefix.filter((part) => part !== "").join("/") || undefined,
  });
}
