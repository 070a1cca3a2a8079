// How the documentation reads, in figures: words, length of sentences, how often it speaks to its
// reader, passives, and the words that sentences begin with.
//
//   node scripts/prose.mjs                        README.md and docs/*.md
//   node scripts/prose.mjs docs/search.md         these files
//   node scripts/prose.mjs --anchors              and what well-kept documentation of others has
//
// Only prose counts: code, tables, headings, pictures and comments are left out, and code within a
// sentence is one word of it.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("../", import.meta.url));
const CODE = "`code`";

// Measured by this script on 2026-11-29. CI can't fetch these pages, so their figures stand here.
// Where a project publishes its pages outside of its package, the commit says which ones were read.
const ANCHORS = [
  {
    name: "idb 8.0.3: README.md (77dd8be)",
    figures: [1105, "13.0", 21, "32 %", "19 %", "`code` 25 %, this 16 %, if 8 %, the 5 %, you 5 %"],
  },
  {
    name: "PGlite: docs/docs/{filesystems,bundler-support,multi-tab-worker}.md (45ce738)",
    figures: [
      1326,
      "17.0",
      28,
      "31 %",
      "24 %",
      "`code` 12 %, the 12 %, to 9 %, when 9 %, import 5 %",
    ],
  },
  {
    name: "zod 4.6.7: README.md of the package",
    figures: [495, "13.0", 21, "24 %", "5 %", "for 8 %, in 5 %, note 5 %, to 5 %, works 5 %"],
  },
];

const NO_PROSE = [
  /^---\n[\s\S]*?\n---\n/, // front matter
  /<!--[\s\S]*?-->/g,
  /^[ \t]*(`{3,}|~{3,})[\s\S]*?^[ \t]*\1[ \t]*$/gm,
  /<(script|style|details|table)\b[\s\S]*?<\/\1>/g,
  /^[ \t]*(?:\||:::|#|\[[^\]]+\]:).*$/gm, // tables, boxes, headings, targets of links
];

const plain = (text) =>
  text
    .replace(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replace(/(`+)(?!`)[^\n]+?\1(?!`)/g, CODE)
    .replace(/\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, "$1")
    .replace(/<[^>\n]+>/g, "")
    .replace(/\*\*|__|[*_](?=\S)|(?<=\S)[*_](?=\W|$)/g, "");

/** The paragraphs and list items of a page, each as one line. */
export function blocksOf(markdown) {
  const prose = NO_PROSE.reduce((text, pattern) => text.replace(pattern, "\n"), markdown);
  return plain(prose)
    .replace(/^[ \t>]*(?:[-*+]|\d+\.)[ \t]+/gm, "\n\n")
    .split(/\n[\s>]*\n/)
    .map((block) => block.replace(/\s+/g, " ").trim())
    .filter((block) => wordsOf(block).length > 0);
}

// Less is a label, such as a line of a table of contents.
const LEAST_WORDS = 3;

/** Its sentences. An item of a list that ends without a full stop is one as well. */
export const sentencesOf = (markdown) =>
  blocksOf(markdown).flatMap((block) =>
    block
      .split(/(?<=[.!?]["”’)]*)(?<!\b(?:e\.g|i\.e|vs)\.) (?=["“‘(]?[\p{Lu}\d`])/u)
      .filter((sentence) => wordsOf(sentence).length >= LEAST_WORDS),
  );

const wordsOf = (text) => text.match(/`code`|[\p{L}\p{N}][\p{L}\p{N}'’.,/-]*/gu) ?? [];

const YOU = /\b(?:you|your|yours|yourself|you['’]\w+)\b/i;

// A form of "be", and a participle: "is stored", "was not yet written". This also counts adjectives
// that look like one ("is closed"), and misses "gets lost" and participles that are not listed.
const PASSIVE = new RegExp(
  String.raw`\b(?:is|are|was|were|be|been|being)(?:n['’]t)?\s+(?:(?:not|yet|ever|never|also|then|only|still|already|always|often|\w+ly)\s+)*` +
    String.raw`(?:\w{2,}ed|built|bound|brought|chosen|cut|done|drawn|driven|forgotten|found|given|gone|held|kept|known|left|lost|made|meant|paid|put|read|rewritten|run|said|seen|sent|set|shown|taken|thrown|told|understood|undone|written)\b`,
  "i",
);

/** The figures of a page. Shares are of its sentences. */
export function measure(markdown) {
  const sentences = sentencesOf(markdown);
  const lengths = sentences.map((sentence) => wordsOf(sentence).length).sort((a, b) => a - b);
  const words = lengths.reduce((sum, length) => sum + length, 0);
  const share = (pattern) => shareOf(sentences.filter((each) => pattern.test(each)).length);
  const shareOf = (count) => (sentences.length === 0 ? 0 : count / sentences.length);
  const firsts = new Map();
  for (const sentence of sentences) {
    const word = wordsOf(sentence)[0].toLowerCase();
    firsts.set(word, (firsts.get(word) ?? 0) + 1);
  }
  return {
    words,
    sentences: sentences.length,
    mean: sentences.length === 0 ? 0 : words / sentences.length,
    p90: lengths[Math.ceil(0.9 * lengths.length) - 1] ?? 0,
    you: share(YOU),
    passive: share(PASSIVE),
    firsts: [...firsts]
      .map(([word, count]) => ({ word, share: shareOf(count) }))
      .sort((a, b) => b.share - a.share || (a.word < b.word ? -1 : 1)),
  };
}

const percent = (share) => `${Math.round(100 * share)} %`;

function rowOf(name, { words, mean, p90, you, passive, firsts }) {
  const first = firsts.slice(0, 5).map(({ word, share }) => `${word} ${percent(share)}`);
  return [name, words, mean.toFixed(1), p90, percent(you), percent(passive), first.join(", ")];
}

const lineOf = (cells) => `| ${cells.join(" | ")} |`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { anchors: { type: "boolean", default: false } },
  });
  const ours = readdirSync(`${root}docs`).filter((name) => name.endsWith(".md"));
  const files =
    positionals.length > 0
      ? positionals
      : ["README.md", ...ours.sort().map((name) => `docs/${name}`)].map((name) => root + name);
  const pages = files.map((file) => [file.replace(root, ""), readFileSync(file, "utf8")]);
  if (pages.length > 1) pages.push(["all", pages.map(([, text]) => text).join("\n\n")]);
  const rows = pages.map(([name, text]) => rowOf(name, measure(text)));
  if (values.anchors) rows.push(...ANCHORS.map(({ name, figures }) => [name, ...figures]));
  const header = ["page", "words", "a sentence", "p90", "you", "passive", "first words"];
  const rule = ["---", ...Array(5).fill("--:"), "---"];
  console.log([header, rule, ...rows].map(lineOf).join("\n"));
}
