// `npx keepsake test`: the user's own tests of what a memory finds, keeps apart and forgets.

import type { Command } from "./command.js";

/** @internal */
export const test: Command = {
  words: ["TESTS…"],
  isMany: true,
  says: "your own tests of what a memory finds, keeps apart and forgets; a folder has *.test.json",
  examples: [
    "test tests/memory",
    "test ada.test.json --config memory.mjs --baseline recall.json",
    "test ada.test.json --memory agent.db --junit report.xml",
  ],
  options: {
    config: {
      type: "string",
      takes: "MODULE",
      says: "exports options of openMemory(), such as index and ranking: memory.mjs",
    },
    memory: { type: "string", takes: "FILE", says: "begin each with a copy of this one" },
    k: { type: "string", takes: "N", says: "hits that count, 10 unless you say otherwise" },
    junit: { type: "string", takes: "PATH", says: "write a report for other programs, too" },
    baseline: { type: "string", takes: "PATH", says: "fail where recall or MRR fell below it" },
    tolerance: { type: "string", takes: "SHARE", says: "how far they may fall: 0 unless you say" },
    "update-baseline": { type: "boolean", says: "write what they are now into --baseline" },
  },
  async perform(given) {
    // It takes a third of a second, which other commands need not wait for.
    const { runTests } = await import("./memory-tests/run.js");
    return runTests(given);
  },
};
