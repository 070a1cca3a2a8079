// Runs vitest's tests in a page, with vitest's own runner and expect.

import { chai, JestAsymmetricMatchers, JestChaiExpect, JestExtend } from "@vitest/expect";
import * as vitest from "@vitest/runner";
import { getNames, getTests } from "@vitest/runner/utils";

for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);

const expectOf = (value, message) => chai.expect(value, message).withTest(vitest.getCurrentTest());

Object.assign(expectOf, chai.expect, {
  soft: (value, message) => expectOf(value, message).withContext({ soft: true }),
});

// The specification expects them to be there.
const { afterAll, afterEach, beforeAll, beforeEach, describe, it } = vitest;
Object.assign(globalThis, {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  it,
  expect: expectOf,
});

const TIMEOUT_MS = 30_000;

class PageRunner {
  config = {
    root: "/",
    setupFiles: [],
    sequence: { hooks: "stack", setupFiles: "list" },
    testTimeout: TIMEOUT_MS,
    hookTimeout: TIMEOUT_MS,
    maxConcurrency: 1,
    retry: 0,
    tags: [],
  };
  #declare;
  #part;
  chosen = [];

  constructor(declare, part) {
    this.#declare = declare;
    this.#part = part;
  }

  importFile() {
    return this.#declare();
  }

  onCollected(files) {
    for (const [i, test] of getTests(files).entries()) {
      if (typeof this.#part !== "number" || (i - this.#part) % 10 === 0) this.chosen.push(test);
      else test.mode = "skip";
    }
  }
}

/**
 * Runs the tests that `declare` makes, or every tenth from that of number `part` on (effort.mjs),
 * and tells how they went.
 */
export async function runTests(declare, part) {
  const runner = new PageRunner(declare, part);
  const files = await vitest.startTests(["page"], runner);
  const tests = runner.chosen;
  const failures = [...files, ...tests].filter(({ result }) => result?.state !== "pass");
  return {
    passed: tests.filter(({ result }) => result?.state === "pass").length,
    total: tests.length,
    names: tests.map(({ name }) => name),
    failures: failures.map((task) => ({
      name: getNames(task).join(" > "),
      state: task.result?.state ?? task.mode,
      // Stacks have no message in WebKit.
      errors: task.result?.errors?.map(({ message, stack }) => `${message}\n${stack}`),
    })),
  };
}
