import { randomBytes } from "node:crypto";
import { KeepsakeError, openMemory } from "keepsake";
import { customBucket } from "keepsake/bucket";
import { closeOpened, closing } from "./support/closing.mjs";
import { memoryBucket } from "./support/memory-bucket.mjs";

afterEach(closeOpened);

const open = async (bucket, options) =>
  closing(await openMemory({ bucket, name: "ada", ...options }));
const textOf = async (memory, key) => (await memory.store.get(["u"], key))?.value.text;
const put = (memory, key, text) => memory.store.put(["u"], key, { text });
const bytesOf = ({ objects }) => Buffer.concat([...objects.values()].map(Buffer.from));

describe("a memory in a bucket", () => {
  test("is one memory for all who open it, and each sees what was answered to any", async () => {
    const { bucket } = memoryBucket();
    const [one, other] = [await open(bucket), await open(bucket)];
    await put(one, "tea", "green");
    expect(await textOf(other, "tea")).toBe("green");
    await Promise.all([put(one, "tea", "black"), put(other, "pet", "Max"), put(one, "n", "1")]);
    for (const memory of [one, other, await open(bucket)]) {
      const keys = (await memory.store.search(["u"])).map(({ key }) => key);
      expect(keys.sort()).toEqual(["n", "pet", "tea"]);
      expect(await textOf(memory, "tea")).toBe("black");
    }
  });

  test("sends one request for a write, and one for a read", async () => {
    const { bucket, requests } = memoryBucket();
    const memory = await open(bucket);
    await put(memory, "tea", "green");
    const before = { ...requests };
    await Promise.all(["a", "b", "c"].map((key) => put(memory, key, key)));
    expect(requests).toEqual({ ...before, create: before.create + 1 });
    await memory.store.get(["u"], "a");
    expect(requests).toEqual({ ...before, create: before.create + 1, get: before.get + 1 });
  });

  test("answers from memory for as long as maxAge allows", async () => {
    const { bucket, requests } = memoryBucket();
    const [memory, other] = [await open(bucket, { log: { maxAge: 60_000 } }), await open(bucket)];
    await put(memory, "tea", "green");
    const { get } = requests;
    expect(await textOf(memory, "tea")).toBe("green");
    expect(requests.get).toBe(get);
    await put(other, "tea", "black");
    expect(await textOf(memory, "tea")).toBe("green");
  });

  test("with a key leaves no plain text in any object, nor its name", async () => {
    const made = memoryBucket();
    const key = randomBytes(32);
    const memory = await open(made.bucket, { key, log: { device: "laptop of Ada" } });
    for (let i = 0; i < 40; i++)
      await put(memory, `secret-key-${i}`, `a very private sentence ${i}`);
    await memory.store.search(["u"], { query: "private" });
    expect(bytesOf(made).includes("private")).toBe(false);
    for (const key of made.objects.keys()) expect(key).toMatch(/^[0-9a-f]{32}\//);
    expect(
      [...made.objects.values()].slice(1).every(({ length }) => (length - 65) % 4096 === 0),
    ).toBe(true);
    expect(await textOf(await open(made.bucket, { key }), "secret-key-7")).toMatch(/private/);
    // Another key is another memory; none sees nothing of it.
    expect(await textOf(await open(made.bucket, { key: "a passphrase" }), "secret-key-7")).toBe(
      undefined,
    );
  });

  test("forgets in every object", async () => {
    const made = memoryBucket();
    const [memory, other] = [await open(made.bucket), await open(made.bucket)];
    await put(memory, "secret", "Rosebud was the name");
    await put(memory, "other", "something else");
    await textOf(other, "secret");
    const receipt = await memory.forget({ namespaces: [["u"]] });
    expect(receipt).toMatchObject({ erased: { items: 2 }, scrubbed: "bucket" });
    for (const bytes of made.objects.values()) {
      expect(Buffer.from(bytes).includes("Rosebud")).toBe(false);
    }
    expect(await textOf(other, "secret")).toBe(undefined);
    await put(other, "tea", "green");
    expect(await textOf(await open(made.bucket), "tea")).toBe("green");
    expect(await other.checkReceipt(receipt)).toMatchObject({ isGenuine: true });
  });

  test("is closed when what was called before is done", async () => {
    const { bucket } = memoryBucket();
    const memory = await open(bucket);
    const written = put(memory, "tea", "green");
    await memory.close();
    await written;
    expect(await textOf(await open(bucket), "tea")).toBe("green");
  });

  test("loses nothing that is written while an export is being read", async () => {
    const { bucket } = memoryBucket();
    const memory = await open(bucket);
    await put(memory, "first", "1");
    const reader = memory.exportStream({ format: "sqlite" }).getReader();
    await reader.read();
    // More than a base waits for.
    for (let i = 0; i < 70; i++) await put(memory, `k${i}`, String(i));
    await memory.close();
    const later = await open(bucket);
    expect((await later.stats()).store.items).toBe(71);
  });

  test("forgets in every object also while an export is being read, which ends", async () => {
    const made = memoryBucket();
    const memory = await open(made.bucket);
    await put(memory, "secret", "Rosebud was the name");
    const reader = memory.exportStream({ format: "sqlite" }).getReader();
    await reader.read();
    await memory.forget({ namespaces: [["u"]] });
    for (const bytes of made.objects.values()) {
      expect(Buffer.from(bytes).includes("Rosebud")).toBe(false);
    }
    await reader.cancel().catch(() => {});
    expect(await textOf(await open(made.bucket), "secret")).toBe(undefined);
  });

  test("becomes what it was at a time, for all who have it open", async () => {
    const { bucket } = memoryBucket();
    const [memory, other] = [await open(bucket), await open(bucket)];
    await put(memory, "tea", "green");
    await textOf(other, "tea");
    const at = new Date();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await put(other, "tea", "black");
    await put(other, "pet", "Max");
    await memory.restore({ at });
    for (const one of [memory, other, await open(bucket)]) {
      expect(await textOf(one, "tea")).toBe("green");
      expect(await textOf(one, "pet")).toBe(undefined);
    }
    await expect(memory.restore({ record: 0 })).resolves.toBe(undefined);
    expect(await textOf(other, "tea")).toBe(undefined);
  });

  test("takes a whole memory, for all who have it open", async () => {
    const { bucket } = memoryBucket();
    const [memory, other] = [await open(bucket), await open(bucket)];
    await put(memory, "tea", "green");
    const exported = await memory.export();
    await put(other, "tea", "black");
    await memory.import(exported);
    expect(await textOf(other, "tea")).toBe("green");
    await put(other, "pet", "Max");
    expect(await textOf(memory, "pet")).toBe("Max");
  });

  test("is not replaced by an import while another process replaces it", async () => {
    const shared = memoryBucket();
    const other = await open(shared.bucket);
    await put(other, "tea", "green");
    const exported = await other.export();
    let asked;
    const bucket = customBucket({
      ...shared.port,
      async get(key, range) {
        // The import asks for the next record twice: before it lends the file, and when it takes it.
        if (asked?.key === undefined && asked !== undefined) asked.key = key;
        if (asked?.key === key && ++asked.times === 2) await other.restore({ record: 0 });
        return shared.port.get(key, range);
      },
    });
    const memory = await open(bucket);
    asked = { times: 0 };
    await expect(memory.import(exported)).rejects.toMatchObject({
      code: "busy",
      message: expect.stringContaining("nothing was done, do it again"),
    });
    asked = undefined;
    expect(await textOf(memory, "tea")).toBe(undefined);
    await memory.import(exported);
    expect(await textOf(other, "tea")).toBe("green");
  });

  test("names a record that is damaged, and goes on behind it", async () => {
    const { bucket, objects } = memoryBucket();
    const memory = await open(bucket);
    for (const key of ["a", "b", "c"]) await put(memory, key, key);
    const second = [...objects.keys()]
      .filter((key) => key.includes("/l/"))
      .sort()
      .at(-2);
    objects.get(second)[60] ^= 1;
    const later = await open(bucket);
    expect(await Promise.all(["a", "b", "c"].map((key) => textOf(later, key)))).toEqual([
      "a",
      undefined,
      "c",
    ]);
    const { badRecords } = await later.diagnose();
    expect(badRecords).toEqual([{ record: 2, why: expect.stringContaining("record 2") }]);
  });

  test("tells that the log was rolled back, or that a record is another one than it was", async () => {
    const { bucket, objects } = memoryBucket();
    const memory = await open(bucket);
    await put(memory, "a", "1");
    const before = new Map(objects);
    await put(memory, "b", "2");
    await put(memory, "c", "3");
    const newest = [...objects.keys()].filter((key) => !before.has(key));
    for (const key of newest) objects.delete(key);
    const elsewhere = await open(bucket);
    await put(elsewhere, "x", "1");
    await put(elsewhere, "y", "2");
    await put(elsewhere, "z", "3");
    await expect(textOf(memory, "a")).rejects.toMatchObject({ code: "rolled_back" });
  });

  test("opens a large one piece by piece", async () => {
    const { bucket, objects } = memoryBucket();
    const memory = await open(bucket);
    for (let i = 0; i < 3; i++) {
      const operations = Array.from({ length: 300 }, (_, j) => ({
        namespace: ["n", String(j % 20)],
        key: `k${i * 300 + j}`,
        value: { text: randomBytes(6000).toString("base64") },
      }));
      await memory.store.batch(operations);
    }
    await memory.close();
    const size = bytesOf({ objects }).length;
    const later = await open(bucket);
    expect((await later.store.get(["n", "7"], "k7")).key).toBe("k7");
    const { bytesDown, piecesNotFetched } = await later.diagnose();
    expect(piecesNotFetched).toBeGreaterThan(0);
    expect(bytesDown).toBeLessThan(size / 2);
    await later.store.put(["n", "7"], "k7", { text: "other" });
    expect((await (await open(bucket)).store.get(["n", "7"], "k7")).value.text).toBe("other");
    expect((await later.check()).isOk).toBe(true);
  }, 20_000);

  test("has the index of vectors that its first user gave it, and refuses another", async () => {
    const { bucket } = memoryBucket();
    const embeddings = (texts) => texts.map((text) => [text.length, 1]);
    const one = await open(bucket, { index: { dims: 2, embeddings, model: "m" } });
    await put(one, "tea", "green");
    const plain = await open(bucket);
    expect(await textOf(plain, "tea")).toBe("green");
    expect((await plain.stats()).store.vectors).toBe(1);
    await expect(
      open(bucket, { index: { dims: 3, embeddings, model: "other" } }),
    ).rejects.toBeInstanceOf(KeepsakeError);
  });

  test("keeps its key, and takes nothing that is salvaged", async () => {
    const { bucket } = memoryBucket();
    const memory = await open(bucket, { key: randomBytes(32) });
    await expect(memory.changeKey("another")).rejects.toMatchObject({ code: "unsupported" });
    const salvaged = memory.salvage({ bucket, name: "salvaged" });
    await expect(salvaged).rejects.toMatchObject({ code: "invalid_argument" });
  });

  test("says bucket_refused when the store refuses, and nothing is lost", async () => {
    const made = memoryBucket();
    let isDown = false;
    const { port } = made;
    const failing = Object.fromEntries(
      ["get", "create", "list", "delete"].map((name) => [
        name,
        async (...args) => {
          if (isDown) throw new KeepsakeError("bucket_refused", "no credentials");
          return port[name](...args);
        },
      ]),
    );
    const memory = await open(customBucket(failing));
    await put(memory, "tea", "green");
    isDown = true;
    await expect(put(memory, "tea", "black")).rejects.toMatchObject({ code: "bucket_refused" });
    isDown = false;
    expect(await textOf(memory, "tea")).toBe("green");
    await put(memory, "tea", "black");
    expect(await textOf(memory, "tea")).toBe("black");
  });

  test.each([
    [{ name: undefined }, /needs a name/],
    [{ path: "agent.db" }, /path is of files/],
    [{ durability: "strict" }, /durability is of files/],
    [{ log: { backupDay: 1 } }, /backupDay/],
    [{ bucket: {} }, /what a function of keepsake\/bucket makes/],
  ])("refuses %j", async (options, message) => {
    const { bucket } = memoryBucket();
    await expect(openMemory({ bucket, name: "ada", ...options })).rejects.toThrow(message);
  });
});
