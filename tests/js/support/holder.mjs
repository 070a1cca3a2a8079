// A process that opens the database at argv[2] as argv[3] says, and tells by lines.
//   hold   opens, prints "held", closes at the first line of its input
//   exit   opens, then ends without closing
//   count  opens with a long timeout, raises a counter ten times, closes

import { once } from "node:events";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { SqliteStore } from "keepsake";

const [, , path, mode] = process.argv;
const store = new SqliteStore({ path, lockTimeout: mode === "count" ? 60_000 : 5_000 });

const raise = async () => {
  const item = await store.get(["counters"], "n");
  await store.put(["counters"], "n", { value: (item?.value.value ?? 0) + 1 });
};

if (mode === "count") {
  console.log("waiting");
  await raise();
  // Fails if anybody else is inside at the same time.
  const mark = `${path}.inside`;
  if (existsSync(mark)) throw new Error("two owners");
  writeFileSync(mark, "", { flag: "wx" });
  for (let i = 0; i < 9; i += 1) await raise();
  rmSync(mark);
  await store.close();
} else {
  await store.put(["n"], "k", { by: process.pid });
  console.log("held");
  if (mode === "hold") {
    await once(process.stdin, "data");
    await store.close();
    process.stdin.destroy();
  }
}
