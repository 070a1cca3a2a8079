// What every bucket does, whatever store it is over.

import { Bucket, checkBucket } from "keepsake/bucket";

let places = 0;

/** Bytes that no other seed makes. */
export function bytesOf(length, seed = 0) {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = i * 31 + seed * 97 + (i >> 8);
  return bytes;
}

/** A call of each function of a bucket. */
export function callsOf({ port }) {
  return [
    () => port.get("a"),
    () => port.get("a", { from: 0, to: 2 }),
    () => port.create("a", bytesOf(3)),
    () => port.list(""),
    () => port.delete("a"),
  ];
}

/** A store may answer fewer keys than there are; none only behind the last. */
async function allOf(port, prefix, range = {}) {
  const all = [];
  for (let { after } = range; ; after = all.at(-1)) {
    const page = await port.list(prefix, { ...range, after });
    if (page.length === 0) return all;
    expect(page.length).toBeLessThanOrEqual(range.limit ?? page.length);
    all.push(...page);
  }
}

/**
 * `make(prefix)` answers the bucket of a folder in which nothing is. Without `nested` no key begins
 * another, as where keys are paths of files, and capitals are not tried.
 */
export function describeBucket(name, make, { nested = true } = {}) {
  describe(`${name} as a bucket`, () => {
    let bucket;
    let port;

    beforeEach(async () => {
      places += 1;
      bucket = await make(`contract/${places}`);
      port = bucket.port;
    });

    test("is one, and says where it is", () => {
      expect(bucket).toBeInstanceOf(Bucket);
      expect(bucket.place.length).toBeGreaterThan(3);
      expect(JSON.stringify(bucket)).toBe(JSON.stringify(`[Bucket ${bucket.place}]`));
    });

    test("an object is read as it was created, whole and in ranges", async () => {
      const bytes = bytesOf(300);
      expect(await port.create("log/00000000001", bytes)).toBe(true);
      expect(await port.get("log/00000000001")).toEqual(bytes);
      for (const [from, to] of [
        [0, 300],
        [0, 1],
        [100, 200],
        [299, 300],
        [250, 900],
        [300, 310],
        [900, 1000],
        [20, 20],
        [0, 0],
      ]) {
        expect([from, to, await port.get("log/00000000001", { from, to })]).toEqual([
          from,
          to,
          bytes.slice(from, to),
        ]);
      }
    });

    test("of a key that is not there nothing is read, nor in a range", async () => {
      expect(await port.get("log/00000000001")).toBeUndefined();
      expect(await port.get("log/00000000001", { from: 0, to: 10 })).toBeUndefined();
      expect(await port.get("log/00000000001", { from: 5, to: 5 })).toBeUndefined();
    });

    test("a second create answers false and changes nothing", async () => {
      const first = bytesOf(10, 1);
      expect(await port.create("a", first)).toBe(true);
      expect(await port.create("a", bytesOf(20, 2))).toBe(false);
      expect(await port.create("a", first)).toBe(false);
      expect(await port.get("a")).toEqual(first);
    });

    test("of several at once one creates, and its bytes are there", async () => {
      for (let round = 0; round < 5; round++) {
        const texts = [0, 1, 2, 3, 4, 5].map((i) => bytesOf(20 + i, round * 6 + i));
        // Asked for before: nothing may go on saying that it is not there.
        expect(await port.get(`race/${round}`)).toBeUndefined();
        const answers = await Promise.all(texts.map((text) => port.create(`race/${round}`, text)));
        expect(answers.filter((isNew) => isNew)).toEqual([true]);
        expect(await port.get(`race/${round}`)).toEqual(texts[answers.indexOf(true)]);
      }
    });

    test("keys are listed in the order of their bytes: of a prefix, after a key, by pages", async () => {
      const keys = ["-", "0", "B", "a-b", "a.b", "a/0001", "a/0002", "a/0010", "a_b", "ab", "b"];
      for (const key of [...keys].reverse()) await port.create(`l/${key}`, bytesOf(1));
      await port.create("k", bytesOf(1));
      await port.create("m/a", bytesOf(1));
      const all = keys.map((key) => `l/${key}`);
      expect([...all].sort()).toEqual(all);
      expect(await allOf(port, "l/")).toEqual(all);
      expect(await allOf(port, "")).toEqual(["k", ...all, "m/a"]);
      expect(await allOf(port, "l/a/")).toEqual(all.slice(5, 8));
      expect(await allOf(port, "l/a/00")).toEqual(all.slice(5, 8));
      expect(await allOf(port, "l/a")).toEqual(all.slice(3, 10));
      expect(await allOf(port, "l/zz")).toEqual([]);
      expect(await allOf(port, "l/", { after: "l/a/0002" })).toEqual(all.slice(7));
      expect(await allOf(port, "l/", { after: "l/a/0003" })).toEqual(all.slice(7));
      expect(await allOf(port, "l/", { after: "l/b" })).toEqual([]);
      expect(await allOf(port, "l/", { after: "a" })).toEqual(all);
      expect(await allOf(port, "l/", { limit: 3 })).toEqual(all);
      expect(await port.list("l/", { limit: 1 })).toEqual(all.slice(0, 1));
    });

    if (nested) {
      test("a key may begin another", async () => {
        expect(await port.create("a", bytesOf(1))).toBe(true);
        expect(await port.create("a/b", bytesOf(2))).toBe(true);
        expect(await port.create("A", bytesOf(3))).toBe(true);
        expect(await port.list("")).toEqual(["A", "a", "a/b"]);
        expect(await port.get("a")).toEqual(bytesOf(1));
        expect(await port.get("A")).toEqual(bytesOf(3));
      });
    }

    test("what is deleted is neither read nor listed, and deleting nothing is no error", async () => {
      await port.create("d/a", bytesOf(1));
      await port.create("d/b", bytesOf(1));
      await port.delete("d/a");
      await port.delete("d/a");
      expect(await port.get("d/a")).toBeUndefined();
      expect(await port.list("d/")).toEqual(["d/b"]);
      await port.delete("d/b");
      expect(await port.list("")).toEqual([]);
    });

    test("an object may be empty, or large", async () => {
      for (const size of [0, 4_000_000]) {
        const bytes = bytesOf(size);
        expect(await port.create(`size-${size}`, bytes)).toBe(true);
        const read = await port.get(`size-${size}`);
        expect(read.length).toBe(size);
        expect(Buffer.compare(read, bytes)).toBe(0);
        const part = await port.get(`size-${size}`, { from: 1_899_990, to: 1_900_010 });
        expect(part).toEqual(bytes.slice(1_899_990, 1_900_010));
      }
    });

    test("another folder shares nothing", async () => {
      const other = await make(`${`contract/${places}`}0`);
      await port.create("a", bytesOf(1));
      expect(await other.port.get("a")).toBeUndefined();
      expect(await other.port.list("")).toEqual([]);
      await other.port.delete("a");
      expect(await port.get("a")).toEqual(bytesOf(1));
    });

    test("checkBucket() finds nothing wrong", async () => {
      const report = await checkBucket(bucket, { rounds: 3 });
      expect(report).toMatchObject({ isOk: true, problems: [] });
      expect(report.sentence).toContain(`${bucket.place} can keep memories`);
      expect(await port.list("")).toEqual([]);
    });
  });
}
