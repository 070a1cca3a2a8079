// Files as a machine finds them that lost its power: bytes, sizes and names that were not synced
// are there or not. What `strict` acknowledged is there, and what flush() or close() did, always.

import { createInterface } from "node:readline";
import { times } from "./support/effort.mjs";
import { killAll, start } from "./support/processes.mjs";

afterAll(killAll);

const IMAGES = times(240);

test.each([
  ["strict", 1],
  ["relaxed", 3],
])(
  "no power cut takes what is safe with durability %s, and none damages the file",
  async (durability, seed) => {
    const worker = start("power-cut-worker.mjs", [durability, seed, IMAGES]);
    const lines = [];
    for await (const line of createInterface({ input: worker.stdout })) {
      lines.push(JSON.parse(line));
    }
    expect(await worker.ended).toBe(0);
    const [{ recorded }, ...images] = lines;
    for (const kind of ["create", "remove", "write", "truncate", "sync", "syncFolder"]) {
      expect({ kind, count: recorded[kind] }).toEqual({ kind, count: expect.any(Number) });
    }
    expect(images.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
    expect(images).toHaveLength(IMAGES);
  },
  60_000 + IMAGES * 500,
);
