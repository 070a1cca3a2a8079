// docs/options.md has every option of openMemory(), with the default and the hosts that the types
// say.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { publicTypes } from "./support/public-types.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const GROUPS = ["index", "ttl", "text", "ranking", "retention"];
const { checker, typeOf } = publicTypes();

// Of each option, its default as the type tells it.
function optionsOf(type, prefix = "") {
  return type.getProperties().flatMap((property) => {
    const name = prefix + property.name;
    const said = property.getJsDocTags(checker).find((tag) => tag.name === "default");
    const own = [name, ts.displayPartsToString(said?.text).split("\n").join(" ")];
    if (!GROUPS.includes(name)) return [own];
    const group = checker.getNonNullableType(checker.getTypeOfSymbol(property));
    return [own, ...optionsOf(group, `${name}.`)];
  });
}

const page = readFileSync(`${root}docs/options.md`, "utf8");
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").slice(1, -1))
  .map((cells) => cells.map((cell) => cell.trim()))
  .map(([option, ...rest]) => [option.replaceAll("`", ""), ...rest]);
const told = new Map(rows.map(([option, ...rest]) => [option, rest]));

test("docs/options.md has every option, and none that is not there", () => {
  const options = optionsOf(typeOf("MemoryOptions")).map(([name]) => name);
  expect(options.length).toBeGreaterThan(40);
  const ofGroups = GROUPS.filter((group) => !told.has(group) && page.includes(`\`${group}.`));
  expect([...told.keys(), ...ofGroups].sort()).toEqual(options.sort());
});

test("it has the defaults of the types", () => {
  const values = optionsOf(typeOf("MemoryOptions")).filter(([, value]) =>
    /^(true|false|\d[\dox.]*|"\w+"|\["\$"\])($|[ ,])/.test(value),
  );
  expect(values.length).toBeGreaterThan(12);
  for (const [name, value] of values) {
    expect([name, told.get(name)[0]]).toEqual([
      name,
      expect.stringContaining(value.split(/[ ,]/)[0]),
    ]);
  }
});

test("it says `all` of what every host takes, and of nothing else", () => {
  const everywhere = new Set(optionsOf(typeOf("TierOptions")).map(([name]) => name));
  for (const [name, [, where]] of told) {
    expect([name, where === "all"]).toEqual([name, everywhere.has(name)]);
  }
});
