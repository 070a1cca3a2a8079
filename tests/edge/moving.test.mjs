// A memory travels: from a file into a Durable Object, between objects, and back.

import { request as httpRequest } from "node:http";
import { openMemory } from "keepsake";
import { isLong } from "../js/support/effort.mjs";
import { temporaryFile, temporaryFolder } from "../js/support/temporary.mjs";
import { bundleWorker } from "./support/bundle.mjs";
import { describeMemory, fill, options, talk } from "./support/travelling-memory.mjs";
import { cleanUp, startWorkerd } from "./support/workerd.mjs";

const HEADER_BYTES = 20;
const MEGABYTES = isLong ? 50 : 10;

let bundle;
let workerd;
const open = [];

const classes = { MEMORY: "Memory" };
const start = (persist) => startWorkerd("moving", { classes, persist, bundle });

beforeAll(async () => {
  bundle = await bundleWorker("tests/edge/workers/moving.mjs");
  workerd = await start();
});

afterEach(async () => {
  for (const memory of open.splice(0)) await memory.close();
});
afterAll(cleanUp);

async function fileMemory() {
  const memory = await openMemory({ path: temporaryFile(), ...options });
  open.push(memory);
  return memory;
}

/** Calls a method of the Worker for the memory `name`. */
async function call(at, name, method, ...args) {
  const response = await at.miniflare.dispatchFetch(`http://worker/${method}?name=${name}`, {
    method: "POST",
    body: JSON.stringify(args),
  });
  return response.json();
}

async function send(at, name, body, way = "import") {
  const url = `http://worker/${way}?name=${name}`;
  const response = await at.miniflare.dispatchFetch(url, { method: "POST", body, duplex: "half" });
  return response.json();
}

async function receive(at, name, resume) {
  const query = resume === undefined ? "" : `&resume=${encodeURIComponent(resume)}`;
  const response = await at.miniflare.dispatchFetch(`http://worker/export?name=${name}${query}`);
  return response.body;
}

async function piecesOf(stream) {
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const pieces = [];
  for (let at = 0; at < bytes.length; ) {
    const size = HEADER_BYTES + new DataView(bytes.buffer, at).getUint32(8, true);
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

const joined = (pieces) => Buffer.concat(pieces);

test("a memory travels from a file to the edge and back, and is the same", async () => {
  const here = await fileMemory();
  await fill(here, { items: 300, size: 5_000 });
  const told = await describeMemory(here);
  expect(told.near).toHaveLength(7);
  expect(told.found.length).toBeGreaterThan(0);

  expect(await send(workerd, "traveller", await here.export({ format: "portable" }))).toBe(null);
  expect(await call(workerd, "traveller", "describe")).toEqual(told);

  // It goes on there, on the content that came along.
  await call(workerd, "traveller", "talk", "thread 1", 2, 6);
  await call(workerd, "traveller", "put", "new", { text: "snow on the mountain" });
  const changed = await call(workerd, "traveller", "describe");
  expect(changed.tuples).toHaveLength(told.tuples.length + 2);

  const back = await fileMemory();
  await back.store.put(["old"], "k", { text: "goes" });
  await back.import(await receive(workerd, "traveller"));
  expect(await describeMemory(back)).toEqual(changed);
  await talk(back.checkpointer, "thread 1", 1, 8);
  // And out of the file, as a file.
  const again = await fileMemory();
  await again.import(await back.export());
  expect(await describeMemory(again)).toEqual(await describeMemory(back));
});

test("a memory that was kept without a model gets its vectors where it arrives", async () => {
  const here = await openMemory({ path: temporaryFile() });
  open.push(here);
  for (const text of ["tea", "rain"]) await here.store.put(["n"], text, { text });
  expect(await here.store.stats()).toMatchObject({ vectors: 0, pending: 0 });

  const stats = () => call(workerd, "late", "stats");
  expect(await stats()).toMatchObject({ items: 0, pending: 0 }); // has its index already
  await send(workerd, "late", await here.export({ format: "portable" }));
  expect(await stats()).toMatchObject({ items: 2, vectors: 0, pending: 2 });
  expect(await call(workerd, "late", "reembed")).toBe(2);
  expect(await stats()).toMatchObject({ items: 2, vectors: 2, pending: 0 });
});

test("an item's time to live goes on while it travels", async () => {
  const here = await fileMemory();
  await here.store.put(["ttl"], "soon", { text: "soon" }, undefined, { ttl: 0.02 });
  await here.store.put(["ttl"], "later", { text: "later" }, undefined, { ttl: 60 });
  const bytes = await here.export({ format: "portable" });
  await new Promise((resolve) => setTimeout(resolve, 1_300));
  await send(workerd, "ttl", bytes);
  const { items } = await call(workerd, "ttl", "describe");
  expect(items.map(({ key }) => key)).toEqual(["later"]);
});

test("an object gives its memory to another, by stubs and by streams over RPC", async () => {
  await call(workerd, "giver", "fill", { items: 200, size: 5_000 });
  const told = await call(workerd, "giver", "describe");
  const url = "http://worker/between?name=giver&other=taker";
  expect(await (await workerd.miniflare.dispatchFetch(url)).json()).toBe(null);
  expect(await call(workerd, "taker", "describe")).toEqual(told);
  const response = await workerd.miniflare.dispatchFetch(
    "http://worker/rpc?name=giver&other=third",
  );
  expect(await response.json()).toEqual(told);
});

test("an import goes on after the process was killed, and the object serves meanwhile", async () => {
  const persist = temporaryFolder();
  const here = await fileMemory();
  await fill(here, { items: 800, size: 5_000 });
  const told = await describeMemory(here);
  const pieces = await piecesOf(firstPieces(here.exportStream({ format: "portable" }), 4));

  const first = await start(persist);
  await call(first, "a", "put", "before", { text: "before" });
  // A connection that ends within the fourth piece.
  const { port } = await first.miniflare.ready.then((url) => new URL(url));
  const cut = httpRequest({ port, path: "/import?name=a", method: "POST", host: "127.0.0.1" });
  cut.on("error", () => {});
  cut.write(joined([...pieces.slice(0, 3), pieces[3].subarray(0, 1_000)]));
  await until(async () => /\.3\./.test((await call(first, "a", "unfinished")) ?? ""));
  expect(await call(first, "a", "keys")).toEqual(["before"]);
  await call(first, "a", "put", "during", { text: "during" });
  await first.kill();
  cut.destroy();

  const second = await start(persist);
  expect(await call(second, "a", "keys")).toEqual(["before", "during"]);
  const resume = await call(second, "a", "unfinished");
  const rest = await piecesOf(here.exportStream({ format: "portable", resume }));
  expect(rest[0]).toEqual(pieces[3]);
  expect(await send(second, "a", joined(rest))).toBe(null);
  expect(await call(second, "a", "describe")).toEqual(told);
  expect(await call(second, "a", "unfinished")).toBe(null);
  await second.kill();
});

test("the same stream may be sent again from its beginning", async () => {
  const here = await fileMemory();
  await fill(here, { items: 400, size: 5_000 });
  const pieces = await piecesOf(here.exportStream({ format: "portable" }));
  const { code } = await send(workerd, "again", joined(pieces.slice(0, 2)));
  expect(code).toBe("corrupt");
  expect(await send(workerd, "again", joined(pieces))).toBe(null);
  expect(await call(workerd, "again", "describe")).toEqual(await describeMemory(here));
});

test("an export goes on after the object's process was killed, with what was written meanwhile", async () => {
  const persist = temporaryFolder();
  const move = async (at, how) => {
    const url = `http://worker/${how}?name=a&other=b`;
    return (await at.miniflare.dispatchFetch(url)).json();
  };
  const first = await start(persist);
  await call(first, "a", "fill", { items: 600, size: 5_000 });
  expect(await move(first, "part")).toMatchObject({ code: "corrupt" });
  await call(first, "a", "put", "k0", { text: "tea was changed" });
  await call(first, "a", "put", "new", { text: "new violin" });
  await call(first, "a", "talk", "thread 1", 2, 6);
  await first.kill();

  const second = await start(persist);
  await call(second, "a", "put", "newer", { text: "newer garden" });
  expect(await move(second, "rest")).toBe("3");
  expect(await call(second, "b", "describe")).toEqual(await call(second, "a", "describe"));
  await second.kill();
});

test.each(["inside", "large"])(
  "a channel value of 10 MB (%s), where a row takes 2",
  async (where) => {
    const { value, write, item } = await call(workerd, where, where, 10_000_000);
    expect([value, write]).toEqual([true, true]);
    expect(item).toMatchObject({ code: "too_large" });
    expect(item.message).toContain("at most 2 MB");
  },
);

test("a damaged or foreign stream is refused with a code, and changes nothing", async () => {
  const here = await fileMemory();
  await fill(here, { items: 400, size: 5_000 });
  await call(workerd, "damaged", "put", "stays", { text: "stays" });
  const pieces = await piecesOf(here.exportStream({ format: "portable" }));
  const whole = joined(pieces);
  const flipped = (at) => {
    const bytes = Buffer.from(whole);
    bytes[at] ^= 1;
    return bytes;
  };
  const cases = {
    "a changed byte in the middle": [flipped(whole.length >> 1), "corrupt"],
    "a changed byte at the end": [flipped(whole.length - 1), "corrupt"],
    "a changed length": [flipped(10), "corrupt"],
    "an early end": [whole.subarray(0, whole.length - 1), "corrupt"],
    "no last piece": [joined(pieces.slice(0, -1)), "corrupt"],
    "a missing piece": [joined([pieces[0], ...pieces.slice(2)]), "not_found"],
    "a newer layout": [Buffer.from(whole).fill(9, 4, 5), "newer_schema"],
    "a SQLite file": [await here.export(), "unsupported"],
    "something else": [Buffer.from("something else"), "unsupported"],
  };
  const codes = {};
  for (const [name, [bytes]] of Object.entries(cases)) {
    codes[name] = (await send(workerd, "damaged", bytes, "whole")).code;
    await call(workerd, "damaged", "discard");
  }
  expect(codes).toEqual(
    Object.fromEntries(Object.entries(cases).map(([name, [, code]]) => [name, code])),
  );
  expect(await call(workerd, "damaged", "keys")).toEqual(["stays"]);
});

test(`a memory of ${MEGABYTES} MB travels both ways`, async () => {
  const here = await fileMemory();
  await fill(here, { items: 100 * MEGABYTES, size: 10_000 });
  const told = await describeMemory(here);
  let bytes = 0;
  const counted = new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      controller.enqueue(chunk);
    },
  });
  const stream = here.exportStream({ format: "portable" }).pipeThrough(counted);
  const began = performance.now();
  expect(await send(workerd, "large", stream)).toBe(null);
  const arrived = performance.now();
  expect(bytes).toBeGreaterThan(1e6 * MEGABYTES);
  const there = await call(workerd, "large", "describe");
  expect(there).toEqual(told);
  const asked = performance.now();
  const back = await fileMemory();
  await back.import(await receive(workerd, "large"));
  const seconds = (from, to) => ((to - from) / 1000).toFixed(1);
  console.log(
    `${(bytes / 1e6).toFixed(0)} MB: there in ${seconds(began, arrived)} s,` +
      ` back in ${seconds(asked, performance.now())} s`,
  );
  expect(await describeMemory(back)).toEqual(told);
});

/** The stream until so many pieces have come, and a part of the next. */
function firstPieces(stream, count) {
  const reader = stream.getReader();
  let held = Buffer.alloc(0);
  return new ReadableStream({
    async start(controller) {
      for (let left = count; left > 0; ) {
        const { value } = await reader.read();
        held = Buffer.concat([held, value]);
        while (left > 0 && held.length >= HEADER_BYTES) {
          const size = HEADER_BYTES + held.readUInt32LE(8);
          if (held.length < size) break;
          controller.enqueue(new Uint8Array(held.subarray(0, size)));
          held = held.subarray(size);
          left--;
        }
      }
      await reader.cancel();
      controller.close();
    },
  });
}

async function until(condition) {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 100));
}
