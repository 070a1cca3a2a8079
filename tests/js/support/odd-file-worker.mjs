// Tells as JSON how a call on a file is refused: a line for each call and path that it reads.
//   ["open"|"importFrom"|"salvage", path]

import { createInterface } from "node:readline";
import { openMemory, salvageMemory } from "keepsake";

const calls = {
  open: (path) => openMemory({ path, lockTimeout: 0 }),
  importFrom: async (path) => (await openMemory({ path: ":memory:" })).importFrom(path),
  salvage: (path) => salvageMemory(path, { path: ":memory:" }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const [call, path] = JSON.parse(line);
  try {
    await calls[call](path);
    console.log(JSON.stringify({ code: "none", message: "it was done" }));
  } catch ({ code, message }) {
    console.log(JSON.stringify({ code, message }));
  }
}
