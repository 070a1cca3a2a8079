#!/usr/bin/env node
// `npx keepsake`: looks into a memory's file, and looks after it.

import { run } from "./cli/run.js";

// Who reads may stop early, as `| head -1` does: that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") return;
  process.stderr.write(`keepsake: the output could not be written: ${error.message}\n`);
  process.exitCode = 1;
});
process.stderr.on("error", () => {});

process.exitCode = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
});
