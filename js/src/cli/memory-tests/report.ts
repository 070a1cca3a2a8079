// What came of tests: for people, and as JUnit has it for other programs.

import { oneLine, plural } from "../output.js";
import type { Fall, Recall } from "./baseline.js";
import { byFile, type Outcome, type Problem } from "./outcome.js";

/** All that a run of tests tells. */
export interface Report {
  tests: Outcome[];
  passed: number;
  failed: number;
  /** Hits that count for recall and MRR. */
  k: number;
  recall: Recall | undefined;
  falls: Fall[];
}

const LABEL = 9;

/** @internal */
export function textOf({ tests, passed, failed, k, recall, falls }: Report): string {
  const lines: string[] = [];
  for (const [file, group] of byFile(tests)) {
    const [{ group: name }] = group as [Outcome];
    lines.push(name === file ? file : `${file}: ${oneLine(name)}`);
    for (const each of group) {
      lines.push(`  ${each.passed ? "ok  " : "FAIL"}  ${oneLine(each.name)}`);
      lines.push(...each.problems.flatMap(linesOf));
    }
    lines.push("");
  }
  lines.push(`${plural(tests.length, "test")}: ${passed} passed, ${failed} failed`);
  if (recall !== undefined) {
    const mean = `recall@${k} ${figure(recall.recall)}, MRR ${figure(recall.mrr)}`;
    lines.push(`${mean} of ${plural(recall.questions, "question")}`);
  }
  lines.push(...falls.map(fallText));
  return `${lines.join("\n")}\n`;
}

function linesOf({ expected, came, why }: Problem): string[] {
  return [
    ...labelled("expected", [expected]),
    ...labelled("came", came),
    ...labelled("why", why),
  ].map((line) => `        ${line}`);
}

// Further lines stand below the first one.
const labelled = (label: string, texts: readonly string[]) =>
  texts.map((text, i) => `${(i === 0 ? label : "").padEnd(LABEL)} ${oneLine(text)}`);

const figure = (value: number) => value.toFixed(3);

/** @internal */
export function fallText({ of, what, from, to }: Fall): string {
  const name = what === "mrr" ? "MRR" : "recall";
  return `${name} of ${of} fell from ${figure(from)} to ${figure(to)}`;
}

/** JUnit's XML, a suite for each file and one for the baseline. @internal */
export function junitOf({ tests, failed, falls }: Report): string {
  const suites = [...byFile(tests)].map(([file, group]) =>
    suiteOf(
      file,
      group.map(({ name, ms, problems }) => ({ name, ms, failures: problems.map(failureOf) })),
    ),
  );
  const fallen = falls.map((fall) => ({
    name: `${fall.what} of ${fall.of}`,
    ms: 0,
    failures: [{ message: fallText(fall), text: fallText(fall) }],
  }));
  if (fallen.length > 0) suites.push(suiteOf("baseline", fallen));
  const counts = `tests="${tests.length + fallen.length}" failures="${failed + fallen.length}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="keepsake" ${counts}>`,
    ...suites,
    "</testsuites>",
    "",
  ].join("\n");
}

interface Case {
  name: string;
  ms: number;
  failures: { message: string; text: string }[];
}

const failureOf = (problem: Problem) => ({
  message: `expected ${problem.expected}`,
  text: linesOf(problem)
    .map((line) => line.trim())
    .join("\n"),
});

function suiteOf(file: string, cases: readonly Case[]): string {
  const failed = cases.filter(({ failures }) => failures.length > 0).length;
  const ms = cases.reduce((sum, each) => sum + each.ms, 0);
  const lines = cases.map(({ name, ms: own, failures }) => {
    const head = `    <testcase name="${xml(name)}" classname="${xml(file)}" time="${seconds(own)}"`;
    if (failures.length === 0) return `${head}/>`;
    const texts = failures.map(
      ({ message, text }) => `      <failure message="${xml(message)}">${xml(text)}</failure>`,
    );
    return [`${head}>`, ...texts, "    </testcase>"].join("\n");
  });
  const counts = `tests="${cases.length}" failures="${failed}" time="${seconds(ms)}"`;
  return [`  <testsuite name="${xml(file)}" ${counts}>`, ...lines, "  </testsuite>"].join("\n");
}

const seconds = (ms: number) => (ms / 1000).toFixed(3);

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
};

// XML has no other control characters, not even written as numbers.
function xml(text: string): string {
  return text
    .split("\n")
    .map(oneLine)
    .join("\n")
    .replace(/[&<>"\n]/g, (sign) => ENTITIES[sign] as string);
}
