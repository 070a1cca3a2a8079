// What is expected of a memory: the tests of a file, as they are written.

import { checkChoice, checkEach, checkList, checkNumber, checkWhole, show } from "../../checks.js";
import { invalid } from "../../errors.js";
import type { Memory } from "../../memory.js";
import type { ScopeOptions } from "../../scope/scope.js";
import { GATE, RANKING_OPTIONS } from "../../store/ranking.js";
import type { SearchOptions } from "../../store/store.js";
import {
  type Fields,
  type FilteredView,
  fields,
  namespaceIn,
  PLACE,
  shownView,
  someTexts,
  textOf,
  textsOf,
  type Usual,
  type View,
  viewOf,
} from "./fields.js";

interface Named {
  name: string;
}

interface Asked extends Named, View {
  search: SearchOptions & { query: string };
  k: number;
}

/** These keys are among the first k hits. */
export interface FoundTest extends Asked {
  kind: "found";
  keys: string[];
}

/** The new fact is among the first k hits, and the old one is not. */
export interface SupersededTest extends Asked {
  kind: "superseded";
  old: string;
  new: string;
}

/** No hit has such a score. */
export interface UnansweredTest extends Asked {
  kind: "unanswered";
  above: number;
}

/** Ways by which something may leak. */
export const WAYS = { search: 1, filter: 1, get: 1, thread: 1 } as const;
export type Way = keyof typeof WAYS;

/** Nothing of the view is seen from another. */
export interface HiddenTest extends Named, FilteredView {
  kind: "hidden";
  from: FilteredView;
  texts: string[];
  by: Way[];
}

/** The user's own way to forget. Its receipt is checked if it answers one. */
export type Forgetting = (memory: Memory) => unknown;

/** It is forgotten, and no byte of it is left. */
export interface ForgottenTest extends Named {
  kind: "forgotten";
  scope: ScopeOptions | undefined;
  namespaces: string[][] | undefined;
  filter: Record<string, unknown> | undefined;
  threads: string[] | "all" | undefined;
  by: Forgetting | undefined;
  queries: string[];
  texts: string[];
}

export type MemoryTest = FoundTest | SupersededTest | UnansweredTest | HiddenTest | ForgottenTest;

const SEARCH = {
  ...PLACE,
  query: 1,
  filter: 1,
  validAt: 1,
  ranking: RANKING_OPTIONS,
  k: 1,
} as const;
const FOUND = { ...SEARCH, keys: 1 } as const;
const SUPERSEDED = { ...SEARCH, old: 1, new: 1 } as const;
const UNANSWERED = { ...SEARCH, above: 1 } as const;
const FROM = { ...PLACE, filter: 1 } as const;
const HIDDEN = { ...FROM, from: FROM, texts: 1, by: 1 } as const;
const FORGOTTEN = {
  scope: 1,
  namespaces: 1,
  filter: 1,
  threads: 1,
  by: 1,
  queries: 1,
  texts: 1,
} as const;

// Which fields a test has, and how they are read.
const KINDS = {
  found: foundOf,
  superseded: supersededOf,
  unanswered: unansweredOf,
  hidden: hiddenOf,
  forgotten: forgottenOf,
};
type Kind = keyof typeof KINDS;
const KIND_FIELDS = {
  found: FOUND,
  superseded: SUPERSEDED,
  unanswered: UNANSWERED,
  hidden: HIDDEN,
  forgotten: FORGOTTEN,
};

/** @internal */
export function testOf(where: string, test: unknown, usual: Usual, file: string): MemoryTest {
  const { name, ...kinds } = fields(where, { name: 1, ...KIND_FIELDS }, test);
  const given = (Object.keys(KINDS) as Kind[]).filter((kind) => kinds[kind] !== undefined);
  const [kind] = given;
  if (kind === undefined || given.length > 1) {
    const which = given.length === 0 ? "none" : given.join(" and ");
    throw invalid(`${where} takes one of ${Object.keys(KINDS).join(", ")}, got ${which}`);
  }
  const place = where.replace(` of ${file}`, `.${kind} of ${file}`);
  const read = KINDS[kind](place, kinds[kind], usual);
  return name === undefined ? read : { ...read, name: textOf(`name of ${where}`, name) };
}

function askedOf(where: string, given: Fields<typeof SEARCH>, usual: Usual): Asked {
  const { query, filter, validAt, ranking, k } = given;
  const text = textOf(`query of ${where}`, query);
  return {
    name: text,
    ...viewOf(where, given, usual),
    k: k === undefined ? usual.k : checkWhole(`k of ${where}`, k as number, 1),
    search: {
      query: text,
      ...(filter !== undefined && { filter: filter as SearchOptions["filter"] }),
      ...(validAt !== undefined && { validAt: validAt as SearchOptions["validAt"] }),
      ...(ranking !== undefined && { ranking: ranking as SearchOptions["ranking"] }),
    },
  };
}

function foundOf(where: string, test: unknown, usual: Usual): FoundTest {
  const { keys, ...search } = fields(where, FOUND, test);
  const asked = askedOf(where, search, usual);
  return { kind: "found", ...asked, keys: someTexts(`keys of ${where}`, keys) };
}

function supersededOf(where: string, test: unknown, usual: Usual): SupersededTest {
  const { old, new: newer, ...search } = fields(where, SUPERSEDED, test);
  return {
    kind: "superseded",
    ...askedOf(where, search, usual),
    old: textOf(`old of ${where}`, old),
    new: textOf(`new of ${where}`, newer),
  };
}

function unansweredOf(where: string, test: unknown, usual: Usual): UnansweredTest {
  const { above = GATE, ...search } = fields(where, UNANSWERED, test);
  const asked = askedOf(where, search, usual);
  return {
    kind: "unanswered",
    ...asked,
    above: checkNumber(`above of ${where}`, above as number, -1, 1),
  };
}

function hiddenOf(where: string, test: unknown, usual: Usual): HiddenTest {
  const { from, texts, by = Object.keys(WAYS), ...place } = fields(where, HIDDEN, test);
  const other = filteredOf(`from of ${where}`, fields(`from of ${where}`, FROM, from), NOWHERE);
  return {
    kind: "hidden",
    name: `hidden from ${shownView(other)}`,
    ...filteredOf(where, place, usual),
    from: other,
    texts: textsOf(`texts of ${where}`, texts),
    by: someTexts(`by of ${where}`, by).map((way) =>
      checkChoice(`by of ${where}`, WAYS, way as Way),
    ),
  };
}

function filteredOf(where: string, given: Fields<typeof FROM>, usual: View): FilteredView {
  const { filter, ...place } = given;
  return { ...viewOf(where, place, usual), filter: filter as FilteredView["filter"] };
}

const NOWHERE: View = { scope: undefined, namespace: [] };

function forgottenOf(where: string, test: unknown, usual: Usual): ForgottenTest {
  const given = fields(where, FORGOTTEN, test);
  const { namespaces, filter, threads, by } = given;
  if (by !== undefined && typeof by !== "function") {
    throw invalid(`by of ${where} must be a function, which only .mjs has: ${show(by)}`);
  }
  const { scope } = viewOf(where, { scope: given.scope }, usual);
  return {
    kind: "forgotten",
    name: `forgotten: ${shownView({ scope, namespace: [] })}`,
    scope,
    namespaces:
      namespaces === undefined
        ? undefined
        : checkEach(
            "namespaces",
            checkList(`namespaces of ${where}`, namespaces as unknown[]),
            (each) => namespaceIn(`namespaces of ${where}`, each),
          ),
    filter: filter as ForgottenTest["filter"],
    threads: threads as ForgottenTest["threads"],
    by: by as Forgetting | undefined,
    queries: textsOf(`queries of ${where}`, given.queries),
    texts: textsOf(`texts of ${where}`, given.texts),
  };
}
