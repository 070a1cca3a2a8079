// Fails the run unless each file of a saver ran the whole specification: nothing skipped,
// nothing missing. The suite skips tests by the name of a saver, silently.

import { SPECIFICATION_SIZE } from "./specification-size.mjs";

export default class CompleteReporter {
  #isPartial = false;

  onInit(vitest) {
    this.#isPartial = vitest.config.testNamePattern !== undefined;
  }

  onTestRunEnd(testModules) {
    if (this.#isPartial) return;
    for (const testModule of testModules) {
      if (testModule.moduleId.endsWith("saver.test.mjs")) this.#check(testModule);
    }
  }

  #check(testModule) {
    const states = [...testModule.children.allTests()].map((test) => test.result().state);
    const passed = states.filter((state) => state === "passed").length;
    const others = states.length - passed;
    const file = testModule.moduleId.split("/").at(-1);
    console.log(`${file}: ${passed} of ${SPECIFICATION_SIZE} passed, ${others} skipped or failed`);
    if (passed !== SPECIFICATION_SIZE || others !== 0) process.exitCode = 1;
  }
}
