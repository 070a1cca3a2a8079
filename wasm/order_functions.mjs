// node order_functions.mjs <wasm-opt> <module.wasm>
// Puts functions that are alike beside each other, because gzip looks back 32 KB only. The order
// is made here, and told to Binaryen by names: it sorts by them, and knows where functions are
// called.

import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";

const IMPORT_SECTION = 2;
const CODE_SECTION = 10;
const FUNCTION_NAMES = 1;
// The index of one of the first 128 functions takes one byte, not two: these stay.
const SHORT_INDEXES = 128;
// Bytes that are compared, how many of the last functions count, and how many functions may
// have the same bytes before they say nothing.
const GRAM = 5;
const WINDOW = 6;
const COMMON = 60;

// What the module may use anyway, and what the last run of Binaryen for emcc was told.
const OPTIONS = [
  ...["bulk-memory", "multivalue", "mutable-globals", "nontrapping-float-to-int"],
  ...["reference-types", "sign-ext", "simd"],
].map((feature) => `--enable-${feature}`);
OPTIONS.push("--reorder-functions-by-name", "--strip-debug");
OPTIONS.push("--optimize-level=2", "--shrink-level=2", "--optimize-stack-ir");

const [optimizer, module] = process.argv.slice(2);
const named = `${module}.named`;
const bytes = readFileSync(module);
const { imports, bodies } = parse(bytes);
const order = orderBySimilarity(bodies, Math.max(0, SHORT_INDEXES - imports));
writeFileSync(named, Buffer.concat([bytes, nameSection(imports, order)]));
execFileSync(optimizer, [named, ...OPTIONS, "-o", module], { stdio: "inherit" });
rmSync(named);

/** How many functions are imported, and the bodies of the others. */
function parse(wasm) {
  const found = { imports: 0, bodies: [] };
  let at = 8;
  while (at < wasm.length) {
    const id = wasm[at];
    const [size, start] = readLeb(wasm, at + 1);
    if (id === IMPORT_SECTION) found.imports = countFunctions(wasm, start);
    if (id === CODE_SECTION) found.bodies = readBodies(wasm, start);
    at = start + size;
  }
  return found;
}

// Of an optimised module of ours, which imports nothing else.
function countFunctions(wasm, start) {
  let [count, at] = readLeb(wasm, start);
  for (let left = count; left > 0; left--) {
    for (let name = 0; name < 2; name++) {
      const [length, text] = readLeb(wasm, at);
      at = text + length;
    }
    if (wasm[at] !== 0) throw new Error("a module of ours imports functions only");
    [, at] = readLeb(wasm, at + 1);
  }
  return count;
}

function readBodies(wasm, start) {
  let [count, at] = readLeb(wasm, start);
  const bodies = [];
  for (; count > 0; count--) {
    const [size, body] = readLeb(wasm, at);
    at = body + size;
    bodies.push(wasm.subarray(body, at));
  }
  return bodies;
}

function readLeb(wasm, start) {
  let value = 0;
  for (let at = start, shift = 0; ; shift += 7) {
    const byte = wasm[at++];
    value |= (byte & 127) << shift;
    if (byte < 128) return [value, at];
  }
}

/** The bodies in order, by their numbers: `kept` as they are, then by likeness. */
function orderBySimilarity(bodies, kept) {
  const grams = bodies.map(gramsOf);
  const holders = new Map();
  for (const [number, all] of grams.entries()) {
    if (number < kept) continue;
    for (const gram of all) {
      const list = holders.get(gram);
      if (list === undefined) holders.set(gram, [number]);
      else list.push(number);
    }
  }
  const order = bodies.map((_, number) => number).slice(0, kept);
  const left = new Set(bodies.keys());
  for (const number of order) left.delete(number);
  while (left.size > 0) {
    const next = mostAlike(order.slice(-WINDOW), grams, holders, left);
    order.push(next);
    left.delete(next);
  }
  return order;
}

function gramsOf(body) {
  const grams = new Set();
  for (let at = 0; at + GRAM <= body.length; at++) {
    let gram = 0;
    for (let i = 0; i < GRAM; i++) gram = gram * 256 + body[at + i];
    grams.add(gram);
  }
  return grams;
}

function mostAlike(recent, grams, holders, left) {
  const shared = new Map();
  for (const number of recent) {
    for (const gram of grams[number]) {
      const list = holders.get(gram);
      if (list === undefined || list.length > COMMON) continue;
      for (const other of list)
        if (left.has(other)) shared.set(other, (shared.get(other) ?? 0) + 1);
    }
  }
  let [best] = left;
  let highest = 0;
  for (const [number, count] of shared) {
    const likeness = count / (grams[number].size + 20);
    if (likeness <= highest) continue;
    highest = likeness;
    best = number;
  }
  return best;
}

/** Names of equal length, so that their order is that of the places. */
function nameSection(imports, order) {
  const placeOf = new Map(order.map((number, place) => [number, place]));
  const names = [];
  for (let index = 0; index < imports + order.length; index++) {
    const place = index < imports ? index : imports + placeOf.get(index - imports);
    names.push(leb(index), sized(Buffer.from(String(place).padStart(6, "0"))));
  }
  const map = Buffer.concat([leb(imports + order.length), ...names]);
  const section = [sized(Buffer.from("name")), Buffer.from([FUNCTION_NAMES]), sized(map)];
  return Buffer.concat([Buffer.from([0]), sized(Buffer.concat(section))]);
}

function sized(content) {
  return Buffer.concat([leb(content.length), content]);
}

function leb(value) {
  const bytes = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return Buffer.from([...bytes, value]);
}
