// Writes the tables of secrets for both languages from core/src/json/secret_kinds.json:
//
//     node scripts/secret-kinds.mjs
//
// tests/js/secrets.test.mjs compares what it would write with what is there.

import { readFileSync, writeFileSync } from "node:fs";

const FROM = "core/src/json/secret_kinds.json";
const root = new URL("../", import.meta.url);
const table = JSON.parse(readFileSync(new URL(FROM, root), "utf8"));

const rows = table.kinds.flatMap(({ name, forms, needs = "digit" }) =>
  forms.map((form) => ({ name, form, needs })),
);
const lists = {
  placeholders: "Of what stands in the place of a secret in examples.",
  passwords: "The same, as a whole.",
  keyNames: "Fields and variables that end so, written small and without signs, have a key.",
  cardWords: "Words that begin so say that a number is a card's.",
  otherNumbers: "Words that say that it is another's.",
};

const text = (value) => JSON.stringify(value);

function typescript() {
  const needs = { digit: "", mixed: ", true", nothing: ", false" };
  const lines = rows.map(
    ({ name, form, needs: what }) => `  [${text(name)}, ${text(form)}${needs[what]}],`,
  );
  return [
    `// Made by scripts/secret-kinds.mjs from ${FROM}: change that one.`,
    "",
    "/** Name, form, and whether it must be mixed (true) or may be anything (false). @internal */",
    "export type Row = readonly [name: string, form: string, isMixed?: boolean];",
    "",
    "/** @internal */",
    "// biome-ignore format: a row a line.",
    "export const ROWS: readonly Row[] = [",
    ...lines,
    "];",
    ...Object.entries(lists).flatMap(([name, about]) => [
      "",
      `/** ${about} @internal */`,
      `// biome-ignore format: made.`,
      `export const ${name.replace(/[A-Z]/g, "_$&").toUpperCase()} = ${text(table[name])};`,
    ]),
    "",
  ].join("\n");
}

function cpp() {
  const needs = { digit: "kDigit", mixed: "kMixed", nothing: "kNothing" };
  const raw = (value) => `R"(${value})"`;
  return [
    `// Made by scripts/secret-kinds.mjs from ${FROM}: change that one.`,
    "// clang-format off",
    "constexpr Row kRows[] = {",
    ...rows.map(
      ({ name, form, needs: what }) => `    {"${name}", ${raw(form)}, Needs::${needs[what]}},`,
    ),
    "};",
    ...Object.entries(lists).flatMap(([name, about]) => [
      `// ${about}`,
      `constexpr std::string_view k${name[0].toUpperCase()}${name.slice(1)}[] = {${table[name].map(raw).join(", ")}};`,
    ]),
    "// clang-format on",
    "",
  ].join("\n");
}

/** What is to be in each file. */
export const FILES = {
  "js/src/store/secret-kinds.ts": typescript(),
  "core/src/json/secret_kinds.inc": cpp(),
};

if (process.argv[1] === new URL(import.meta.url).pathname) {
  for (const [path, content] of Object.entries(FILES)) writeFileSync(new URL(path, root), content);
}
