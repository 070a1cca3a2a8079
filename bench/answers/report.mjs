// What a run was worth, and what one would cost, as Markdown.

import { table } from "../lib.mjs";
import { SETS } from "./sets.mjs";

/** `columns` are { title, records }, of each memory. */
export function reportText({ set, reader, judge, budget }, columns) {
  const all = columns.flatMap(({ records }) => records);
  if (all.length === 0) return "No question was answered.\n";
  const isStrict = all.every(({ strict }) => strict !== undefined);
  const isCounted = all.every(({ tokens }) => tokens.in !== undefined);
  const by = isStrict ? "strict" : "lenient";
  const [{ records: most }] = columns.toSorted((a, b) => b.records.length - a.records.length);
  const without = most.filter(({ isAbstention }) => isAbstention).length;
  const short = columns.filter(({ records }) => records.length < most.length);
  return [
    `## ${SETS[set].title}: ${most.length - without} questions with an answer, ${without} without`,
    "",
    `- Reader: ${reader.title}`,
    `- Judge: ${judge?.title ?? "no model"}`,
    `- Memory: ${budget} tokens. Tokens are ${isCounted ? "those of prompt and answer, as the server counts them" : "those of the memory, a quarter of its bytes"}.`,
    ...(judge && !isStrict ? ["- Not all answers have a verdict: the strict column waits."] : []),
    ...short.map(({ title, records }) => `- ${title}: only ${records.length} were answered.`),
    "",
    table(
      headOf(isStrict, by),
      columns.map((column) => rowOf(column, { isStrict, isCounted, by })),
    ),
    "",
    `By kind of question, the share that is right (${by}):`,
    "",
    table(["", "questions", ...columns.map(({ title }) => title)], kindRows(columns, by)),
    "",
  ].join("\n");
}

const headOf = (isStrict, by) => [
  "",
  "exact",
  "lenient",
  "F1",
  ...(isStrict ? ["strict"] : []),
  "without an answer: says so",
  "evidence in it",
  "tokens a question",
  `tokens a right answer (${by})`,
  "search, ms",
  "reader, ms",
];

function rowOf({ title, records }, { isStrict, isCounted, by }) {
  const known = records.filter(({ isAbstention }) => !isAbstention);
  const unknown = records.filter(({ isAbstention }) => isAbstention);
  const spent = ({ tokens }) => (isCounted ? tokens.in + tokens.out : tokens.memory);
  const right = known.filter((each) => each[by]).length;
  const evidence = known.map((each) => each.evidence).filter((share) => share !== null);
  const tokens = known.reduce((sum, each) => sum + spent(each), 0);
  return [
    title,
    shareOf(known, "exact"),
    shareOf(known, "lenient"),
    meanOf(
      known.map(({ f1 }) => f1),
      3,
    ),
    ...(isStrict ? [shareOf(known, "strict")] : []),
    shareOf(unknown, by),
    meanOf(evidence, 3),
    meanOf(records.map(spent), 0),
    right === 0 ? "–" : Math.round(tokens / right),
    medianOf(records.map(({ ms }) => ms.memory)),
    medianOf(records.map(({ ms }) => ms.reader)),
  ];
}

function kindRows(columns, by) {
  const kinds = [...new Set(columns.flatMap(({ records }) => records.map(({ kind }) => kind)))];
  return kinds.sort().map((kind) => {
    const own = columns.map(({ records }) => records.filter((each) => each.kind === kind));
    const shares = own.map((records) =>
      meanOf(
        records.map((each) => (each[by] ? 1 : 0)),
        3,
      ),
    );
    return [kind, Math.max(...own.map((records) => records.length)), ...shares];
  });
}

function shareOf(records, by) {
  if (records.length === 0) return "–";
  const right = records.filter((each) => each[by]).length;
  return `${right} (${((100 * right) / records.length).toFixed(1)} %)`;
}

const sumOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

function meanOf(numbers, digits) {
  if (numbers.length === 0) return "–";
  return (sumOf(numbers) / numbers.length).toFixed(digits);
}

function medianOf(numbers) {
  if (numbers.length === 0) return "–";
  const middle = numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
  return middle.toFixed(middle < 10 ? 1 : 0);
}

/** `parts` are { title, requests, tokens, out, price }. */
export function estimateText(reader, parts) {
  const costs = parts.map(({ tokens, out, price }) =>
    price === undefined ? undefined : (price[0] * tokens + price[1] * out) / 1e6,
  );
  const isKnown = costs.every((cost) => cost !== undefined);
  const count = (number) => number.toLocaleString("en");
  return [
    `Reader: ${reader.title}. Tokens in are a quarter of the bytes; of answers, the most there can be.`,
    "",
    table(
      ["", "requests", "tokens in", "tokens out, at most", "cost, at most"],
      parts.map(({ title, requests, tokens, out }, i) => [
        title,
        count(requests),
        count(tokens),
        count(out),
        costs[i]?.toFixed(2) ?? "–",
      ]),
    ),
    "",
    isKnown
      ? `All: ${sumOf(costs).toFixed(2)} at most, in the currency of --price.\n`
      : "--price=IN,OUT (and --judge-price) say what a million tokens cost.\n",
  ].join("\n");
}
