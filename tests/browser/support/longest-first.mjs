// Long test files begin first, else one of them runs alone at the end. Jest knows which are long
// only when they have run here before.

import { createRequire } from "node:module";

const { default: Sequencer } = createRequire(import.meta.url)("@jest/test-sequencer");

const LONGEST = [
  "browser/failures",
  "browser/suites",
  "browser/bundlers",
  "browser/next",
  "browser/storage",
  "browser/other-browsers",
  "browser/inspector",
  "edge/suites",
  "edge/runtimes",
];

const rankOf = ({ path }) => {
  const rank = LONGEST.findIndex((name) => path.endsWith(`tests/${name}.test.mjs`));
  return rank === -1 ? LONGEST.length : rank;
};

export default class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).sort((a, b) => rankOf(a) - rankOf(b));
  }
}
