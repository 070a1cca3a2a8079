// Random histories of processes and devices over a bucket that fails, on simulated time (simulation/run.mjs). A
// history that fails prints its seed, which repeats it.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { times } from "./support/effort.mjs";

const program = fileURLToPath(new URL("simulation/run.mjs", import.meta.url));

test("what was acknowledged is there, once, for every process, whatever the bucket does", async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, "--from", "1", "--to", String(times(1000))],
    { maxBuffer: 2 ** 26 },
  );
  expect(stdout).toMatch(/^0 failures/m);
}, 600_000);
