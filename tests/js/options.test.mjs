// docs/options.md has every option of openMemory(), with the default and the hosts that the types
// say, and every option of what a memory and keepsake/langchain take.

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

const whole = readFileSync(`${root}docs/options.md`, "utf8");
const [page, ...calls] = whole.split(/^## Options of .*$|^### /m);
const rowsOf = (text) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|").slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()))
    .map(([option, ...rest]) => [option.replaceAll("`", ""), ...rest]);
const told = new Map(rowsOf(page).map(([option, ...rest]) => [option, rest]));

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

// Where the page has them, and what it leaves to others: the table of a place, or LangGraph's own.
const OF_CALLS = {
  "`store.search(namespacePrefix, options)`": ["SearchOptions"],
  "`store.put(namespace, key, value, index, options)`": ["PutOptions"],
  "`store.listNamespaces(options)`": ["ListNamespacesOptions"],
  "`store.reembed(options)`": ["ReembedOptions"],
  "`store.eval(cases, options)`": ["EvaluationOptions"],
  "`store.keepHistory(namespace, options)`": ["KeepHistoryOptions"],
  "`store.history(namespace, key, options)`": ["HistoryOptions"],
  "`store.undo(operation, options)`": ["UndoOptions"],
  "`memory.scoped(options)`": ["ScopeOptions"],
  "A policy": ["Policy"],
  "`memory.checkpointerFor(scope, options)`": ["CheckpointerForOptions"],
  "`memory.forget(options)`": ["ForgetOptions"],
  "`memory.revoke(options)`": ["RevokeOptions"],
  "`memory.restore(options)`": ["RestoreOptions"],
  "`memory.evict(options)`": ["EvictOptions"],
  "`memory.keepAudit(options)`": ["KeepAuditOptions"],
  "`memory.auditLog(options)`": ["AuditLogOptions"],
  "`memory.export(options)`": ["ExportOptions"],
  "`memory.import(database, options)`": ["DatabaseImportOptions"],
  "`memory.importFrom(source, options)`": ["ImportOptions"],
  "`memory.check(options)`": ["CheckOptions"],
  "`checkpointer.prune(options)`": ["RetentionPruneOptions"],
  "`checkpointer.listThreads(options)`": ["ThreadListOptions"],
};
const OF_AGENTS = {
  "A place": ["PlaceOptions"],
  "`memoryMiddleware(options)`": ["MemoryMiddlewareOptions"],
  "`rememberTool(options)`": ["RememberToolOptions"],
  "`recallTool(options)`": ["RecallToolOptions"],
  "`learner(options)`": ["LearnerOptions"],
  "`episodes(memory, options)`": ["EpisodesOptions"],
};
// Interfaces of options that no call of a memory takes, or that only name what others have.
const ELSEWHERE =
  `AccessOptions DatabaseOptions IndexOptions ListOptions LogOptions MemoryOptions PruneOptions
  RankingOptions SalvageOptions SecretOptions SqliteSaverOptions SqliteStoreOptions StepOptions
  StoreOptions SyncOptions TextOptions TierOptions TransferOptions TtlOptions`.split(/\s+/);

const sections = new Map(
  calls.map((text) => [
    text.split("\n")[0],
    rowsOf(text).map(([option, ...rest]) => [option, rest]),
  ]),
);
const agents = publicTypes("langchain", { ours: true });
const PLACE = new Set(["memory", "store", "scope", "namespace", "sources"]);

describe.each([
  ["a memory", OF_CALLS, { checker, typeOf }],
  ["keepsake/langchain", OF_AGENTS, agents],
])("of the calls of %s", (_, table, types) => {
  test.each(Object.entries(table))("%s has every option, and its default", (heading, [type]) => {
    const properties = types.checker.getPropertiesOfType(types.typeOf(type));
    // Those of a place stand once; an episode's is another.
    const isOfPlace = ({ name }) =>
      types === agents && type !== "PlaceOptions" && type !== "EpisodesOptions" && PLACE.has(name);
    const wanted = properties.filter((property) => !isOfPlace(property));
    const written = new Map(sections.get(heading));
    expect([...written.keys()].sort()).toEqual(wanted.map(({ name }) => name).sort());
    for (const property of wanted) {
      const said = property.getJsDocTags(types.checker).find(({ name }) => name === "default");
      const value = ts.displayPartsToString(said?.text).split("\n")[0];
      if (!/^(true|false|\d[\d.,]*|"\w+"|\[".*"\]|\{.*\})$/.test(value)) continue;
      expect([property.name, written.get(property.name)[0]]).toEqual([
        property.name,
        expect.stringContaining(value),
      ]);
    }
  });
});

test("no options of a memory's calls are missing from the page", () => {
  const named = readFileSync(`${root}tests/golden/public-names.txt`, "utf8").matchAll(
    /^keepsake (\w+Options)$/gm,
  );
  const known = [...Object.values(OF_CALLS).flat(), ...ELSEWHERE];
  expect([...named].map(([, name]) => name).filter((name) => !known.includes(name))).toEqual([]);
});
