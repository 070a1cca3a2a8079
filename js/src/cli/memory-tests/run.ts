// Runs files of tests, one after the other, each on a memory of its own.

import { writeFileSync } from "node:fs";
import { checkNumber, checkWhole } from "../../checks.js";
import { invalid, KeepsakeError } from "../../errors.js";
import { missingFolder } from "../../node/file-error.js";
import type { Arguments } from "../arguments.js";
import { type Printed, plural } from "../output.js";
import { fallsBelow, recallOf, writeBaseline } from "./baseline.js";
import { choiceIn, type Fixture, filesOf, type MemoryChoice, readFixture } from "./fixture.js";
import { judgeAt } from "./kinds.js";
import { Original, TestMemory } from "./memory.js";
import type { Outcome } from "./outcome.js";
import { fallText, junitOf, type Report, textOf } from "./report.js";

/** @internal */
export async function runTests(given: Arguments): Promise<Printed> {
  const k = checkWhole("--k", given.number("k") ?? 10, 1);
  const tolerance = checkNumber("--tolerance", given.number("tolerance") ?? 0, 0, 1);
  const baseline = given.text("baseline");
  const isUpdate = given.flag("update-baseline");
  if (baseline === undefined && (isUpdate || given.text("tolerance") !== undefined)) {
    const name = isUpdate ? "--update-baseline" : "--tolerance";
    throw invalid(`${name} is of a baseline: say which, --baseline recall.json`);
  }
  const junit = given.text("junit");
  for (const path of [junit, isUpdate ? baseline : undefined]) checkFolderOf(path);
  const choice = await choiceIn(given.text("config"));
  const fixtures: Fixture[] = [];
  // All of them, so that a mistake in the last one is told before the first one runs.
  for (const file of filesOf(given.words)) fixtures.push(await readFixture(file, k));
  const tests = await outcomesOf(fixtures, choice, { original: given.text("memory"), k });
  if (baseline !== undefined && isUpdate) writeBaseline(baseline, tests, k);
  const falls =
    baseline === undefined || isUpdate ? [] : fallsBelow(baseline, tests, { k, tolerance });
  const failed = tests.filter(({ passed }) => !passed).length;
  const passed = tests.length - failed;
  const report: Report = { tests, passed, failed, k, recall: recallOf(tests), falls };
  if (junit !== undefined) writeFileSync(junit, junitOf(report));
  return { data: report, text: textOf(report), ...failureOf(report) };
}

// Before anything runs.
function checkFolderOf(path: string | undefined): void {
  const missing = path === undefined ? undefined : missingFolder(path);
  if (missing !== undefined) throw new KeepsakeError("not_found", missing);
}

function failureOf({ tests, failed, falls }: Report): { failure?: string } {
  if (failed > 0) return { failure: `${failed} of ${plural(tests.length, "test")} failed` };
  const [fall] = falls;
  return fall === undefined ? {} : { failure: fallText(fall) };
}

async function outcomesOf(
  fixtures: readonly Fixture[],
  choice: MemoryChoice,
  { original: path, k }: { original: string | undefined; k: number },
): Promise<Outcome[]> {
  const original = await Original.of(path);
  try {
    const outcomes: Outcome[] = [];
    for (const fixture of fixtures) {
      const memory = await TestMemory.open(original, fixture, choice);
      try {
        for (const [i, test] of fixture.tests.entries()) {
          const began = performance.now();
          const where = `tests[${i}] of ${fixture.file}`;
          const { problems, ...rest } = await judgeAt(where, memory, test, k);
          outcomes.push({
            file: fixture.file,
            group: fixture.name,
            name: test.name,
            kind: test.kind,
            passed: problems.length === 0,
            ms: performance.now() - began,
            problems,
            ...rest,
          });
        }
      } finally {
        await memory.close();
      }
    }
    return outcomes;
  } finally {
    original.remove();
  }
}
