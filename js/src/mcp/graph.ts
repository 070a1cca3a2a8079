// The knowledge graph of the official memory server, over a store: an item for each entity and
// each relation.

import { asData } from "../prompt/item-text.js";
import { changedBy, type ItemProvenance, isForeign, toldOf } from "../store/provenance.js";
import type { SqliteStore } from "../store/store.js";

/** What a graph has nodes of. */
export interface Entity {
  name: string;
  entityType: string;
  observations: string[];
}

/** An edge: `from` and `to` are names of entities. */
export interface Relation {
  from: string;
  to: string;
  relationType: string;
}

/** Both, in the order in which they came. */
export interface Graph {
  entities: Entity[];
  relations: Relation[];
}

/** What is read, and whose word that is which is of a tool or of the web. */
export interface ReadGraph extends Graph {
  foreign: ReadonlyMap<Entity | Relation, ItemProvenance>;
}

/** What is said of an entity, or no longer. */
export interface Saying {
  entityName: string;
  observations: string[];
}

/** How many of a graph came in. */
export interface Added {
  added: number;
  /** Were there already, and stayed. */
  kept: number;
}

/** What is asked of a store. @internal */
export type GraphStore = Pick<SqliteStore, "search" | "batch">;

// A value, and the item that has it.
interface Node<T> {
  key: string;
  order: number;
  value: T;
  from?: ItemProvenance;
}

interface Nodes {
  entities: Node<Entity>[];
  relations: Node<Relation>[];
}

interface Change {
  namespace: string[];
  key: string;
  value: object | null;
  from?: ItemProvenance;
}

const ALL = 0xffff_ffff;
const LONGEST_NAME = 65_000;

/** An entity of what may be anything. @internal */
export function entityOf(value: unknown): Entity | undefined {
  const { name, entityType, observations } = Object(value) as Entity;
  if (![name, entityType].every(isText) || !Array.isArray(observations)) return undefined;
  return observations.every(isText) ? { name, entityType, observations } : undefined;
}

/** A relation of what may be anything. @internal */
export function relationOf(value: unknown): Relation | undefined {
  const { from, to, relationType } = Object(value) as Relation;
  return [from, to, relationType].every(isText) ? { from, to, relationType } : undefined;
}

const isText = (value: unknown) => typeof value === "string";

/** Why the name of one can be no key of an item; undefined if it can. @internal */
export function faultOf(one: Entity | Relation): string | undefined {
  const name = "name" in one ? nameOfEntity(one) : nameOfRelation(one);
  if (name.includes("\0")) return "its name must not contain NUL";
  if (/\p{Surrogate}/u.test(name)) return "its name must not contain a lone surrogate";
  // As UTF-8, with a number behind it.
  return name.length * 3 > LONGEST_NAME && new TextEncoder().encode(name).length > LONGEST_NAME
    ? `its name must not take more than ${LONGEST_NAME} bytes`
    : undefined;
}

// A model calls things as it is shown them.
const isSame = (one: string, other: string) => asData(one) === asData(other);
const namesIn = (names: readonly string[]) => {
  const wanted = new Set(names.map(asData));
  return (name: string) => wanted.has(asData(name));
};

/**
 * The graph below a namespace. Each call reads it and writes what changed, in one batch.
 * REQUIRES: nobody else writes to it meanwhile.
 * @internal
 */
export class KnowledgeGraph {
  readonly #store: GraphStore;
  readonly #entities: string[];
  readonly #relations: string[];

  constructor(store: GraphStore, namespace: readonly string[]) {
    this.#store = store;
    this.#entities = [...namespace, "entities"];
    this.#relations = [...namespace, "relations"];
  }

  /** Answers those that are new by name. Two of one call may have the same name. */
  async createEntities(given: Entity[]): Promise<Entity[]> {
    const { entities } = await this.#read();
    const isThere = namesIn(entities.map(({ value }) => value.name));
    const fresh = given.filter(({ name }) => !isThere(name));
    await this.#write(putsOf(this.#entities, entities, fresh, nameOfEntity));
    return fresh;
  }

  /** Answers those that are new. Their ends need not be there. */
  async createRelations(given: Relation[]): Promise<Relation[]> {
    const { relations } = await this.#read();
    const names = new Set(relations.map(({ value }) => identityOf(value)));
    const fresh = given.filter((relation) => !names.has(identityOf(relation)));
    await this.#write(putsOf(this.#relations, relations, fresh, nameOfRelation));
    return fresh;
  }

  /** Answers what was new of each. Throws if one of the entities is not there. */
  async addObservations(
    given: { entityName: string; contents: string[] }[],
  ): Promise<{ entityName: string; addedObservations: string[] }[]> {
    const { entities } = await this.#read();
    const touched = new Set<Node<Entity>>();
    const results = given.map(({ entityName, contents }) => {
      const node = entities.find(({ value }) => isSame(value.name, entityName));
      // In the words of the official server.
      if (node === undefined) throw new Error(`Entity with name ${entityName} not found`);
      const { observations } = node.value;
      const addedObservations = contents.filter((content) => !observations.includes(content));
      observations.push(...addedObservations);
      if (addedObservations.length > 0) touched.add(node);
      return { entityName, addedObservations };
    });
    await this.#write([...touched].map((node) => putOf(this.#entities, node)));
    return results;
  }

  /** With all their relations. */
  async deleteEntities(names: string[]): Promise<void> {
    const isGone = namesIn(names);
    const { entities, relations } = await this.#read();
    await this.#write([
      ...deletesOf(this.#entities, entities, ({ name }) => isGone(name)),
      ...deletesOf(this.#relations, relations, ({ from, to }) => isGone(from) || isGone(to)),
    ]);
  }

  async deleteObservations(given: Saying[]): Promise<void> {
    const { entities } = await this.#read();
    const touched = new Set<Node<Entity>>();
    for (const { entityName, observations } of given) {
      const node = entities.find(({ value }) => isSame(value.name, entityName));
      if (node === undefined) continue;
      const isGone = namesIn(observations);
      node.value.observations = node.value.observations.filter((each) => !isGone(each));
      touched.add(node);
    }
    await this.#write([...touched].map((node) => putOf(this.#entities, node)));
  }

  async deleteRelations(given: Relation[]): Promise<void> {
    const gone = new Set(given.map(identityOf));
    const { relations } = await this.#read();
    const isGone = (relation: Relation) => gone.has(identityOf(relation));
    await this.#write(deletesOf(this.#relations, relations, isGone));
  }

  async read(): Promise<ReadGraph> {
    const { entities, relations } = await this.#read();
    const foreign = [...entities, ...relations].filter(({ from = {} }) => isForeign(from));
    return {
      entities: entities.map(({ value }) => value),
      relations: relations.map(({ value }) => value),
      foreign: new Map(foreign.map(({ value, from = {} }) => [value, from])),
    };
  }

  /** What has the query as a part of its name, its type or an observation. */
  async search(query: string): Promise<ReadGraph> {
    const part = query.toLowerCase();
    const has = (text: string) => text.toLowerCase().includes(part);
    return this.#around(
      ({ name, entityType, observations }) =>
        has(name) || has(entityType) || observations.some(has),
    );
  }

  async open(names: string[]): Promise<ReadGraph> {
    const isWanted = namesIn(names);
    return this.#around(({ name }) => isWanted(name));
  }

  /** What has a name that is taken stays as it is, unless it is to be replaced. */
  async add({ entities, relations }: Graph, replace: boolean): Promise<Added> {
    const there = await this.#read();
    const byName = new Map(there.entities.map((node) => [node.value.name, node]));
    const known = new Set(there.relations.map(({ value }) => identityOf(value)));
    const fresh = entities.filter(({ name }) => !byName.has(name));
    const freshRelations = relations.filter((relation) => !known.has(identityOf(relation)));
    const replaced = entities.flatMap((value) => {
      const node = byName.get(value.name);
      return replace && node !== undefined ? [{ ...node, value }] : [];
    });
    await this.#write(
      [
        ...putsOf(this.#entities, there.entities, fresh, nameOfEntity),
        ...replaced.map((node) => putOf(this.#entities, node)),
        ...putsOf(this.#relations, there.relations, freshRelations, nameOfRelation),
      ],
      true,
    );
    const added = fresh.length + replaced.length + freshRelations.length;
    return { added, kept: entities.length + relations.length - added };
  }

  // Entities, and the relations of which one end is among them.
  async #around(isFound: (entity: Entity) => boolean): Promise<ReadGraph> {
    const { entities, relations, foreign } = await this.read();
    const found = entities.filter(isFound);
    const names = new Set(found.map(({ name }) => name));
    return {
      entities: found,
      relations: relations.filter(({ from, to }) => names.has(from) || names.has(to)),
      foreign,
    };
  }

  async #read(): Promise<Nodes> {
    const [entities, relations] = await Promise.all([
      this.#nodes(this.#entities, entityOf),
      this.#nodes(this.#relations, relationOf),
    ]);
    return { entities, relations };
  }

  // What somebody else put there, and is neither, is left alone.
  async #nodes<T>(namespace: string[], of: (value: unknown) => T | undefined): Promise<Node<T>[]> {
    const items = await this.#store.search(namespace, { limit: ALL, refreshTtl: false });
    const nodes = items.flatMap((item) => {
      const { key, value: stored } = item;
      const value = of(stored);
      if (value === undefined) return [];
      return [{ key, order: Number(stored.order ?? 0), value, from: toldOf(item) }];
    });
    return nodes.sort((a, b) => a.order - b.order);
  }

  // By a model, unless somebody imports it.
  async #write(changes: Change[], isImport = false): Promise<void> {
    const puts = changes.map(({ from = {}, ...change }) =>
      isImport || change.value === null ? change : { ...change, ...changedBy("model", from) },
    );
    if (puts.length > 0) await this.#store.batch(puts);
  }
}

const nameOfEntity = ({ name }: Entity) => name;
const nameOfRelation = ({ from, relationType, to }: Relation) => `${from} ${relationType} ${to}`;
const identityOf = ({ from, relationType, to }: Relation) =>
  JSON.stringify([from, relationType, to].map(asData));

const putOf = (namespace: string[], { key, order, value, from = {} }: Node<object>): Change => ({
  namespace,
  key,
  value: { ...value, order },
  from,
});

// Behind those that are there, under keys that are free.
function putsOf<T extends object>(
  namespace: string[],
  there: Node<T>[],
  values: T[],
  nameOf: (value: T) => string,
): Change[] {
  const taken = new Set(there.map(({ key }) => key));
  const counts = new Map<string, number>();
  const last = there.at(-1)?.order ?? 0;
  return values.map((value, i) => {
    const key = freeKey(nameOf(value), taken, counts);
    taken.add(key);
    return putOf(namespace, { key, order: last + 1 + i, value });
  });
}

// `counts` has what was tried of each name: a file may have a name any number of times.
function freeKey(name: string, taken: ReadonlySet<string>, counts: Map<string, number>): string {
  let key = name;
  let count = counts.get(name) ?? 2;
  for (; taken.has(key); count++) key = `${name} #${count}`;
  counts.set(name, count);
  return key;
}

function deletesOf<T>(
  namespace: string[],
  nodes: Node<T>[],
  isGone: (value: T) => boolean,
): Change[] {
  const gone = nodes.filter(({ value }) => isGone(value));
  return gone.map(({ key }) => ({ namespace, key, value: null }));
}
