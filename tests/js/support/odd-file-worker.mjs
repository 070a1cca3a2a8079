// Tells as JSON how a call on a file is refused.
//   odd-file-worker.mjs open|importFrom|salvage <path>

import { openMemory, salvageMemory } from "keepsake";

const [, , call, path] = process.argv;
const calls = {
  open: () => openMemory({ path, lockTimeout: 0 }),
  importFrom: async () => (await openMemory({ path: ":memory:" })).importFrom(path),
  salvage: () => salvageMemory(path, { path: ":memory:" }),
};

try {
  await calls[call]();
  console.log(JSON.stringify({ code: "none", message: "it was done" }));
} catch ({ code, message }) {
  console.log(JSON.stringify({ code, message }));
}
