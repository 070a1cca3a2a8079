// LangGraph's BaseCache over the items of a memory: an entry is an item below a label of ours, in
// quarantine, so that searches leave it out.

import {
  BaseCache,
  type CacheFullKey,
  type CacheNamespace,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { dump, load } from "../checkpointer/serde/serde.js";
import { checkEach, checkOptions, isList, type NamesOf, show } from "../checks.js";
import type { Connection } from "../connection.js";
import { detailOf, invalid, KeepsakeError, nameError, withNamedErrors } from "../errors.js";
import { encodeValue, fromBase64, toBase64 } from "../store/json-value.js";
import { CACHE_LABEL } from "../store/own-namespaces.js";
import { storedValue } from "../store/store-operations.js";
import { NO_TTL } from "../wire/custom.js";
import type { Blob, Item } from "../wire/layout.js";
import type { OperationOf } from "../wire/operations.js";

/** An entry that is to be kept, as LangGraph gives it. */
interface CachePair<V> {
  key: CacheFullKey;
  value: V;
  /** Seconds, as LangGraph has it. */
  ttl?: number | undefined;
}

const PAIR: NamesOf<CachePair<unknown>> = { key: 1, value: 1, ttl: 1 };
// Namespaces that clear() deletes at once.
const CLEARED_AT_ONCE = 1000;
const PAGE = { matchConditions: [], limit: CLEARED_AT_ONCE } as const;

/**
 * What nodes with a `cachePolicy` answered, in the file of the memory: `memory.cache` for
 * `compile({ cache })`. What can't be kept is told on the console, and the node runs again.
 */
export class KeepsakeCache<V = unknown> extends BaseCache<V> {
  /** As it is printed, however a bundler calls the class. @internal */
  static override readonly name: string = "KeepsakeCache";

  readonly #connection: Connection;
  readonly #now: () => number;
  // Codes of what was told already.
  readonly #told = new Set<string>();

  /** @internal */
  constructor(connection: Connection, serde: SerializerProtocol | undefined, now: () => number) {
    super(serde);
    this.#connection = connection.within({
      place: [CACHE_LABEL],
      policy: { origins: [{ origin: "unknown", trust: "quarantine", weight: 1 }] },
    });
    this.#now = now;
  }

  /** Those of the keys that are there and have not expired, in their order. */
  override async get(keys: CacheFullKey[]): Promise<{ key: CacheFullKey; value: V }[]> {
    return withNamedErrors("memory.cache", async () => {
      const gets = checkEach("keys", keys, (key): OperationOf<"get"> => {
        return { kind: "get", ...placeOf(key), refreshTtl: false };
      });
      const items = await this.#read(gets);
      const found = items.map(async (item, i) => {
        if (item === null) return [];
        return [
          {
            key: keys[i] as CacheFullKey,
            value: (await load(this.serde, blobOf(item), () => "a cached value")) as V,
          },
        ];
      });
      return (await Promise.all(found)).flat();
    });
  }

  /**
   * Keeps them: all, or none. `ttl` is in seconds, for ever without one. LangGraph neither waits for
   * it nor hears of a failure, which would end a process: one is told on the console.
   */
  override async set(pairs: { key: CacheFullKey; value: V; ttl?: number }[]): Promise<void> {
    const checked = await withNamedErrors("memory.cache", () =>
      checkEach("pairs", pairs, checkPair),
    );
    try {
      const puts = await Promise.all(checked.map((pair) => this.#putOf(pair)));
      if (puts.length > 0) await this.#connection.call(puts, this.#now());
    } catch (error) {
      this.#tell(nameError("memory.cache", error));
    }
  }

  /** Deletes what is in exactly these namespaces; without any, all that this cache has. */
  override async clear(namespaces: CacheNamespace[]): Promise<void> {
    await withNamedErrors("memory.cache", async () => {
      const given = checkEach("namespaces", namespaces, labelsOf);
      if (given.length > 0) return this.#clear(given);
      for (;;) {
        const [some] = await this.#connection.call(
          [{ kind: "listNamespaces", ...PAGE }],
          this.#now(),
        );
        await this.#clear(some);
        if (some.length < CLEARED_AT_ONCE) return;
      }
    });
  }

  toJSON(): string {
    return "[KeepsakeCache]";
  }

  async #clear(namespaces: readonly string[][]): Promise<void> {
    if (namespaces.length === 0) return;
    const clears = namespaces.map((namespace) => ({ kind: "clearNamespace", namespace }) as const);
    await this.#connection.call(clears, this.#now());
  }

  // An answer has a limit, and many large values may be more.
  async #read(gets: OperationOf<"get">[]): Promise<(Item | null)[]> {
    if (gets.length === 0) return [];
    try {
      return [...(await this.#connection.call(gets, this.#now()))];
    } catch (error) {
      if (!(error instanceof KeepsakeError) || error.code !== "too_large" || gets.length === 1) {
        throw error;
      }
      const half = Math.ceil(gets.length / 2);
      return [...(await this.#read(gets.slice(0, half))), ...(await this.#read(gets.slice(half)))];
    }
  }

  async #putOf({ key, value, ttl }: CachePair<V>): Promise<OperationOf<"put">> {
    const put = { kind: "put", ...placeOf(key), index: false } as const;
    const ms = ttl === undefined ? Number.POSITIVE_INFINITY : Math.ceil(ttl * 1000);
    // What is over at once.
    if (!(ms > 0)) return { ...put, value: null, ttl: NO_TTL };
    const blob = await dump(this.serde, `the value of ${show(key[1])}`, value);
    return { ...put, value: storedOf(blob), ttl: Number.isSafeInteger(ms) ? ms : NO_TTL };
  }

  #tell(error: KeepsakeError): void {
    if (this.#told.has(error.code)) return;
    this.#told.add(error.code);
    console.warn(
      `[keepsake] memory.cache keeps nothing of a node, which runs again the next time: ${detailOf(error)} (${error.code})`,
    );
  }
}

function checkPair<V>(given: CachePair<V>): CachePair<V> {
  const { key, value, ttl } = checkOptions("a pair", PAIR as NamesOf<CachePair<V>>, given);
  placeOf(key);
  if (ttl !== undefined && ttl !== null && typeof ttl !== "number") {
    throw invalid(`ttl must be a number of seconds: ${show(ttl)}`);
  }
  return { key: [[...key[0]], key[1]], value, ttl: ttl ?? undefined };
}

function placeOf(key: CacheFullKey): { namespace: string[]; key: string } {
  if (isList(key) && key.length === 2 && typeof key[1] === "string") {
    return { namespace: labelsOf(key[0]), key: encoded(key[1]) };
  }
  throw invalid(`a key must be a namespace and a text, [["ns"], "key"]: ${show(key)}`);
}

// One label for all, so that a namespace begins with no other.
function labelsOf(namespace: CacheNamespace): string[] {
  const labels = checkEach("a namespace", namespace, (label) => {
    if (typeof label === "string") return `${encoded(label)},`;
    throw invalid(`a namespace must be a list of texts: ${show(label)}`);
  });
  return [`=${labels.join("")}`];
}

// Any text, also what is none in UTF-8.
function encoded(text: string): string {
  return text.replace(/[^\w-]/g, (unit) => `~${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// The bytes are exactly those of the serialiser: text where they are text. They stand in the
// place of a name, which is read neither by an index of words nor by a filter: 20 MB of entries
// cost the first search by words of the memory 2.4 s otherwise.
function storedOf({ type, bytes }: Blob): string {
  return encodeValue({ [type]: { [textOf(type, bytes)]: 0 } });
}

const TEXT = "'";
const BASE64 = "=";

function textOf(type: string, bytes: Uint8Array): string {
  if (type === "json") {
    try {
      return TEXT + decoder.decode(bytes);
    } catch {
      // No text in UTF-8.
    }
  }
  return BASE64 + toBase64(bytes);
}

function blobOf(item: Item): Blob {
  const [type, payload] = onlyEntry(storedValue(item));
  const [text] = onlyEntry(payload);
  const rest = text.slice(1);
  return {
    type,
    bytes: text.startsWith(BASE64) ? fromBase64(rest) : new TextEncoder().encode(rest),
  };
}

function onlyEntry(value: unknown): [string, unknown] {
  return Object.entries(value as object)[0] as [string, unknown];
}
