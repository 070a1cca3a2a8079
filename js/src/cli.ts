#!/usr/bin/env node
// `npx keepsake`: looks into a memory's file, and looks after it.

import { run } from "./cli/run.js";

process.exitCode = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
});
