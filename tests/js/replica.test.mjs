// One memory in two files, which follow one log: by the operations that syncing is made of. What
// they do in each case is tested in C++; here, that the package has them, from a file to its answer.

import { openMemory } from "keepsake";
import { temporaryFile } from "./support/temporary.mjs";

const digestOf = (number) => new TextEncoder().encode(`record ${number}`);

/** A memory that syncs, and its engine, which has no public name. */
async function openDevice(options = {}) {
  const path = temporaryFile();
  const engines = globalThis[Symbol.for("keepsake.engines")];
  let memory;
  let engine;
  const device = {
    async open() {
      const before = new Set(engines?.values());
      memory = await openMemory({ path, ...options });
      await memory.store.get(["n"], "k");
      const all = globalThis[Symbol.for("keepsake.engines")];
      engine = [...all.values()].find((one) => !before.has(one));
    },
    get memory() {
      return memory;
    },
    get engine() {
      return engine;
    },
    async ask(operation) {
      return (await engine.call([operation], Date.now()))[0];
    },
    async push(log) {
      const entries = await device.ask({ kind: "readOutbox", after: 0, maxBytes: 2 ** 20 });
      const number = log.length + 1;
      if (entries.length === 0) return;
      log.push({ number, digest: digestOf(number), requests: entries.map((one) => one.request) });
      const upTo = entries.at(-1).sequence;
      await device.ask({ kind: "confirmOutbox", number, digest: digestOf(number), upTo });
    },
    async catchUp(log, image = {}) {
      const { number } = await device.ask({ kind: "syncState" });
      return device.ask({ kind: "catchUp", records: log.slice(number), ...image });
    },
    async reopen() {
      await memory.close();
      await device.open();
    },
    [Symbol.asyncDispose]: () => memory.close(),
  };
  await device.open();
  await device.ask({ kind: "startSync", logId: "log-1", number: 0, digest: digestOf(0) });
  return device;
}

const itemOf = async ({ memory }, key) => (await memory.store.get(["n"], key))?.value;

describe.each([
  ["plain", {}],
  ["encrypted", { key: new Uint8Array(32).fill(7) }],
])("two files that follow one log, %s:", (_name, options) => {
  test("each has what both put, in the order of the log", async () => {
    await using ada = await openDevice();
    await using bob = await openDevice(options);
    const log = [];
    await ada.memory.store.put(["n"], "k", { by: "ada" });
    await bob.memory.store.put(["n"], "k", { by: "bob" });
    await bob.memory.store.put(["n"], "bob", { by: "bob" });
    await ada.push(log);
    expect(await bob.ask({ kind: "syncState" })).toMatchObject({
      logId: "log-1",
      number: 0,
      waiting: 2,
      needsImage: false,
    });
    expect(await bob.catchUp(log)).toEqual({ applied: 1, failed: [] });
    expect(await itemOf(bob, "k")).toEqual({ by: "bob" });
    await bob.push(log);
    expect(await ada.catchUp(log)).toEqual({ applied: 2, failed: [] });
    await ada.reopen();
    expect(await itemOf(ada, "k")).toEqual({ by: "bob" });
    expect(await itemOf(ada, "bob")).toEqual({ by: "bob" });
    expect(await ada.ask({ kind: "syncState" })).toEqual({
      logId: "log-1",
      number: 2,
      digest: digestOf(2),
      waiting: 0,
      waitingBytes: 0,
      waitingSince: undefined,
      setAside: 0,
      needsImage: false,
    });
  });

  test("a file that was closed while something waited has all of it, and needs an image", async () => {
    await using ada = await openDevice();
    await using bob = await openDevice(options);
    const log = [];
    await ada.memory.store.put(["n"], "k", { by: "ada" });
    await bob.memory.store.put(["n"], "bob", { by: "bob" });
    await ada.push(log);
    await bob.reopen();
    expect(await bob.ask({ kind: "syncState" })).toMatchObject({ needsImage: true, waiting: 1 });
    await expect(bob.catchUp(log)).rejects.toMatchObject({ code: "conflicting_options" });
    // If others were not first, it needs nothing.
    await using again = await openDevice(options);
    await again.memory.store.put(["n"], "again", {});
    await again.reopen();
    await again.push([]);
    expect(await again.ask({ kind: "syncState" })).toMatchObject({ needsImage: false, waiting: 0 });
  });

  test("what was forgotten needs an image, if others were first", async () => {
    await using ada = await openDevice();
    await using bob = await openDevice(options);
    const log = [];
    await ada.memory.store.put(["n"], "k", { secret: true });
    await ada.push(log);
    await bob.catchUp(log);
    await bob.memory.forget({ namespaces: [["n"]] });
    await ada.memory.store.put(["m"], "other", { by: "ada" });
    await ada.push(log);
    expect(await bob.ask({ kind: "syncState" })).toMatchObject({ needsImage: true, waiting: 1 });
    await expect(bob.catchUp(log)).rejects.toMatchObject({ code: "conflicting_options" });
    const bytes = await ada.memory.export({ format: "sqlite" });
    const image = { image: "image.db", imageNumber: 2, imageDigest: digestOf(2) };
    await bob.engine.lending("image.db", bytes, () => bob.catchUp([...log], image));
    expect(await itemOf(bob, "k")).toBeUndefined();
    expect((await bob.memory.store.get(["m"], "other")).value).toEqual({ by: "ada" });
    await bob.push(log);
    await ada.catchUp(log);
    expect(await itemOf(ada, "k")).toBeUndefined();
  });
});
