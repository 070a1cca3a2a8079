// The order of test files. Jest knows from the second run on how long each takes; a fresh clone
// would begin the longest of them last, because it is among the shortest to read.

const { default: Sequencer } = require("@jest/test-sequencer");

const LONG = [
  ...["contract", "bounded-answers", "docs-site", "package", "bad-input", "mcp"],
  ...["failures", "suites", "bundlers", "next", "storage", "other-browsers", "inspector"],
  ...["runtimes", "moving"],
];

module.exports = class LongFirst extends Sequencer {
  sort(tests) {
    const isLong = ({ path }) => LONG.some((name) => path.endsWith(`/${name}.test.mjs`));
    const sorted = super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
};
