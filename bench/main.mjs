// `npm run bench`: each benchmark in a process of its own, one after another.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

for (const name of ["store", "vectors", "checkpointer", "growth", "boundary", "browser", "edge"]) {
  const script = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
  const { status } = spawnSync(process.execPath, [script, ...process.argv.slice(2)], {
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}
