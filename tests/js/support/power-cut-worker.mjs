// Writes to a memory on a file, and notes what reaches the file system and what is acknowledged.
// Then it makes files as a machine would find them that lost its power in between: what was not
// synced is there, or is not, in any choice. That holds for bytes, sizes and names.
//   power-cut-worker.mjs <durability> <seed> <images>
// It tells a line of JSON for each image, and one for what was recorded.

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { randomOf } from "./mutants.mjs";

const [, , durability, seed, images] = process.argv;
const SECTOR = 4096;
const random = randomOf(Number(seed));
const original = { ...fs };
const folder = fs.mkdtempSync(join(tmpdir(), "keepsake-power-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));

// The recorder: operations in their order.

const log = [];
const inodes = new Map();
const fileOfFd = new Map();
let recording = false;

const isOurs = (path) =>
  recording && String(path).startsWith(folder) && !/-(lock|reserve)/.test(basename(path));

function noteOpen(path, fd, isNew) {
  const { ino } = original.fstatSync(fd);
  // A number may be used again.
  if (isNew || !inodes.has(ino)) inodes.set(ino, inodes.size + log.length);
  fileOfFd.set(fd, inodes.get(ino));
  if (isNew) log.push({ kind: "create", name: basename(path), file: inodes.get(ino) });
}

const ofFile = (fd, entry) => {
  if (fileOfFd.has(fd)) log.push({ file: fileOfFd.get(fd), ...entry });
};

const patches = {
  openSync(path, flags, mode) {
    const isNew = isOurs(path) && !original.existsSync(path);
    const fd = original.openSync(path, flags, mode);
    fileOfFd.delete(fd);
    if (!isOurs(path)) return fd;
    if (original.fstatSync(fd).isDirectory()) fileOfFd.set(fd, "folder");
    else noteOpen(path, fd, isNew);
    return fd;
  },
  writeSync(fd, bytes, from, length, at) {
    const count = original.writeSync(fd, bytes, from, length, at);
    if (fileOfFd.has(fd)) {
      ofFile(fd, { kind: "write", at, bytes: Buffer.from(bytes.subarray(from, from + count)) });
    }
    return count;
  },
  ftruncateSync(fd, size) {
    original.ftruncateSync(fd, size);
    ofFile(fd, { kind: "truncate", size });
  },
  fdatasyncSync(fd) {
    ofFile(fd, { kind: "sync" });
  },
  fsyncSync(fd) {
    if (fileOfFd.get(fd) === "folder") log.push({ kind: "syncFolder" });
    else ofFile(fd, { kind: "sync" });
  },
  rmSync(path, options) {
    if (isOurs(path) && original.existsSync(path)) {
      log.push({ kind: "remove", name: basename(path) });
    }
    original.rmSync(path, options);
  },
  renameSync(from, to) {
    original.renameSync(from, to);
    if (isOurs(to)) log.push({ kind: "rename", name: basename(from), to: basename(to) });
  },
};
Object.assign(fs, patches);
syncBuiltinESMExports();
const { openMemory } = await import("keepsake");

// What each key may hold: every value that was asked for since the last that counts as stored.

const asked = new Map();
let clock = 0;

async function change(store, key, value) {
  const entry = { value, begun: log.length, done: Number.POSITIVE_INFINITY };
  asked.set(key, [...(asked.get(key) ?? []), entry]);
  if (value === null) await store.delete(["n"], key);
  else await store.put(["n"], key, { n: value, text: "x".repeat((value * 37) % 3000) });
  entry.acknowledged = true;
  if (durability === "strict") entry.done = log.length;
}

// From here on all that was acknowledged is safe, whatever the durability.
function noteSafe() {
  for (const entries of asked.values()) {
    for (const entry of entries)
      if (entry.acknowledged) entry.done = Math.min(entry.done, log.length);
  }
}

const path = join(folder, "memory.db");
const configOf = (thread) => ({ configurable: { thread_id: thread, checkpoint_ns: "" } });

async function session(number) {
  const memory = await openMemory({ path, durability });
  for (let i = 0; i < 40; i++) {
    const key = `k${random(30)}`;
    await change(memory.store, key, random(6) === 0 ? null : ++clock);
    if (i % 13 === 12) {
      await memory.flush();
      noteSafe();
    }
    if (i === 20 && number % 2 === 1) {
      // Pages become free, and the file shorter.
      for (let k = 0; k < 20; k++) await change(memory.store, `k${k}`, null);
      await memory.checkpointer.compact();
    }
  }
  const checkpoint = {
    v: 4,
    id: `1ef4f797-8335-6428-8001-${String(number).padStart(12, "0")}`,
    ts: "2026-11-24T00:00:00.000Z",
    channel_values: { n: number },
    channel_versions: { n: number + 1 },
    versions_seen: {},
  };
  const metadata = { source: "loop", step: number, parents: {} };
  await memory.checkpointer.put(configOf("t"), checkpoint, metadata, { n: number + 1 });
  await memory.close();
  noteSafe();
}

recording = true;
for (let number = 0; number < 4; number++) await session(number);
recording = false;

// The model of a file system that lost its power after so many operations.

// 0: all that was not synced is lost; 1: none of it; 2: truncations and names only; 3: any of it.
const LOSES = [
  () => true,
  () => false,
  (operation) => operation.kind !== "write",
  () => random(2) === 0,
];

function apply(file, operation) {
  if (operation.kind === "truncate") {
    const size = Math.min(file.length, operation.size);
    return Buffer.concat([file.subarray(0, size), Buffer.alloc(operation.size - size)]);
  }
  const end = operation.at + operation.bytes.length;
  const grown = end > file.length ? Buffer.concat([file, Buffer.alloc(end - file.length)]) : file;
  operation.bytes.copy(grown, operation.at);
  return grown;
}

// A write reaches the disk sector by sector.
function* sectorsOf(operation) {
  if (operation.kind !== "write") {
    yield operation;
    return;
  }
  const { at, bytes } = operation;
  for (let from = 0; from < bytes.length; ) {
    const length = Math.min(bytes.length - from, SECTOR - ((at + from) % SECTOR));
    yield { ...operation, at: at + from, bytes: bytes.subarray(from, from + length) };
    from += length;
  }
}

function imageAfter(count, isLost) {
  const files = new Map();
  const pending = new Map();
  let names = new Map();
  let pendingNames = [];
  const inNames = (into, { kind, name, file, to }) => {
    if (kind === "create") into.set(name, file);
    if (kind === "remove") into.delete(name);
    if (kind === "rename") {
      into.set(to, into.get(name));
      into.delete(name);
    }
  };
  const settle = (file, operations) => {
    let bytes = files.get(file) ?? Buffer.alloc(0);
    for (const operation of operations) bytes = apply(bytes, operation);
    files.set(file, bytes);
  };
  for (const operation of log.slice(0, count)) {
    const { kind, file } = operation;
    if (kind === "syncFolder") {
      for (const change of pendingNames) inNames(names, change);
      pendingNames = [];
    } else if (kind === "sync") {
      settle(file, pending.get(file) ?? []);
      pending.delete(file);
    } else if (kind === "write" || kind === "truncate") {
      pending.set(file, [...(pending.get(file) ?? []), operation]);
    } else {
      pendingNames.push(operation);
    }
  }
  for (const [file, operations] of pending) {
    const kept = operations.flatMap((one) => [...sectorsOf(one)].filter((part) => !isLost(part)));
    settle(file, kept);
  }
  names = new Map(names);
  for (const change of pendingNames) if (!isLost(change)) inNames(names, change);
  return new Map([...names].map(([name, file]) => [name, files.get(file) ?? Buffer.alloc(0)]));
}

// What was safe then, or was asked for since.
function mayHold(key, value, count) {
  const entries = asked.get(key) ?? [];
  const last = entries.findLastIndex(({ done }) => done <= count);
  const possible = entries.slice(Math.max(last, 0)).filter(({ begun }) => begun <= count);
  if (last < 0) possible.push({ value: null });
  return possible.some((entry) => entry.value === value);
}

async function check(number) {
  const count = 1 + random(log.length);
  const way = number % LOSES.length;
  const image = imageAfter(count, LOSES[way]);
  const at = join(folder, `image-${number}`);
  fs.mkdirSync(at);
  for (const [name, bytes] of image) fs.writeFileSync(join(at, name), bytes);
  const sizes = Object.fromEntries([...image].map(([name, bytes]) => [name, bytes.length]));
  const wrong = [];
  try {
    const memory = await openMemory({ path: join(at, "memory.db"), verifyPages: true });
    const { isOk, damagedPages } = await memory.check();
    if (!isOk) wrong.push(`check: ${JSON.stringify(damagedPages)}`);
    const items = await memory.store.search(["n"], { limit: 1000 });
    const found = new Map(items.map(({ key, value }) => [key, value.n]));
    for (const key of new Set([...asked.keys(), ...found.keys()])) {
      const value = found.get(key) ?? null;
      if (!mayHold(key, value, count)) wrong.push(`${key} is ${value}`);
    }
    await memory.close();
  } catch (error) {
    // Before its first transaction there is no database to lose.
    const hasStored = [...asked.values()].flat().some(({ done }) => done <= count);
    if (hasStored || error.code === undefined || error.code === "internal") {
      wrong.push(`${error.code}: ${error.message}`);
    }
  }
  fs.rmSync(at, { recursive: true });
  return { number, count, way, sizes, wrong };
}

const kinds = {};
for (const { kind } of log) kinds[kind] = (kinds[kind] ?? 0) + 1;
console.log(JSON.stringify({ recorded: kinds }));
for (let number = 0; number < Number(images); number++) {
  console.log(JSON.stringify(await check(number)));
}
