// Where a request is at home: core/include/keepsake/scope.h, in TypeScript.

import type { Changes } from "./changes.js";
import { readScopeLevel, type ScopeLevel, writeScopeLevel } from "./layout.js";
import type { Reader } from "./reader.js";
import { Writer } from "./writer.js";

/** As Levels have them in `bytes`. */
export function readLevels(reader: Reader): ScopeLevel[] {
  return reader.list(readScopeLevel);
}

/** What the threads of a scope at this place begin with, as the core has it. */
export function threadPrefixOf(place: readonly string[]): string {
  const escaped = place.map((label) => label.replaceAll("%", "%25").replaceAll("/", "%2F"));
  return escaped.map((label) => `${label}/`).join("");
}

/** A label of such a beginning, as it was. */
export function labelOfThread(part: string): string {
  return part.replaceAll("%2F", "/").replaceAll("%25", "%");
}

function encoded(levels: readonly ScopeLevel[]): Uint8Array {
  const writer = new Writer();
  writer.list(levels, writeScopeLevel);
  return writer.finish().slice();
}

/** Who asks, and from which node of a graph. */
export interface Author {
  readonly actor?: string | undefined;
  readonly nodeId?: string | undefined;
}

function startsWith(namespace: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((label, i) => label === namespace[i]);
}

/** Where a request is at home: levels, the outermost first; and who makes it. */
export class Levels {
  readonly place: readonly string[];
  /** What its threads begin with. */
  readonly threadPrefix: string;
  /** As they travel; undefined for the whole memory. */
  readonly bytes: Uint8Array | undefined;
  readonly author: Author | undefined;
  readonly levels: readonly ScopeLevel[];

  constructor(levels: readonly ScopeLevel[], author?: Author) {
    this.levels = levels;
    this.author = author;
    this.place = levels.flatMap(({ place }) => place);
    this.threadPrefix = threadPrefixOf(this.place);
    this.bytes = levels.length === 0 ? undefined : encoded(levels);
  }

  with(level: ScopeLevel): Levels {
    return new Levels([...this.levels, level], this.author);
  }

  by(author: Author): Levels {
    return new Levels(this.levels, author);
  }

  /** These, and within them others, whose author they do not believe if they have one. */
  around(inner: Levels | undefined): Levels {
    return new Levels([...this.levels, ...(inner?.levels ?? [])], this.author ?? inner?.author);
  }

  /** Changes within them, as the memory knows them. */
  outward(changes: Changes): Changes {
    return {
      ...changes,
      namespaces: changes.namespaces.map((namespace) => [...this.place, ...namespace]),
      threads: changes.threads.map((thread) => this.threadPrefix + thread),
      ...(changes.everything && {
        below: (changes.below ?? [[]]).map((place) => [...this.place, ...place]),
      }),
    };
  }

  /**
   * Changes of the memory, as they are known within; undefined if they are elsewhere, or where
   * nothing may be read.
   */
  inward(changes: Changes): Changes | undefined {
    const { place, threadPrefix } = this;
    const namespaces = changes.namespaces
      .filter((namespace) => startsWith(namespace, place))
      .map((namespace) => namespace.slice(place.length))
      .filter((namespace) => this.#mayRead(namespace));
    const readsThreads = !this.levels.some(({ policy }) => policy.readable?.length === 0);
    const threads = changes.threads
      .filter((thread) => readsThreads && thread.startsWith(threadPrefix))
      .map((thread) => thread.slice(threadPrefix.length));
    const everything = changes.everything && this.#touches(changes.below ?? [[]]);
    if (namespaces.length === 0 && threads.length === 0 && !everything) return undefined;
    return { namespaces, threads, everything };
  }

  // Whether what lies below these places may be of what is read here.
  #touches(places: readonly (readonly string[])[]): boolean {
    return places.some((below) => {
      if (startsWith(this.place, below)) return this.#mayRead([], true);
      return startsWith(below, this.place) && this.#mayRead(below.slice(this.place.length), true);
    });
  }

  // As it is called within; with what is below it, some of it will do.
  #mayRead(namespace: readonly string[], orBelow = false): boolean {
    let within: readonly string[] = namespace;
    return this.levels.toReversed().every(({ place, policy }) => {
      const isReadable = (prefix: readonly string[]) =>
        startsWith(within, prefix) || (orBelow && startsWith(prefix, within));
      const may = policy.readable?.some(isReadable) ?? true;
      within = [...place, ...within];
      return may;
    });
  }
}
