// scripts/prose.mjs counts what a reader reads.

import { blocksOf, measure, sentencesOf } from "../../scripts/prose.mjs";

const PAGE = `---
title: "What is left out"
---
# A heading is no sentence

You open a memory, and it is kept in a file. It was not
yet written!

<!-- A comment is no sentence. -->

\`\`\`js
// Code is none, either.
\`\`\`

| a table | is none |
| --- | --- |

- **Bold** is read as words, [a link](page.md) as its text
- \`openMemory({ name })\` is one word. Use e.g. OPFS (or another) here.
- Labels
  1. The item of a list within a list
![A picture is none](picture.svg)
`;

test("blocks are paragraphs and items of lists, each as one line", () => {
  expect(blocksOf(PAGE)).toEqual([
    "You open a memory, and it is kept in a file. It was not yet written!",
    "Bold is read as words, a link as its text",
    "`code` is one word. Use e.g. OPFS (or another) here.",
    "Labels",
    "The item of a list within a list",
  ]);
});

test("sentences end where one begins, and a label is none", () => {
  expect(sentencesOf(PAGE)).toEqual([
    "You open a memory, and it is kept in a file.",
    "It was not yet written!",
    "Bold is read as words, a link as its text",
    "`code` is one word.",
    "Use e.g. OPFS (or another) here.",
    "The item of a list within a list",
  ]);
});

test("words, you, passives and first words are shares of sentences", () => {
  const { firsts, ...figures } = measure(PAGE);
  expect(figures).toEqual({
    words: 11 + 5 + 10 + 4 + 6 + 8,
    sentences: 6,
    mean: 44 / 6,
    p90: 11,
    you: 1 / 6,
    passive: 3 / 6,
  });
  expect(firsts[0]).toEqual({ word: "`code`", share: 1 / 6 });
  expect(firsts.map(({ word }) => word)).toEqual(["`code`", "bold", "it", "the", "use", "you"]);
});

test.each([
  ["It is closed.", 1],
  ["They aren't ever told so.", 1],
  ["It has been carefully chosen for you.", 1],
  ["It isn't stored there.", 1],
  ["It is a file.", 0],
  ["You close it, and that is all.", 0],
])("%j is a passive: %d", (sentence, passive) => {
  expect(measure(sentence).passive).toBe(passive);
});

test.each([
  ["Your file is open.", 1],
  ["The youth has a file.", 0],
  ["If you’re there, say so.", 1],
])("%j speaks to the reader: %d", (sentence, you) => {
  expect(measure(sentence).you).toBe(you);
});

test("a page without a sentence has figures, too", () => {
  expect(measure("# Nothing\n")).toEqual({
    words: 0,
    sentences: 0,
    mean: 0,
    p90: 0,
    you: 0,
    passive: 0,
    firsts: [],
  });
});
