// The hooks of keepsake/react as a server renders them: nothing is asked, nothing is known yet.

import { openMemory } from "keepsake";
import { useMemories, useMemorySearch, useThreads } from "keepsake/react";
import { createElement } from "react";
import { renderToString } from "react-dom/server";

let memory;

beforeAll(async () => {
  memory = await openMemory({ path: ":memory:" });
});

afterAll(() => memory.close());

const rendered = (hook) =>
  renderToString(createElement(() => JSON.stringify(hook()))).replaceAll("&quot;", '"');

test.each([
  ["useMemories", () => useMemories(memory, ["notes"])],
  ["useMemorySearch", () => useMemorySearch(memory, ["notes"], { query: "tea" })],
  ["useThreads", () => useThreads(memory)],
  ["useThreads without a memory", () => useThreads(undefined)],
])("%s is loading", (_name, hook) => {
  expect(JSON.parse(rendered(hook))).toEqual({ loading: true });
});

// biome-ignore format: a table reads best by rows.
test.each([
  ["a store instead of a memory", () => useMemories(memory.store, []), "useMemories: it takes a memory, which openMemory() resolves to, or undefined until there is one: an object of SqliteStore"],
  ["null instead of a memory", () => useThreads(null), "useThreads: it takes a memory, which openMemory() resolves to, or undefined until there is one: null"],
  ["a namespace as a path", () => useMemorySearch(memory, "notes", { query: "tea" }), 'useMemorySearch: namespacePrefix must be a list: "notes"'],
  ["a query of useMemories", () => useMemories(memory, [], { query: "tea" }), 'useMemories: unknown option "query": it takes filter, limit, offset, asOf, includeSuperseded, refreshTtl'],
  ["count of useMemories", () => useMemories(memory, [], { count: 3 }), 'useMemories: unknown option "count": did you mean "limit"?'],
  ["top of useThreads", () => useThreads(memory, { top: 3 }), 'useThreads: unknown option "top": it takes limit'],
  ["limit of -1", () => useThreads(memory, { limit: -1 }), "useThreads: limit must be a whole number from 0: -1"],
])("%s is refused", (_name, hook, message) => {
  expect(() => rendered(hook)).toThrow(
    expect.objectContaining({ code: "invalid_argument", message: `[keepsake] ${message}` }),
  );
});
