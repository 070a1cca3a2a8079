// The mistakes that a caller makes, and what each is told: the thing, the rule and the
// remedy. A row is a contract; nothing of it may be ignored again, and nothing is written.

import { jest } from "@jest/globals";
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import Database from "better-sqlite3";
import {
  InMemoryStore,
  KeepsakeError,
  MemorySaver,
  openMemory,
  SqliteSaver,
  SqliteStore,
  withContext,
} from "keepsake";
import { cutWordVectors, staticEmbedder } from "keepsake/embed";
import { anthropicMemory, Files } from "keepsake/files";
import { learner, memoryMiddleware, recallNode } from "keepsake/langchain";
import { memoryOver } from "keepsake/sqlite";
import { ColourEmbeddings } from "keepsake/testing";
import { checkpointOf, metadataOf, putCheckpoint, threadConfig } from "./support/checkpoints.mjs";
import { dumpSaver, dumpStore, expectRefused } from "./support/refusal.mjs";
import { removeTemporaryFolders, temporaryFile } from "./support/temporary.mjs";

afterAll(removeTemporaryFolders);

const colours = new ColourEmbeddings();
const index = { dims: ColourEmbeddings.dims, embeddings: colours };
const serde = { dumpsTyped: async () => ["json", new Uint8Array()], loadsTyped: async () => 1 };
const config = threadConfig("t");
const checkpoint = checkpointOf();
const metadata = metadataOf();

async function all(generator) {
  for await (const _ of generator);
}

// A list that nobody can read to its end.
function endless() {
  const list = [];
  list.length = 2 ** 32 - 1;
  return list;
}

function transferred() {
  const bytes = new Uint8Array(3);
  structuredClone(bytes, { transfer: [bytes.buffer] });
  return bytes;
}

function lockedStream() {
  const stream = new ReadableStream();
  stream.getReader();
  return stream;
}

// biome-ignore format: a table reads best by rows.
const rows = [
  // Options of what opens a memory.
  ["openMemory without options", () => openMemory(), "invalid_argument", 'openMemory: it takes options with a path, such as { path: "agent.db" }'],
  ["openMemory with a path alone", () => openMemory("agent.db"), "invalid_argument", 'openMemory: it takes options by name, such as { path: … }: "agent.db"'],
  ["a file instead of a path", () => openMemory({ file: "agent.db" }), "invalid_argument", 'openMemory: unknown option "file": did you mean "path"?'],
  ["an empty path", () => openMemory({ path: "" }), "invalid_argument", 'openMemory: path must be a non-empty string, such as "agent.db": ""'],
  ["a URL as a path", () => openMemory({ path: "file:agent.db" }), "invalid_argument", 'openMemory: path must be a path, not a URL, such as "agent.db": "file:agent.db"'],
  ["a file that is to keep nothing", () => openMemory({ path: "agent.db", storage: "memory" }), "invalid_argument", 'openMemory: storage "memory" keeps nothing, so path must be ":memory:" beside it'],
  ["a name instead of a path", () => openMemory({ name: "agent" }), "unsupported", "openMemory: name is for browsers; in Node, and in jsdom, a database has a path: give both, or path: \":memory:\" in a test"],
  ["a filename", () => openMemory({ filename: "agent.db" }), "invalid_argument", 'openMemory: unknown option "filename": did you mean "path"?'],
  ["a mode of all searches", () => openMemory({ path: ":memory:", mode: "text" }), "invalid_argument", 'openMemory: unknown option "mode": it is one of ranking: { ranking: { mode: … } }'],
  ["letters exchanged", ({ store }) => store.search([], { qurey: "tea" }), "invalid_argument", 'memory.store: unknown option "qurey" of search: did you mean "query"?'],
  ["searchmode", () => openMemory({ path: ":memory:", searchmode: "text" }), "invalid_argument", 'openMemory: unknown option "searchmode": did you mean { ranking: { mode: … } }?'],
  ["an unknown mode of all searches", () => openMemory({ path: ":memory:", ranking: { mode: "semantic" } }), "invalid_argument", 'openMemory: ranking.mode must be one of auto, vector, contains, text, hybrid: "semantic"'],
  ["an unknown durability", () => openMemory({ path: ":memory:", durability: "full" }), "invalid_argument", "openMemory: durability must be relaxed or strict: \"full\""],
  ["a key over a connection", () => memoryOver(new Database(":memory:"), { key: "a passphrase" }), "unsupported", "key is for files, OPFS and IndexedDB: encrypt the file of the connection"],
  ["a key in memory", () => openMemory({ path: ":memory:", key: "a passphrase" }), "unsupported", "openMemory: key is for files, OPFS and IndexedDB: what is in memory is not written"],
  ["a key of another length", () => openMemory({ path: "x.db", key: new Uint8Array(31) }), "invalid_argument", "openMemory: key must be a Uint8Array of 32 random bytes, or a passphrase"],
  ["verifyPages in words", () => openMemory({ path: ":memory:", verifyPages: "yes" }), "invalid_argument", 'openMemory: verifyPages must be true or false: "yes"'],
  ["lockTimeout in words", () => openMemory({ path: ":memory:", lockTimeout: "5s" }), "invalid_argument", "openMemory: lockTimeout must be a number of milliseconds from 0: \"5s\""],
  ["fileMode in decimals", () => openMemory({ path: ":memory:", fileMode: 600 }), "invalid_argument", "openMemory: fileMode must be a number such as 0o600 that its owner can use: 600"],
  ["embeddings beside index", () => openMemory({ path: ":memory:", embeddings: colours }), "invalid_argument", 'openMemory: unknown option "embeddings": it is one of index: { index: { embeddings: … } }'],
  ["a database of better-sqlite3", () => openMemory(new Database(":memory:")), "invalid_argument", "openMemory: it opens its database itself: give { path }, or this connection to memoryOver() of keepsake/sqlite"],
  ["memoryOver with a path", () => memoryOver(new Database(":memory:"), { path: "agent.db" }), "invalid_argument", 'unknown option "path" of memoryOver: it takes index, ttl, text, ranking, secrets, now, serde, retention'],
  ["SqliteStore with a path alone", () => new SqliteStore("agent.db"), "invalid_argument", 'SqliteStore: it takes options by name, such as { path: … }: "agent.db"'],
  ["SqliteStore with nothing", () => new SqliteStore(), "invalid_argument", 'SqliteStore: it takes options with a path, such as { path: "agent.db" }'],
  ["SqliteStore with two arguments", () => new SqliteStore({ path: ":memory:" }, { index }), "invalid_argument", "SqliteStore: it takes all of its options in one: { path, index }"],
  ["SqliteSaver as the official one", () => new SqliteSaver(new Database(":memory:")), "invalid_argument", "SqliteSaver: it opens its database itself: give { path }, or this connection to memoryOver() of keepsake/sqlite"],
  ["SqliteSaver with a second argument", () => new SqliteSaver({ path: ":memory:" }, serde), "invalid_argument", "SqliteSaver: it takes a serde by name: { path, serde }"],
  ["SqliteSaver with an index", () => new SqliteSaver({ path: ":memory:", index }), "invalid_argument", 'SqliteSaver: unknown option "index": it takes path, name, durability, lockTimeout, fileMode, verifyPages, key, storage, worker, wasmUrl, serde, retention'],
  ["fromConnString with options", () => SqliteSaver.fromConnString({ path: ":memory:" }), "invalid_argument", 'SqliteSaver: path must be a non-empty string, such as "agent.db": an object'],
  ["InMemoryStore with a path", () => new InMemoryStore({ path: "agent.db" }), "invalid_argument", 'InMemoryStore: unknown option "path": it takes index, ttl, text, ranking, secrets, now'],
  ["MemorySaver with options", () => new MemorySaver({ serde }), "invalid_argument", "MemorySaver: serde must have the method dumpsTyped: an object; MemorySaver takes it alone, SqliteSaver by name"],
  ["a serde of half", () => new SqliteSaver({ path: ":memory:", serde: { dumpsTyped() {} } }), "invalid_argument", "SqliteSaver: serde must have the method loadsTyped: an object; MemorySaver takes it alone, SqliteSaver by name"],
  // index, ttl, text, retention
  ["index without dims", () => new InMemoryStore({ index: { embeddings: colours } }), "invalid_argument", "InMemoryStore: index.dims must be a whole number from 1 to 65536: undefined"],
  ["dims of 1.5", () => new InMemoryStore({ index: { dims: 1.5, embeddings: colours } }), "invalid_argument", "InMemoryStore: index.dims must be a whole number from 1 to 65536: 1.5"],
  ["index.dimensions", () => new InMemoryStore({ index: { ...index, dimensions: 3 } }), "invalid_argument", 'InMemoryStore: unknown option "dimensions" of index: did you mean "dims"?'],
  ["index without a model", () => new InMemoryStore({ index: { dims: 3 } }), "invalid_argument", "InMemoryStore: index.embeddings must be a function or have embedDocuments and embedQuery"],
  ["index.embedding", () => new InMemoryStore({ index: { dims: 3, embedding: colours } }), "invalid_argument", 'InMemoryStore: unknown option "embedding" of index: did you mean "embeddings"?'],
  ["index.field", () => new InMemoryStore({ index: { ...index, field: "text" } }), "invalid_argument", 'InMemoryStore: unknown option "field" of index: did you mean "fields"?'],
  ["index.fields as text", () => new InMemoryStore({ index: { ...index, fields: "text" } }), "invalid_argument", 'InMemoryStore: index.fields must be a list of field paths, such as ["text"]: "text"'],
  ["index.fields of none", () => new InMemoryStore({ index: { ...index, fields: [] } }), "invalid_argument", 'InMemoryStore: index.fields must name a field, or ["$"] for the whole value'],
  ["index.cache of -1", () => new InMemoryStore({ index: { ...index, cache: -1 } }), "invalid_argument", "InMemoryStore: index.cache must be a whole number from 0: -1"],
  ["index.replace in words", () => new InMemoryStore({ index: { ...index, replace: "yes" } }), "invalid_argument", 'InMemoryStore: index.replace must be true or false: "yes"'],
  ["index as a list", () => new InMemoryStore({ index: ["text"] }), "invalid_argument", "InMemoryStore: index takes options by name, such as { dims: … }: a list"],
  ["ttl: 60", () => new InMemoryStore({ ttl: 60 }), "invalid_argument", "InMemoryStore: ttl takes options by name, such as { defaultTtl: … }: 60"],
  ["ttl.default", () => new InMemoryStore({ ttl: { default: 60 } }), "invalid_argument", 'InMemoryStore: unknown option "default" of ttl: did you mean "defaultTtl"?'],
  ["ttl.sweepInterval", () => new InMemoryStore({ ttl: { sweepInterval: 60 } }), "invalid_argument", 'InMemoryStore: unknown option "sweepInterval" of ttl: did you mean "sweepIntervalMinutes"?'],
  ["ttl.defaultTtl of 0", () => new InMemoryStore({ ttl: { defaultTtl: 0 } }), "invalid_argument", "InMemoryStore: ttl.defaultTtl must be a positive number of minutes: 0"],
  ["ttl.defaultTtl in words", () => new InMemoryStore({ ttl: { defaultTtl: "1h" } }), "invalid_argument", 'InMemoryStore: ttl.defaultTtl must be a positive number of minutes: "1h"'],
  ["ttl.refreshOnRead of 0", () => new InMemoryStore({ ttl: { refreshOnRead: 0 } }), "invalid_argument", "InMemoryStore: ttl.refreshOnRead must be true or false: 0"],
  ["text.lang", () => new InMemoryStore({ text: { lang: "german" } }), "invalid_argument", 'InMemoryStore: unknown option "lang" of text: did you mean "language"?'],
  ["text.language unknown", () => new InMemoryStore({ text: { language: "de" } }), "invalid_argument", 'InMemoryStore: text.language must be one of none, english, german, french, spanish, italian, portuguese: "de"'],
  ["text.group as a list", () => new InMemoryStore({ text: { group: ["session"] } }), "invalid_argument", 'InMemoryStore: text.group must be a field path, such as "group": a list'],
  ["text.fields as text", () => new InMemoryStore({ text: { fields: "title" } }), "invalid_argument", 'InMemoryStore: text.fields must be weights by their paths, such as { title: 2 }: "title"'],
  ["now as a number", () => new InMemoryStore({ now: 5 }), "invalid_argument", "InMemoryStore: now must be a function that answers milliseconds: 5"],
  ["now() of 1.5", () => new InMemoryStore({ now: () => 1.5 }).get(["n"], "k"), "invalid_argument", "InMemoryStore: what now() answers must be a whole number from 0: 1.5"],
  ["now() of NaN", () => new InMemoryStore({ now: () => Number.NaN }).get(["n"], "k"), "invalid_argument", "InMemoryStore: what now() answers must be a whole number from 0: NaN"],
  ["retention.keep", () => new SqliteSaver({ path: ":memory:", retention: { keep: 5 } }), "invalid_argument", 'SqliteSaver: unknown option "keep" of retention: did you mean "keepLast"?'],
  ["retention without a rule", () => new SqliteSaver({ path: ":memory:", retention: { every: 5 } }), "invalid_argument", "SqliteSaver: retention needs one of keepLast, maxAge and maxBytes: it would prune nothing"],
  ["retention.every of 0", () => new SqliteSaver({ path: ":memory:", retention: { keepLast: 1, every: 0 } }), "invalid_argument", "SqliteSaver: retention.every must be a whole number from 1: 0"],
  ["retention as a number", () => new SqliteSaver({ path: ":memory:", retention: 50 }), "invalid_argument", "SqliteSaver: retention takes options by name, such as { keepLast: … }: 50"],
  // Searches
  ["where", ({ store }) => store.search(["n"], { where: { n: 1 } }), "invalid_argument", 'memory.store: unknown option "where" of search: did you mean "filter"?'],
  ["filters", ({ store }) => store.search(["n"], { filters: { n: 1 } }), "invalid_argument", 'memory.store: unknown option "filters" of search: did you mean "filter"?'],
  ["topK", ({ store }) => store.search(["n"], { topK: 3 }), "invalid_argument", 'memory.store: unknown option "topK" of search: did you mean "limit"?'],
  ["threshold", ({ store }) => store.search(["n"], { threshold: 0.5 }), "invalid_argument", 'memory.store: unknown option "threshold" of search: did you mean { ranking: { minScore: … } }?'],
  ["searchMode of a search", ({ store }) => store.search(["n"], { searchMode: "text" }), "invalid_argument", 'memory.store: unknown option "searchMode" of search: did you mean { ranking: { mode: … } }?'],
  ["an unknown option", ({ store }) => store.search(["n"], { colour: "red" }), "invalid_argument", 'memory.store: unknown option "colour" of search: it takes filter, query, limit, offset, near, ranking, validAt, includeQuarantined, refreshTtl, explain, snippet, namespacePrefix'],
  ["a question in place of options", ({ store }) => store.search(["n"], "tea"), "invalid_argument", 'memory.store: search takes options such as { query, limit }: "tea"'],
  ["a namespace within options", ({ store }) => store.search(["n"], { namespacePrefix: ["m"] }), "invalid_argument", "memory.store: search takes options such as { query, limit }: an object"],
  ["a namespace as text", ({ store }) => store.search("n", { query: "tea" }), "invalid_namespace", 'memory.store: namespace must be an array of labels, such as ["users", "ada"]: "n"'],
  ["a query that is a list", ({ store }) => store.search(["n"], { query: ["tea"] }), "invalid_argument", "memory.store: query must be a string: a list"],
  ["a limit of 1.5", ({ store }) => store.search(["n"], { limit: 1.5 }), "invalid_argument", "memory.store: limit must be a whole number from 0 to 4294967295: 1.5"],
  ["a limit of NaN", ({ store }) => store.search(["n"], { limit: Number.NaN }), "invalid_argument", "memory.store: limit must be a whole number from 0 to 4294967295: NaN"],
  ["a limit in words", ({ store }) => store.search(["n"], { limit: "10" }), "invalid_argument", 'memory.store: limit must be a whole number from 0 to 4294967295: "10"'],
  ["a negative offset", ({ store }) => store.search(["n"], { offset: -1 }), "invalid_argument", "memory.store: offset must be a whole number from 0 to 4294967295: -1"],
  ["an unknown mode", ({ store }) => store.search(["n"], { query: "tea", ranking: { mode: "semantic" } }), "invalid_argument", 'memory.store: mode must be one of auto, vector, contains, text, hybrid: "semantic"'],
  ["an unknown plan", ({ store }) => store.search(["n"], { query: "tea", ranking: { plan: "fast" } }), "invalid_argument", 'memory.store: plan must be one of auto, exact, codes, graph: "fast"'],
  ["an unknown fusion", ({ store }) => store.search(["n"], { query: "tea", ranking: { fusion: "rrf", mode: "text" } }), "invalid_argument", 'memory.store: fusion must be one of weighted, reciprocalRank, standout: "rrf"'],
  ["a recency of 2", ({ store }) => store.search(["n"], { query: "tea", ranking: { recency: 2, mode: "text" } }), "invalid_argument", "memory.store: recency must be a number from 0 to 1: 2"],
  ["recency without words", ({ store }) => store.search(["n"], { query: "tea", ranking: { recency: 1 } }), "invalid_argument", "memory.store: recency, boosts, diversity and snippet are of searches by words: modes text and hybrid, with a query"],
  ["boosts as a list", ({ store }) => store.search(["n"], { query: "tea", ranking: { mode: "text", boosts: ["importance"] } }), "invalid_argument", "memory.store: boosts must be weights by their paths, such as { title: 2 }: a list"],
  ["explain in words", ({ store }) => store.search(["n"], { query: "tea", explain: "yes" }), "invalid_argument", 'memory.store: explain must be true or false: "yes"'],
  ["a snippet of -1", ({ store }) => store.search(["n"], { query: "tea", ranking: { mode: "text" }, snippet: -1 }), "invalid_argument", "memory.store: snippet must be true, false or a positive number of bytes: -1"],
  ["near as a question", ({ store }) => store.search(["n"], { near: "tea" }), "invalid_argument", 'memory.store: near must be a list of finite numbers, not all zero, or { namespace, key } of an item: "tea"'],
  ["near of zeros", ({ store }) => store.search(["n"], { near: [0, 0, 0] }), "invalid_argument", "memory.store: near must be a list of finite numbers, not all zero, or { namespace, key } of an item: a list"],
  ["near with an id", ({ store }) => store.search(["n"], { near: { namespace: ["n"], key: "k", id: 1 } }), "invalid_argument", 'memory.store: unknown option "id" of near: it takes namespace, key'],
  ["refreshTtl in words", ({ store }) => store.search(["n"], { refreshTtl: "no" }), "invalid_argument", 'memory.store: refreshTtl must be true or false: "no"'],
  ["validAt in words", ({ store }) => store.search(["n"], { validAt: "yesterday" }), "invalid_argument", 'memory.store: validAt must be a Date, milliseconds since 1970, or ISO text with its zone, such as "2026-03-01" or "2026-03-01T09:30Z": "yesterday"'],
  ["includeSuperseded", ({ store }) => store.search(["n"], { includeSuperseded: true }), "invalid_argument", 'memory.store: unknown option "includeSuperseded" of search: did you mean "validAt"?'],
  ["validAt as a flag", ({ store }) => store.search(["n"], { validAt: true }), "invalid_argument", 'memory.store: validAt must be a moment, or "anytime" for what held at any time: true'],
  ["asOf of a search", ({ store }) => store.search(["n"], { asOf: 0 }), "invalid_argument", 'memory.store: unknown option "asOf" of search: did you mean "validAt"?'],
  ["recency beside a ranking", ({ store }) => store.search(["n"], { query: "tea", recency: 0.5 }), "invalid_argument", 'memory.store: unknown option "recency" of search: it is one of ranking: { ranking: { recency: … } }'],
  ["an unknown ranking", ({ store }) => store.search(["n"], { ranking: { colour: 1 } }), "invalid_argument", 'memory.store: unknown option "colour" of ranking: it takes mode, minScore, fusion, vectorWeight, recency, halfLifeDays, boosts, origins, diversity, plan, efSearch'],
  ["ranking as a text", ({ store }) => store.search(["n"], { ranking: "hybrid" }), "invalid_argument", 'memory.store: ranking takes options by name, such as { mode: … }: "hybrid"'],
  ["a weight of words for all searches by meaning", () => openMemory({ path: ":memory:", index, ranking: { recency: 0.5 } }), "invalid_argument", 'openMemory: ranking.recency is of searches by words: give ranking a mode beside it, "text" or "hybrid"'],
  ["a recency of 2 for all searches", () => openMemory({ path: ":memory:", ranking: { recency: 2 } }), "invalid_argument", "openMemory: recency must be a number from 0 to 1: 2"],
  // Filters
  ["$and", ({ store }) => store.search(["n"], { filter: { $and: [{ n: 1 }] } }), "invalid_filter", 'memory.store: a filter has no "$and": all of its fields must hold; for one of several values of a field there is $in, for any other choice a search each'],
  ["$or", ({ store }) => store.search(["n"], { filter: { $or: [{ n: 1 }] } }), "invalid_filter", 'memory.store: a filter has no "$or": all of its fields must hold; for one of several values of a field there is $in, for any other choice a search each'],
  ["$exists", ({ store }) => store.search(["n"], { filter: { n: { $exists: true } } }), "invalid_filter", 'memory.store: unknown filter operator "$exists": there are $eq, $ne, $gt, $gte, $lt, $lte, $in and $nin'],
  ["an operator without a field", ({ store }) => store.search(["n"], { filter: { $gt: 1 } }), "invalid_filter", 'memory.store: filter operator must stand alone below a field, as in {"age": {"$gt": 18}}: "$gt"'],
  ["$in of one value", ({ store }) => store.search(["n"], { filter: { n: { $in: 1 } } }), "invalid_filter", 'memory.store: filter operator $in of "n" needs an array'],
  ["$gt of null", ({ store }) => store.search(["n"], { filter: { n: { $gt: null } } }), "invalid_filter", 'memory.store: filter operator $gt of "n" needs a number or a string'],
  ["undefined in a filter", ({ store }) => store.search(["n"], { filter: { n: undefined } }), "invalid_filter", "memory.store: filter.n must not be undefined: leave it out, or give null"],
  ["NaN in a filter", ({ store }) => store.search(["n"], { filter: { n: Number.NaN } }), "invalid_filter", "memory.store: filter.n must be a finite number, got NaN"],
  ["a bigint in a filter", ({ store }) => store.search(["n"], { filter: { n: { $gt: 1n } } }), "invalid_filter", "memory.store: filter.n.$gt must be JSON, got a bigint: give a number or a string"],
  ["a function as a filter", ({ store }) => store.search(["n"], { filter: (item) => item }), "invalid_filter", "memory.store: filter must be a JSON object, got a function"],
  ["a function in a filter", ({ store }) => store.search(["n"], { filter: { n: () => 1 } }), "invalid_filter", "memory.store: filter.n must be JSON, got a function"],
  ["a symbol in a filter", ({ store }) => store.search(["n"], { filter: { n: Symbol("n") } }), "invalid_filter", "memory.store: filter.n must be JSON, got a symbol"],
  ["a RegExp in a filter", ({ store }) => store.search(["n"], { filter: { text: /tea/ } }), "invalid_filter", "memory.store: filter.text must be JSON or a Uint8Array, got a RegExp"],
  ["an invalid Date", ({ store }) => store.search(["n"], { filter: { at: new Date("never") } }), "invalid_filter", "memory.store: filter.at must be a valid Date"],
  ["a path with dots", ({ store }) => store.search(["n"], { filter: { "user.name": "Ada" } }), "invalid_filter", 'memory.store: filter "user.name": no item has a field with dots in its name, but some have nested fields: give { "user": { "name": … } }'],
  ["a path with dots, negated", ({ store }) => store.search(["n"], { filter: { "user.name": { $ne: "Ada" } } }), "invalid_filter", 'memory.store: filter "user.name": no item has a field with dots in its name, but some have nested fields: give { "user": { "name": … } }'],
  ["a path with dots, to a value that none has", ({ store }) => store.search(["n"], { filter: { "user.name": "Nobody" } }), "invalid_filter", 'memory.store: filter "user.name": no item has a field with dots in its name, but some have nested fields: give { "user": { "name": … } }'],
  ["a Date against numbers", ({ store }) => store.search(["n"], { filter: { at: { $gt: new Date(0) } } }), "invalid_filter", 'memory.store: filter "at": a Date is compared as its ISO string, and items have numbers: give one, as date.getTime()'],
  // Items
  ["options of put in place of index", ({ store }) => store.put(["n"], "k", {}, { ttl: 60 }), "invalid_argument", "memory.store: index must be false or a list of field paths: an object; options are the fifth argument, put(namespace, key, value, index, options)"],
  ["an unknown option of put", ({ store }) => store.put(["n"], "k", {}, false, { expires: 60 }), "invalid_argument", 'memory.store: unknown option "expires" of put: did you mean "ttl"?'],
  ["a number as options of put", ({ store }) => store.put(["n"], "k", {}, false, 60), "invalid_argument", "memory.store: put takes options by name, such as { ttl: … }: 60"],
  ["a ttl in words", ({ store }) => store.put(["n"], "k", {}, false, { ttl: "1h" }), "invalid_argument", 'memory.store: ttl must be a positive number of minutes: "1h"'],
  ["a time in words", ({ store }) => store.put(["n"], "k", {}, false, { validFrom: "tomorrow" }), "invalid_argument", 'memory.store: validFrom must be a Date, milliseconds since 1970, or ISO text with its zone, such as "2026-03-01" or "2026-03-01T09:30Z": "tomorrow"'],
  ["a time without its zone", ({ store }) => store.put(["n"], "k", {}, false, { validUntil: "2026-03-01T09:30" }), "invalid_argument", 'memory.store: validUntil must be a Date, milliseconds since 1970, or ISO text with its zone, such as "2026-03-01" or "2026-03-01T09:30Z": "2026-03-01T09:30"'],
  ["the 31st of February", ({ store }) => store.put(["n"], "k", {}, false, { validUntil: "2026-02-31" }), "invalid_argument", 'memory.store: validUntil must be a Date, milliseconds since 1970, or ISO text with its zone, such as "2026-03-01" or "2026-03-01T09:30Z": "2026-02-31"'],
  ["an invalid Date as a time", ({ store }) => store.put(["n"], "k", {}, false, { validFrom: new Date(Number.NaN) }), "invalid_argument", 'memory.store: validFrom must be a Date, milliseconds since 1970, or ISO text with its zone, such as "2026-03-01" or "2026-03-01T09:30Z": an invalid Date'],
  ["a time beyond all Dates", ({ store }) => store.put(["n"], "k", {}, false, { validFrom: 1e16 }), "invalid_argument", "memory.store: validFrom must be a whole number from -8640000000000000 to 8640000000000000: 10000000000000000"],
  ["a fact that ends before it begins", ({ store }) => store.put(["n"], "k", {}, false, { validFrom: 2, validUntil: 1 }), "invalid_argument", "memory.store: the validity of an item must end after it begins: it begins at 2 and ends at 1"],
  ["a fact that supersedes itself", ({ store }) => store.put(["n"], "k", {}, false, { supersedes: "k" }), "invalid_argument", 'memory.store: an item must not supersede itself (put the new fact under a key of its own): "k"'],
  ["another origin", ({ store }) => store.put(["n"], "k", {}, false, { origin: "page" }), "invalid_argument", 'memory.store: origin must be one of user, tool, web, model: "page"'],
  ["a source that is too long", ({ store }) => store.put(["n"], "k", {}, false, { source: "x".repeat(1025) }), "invalid_argument", "memory.store: source must be well-formed UTF-8 without NUL, and not take more than 1024 bytes: it has 1025"],
  ["a deletion with an origin", ({ store }) => store.batch([{ namespace: ["n"], key: "k", value: null, origin: "web" }]), "invalid_argument", "memory.store: a deletion has no origin and no source"],
  ["an origin that is worth too much", ({ store }) => store.search(["n"], { ranking: { origins: { web: 2 } } }), "invalid_argument", "memory.store: origins.web must be a number from 0 to 1: 2"],
  ["supersedes of several", ({ store }) => store.put(["n"], "k", {}, false, { supersedes: ["a", "b"] }), "invalid_argument", "memory.store: supersedes must be a key, or { namespace, key } of an item: a list"],
  ["supersedes with an id", ({ store }) => store.put(["n"], "k", {}, false, { supersedes: { namespace: ["n"], key: "a", id: 1 } }), "invalid_argument", 'memory.store: unknown option "id" of supersedes: it takes namespace, key'],
  ["replaces", ({ store }) => store.put(["n"], "k", {}, false, { replaces: "a" }), "invalid_argument", 'memory.store: unknown option "replaces" of put: did you mean "supersedes"?'],
  ["a deletion that supersedes", ({ store }) => store.batch([{ namespace: ["n"], key: "k", value: null, supersedes: "a" }]), "invalid_argument", "memory.store: a deletion has no validity, and supersedes nothing"],
  ["a value that is text", ({ store }) => store.put(["n"], "k", "tea"), "invalid_value", "memory.store: value must be a JSON object, got a string"],
  ["a value with NaN", ({ store }) => store.put(["n"], "k", { n: Number.NaN }), "invalid_value", "memory.store: value.n must be a finite number, got NaN"],
  ["a value with a Map", ({ store }) => store.put(["n"], "k", { m: new Map() }), "invalid_value", "memory.store: value.m must be JSON or a Uint8Array, got a Map"],
  ["a key that is a number", ({ store }) => store.get(["n"], 7), "invalid_key", "memory.store: key must be a string, got number"],
  ["an e-mail address as a label", ({ store }) => store.get(["users", "ada@x.org"], "k"), "invalid_namespace", "memory.store: namespace label must not contain '.': \"ada@x.org\"; encodeLabel() makes a label of any text"],
  ["no label", ({ store }) => store.put([], "k", {}), "invalid_namespace", 'memory.store: namespace must not be empty: give it at least one label, such as ["notes"]'],
  ["no label in a scope", ({ memory }) => memory.scoped({ user: "ada" }).store.put([], "k", {}), "invalid_namespace", 'memory.store: namespace must not be empty: give it at least one label, such as ["notes"]'],
  ["no label of a store of its own", ({ make }) => make(colours).put([], "k", {}), "invalid_namespace", 'SqliteStore: namespace must not be empty: give it at least one label, such as ["notes"]'],
  ["a key of the cache", ({ memory }) => memory.cache.get("k"), "invalid_argument", 'memory.cache: keys must be a list: "k"'],
  ["a thread's id as a config in a scope", ({ memory }) => memory.scoped({ user: "ada" }).checkpointer.getTuple("t"), "invalid_argument", 'memory.checkpointer: a config must be { configurable: { thread_id } }: "t"'],
  ["a retention that keeps nothing of a memory", () => openMemory({ path: ":memory:", retention: { every: 5 } }), "invalid_argument", "openMemory: retention needs one of keepLast, maxAge and maxBytes: it would prune nothing"],
  ["the label langgraph", ({ store }) => store.put(["langgraph"], "k", {}), "invalid_namespace", 'memory.store: the first namespace label must not be "langgraph"'],
  ["an option of get", ({ store }) => store.get(["n"], "k", { refresh: false }), "invalid_argument", 'memory.store: unknown option "refresh" of get: did you mean "refreshTtl"?'],
  ["listNamespaces of a list", ({ store }) => store.listNamespaces(["n"]), "invalid_argument", "memory.store: listNamespaces takes options by name, such as { prefix: … }: a list"],
  ["listNamespaces by depth", ({ store }) => store.listNamespaces({ depth: 1 }), "invalid_argument", 'memory.store: unknown option "depth" of listNamespaces: did you mean "maxDepth"?'],
  ["listNamespaces of a text", ({ store }) => store.listNamespaces({ prefix: "n" }), "invalid_namespace", 'memory.store: namespace must be an array of labels, such as ["users", "ada"]: "n"'],
  ["an operation of a batch with a where", ({ store }) => store.batch([{ namespacePrefix: ["n"], where: {} }]), "invalid_argument", 'memory.store: unknown option "where" of search: did you mean "filter"?'],
  ["an operation of another library", ({ store }) => store.batch([{ op: "get", key: "k" }]), "invalid_operation", "memory.store: an operation must be a get, put, search or listing; its fields are: op, key"],
  ["a batch that is no list", ({ store }) => store.batch({ namespace: ["n"], key: "k" }), "invalid_operation", "memory.store: operations must be an array: an object"],
  ["a condition by type", ({ store }) => store.batch([{ matchConditions: [{ matchType: "glob", path: ["n"] }] }]), "invalid_operation", 'memory.store: matchType must be prefix or suffix: "glob"'],
  ["reembed without an index", ({ plain }) => plain.reembed(), "invalid_argument", "InMemoryStore: reembed needs a store with an index"],
  ["reembed with a batch of 0", ({ store }) => store.reembed({ batchSize: 0 }), "invalid_argument", "memory.store: batchSize must be a whole number from 1 to 10000: 0"],
  ["reembed with a controller", ({ store }) => store.reembed({ signal: new AbortController() }), "invalid_argument", "memory.store: signal must be an AbortSignal, as an AbortController has one: an object of AbortController"],
  ["buildIndex with a callback", ({ store }) => store.buildIndex({ progress() {} }), "invalid_argument", 'memory.store: unknown option "progress" of buildIndex: did you mean "onProgress"?'],
  ["eval without cases", ({ store }) => store.eval([]), "invalid_argument", "memory.store: it takes a list of at least 1 cases, { namespacePrefix, query, relevant } each: a list"],
  ["eval of expected keys", ({ store }) => store.eval([{ namespacePrefix: ["n"], query: "tea", expected: ["k"] }]), "invalid_argument", 'memory.store: unknown option "expected" of case 0: did you mean "relevant"?'],
  ["eval with a limit", ({ store }) => store.eval([{ namespacePrefix: ["n"], query: "tea", relevant: ["k"] }], { limit: 5 }), "invalid_argument", 'memory.store: unknown option "limit" of eval: did you mean "k"?'],
  ["whyNot with an unknown option", ({ store }) => store.whyNot(["n"], "k", { text: "tea" }), "invalid_argument", 'memory.store: unknown option "text" of search: did you mean "query"?'],
  // The model
  ["a vector of zeros", ({ make }) => make(() => [[0, 0, 0]]).put(["n"], "k", { text: "tea" }), "embedding_failed", 'SqliteStore: the embedding model failed: of the text "tea": a vector must not be all zeros, which has no direction'],
  ["a question's vector of zeros", ({ make }) => make(() => [[0, 0, 0]]).search(["n"], { query: "tea" }), "embedding_failed", 'SqliteStore: the embedding model failed: of the text "tea": a vector must not be all zeros, which has no direction'],
  ["too few vectors", ({ make }) => make(() => []).put(["n"], "k", { text: "tea" }), "embedding_failed", "SqliteStore: the embedding model failed: it must answer 1 texts with 1 vectors, not 0 vectors"],
  ["a vector of text", ({ make }) => make(() => [["1", "2", "3"]]).put(["n"], "k", { text: "tea" }), "embedding_failed", 'SqliteStore: the embedding model failed: of the text "tea": a vector must be a list of finite numbers'],
  ["vectors of other dims", ({ make }) => make(() => [[1, 2]]).put(["n"], "k", { text: "tea" }), "dimension_mismatch", "SqliteStore: vector must have the index's 3 dimensions: it has 2; index.dims must be how many numbers the embedding model gives"],
  // Threads
  ["a put without thread_id", ({ saver }) => saver.put({ configurable: {} }, checkpoint, metadata, {}), "thread_id_required", "memory.checkpointer: thread_id is required with a checkpointer: give { configurable: { thread_id } }"],
  ["thread_id outside configurable", ({ saver }) => saver.getTuple({ thread_id: "t" }), "invalid_argument", "memory.checkpointer: thread_id of a config is read within configurable: { configurable: { thread_id } }"],
  ["threadId", ({ saver }) => saver.getTuple({ configurable: { threadId: "t" } }), "invalid_argument", 'memory.checkpointer: unknown name "threadId" in configurable: did you mean "thread_id"?'],
  ["checkpointId", ({ saver }) => saver.getTuple({ configurable: { thread_id: "t", checkpointId: "1" } }), "invalid_argument", 'memory.checkpointer: unknown name "checkpointId" in configurable: did you mean "checkpoint_id"?'],
  ["a thread_id that is a number", ({ saver }) => saver.getTuple({ configurable: { thread_id: 7 } }), "invalid_argument", "memory.checkpointer: thread_id must be a string, got number"],
  ["a thread's id as a config", ({ saver }) => saver.getTuple("t"), "invalid_argument", 'memory.checkpointer: a config must be { configurable: { thread_id } }: "t"'],
  ["a list of a thread's id", ({ saver }) => all(saver.list("t")), "invalid_argument", 'memory.checkpointer: a config must be { configurable: { thread_id } }: "t"'],
  ["a list with where", ({ saver }) => all(saver.list(config, { where: {} })), "invalid_argument", 'memory.checkpointer: unknown option "where" of list: did you mean "filter"?'],
  ["a list with a limit of 1.5", ({ saver }) => all(saver.list(config, { limit: 1.5 })), "invalid_argument", "memory.checkpointer: limit must be a whole number from 0: 1.5"],
  ["a list by an operator", ({ saver }) => all(saver.list(config, { filter: { step: { $gt: 1 } } })), "invalid_filter", "memory.checkpointer: filter.step of list must be a value, to which metadata is equal: $gt"],
  ["a list before a number", ({ saver }) => all(saver.list(config, { before: 5 })), "invalid_argument", "memory.checkpointer: before must be a checkpoint's id, its config or a Date: 5"],
  ["a list before an invalid Date", ({ saver }) => all(saver.list(config, { before: new Date("never") })), "invalid_argument", "memory.checkpointer: before, after and olderThan must be valid dates"],
  ["listThreads of a number", ({ saver }) => all(saver.listThreads(10)), "invalid_argument", "memory.checkpointer: listThreads takes options by name, such as { limit: … }: 10"],
  ["listThreads with an offset", ({ saver }) => all(saver.listThreads({ offset: 10 })), "invalid_argument", 'memory.checkpointer: unknown option "offset" of listThreads: it takes limit, filter, cursor'],
  ["listThreads after an id", ({ saver }) => all(saver.listThreads({ cursor: "t" })), "invalid_argument", 'memory.checkpointer: cursor of listThreads must be a thread that it listed: "t"'],
  ["listThreads by an operator", ({ saver }) => all(saver.listThreads({ filter: { step: { $gt: 1 } } })), "invalid_filter", "memory.checkpointer: filter.step of listThreads must be a value, to which metadata is equal: $gt"],
  ["prune without anything", ({ saver }) => saver.prune(), "invalid_argument", "memory.checkpointer: prune needs threadIds, or one of keepLast, maxAge, maxBytes, olderThan"],
  ["prune with keep", ({ saver }) => saver.prune({ threadIds: ["t"], keep: 5 }), "invalid_argument", 'memory.checkpointer: unknown option "keep" of prune: did you mean "keepLast"?'],
  ["prune of one thread", ({ saver }) => saver.prune({ threadId: "t" }), "invalid_argument", 'memory.checkpointer: unknown option "threadId" of prune: did you mean "threadIds"?'],
  ["prune by an unknown strategy", ({ saver }) => saver.prune({ threadIds: ["t"], strategy: "keep_latest" }), "invalid_argument", 'memory.checkpointer: strategy must be keepLatest or delete: "keep_latest"'],
  ["prune by two ways", ({ saver }) => saver.prune({ threadIds: ["t"], strategy: "delete", keepLast: 1 }), "invalid_argument", "memory.checkpointer: strategy and keepLast exclude each other: give one of them"],
  ["prune that keeps 0", ({ saver }) => saver.prune({ keepLast: 0 }), "invalid_argument", "memory.checkpointer: keepLast must be a whole number from 1: 0"],
  ["a copy of an unknown thread", ({ saver }) => saver.copyThread("nobody", "copy"), "not_found", 'memory.checkpointer: there is no thread "nobody": the list of threads has the ids of those that there are'],
  ["an unknown thread renamed", ({ saver }) => saver.renameThread("nobody", "somebody"), "not_found", 'memory.checkpointer: there is no thread "nobody": the list of threads has the ids of those that there are'],
  ["a fork of an unknown thread", ({ saver }) => saver.forkThread("nobody", undefined, "fork"), "not_found", 'memory.checkpointer: there is no thread "nobody": the list of threads has the ids of those that there are'],
  ["a fork of an unknown checkpoint", ({ saver }) => saver.forkThread("t", "1ef4f797", "fork"), "not_found", 'memory.checkpointer: thread "t" has no such checkpoint in the root namespace: "1ef4f797"'],
  ["a copy onto another thread", ({ saver }) => saver.copyThread("t", "t"), "invalid_argument", 'memory.checkpointer: target thread must have no checkpoints or writes: "t"'],
  ["a deletion of no thread", ({ saver }) => saver.deleteThread(), "thread_id_required", "memory.checkpointer: thread_id is required with a checkpointer: give { configurable: { thread_id } }"],
  ["deleteForRuns of one", ({ saver }) => saver.deleteForRuns("r1"), "invalid_argument", 'memory.checkpointer: runIds must be a list: "r1"'],
  ["a diff with an unknown thread", ({ saver }) => saver.diff({ configurable: { thread_id: "nobody" } }, config), "not_found", 'memory.checkpointer: thread "nobody" has no checkpoints'],
  // The whole memory
  ["a memory as a store", ({ memory }) => memory.batch([]), "invalid_argument", "Memory: it has no batch(): call memory.store.batch(); compile() takes memory.store, memory.checkpointer and memory.cache"],
  ["a memory as a checkpointer", ({ memory }) => memory.getTuple(config), "invalid_argument", "Memory: it has no getTuple(): call memory.checkpointer.getTuple(); compile() takes memory.store, memory.checkpointer and memory.cache"],
  ["eval of a memory", ({ memory }) => memory.eval([]), "invalid_argument", "Memory: it has no eval(): call memory.store.eval(); compile() takes memory.store, memory.checkpointer and memory.cache"],
  ["a history that a memory is to keep", ({ memory }) => memory.keepHistory([]), "invalid_argument", "Memory: it has no keepHistory(): call memory.store.keepHistory(); compile() takes memory.store, memory.checkpointer and memory.cache"],
  ["a scope as a store", ({ memory }) => memory.scoped({ user: "ada" }).search([]), "invalid_argument", "memory.scoped(): it has no search(): call memory.store.search(); compile() takes memory.store, memory.checkpointer and memory.cache"],
  ["a put into a memory", ({ memory }) => memory.put(["n"], "k", {}), "invalid_argument", "Memory: it has no put(): call memory.store.put() or memory.checkpointer.put(); compile() takes memory.store, memory.checkpointer and memory.cache"],
  ["onChange without a listener", ({ memory }) => memory.onChange(), "invalid_argument", "Memory: onChange takes a function: undefined"],
  ["evict without a rule", ({ memory }) => memory.evict({ namespaces: [[]] }), "invalid_argument", "Memory: evict needs a rule: maxAge, maxItems or maxBytes, such as { maxItems: 1000 }"],
  ["evict of nobody knows what", ({ memory }) => memory.evict({ maxItems: 1 }), "invalid_argument", 'Memory: evict of a whole memory takes namespaces: { namespaces: [["user", "ada"]] }, or [[]] for all'],
  ["evict of one namespace", ({ memory }) => memory.evict({ namespaces: ["user"], maxItems: 1 }), "invalid_namespace", 'Memory: namespace must be an array of labels, such as ["users", "ada"]: "user"'],
  ["evict by an unknown order", ({ memory }) => memory.evict({ namespaces: [[]], maxItems: 1, by: "recency" }), "invalid_argument", 'Memory: by must be one of age, use, size: "recency"'],
  ["evict with olderThan", ({ memory }) => memory.evict({ namespaces: [[]], olderThan: 1 }), "invalid_argument", 'Memory: unknown option "olderThan" of evict: did you mean "maxAge"?'],
  ["evict of half an item", ({ memory }) => memory.evict({ namespaces: [[]], maxItems: 0.5 }), "invalid_argument", "Memory: maxItems must be a whole number from 0: 0.5"],
  ["evict after no time", ({ memory }) => memory.evict({ namespaces: [[]], maxAge: 0 }), "invalid_argument", "Memory: maxAge must be a positive number of minutes: 0"],
  ["evict of a text of bytes", ({ memory }) => memory.evict({ namespaces: [[]], maxBytes: "1 MB" }), "invalid_argument", 'Memory: maxBytes must be a whole number from 0: "1 MB"'],
  ["evict with a dry run in words", ({ memory }) => memory.evict({ namespaces: [[]], maxItems: 0, dryRun: "yes" }), "invalid_argument", 'Memory: dryRun must be true or false: "yes"'],
  ["evict with a controller", ({ memory }) => memory.evict({ namespaces: [[]], maxItems: 0, signal: new AbortController() }), "invalid_argument", "Memory: signal must be an AbortSignal, as an AbortController has one: an object of AbortController"],

  // Of history.
  ["keepHistory of versions", ({ memory }) => memory.store.keepHistory(["n"], { versions: 5 }), "invalid_argument", 'memory.store: unknown option "versions" of keepHistory: did you mean "maxVersions"?'],
  ["keepHistory of nothing", ({ memory }) => memory.store.keepHistory(["n"], { maxVersions: 0 }), "invalid_argument", "memory.store: maxVersions must be a whole number from 1 to 1000000: 0"],
  ["keepHistory for no time", ({ memory }) => memory.store.keepHistory(["n"], { maxAge: 0 }), "invalid_argument", "memory.store: maxAge must be a positive number of minutes: 0"],
  ["keepHistory of a text", ({ memory }) => memory.store.keepHistory("n"), "invalid_namespace", 'memory.store: namespace must be an array of labels, such as ["users", "ada"]: "n"'],
  ["keepAudit of entries", ({ memory }) => memory.keepAudit({ entries: 5 }), "invalid_argument", 'Memory: unknown option "entries" of keepAudit: did you mean "maxEntries"?'],
  ["keepAudit of nothing", ({ memory }) => memory.keepAudit({ maxEntries: 0 }), "invalid_argument", "Memory: maxEntries must be a whole number from 1 to 1000000: 0"],
  ["auditLog of a text", ({ memory }) => memory.auditLog({ namespace: "n" }), "invalid_namespace", 'Memory: namespace must be an array of labels, such as ["users", "ada"]: "n"'],
  ["auditLog without end", ({ memory }) => memory.auditLog({ limit: Infinity }), "invalid_argument", "Memory: limit must be a whole number from 0 to 4294967295: Infinity"],
  ["history where none is kept", ({ memory }) => memory.store.history(["n"], "k"), "no_history", 'memory.store: no history is kept of all that is below ["n"]: keepHistory() keeps it, of what is written from then on'],
  ["undo of a version", ({ memory }) => memory.store.undo({ operation: 1 }), "invalid_argument", "memory.store: operation must be a whole number from 1: an object"],
  ["undo of no operation", ({ memory }) => memory.store.undo(7), "not_found", "memory.store: the history has no operation 7"],
  ["asOf nobody knows when", ({ memory }) => memory.asOf("then"), "invalid_argument", 'Memory: the time of asOf must be a Date, milliseconds since 1970, or ISO text with its zone, such as "2026-03-01" or "2026-03-01T09:30Z": "then"'],
  ["a write to the past", ({ memory }) => memory.asOf(0).put(["n"], "k", {}), "read_only", "asOf(): what was can't be written: write to the store of now"],
  ["evict with a listener that is none", ({ memory }) => memory.evict({ namespaces: [[]], maxItems: 0, onProgress: 1 }), "invalid_argument", "Memory: onProgress must be a function: 1"],
  ["an unknown format", ({ memory }) => memory.export({ format: "json" }), "invalid_argument", 'Memory: format must be sqlite or portable: "json"'],
  ["a format as text", ({ memory }) => memory.export("portable"), "invalid_argument", 'Memory: an export takes options by name, such as { format: … }: "portable"'],
  ["an unknown option of a stream", ({ memory }) => memory.exportStream({ type: "portable" }), "invalid_argument", 'Memory: unknown option "type" of an export: did you mean "format"?'],
  ["a listener that is none", ({ memory }) => memory.export({ onProgress: true }), "invalid_argument", "Memory: onProgress must be a function: true"],
  ["an import of a path", ({ memory }) => memory.import("agent.db"), "invalid_argument", "Memory: a database to import must be a Uint8Array, a Blob or a ReadableStream of bytes (of Node's: Readable.toWeb()), not the path of a file"],
  ["an import with a signal", ({ memory }) => memory.import(new Uint8Array(), { signal: undefined, abort: 1 }), "invalid_argument", 'Memory: unknown option "abort" of import: it takes key, onProgress'],
  ["an import of text", ({ memory }) => memory.import(new TextEncoder().encode("hello")), "not_a_database", 'Memory: file is not a SQLite database: "database to import"'],
  ["importFrom of a number", ({ memory }) => memory.importFrom(7), "invalid_argument", "Memory: importFrom takes the path of a file, or its bytes: 7"],
  ["importFrom of a missing file", ({ memory }) => memory.importFrom("/nowhere/at-all.db"), "cannot_open", 'Memory: there is no such file, or it is a folder or not accessible (unable to open database file, SQLite 14): "/nowhere/at-all.db"'],
  ["importFrom with overwrite", ({ memory }) => memory.importFrom(new Uint8Array(), { overwrite: true }), "invalid_argument", 'Memory: unknown option "overwrite" of importFrom: did you mean "onConflict"?'],
  ["importFrom by an unknown rule", ({ memory }) => memory.importFrom(new Uint8Array(), { onConflict: "skip" }), "invalid_argument", 'Memory: onConflict must be one of keep, replace: "skip"'],
  ["a resume of something else", ({ memory }) => memory.export({ format: "portable", resume: "x" }), "invalid_argument", "Memory: resume must be what unfinishedImport() answered: \"x\""],
  // What can't be read, or is no more what it was
  ["a getter that throws", ({ memory }) => memory.forget({ get namespaces() { throw new Error("gone"); } }), "invalid_argument", 'Memory: the options of forget must be plain data that can be read: reading it threw "gone"'],
  ["a proxy that throws as a namespace", ({ store }) => store.listKeys(new Proxy(["n"], { get() { throw new Error("gone"); } })), "invalid_namespace", 'memory.store: namespace must be plain data that can be read: reading it threw "gone"'],
  ["a toJSON that throws", ({ store }) => store.put(["n"], "j", { toJSON() { throw new Error("gone"); } }), "invalid_value", 'memory.store: value must be plain data that can be read: reading it threw "gone"'],
  ["a getter in an operation of a batch", ({ store }) => store.batch([{ namespace: ["n"], key: "j", get value() { throw new Error("gone"); } }]), "invalid_operation", 'memory.store: an operation must be plain data that can be read: reading it threw "gone"'],
  ["a getter in a config", ({ saver }) => saver.getTuple({ get configurable() { throw new Error("gone"); } }), "invalid_argument", 'memory.checkpointer: a config must be plain data that can be read: reading it threw "gone"'],
  ["a getter in a checkpoint", ({ saver }) => saver.put(config, { ...checkpoint, get channel_versions() { throw new Error("gone"); } }, metadata, {}), "invalid_argument", 'memory.checkpointer: a checkpoint must be plain data that can be read: reading it threw "gone"'],
  ["a list longer than any text", ({ store }) => store.put(["n"], "j", { list: endless() }), "too_large", "memory.store: value.list must be JSON of less than 512 MB: keep it in several items"],
  ["bytes that were transferred", ({ store }) => store.put(["n"], "j", { bytes: transferred() }), "invalid_value", "memory.store: value.bytes must have its bytes: they were transferred elsewhere"],
  ["what says it is bytes, imported", ({ memory }) => memory.import({ [Symbol.toStringTag]: "Uint8Array" }), "invalid_argument", "Memory: a database to import must be a Uint8Array, a Blob or a ReadableStream of bytes (of Node's: Readable.toWeb()), not the path of a file"],
  ["what says it is bytes, imported from", ({ memory }) => memory.importFrom({ [Symbol.toStringTag]: "Uint8Array" }), "invalid_argument", "Memory: importFrom takes the path of a file, or its bytes: an object"],
  ["transferred bytes, imported", ({ memory }) => memory.import(transferred()), "invalid_argument", "Memory: a database to import must have its bytes: they were transferred elsewhere"],
  ["a stream that somebody reads, imported", ({ memory }) => memory.import(lockedStream()), "invalid_argument", "Memory: a stream to import must have no other reader: give one that nobody reads yet"],
  ["a namespace that is none, put into the past", ({ memory }) => memory.asOf(Date.now()).put(7, "k", {}), "invalid_namespace", 'asOf(): namespace must be an array of labels, such as ["users", "ada"]: 7'],
  ["nothing deleted from the past", ({ memory }) => memory.asOf(Date.now()).delete(), "invalid_namespace", 'asOf(): namespace must be an array of labels, such as ["users", "ada"]: undefined'],
  ["a listener of a scope that is none", ({ memory }) => memory.scoped({ user: "ada" }).onChange(5), "invalid_argument", "memory.scoped(): onChange takes a function: 5"],
  ["a file of a list", ({ memory }) => new Files(memory).write("/a", endless()), "invalid_argument", "content must be a text or a Uint8Array: a list"],
  ["a learner that never tries", ({ store }) => learner({ store, scope: "user", extract: () => ({}), maxFailures: 0 }), "invalid_argument", "maxFailures must be a whole number from 1: 0"],
  ["a middleware of an unknown scope", ({ store }) => memoryMiddleware({ store, scope: "users" }), "invalid_argument", 'scope of memoryMiddleware is conversation, user, global or { name, variable }: "users": did you mean "user"?'],
  ["a node of an unknown scope", () => recallNode({ scope: "thread" }), "invalid_argument", 'scope of recallNode is conversation, user, global or { name, variable }: "thread"'],
  ["a user within a user", ({ memory }) => memoryMiddleware({ memory: memory.scoped({ user: "ada" }), scope: "user" }), "invalid_argument", 'memoryMiddleware got a memory that is scoped already, to ["user","ada"], and its scope "user" would be one more within that: give it the whole memory, or a namespace such as ["facts"] in the place of the scope'],
  ["a misspelt maxFailures of a run", ({ store }) => learner({ store, scope: "user", extract: () => ({}) }).run({ configurable: { user_id: "ada" } }, { maxFailure: 6 }), "invalid_argument", 'unknown option "maxFailure" of run: did you mean "maxFailures"?'],
  ["a command of the memory tool without anything", ({ memory }) => anthropicMemory(memory).view(), "invalid_argument", 'view takes its command, such as { path: "/memories/notes.md" }: undefined'],
  ["a file_text that is no text", ({ memory }) => anthropicMemory(memory).create({ path: "/memories/a", file_text: 5 }), "invalid_argument", "file_text must be a string, got number"],
  ["a table of word vectors that is a list", () => cutWordVectors(endless()), "invalid_argument", "a table of word vectors must be its text, its bytes or a stream of bytes: undefined; read the file first"],
  ["an embedder of a list", () => staticEmbedder(endless()), "invalid_argument", "the table must be a file that cutWordVectors() made"],
  ["a table of word vectors that is none", () => cutWordVectors(5), "invalid_argument", "a table of word vectors must be its text, its bytes or a stream of bytes: 5; read the file first"],
];

test("there are more than a hundred rows, each of another mistake", () => {
  expect(new Set(rows.map(([name]) => name)).size).toBe(rows.length);
  expect(rows.length).toBeGreaterThan(100);
});

describe.each([
  ["in memory", () => ":memory:"],
  ["in a file", temporaryFile],
])("a mistake is an error: %s", (_, pathOf) => {
  const made = [];
  let tools;
  let before;

  beforeAll(async () => {
    const memory = await openMemory({ path: pathOf(), index });
    const { store, checkpointer: saver } = memory;
    const plain = new InMemoryStore();
    made.push(memory, plain);
    // A store of a model of its own.
    const make = (embeddings) => {
      const ours = new SqliteStore({
        path: ":memory:",
        index: { ...index, fields: ["text"], embeddings },
      });
      made.push(ours);
      return ours;
    };
    tools = { memory, store, saver, plain, make };
    await store.put(["n"], "k", { n: 1, at: 5, user: { name: "Ada" }, text: "red" });
    await putCheckpoint(saver, config, { messages: ["red"] });
    before = [await dumpStore(store), await dumpSaver(saver)];
  });
  afterAll(() => Promise.all(made.map((each) => each.close())));

  test.each(rows)("%s", async (_name, call, code, message) => {
    const error = await expectRefused(async () => call(tools), code);
    expect(error.message).toBe(`[keepsake] ${message}`);
    expect([await dumpStore(tools.store), await dumpSaver(tools.saver)]).toEqual(before);
  });
});

test("a graph that is given the whole memory is told what to give", async () => {
  await using memory = await openMemory({ path: ":memory:" });
  const State = Annotation.Root({ n: Annotation() });
  const builder = new StateGraph(State).addEdge(START, "node");
  builder.addNode("node", async (_, { store }) => ({ n: (await store.get(["n"], "k"))?.value.n }));
  const remedy = /compile\(\) takes memory\.store, memory\.checkpointer and memory\.cache/;
  await expectRefused(
    () => builder.compile({ store: memory }).invoke({ n: 1 }),
    "invalid_argument",
    remedy,
  );
  await expectRefused(
    () => builder.compile({ checkpointer: memory }).invoke({ n: 1 }, config),
    "invalid_argument",
    remedy,
  );
});

test("an option that is undefined is as one that is not there", async () => {
  await using store = new InMemoryStore({ index: undefined, colour: undefined });
  await store.put(["n"], "k", { n: 1 }, undefined, { ttl: undefined, expires: undefined });
  expect(await store.search(["n"], { where: undefined, filter: { n: 1 } })).toHaveLength(1);
  expect(await store.search(["n"], null)).toHaveLength(1);
});

describe.each([
  ["InMemoryStore", () => new InMemoryStore()],
  ["SqliteStore", () => new SqliteStore({ path: temporaryFile() })],
])("filters that only the items can tell: %s", (_, make) => {
  const day = (text) => new Date(`${text}T00:00:00Z`);

  test("a name with dots that items have is that name", async () => {
    await using store = make();
    await store.put(["n"], "literal", { "user.name": "Ada" });
    await store.put(["n"], "nested", { user: { name: "Ada" } });
    const hits = await store.search(["n"], { filter: { "user.name": "Ada" } });
    expect(hits.map(({ key }) => key)).toEqual(["literal"]);
    expect(await store.search(["n"], { filter: { "user.name": "Bob" } })).toEqual([]);
    expect(await store.search(["n"], { filter: { "user.age": 7 } })).toEqual([]);
  });

  test("a Date meets the strings that Dates become, and no other items are no mistake", async () => {
    await using store = make();
    const filter = { at: { $gt: day("2025-01-01") } };
    expect(await store.search(["n"], { filter })).toEqual([]);
    await store.put(["n"], "old", { at: day("2024-01-01") });
    expect(await store.search(["n"], { filter })).toEqual([]);
    await store.put(["n"], "number", { at: Date.now() });
    await store.put(["n"], "new", { at: day("2026-01-01") });
    expect((await store.search(["n"], { filter })).map(({ key }) => key)).toEqual(["new"]);
  });

  test("a Date within a nested field is compared with what is there", async () => {
    await using store = make();
    await store.put(["n"], "k", { log: { at: 5 } });
    const filter = { log: { at: day("2025-01-01") } };
    await expectRefused(() => store.search(["n"], { filter }), "invalid_filter", /"log → at"/);
  });

  test("nothing of a batch is written that has such a filter", async () => {
    await using store = make();
    await store.put(["n"], "k", { at: 5 });
    const batch = [
      { namespace: ["n"], key: "new", value: { n: 1 } },
      { namespacePrefix: ["n"], filter: { at: { $lt: new Date() } } },
    ];
    await expectRefused(() => store.batch(batch), "invalid_filter", /"at": a Date/);
    expect(await store.get(["n"], "new")).toBeNull();
    await store.put(["n"], "k", { at: new Date() });
    const later = { namespace: ["n"], key: "new", value: { n: 2 } };
    await Promise.all([store.batch(batch), store.batch([later])]);
    expect((await store.get(["n"], "new")).value).toEqual({ n: 2 });
  });
});

describe("an index that embeds nothing", () => {
  const misspelt = { index: { ...index, fields: ["txt"] } };
  let warn;

  beforeEach(() => {
    warn = jest.spyOn(console, "warn").mockImplementation(() => {});
  });
  afterEach(() => warn.mockRestore());

  test("says so once, when the first item is put", async () => {
    await using store = new InMemoryStore(misspelt);
    await store.put(["n"], "1", { text: "red" });
    expect(warn).toHaveBeenCalledTimes(1);
    await store.put(["n"], "2", { text: "blue" });
    for (const query of ["red", "blue"]) await store.search(["n"], { query });
    expect(warn.mock.calls).toEqual([
      [
        '[keepsake] the first item has no text at index.fields ["txt"], and so no vectors. If that is meant, put such items with index: false.',
      ],
    ]);
    expect(await store.stats()).toMatchObject({ items: 2, vectors: 0, pending: 0 });
  });

  test("says nothing where that is meant, or of a single item", async () => {
    await using store = new InMemoryStore(misspelt);
    await store.put(["n"], "1", { text: "red" }, false);
    await store.search(["n"], { query: "red" });
    await store.put(["n"], "2", { txt: "red" });
    await store.put(["n"], "3", { text: "red" });
    await store.search(["n"], { query: "blue" });
    expect(warn).not.toHaveBeenCalled();
  });
});

test("an error has no damaged database but where there is one", () => {
  const error = new KeepsakeError("internal", "x");
  expect(Object.keys(error)).not.toContain("damaged");
  expect("damaged" in new KeepsakeError("corrupt", "x", { damaged: {} })).toBe(true);
});

test("withContext without a function or a config says what it takes", async () => {
  const rule = /withContext takes the config of a node and a function/;
  await expectRefused(() => withContext(config), "invalid_argument", rule);
  await expectRefused(() => withContext(undefined, () => 1), "invalid_argument", rule);
});

describe("an object that throws when it is read", () => {
  const hostile = new Proxy(
    {},
    {
      get() {
        throw new Error("not to be read");
      },
      has() {
        throw hostile;
      },
      getPrototypeOf() {
        throw hostile;
      },
    },
  );

  test("is no KeepsakeError, and is shown without being read", async () => {
    expect(hostile instanceof KeepsakeError).toBe(false);
    await using store = new InMemoryStore();
    await expectRefused(
      () => store.put(["n"], "k", {}, hostile),
      "invalid_argument",
      /an object that can't be read/,
    );
  });

  test("is a typed error where it has the options of a call", async () => {
    const options = (name) => ({
      get [name]() {
        throw new Error("not to be read");
      },
    });
    await using store = new InMemoryStore();
    const refused = (call, of) =>
      expectRefused(
        call,
        "invalid_argument",
        new RegExp(
          `InMemoryStore: the options of ${of} must be plain data that can be read: reading it threw "not to be read"`,
        ),
      );
    await refused(() => store.get(["n"], "k", options("refreshTtl")), "get");
    await refused(() => store.put(["n"], "k", {}, undefined, options("ttl")), "put");
    await refused(() => store.search(["n"], options("limit")), "search");
    expect(await store.search([])).toEqual([]);
  });
});

test("the version of a channel that has no JSON is refused", async () => {
  await using memory = await openMemory({ path: ":memory:" });
  const put = () => memory.checkpointer.put(config, checkpoint, metadata, { a: () => 1 });
  await expectRefused(put, "invalid_argument", /the version of channel "a" must be a number or/);
});

test("a list with a gap is refused at the gap, however long it is", async () => {
  await using memory = await openMemory({ path: ":memory:" });
  const gaps = new Array(2 ** 32 - 1);
  await expectRefused(() => memory.checkpointer.deleteForRuns(gaps), "invalid_argument", /run_id/);
  await expectRefused(() => memory.store.put(["n"], "k", {}, gaps), "invalid_argument", /index/);
});
