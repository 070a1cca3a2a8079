// What searches found when it was noted: a later change may not find less.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { checkOptions, type NamesOf } from "../../checks.js";
import { invalid, KeepsakeError, messageOf } from "../../errors.js";
import { byFile, type Outcome } from "./outcome.js";

/** Means over the tests of what is found. */
export interface Recall {
  questions: number;
  recall: number;
  mrr: number;
}

/** As it stands in the file. */
interface Noted {
  k: number;
  all: Recall;
  /** By their paths, seen from the folder of the baseline. */
  files: Record<string, Recall>;
}

/** What fell, for people. */
export interface Fall {
  /** Of which file; "all" for the mean of all. */
  of: string;
  what: "recall" | "mrr";
  from: number;
  to: number;
}

const NOTED: NamesOf<Noted> = { k: 1, all: 1, files: 1 };
const DIGITS = 4;
// Less is how a number was rounded.
const ROUNDED = 10 ** -DIGITS;

/** Undefined if no test says what is found. */
export function recallOf(outcomes: readonly Outcome[]): Recall | undefined {
  const worths = outcomes.flatMap(({ worth }) => (worth === undefined ? [] : [worth]));
  if (worths.length === 0) return undefined;
  const mean = (of: "recall" | "mrr") =>
    worths.reduce((sum, worth) => sum + worth[of], 0) / worths.length;
  return { questions: worths.length, recall: mean("recall"), mrr: mean("mrr") };
}

/** @internal */
export function writeBaseline(path: string, outcomes: readonly Outcome[], k: number): void {
  writeFileSync(path, `${JSON.stringify(notedOf(path, outcomes, k), undefined, 2)}\n`);
}

/** What is less than in the baseline, by more than `tolerance`. @internal */
export function fallsBelow(
  path: string,
  outcomes: readonly Outcome[],
  { k, tolerance }: { k: number; tolerance: number },
): Fall[] {
  const before = read(path);
  if (before.k !== k) {
    throw invalid(
      `${path} counts the first ${before.k} hits, and this call ${k}: say --k ${before.k}`,
    );
  }
  const now = notedOf(path, outcomes, k);
  const files = Object.entries(now.files);
  // Of other questions the mean of all says nothing.
  const isSame =
    before.all.questions === now.all.questions && files.every(([file]) => file in before.files);
  const pairs = isSame ? [["all", now.all] as const, ...files] : files;
  return pairs.flatMap(([of, today]) => {
    const then = of === "all" ? before.all : before.files[of];
    if (then === undefined) return [];
    return (["recall", "mrr"] as const).flatMap((what) =>
      today[what] < then[what] - tolerance - ROUNDED
        ? [{ of, what, from: then[what], to: today[what] }]
        : [],
    );
  });
}

function notedOf(path: string, outcomes: readonly Outcome[], k: number): Noted {
  const all = recallOf(outcomes);
  if (all === undefined) throw invalid("--baseline is of tests of what is found: there is none");
  const folder = dirname(resolve(path));
  const noted: Noted = { k, all: rounded(all), files: {} };
  for (const [file, own] of byFile(outcomes)) {
    const recall = recallOf(own);
    const name = relative(folder, resolve(file)).split(sep).join("/");
    if (recall !== undefined) noted.files[name] = rounded(recall);
  }
  return noted;
}

const rounded = ({ questions, recall, mrr }: Recall): Recall => ({
  questions,
  recall: Number(recall.toFixed(DIGITS)),
  mrr: Number(mrr.toFixed(DIGITS)),
});

function read(path: string): Noted {
  if (!existsSync(path)) {
    throw new KeepsakeError(
      "not_found",
      `there is no baseline ${path}: --update-baseline writes what the tests find now`,
    );
  }
  let noted: Noted;
  try {
    noted = checkOptions(path, NOTED, JSON.parse(readFileSync(path, "utf8")) as Noted);
  } catch (error) {
    throw invalid(
      `${path} is no baseline that --update-baseline wrote: ${messageOf(error)}`,
      error,
    );
  }
  if (typeof noted.all === "object" && typeof noted.files === "object") return noted;
  throw invalid(`${path} is no baseline that --update-baseline wrote`);
}
