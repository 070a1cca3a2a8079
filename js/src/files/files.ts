// Files as items: a directory is a namespace, a file is an item of it, and what is asked of many
// files at once is asked of the store's index.

import { isBytes } from "../bytes.js";
import {
  checkChoice,
  checkFlag,
  checkList,
  checkOptions,
  checkText,
  checkWhole,
  type NamesOf,
  readInput,
  show,
} from "../checks.js";
import { invalid, KeepsakeError } from "../errors.js";
import { unwrapStore } from "../langgraph.js";
import { changedBy, type GivenProvenance, Origin, toldOf } from "../store/provenance.js";
import { checkRanking, HYBRID, RANKING_OPTIONS, type RankingOptions } from "../store/ranking.js";
import type { KeepsakeStore, SearchOptions } from "../store/store.js";
import {
  checkNamespace,
  type Item,
  type PutOperation,
  type SearchItem,
} from "../store/store-operations.js";
import { finderOf, splitAt } from "../text.js";
import {
  type Content,
  contentOfValue,
  itemOf,
  occurrencesOf,
  type Page,
  pageOf,
  sizeOf,
  typeOf,
} from "./content.js";
import { globOf } from "./glob.js";
import { oneByOne } from "./lock.js";
import {
  ancestorsOf,
  filePartsOf,
  type ItemPath,
  itemPathOf,
  namespaceOf,
  partsOf,
  partsOfItem,
  pathOf,
} from "./paths.js";

/** Where files are kept: a store of keepsake, a memory, or a scope of one. */
export type FileHome = KeepsakeStore | { readonly store: object };

/** Where in the store files are, and how they are put. */
export interface FilesOptions {
  /** The namespace of the root directory. @default ["files"] */
  namespace?: string[] | undefined;
  /** What of a file is embedded: `["text"]`, or false for nothing. @default as the store has it */
  index?: false | string[] | undefined;
  /** Who writes them, as a put of the store takes it. @default "model" */
  origin?: Origin | undefined;
}

/** A file without its content. */
export interface FileInfo {
  path: string;
  /** Bytes. */
  size: number;
  createdAt: Date;
  updatedAt: Date;
}

/** What a directory holds: a file, or a directory, whose path ends with "/". */
export type DirectoryEntry =
  | ({ isDirectory: false } & FileInfo)
  | { isDirectory: true; path: string };

/** A file; the lines that were asked for, of a text. */
export interface StoredFile
  extends FileInfo,
    Omit<Page, "content">,
    Pick<Item, "origin" | "source"> {
  content: string | Uint8Array;
  /** Its media type, by its name. */
  type: string;
}

/** Which lines of a text are read. */
export interface ReadOptions {
  /** Lines to leave out. @default 0 */
  offset?: number | undefined;
  /** Lines at most. @default all */
  limit?: number | undefined;
}

/** Where and how much `grep()` looks for. */
export interface GrepOptions {
  /** A directory, or one file. @default "/" */
  path?: string | undefined;
  /** Of names of files, such as "*.md". */
  glob?: string | undefined;
  /** Matches at most. @default all */
  maxCount?: number | undefined;
}

/** A line that holds what was looked for. */
export interface FileMatch {
  path: string;
  /** The first line is 1. */
  line: number;
  text: string;
}

/** Where `search()` looks, and for how much. */
export interface SearchFilesOptions {
  /** A directory. @default "/" */
  path?: string | undefined;
  /** @default 10 */
  limit?: number | undefined;
  /** As a search of the store takes it. @default { mode: "hybrid" } */
  ranking?: RankingOptions | undefined;
}

/** A file that a search found. */
export interface FileHit extends FileInfo {
  score: number | undefined;
  /** The piece of its text that was found. */
  snippet: string | undefined;
}

/** @internal */
export const FILES_OPTIONS: NamesOf<FilesOptions> = { namespace: 1, index: 1, origin: 1 };
const READ_OPTIONS: NamesOf<ReadOptions> = { offset: 1, limit: 1 };
const WRITE_OPTIONS: NamesOf<{ overwrite?: boolean }> = { overwrite: 1 };
const EDIT_OPTIONS: NamesOf<{ replaceAll?: boolean }> = { replaceAll: 1 };
const GREP_OPTIONS: NamesOf<GrepOptions> = { path: 1, glob: 1, maxCount: 1 };
const SEARCH_OPTIONS: NamesOf<SearchFilesOptions> = { path: 1, limit: 1, ranking: RANKING_OPTIONS };

const ALL = Number.POSITIVE_INFINITY;
// Files whose contents one answer brings.
const AT_ONCE = 1000;

/**
 * A tree of files in a store. Paths begin at its root; "." and empty names in them mean nothing,
 * ".." is refused. Directories are there as long as they hold files.
 */
export class Files {
  readonly #store: KeepsakeStore;
  readonly #root: readonly string[];
  readonly #index: false | string[] | undefined;
  readonly #origin: Origin;

  constructor(home: FileHome, options?: FilesOptions) {
    const given = checkOptions("Files", FILES_OPTIONS, options);
    const { namespace = ["files"], index, origin = "model" } = given;
    this.#store = readInput("what files are kept in", () => storeOf(home));
    this.#root = checkRoot(namespace);
    if (index !== undefined && index !== false) checkList("index", index);
    this.#index = index;
    this.#origin = checkChoice("origin", Origin, origin);
  }

  /** What lies directly in a directory, sorted by path; nothing if there is none. */
  async ls(path = "/"): Promise<DirectoryEntry[]> {
    const directory = partsOf(path);
    const namespace = namespaceOf(this.#root, directory);
    const [below, keys] = await Promise.all([
      this.#namespaces(namespace, namespace.length + 1),
      this.#store.listKeys(namespace),
    ]);
    const directories = below
      .filter(({ length }) => length > namespace.length)
      .map((each) => `${pathOf(partsOfItem(this.#root, { namespace: each, key: "" }))}`);
    const files = await this.#readAll(keys.map((key) => ({ namespace, key })));
    const entries: DirectoryEntry[] = [
      ...directories.map((each) => ({ isDirectory: true as const, path: each })),
      ...files.map((file) => ({ isDirectory: false as const, ...infoOf(file) })),
    ];
    return entries.sort(byPath);
  }

  /** A file, or `not_found`. */
  async read(path: string, options?: ReadOptions): Promise<StoredFile> {
    const { offset = 0, limit = ALL } = checkOptions("read", READ_OPTIONS, options);
    checkWhole("offset", offset, 0);
    if (limit !== ALL) checkWhole("limit", limit, 0);
    const file = (await this.find(path)) ?? notFound(path);
    const { content } = file;
    return typeof content === "string" ? { ...file, ...pageOf(content, offset, limit) } : file;
  }

  /** A file as a whole, or undefined. */
  async find(path: string): Promise<StoredFile | undefined> {
    const parts = partsOf(path);
    if (parts.length === 0 || path.endsWith("/")) return undefined;
    const { namespace, key } = itemPathOf(this.#root, parts);
    const item = await this.#store.get(namespace, key);
    return item === null ? undefined : this.#fileOf(item);
  }

  /** Whether files lie below a path; the root is always there. */
  async isDirectory(path: string): Promise<boolean> {
    const parts = partsOf(path);
    return parts.length === 0 || this.#holdsFiles(parts);
  }

  /** Creates a file, or puts its content anew. `overwrite: false` refuses what is there. */
  async write(
    path: string,
    content: string | Uint8Array,
    options?: { overwrite?: boolean | undefined },
  ): Promise<void> {
    const { overwrite = true } = checkOptions("write", WRITE_OPTIONS, options);
    checkFlag("overwrite", overwrite);
    const parts = filePartsOf(path);
    checkContent(content);
    await this.#alone(async () => {
      const there = await this.#checkFree(parts);
      if (there && !overwrite) throw taken(`${pathOf(parts)} is there already`);
      await this.#put(parts, content, { origin: this.#origin });
    });
  }

  /** Replaces a text that is in a file once, or each time; answers how often. */
  async edit(
    path: string,
    oldText: string,
    newText: string,
    options?: { replaceAll?: boolean | undefined },
  ): Promise<number> {
    const { replaceAll } = checkOptions("edit", EDIT_OPTIONS, options);
    checkFlag("replaceAll", replaceAll);
    checkText("newText", newText);
    if (checkText("oldText", oldText) === "") throw invalid("oldText must not be empty");
    let count = 0;
    await this.update(path, (text) => {
      count = occurrencesOf(text, oldText);
      if (count === 0) throw invalid(`oldText is not in ${path}`);
      if (count > 1 && replaceAll !== true) {
        throw invalid(
          `oldText is ${count} times in ${path}: give more of the text around it, or replaceAll`,
        );
      }
      return splitAt(text, oldText).join(newText);
    });
    return count;
  }

  /**
   * Puts what `change` makes of a file's text. No other change to these files through this
   * memory comes between.
   */
  async update(path: string, change: (text: string) => string): Promise<void> {
    const parts = filePartsOf(path);
    if (typeof change !== "function") {
      throw invalid(`change must be a function of the text: ${show(change)}`);
    }
    await this.#alone(async () => {
      const file = (await this.find(path)) ?? notFound(path);
      const { content } = file;
      if (typeof content !== "string") throw invalid(`${path} holds bytes, no text`);
      const made = checkText("content", change(content));
      await this.#put(parts, made, changedBy(this.#origin, file));
    });
  }

  /** The lines that hold a text, letter by letter. Files of bytes are left out. */
  async grep(
    pattern: string,
    options?: GrepOptions,
  ): Promise<{ matches: FileMatch[]; truncated: boolean }> {
    const { path = "/", glob, maxCount } = checkOptions("grep", GREP_OPTIONS, options);
    checkText("pattern", pattern);
    if (maxCount !== undefined) checkWhole("maxCount", maxCount, 0);
    const most = maxCount ?? ALL;
    const isWanted = glob === undefined ? () => true : globOf(checkText("glob", glob)).matches;
    // A line holds no end of a line.
    if (pattern.includes("\n")) return { matches: [], truncated: false };
    // Each file that is asked for holds a match, but for letters of another case.
    const first = await this.#holding(path, pattern, most + 1);
    const found = linesOf(first.files, pattern, isWanted);
    const isAll = first.isAll || found.length > most;
    const matches = isAll
      ? found
      : linesOf((await this.#holding(path, pattern, ALL)).files, pattern, isWanted);
    return { matches: matches.slice(0, most), truncated: matches.length > most };
  }

  /**
   * The files whose paths match, the last changed first. A pattern is of the path below
   * `path`, or if it begins with "/" of the whole path.
   */
  async glob(pattern: string, path = "/"): Promise<FileInfo[]> {
    const parts = partsOf(path);
    const isWhole = checkText("pattern", pattern).startsWith("/");
    const { matches, base, depth, name } = globOf(isWhole ? pattern.slice(1) : pattern);
    const from = isWhole ? base : [...parts, ...base];
    const isMatch = (names: string[]) =>
      parts.every((part, i) => names[i] === part) &&
      matches(names.slice(isWhole ? 0 : parts.length).join("/") || (names.at(-1) as string));
    const places = await this.#walk(from, depth, name);
    // The path may be a file's own; what a whole pattern means is in the walk.
    if (!isWhole && parts.length > 0) places.push(itemPathOf(this.#root, parts));
    const wanted = places.filter((place) => isMatch(partsOfItem(this.#root, place)));
    const files = await this.#readAll(wanted);
    return files
      .map(infoOf)
      .sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime() || byPath(a, b));
  }

  /** Files by the words of a question, and by meaning if the store has an index. */
  async search(query: string, options?: SearchFilesOptions): Promise<FileHit[]> {
    const given = checkOptions("search", SEARCH_OPTIONS, options);
    const { path = "/", limit = 10, ranking } = given;
    if (checkText("query", query).trim() === "") throw invalid("query must not be empty");
    const search: SearchOptions = {
      query,
      limit,
      ranking: { ...HYBRID, ...checkRanking(ranking) },
      snippet: true,
    };
    const hits = await this.#store.search(namespaceOf(this.#root, partsOf(path)), search);
    return hits.flatMap((hit) => {
      const file = this.#fileOf(hit);
      if (file === undefined) return [];
      return [{ ...infoOf(file), score: hit.score, snippet: hit.snippet?.text }];
    });
  }

  /** Moves a file, or a directory with all that it holds. What is at `to` is never replaced. */
  async rename(from: string, to: string): Promise<void> {
    const [source, target] = [partsOf(from), filePartsOf(to)];
    if (source.length === 0) throw invalid("the root can't be renamed");
    await this.#alone(async () => {
      const places = await this.#below(source);
      if (places.length === 0) notFound(from);
      if (pathOf(target) === pathOf(source)) return;
      if (source.every((part, i) => target[i] === part)) {
        throw invalid(`${pathOf(target)} lies in ${pathOf(source)}, which can't be moved there`);
      }
      if (await this.#checkFree(target)) throw taken(`${pathOf(target)} is there already`);
      const files = await this.#readAll(places);
      const puts = files.map((file) =>
        this.#putOf([...target, ...partsOf(file.path).slice(source.length)], file.content, file),
      );
      await this.#store.batch([...places.map(deletionOf), ...puts]);
    });
  }

  /** Deletes a file, or all that lies in a directory; answers how many files. */
  async delete(path: string): Promise<number> {
    const parts = partsOf(path);
    return this.#alone(async () => {
      const places = await this.#below(parts);
      if (places.length === 0) notFound(path);
      await this.#store.batch(places.map(deletionOf));
      return places.length;
    });
  }

  // Answers whether the file is there; refuses a file in the place of a directory, and the
  // other way round.
  async #checkFree(parts: readonly string[]): Promise<boolean> {
    const ancestors = ancestorsOf(parts);
    const files = await this.#existing([...ancestors, parts]);
    const blocked = ancestors.find((_, i) => files[i]);
    if (blocked !== undefined) {
      throw taken(`${pathOf(blocked)} is a file, so that no file can lie in it`);
    }
    if (await this.#holdsFiles(parts)) throw taken(`${pathOf(parts)} is a directory`);
    return files.at(-1) as boolean;
  }

  async #existing(all: readonly (readonly string[])[]): Promise<boolean[]> {
    const gets = all.map((parts) => ({ ...itemPathOf(this.#root, parts), refreshTtl: false }));
    const items = (await this.#store.batch(gets)) as (Item | null)[];
    return items.map((item) => item !== null);
  }

  async #holdsFiles(parts: readonly string[]): Promise<boolean> {
    const namespace = namespaceOf(this.#root, parts);
    return (await this.#namespaces(namespace, namespace.length)).length > 0;
  }

  // Those of a prefix, cut to a depth: of an index, without a look at an item.
  async #namespaces(prefix: string[], maxDepth?: number): Promise<string[][]> {
    const depth = maxDepth === undefined ? {} : { maxDepth };
    return this.#store.listNamespaces({ prefix, limit: ALL, ...depth });
  }

  // The files below a directory, down to a depth; with a name, where a file of it may be.
  async #walk(directory: readonly string[], depth = ALL, name?: string): Promise<ItemPath[]> {
    const prefix = namespaceOf(this.#root, directory);
    const deepest = depth === ALL ? undefined : prefix.length + depth - 1;
    const namespaces = await this.#namespaces(prefix, deepest);
    if (name !== undefined) return namespaces.map((namespace) => ({ namespace, key: name }));
    const lists = await Promise.all(
      namespaces.map(async (namespace) =>
        (await this.#store.listKeys(namespace)).map((key) => ({ namespace, key })),
      ),
    );
    return lists.flat();
  }

  // A file and what lies below its path: one of them, unless others wrote here.
  async #below(parts: readonly string[]): Promise<ItemPath[]> {
    const places = await this.#walk(parts);
    if (parts.length === 0) return places;
    const [isFile] = await this.#existing([parts]);
    return isFile ? [itemPathOf(this.#root, parts), ...places] : places;
  }

  async #readAll(places: readonly ItemPath[]): Promise<StoredFile[]> {
    const files: StoredFile[] = [];
    for (let i = 0; i < places.length; i += AT_ONCE) {
      const gets = places.slice(i, i + AT_ONCE).map((place) => ({ ...place, refreshTtl: false }));
      for (const item of (await this.#store.batch(gets)) as (Item | null)[]) {
        const file = item === null ? undefined : this.#fileOf(item);
        if (file !== undefined) files.push(file);
      }
    }
    return files;
  }

  // The files at or below a path that may hold a text, found by the index of the store.
  async #holding(
    path: string,
    pattern: string,
    limit: number,
  ): Promise<{ files: StoredFile[]; isAll: boolean }> {
    const parts = partsOf(path);
    const search = {
      namespacePrefix: namespaceOf(this.#root, parts),
      query: JSON.stringify(pattern).slice(1, -1),
      ranking: { mode: "contains" as const },
      limit,
      refreshTtl: false,
    };
    const own = parts.length === 0 ? [] : [{ ...itemPathOf(this.#root, parts), refreshTtl: false }];
    const [found, item] = (await this.#store.batch([search, ...own])) as unknown as [
      SearchItem[],
      Item | null | undefined,
    ];
    const items = item ? [item] : found;
    const files = items.flatMap((each) => this.#fileOf(each) ?? []);
    return { files: files.sort(byPath), isAll: found.length < limit };
  }

  #fileOf(item: Item): StoredFile | undefined {
    const { namespace, key, value, createdAt, updatedAt, quarantined } = item;
    if (quarantined) return undefined;
    const content = contentOfValue(value);
    if (content === undefined) return undefined;
    const path = pathOf(partsOfItem(this.#root, { namespace, key }));
    const type = typeOf(key, content);
    const size = sizeOf(content);
    return { path, content, type, size, createdAt, updatedAt, ...toldOf(item) };
  }

  async #put(parts: readonly string[], content: Content, from: GivenProvenance): Promise<void> {
    await this.#store.batch([this.#putOf(parts, content, from)]);
  }

  // What is changed or moved stays whose word it was, if that counts less.
  #putOf(
    parts: readonly string[],
    content: Content,
    { origin, source }: GivenProvenance,
  ): PutOperation {
    const put: PutOperation = {
      ...itemPathOf(this.#root, parts),
      value: itemOf(content),
      origin,
      source,
    };
    // Bytes have nothing to embed.
    const index = typeof content === "string" ? this.#index : false;
    if (index !== undefined) put.index = index;
    return put;
  }

  #alone<T>(body: () => Promise<T>): Promise<T> {
    const { origin, place } = this.#store.whereabouts;
    return oneByOne(origin, [...place, ...this.#root], body);
  }
}

function storeOf(home: FileHome): KeepsakeStore {
  const found = Object(home) as { store?: object };
  // A memory has the names of a store's methods, to say where they are.
  const store = unwrapStore<KeepsakeStore>(found.store ?? found);
  if (typeof store?.listKeys === "function") return store;
  throw invalid(
    `files need a store of keepsake, a memory or a scope of one: ${show(home)}; InMemoryStore, SqliteStore and openMemory() make one`,
  );
}

function checkContent(content: Content): void {
  if (typeof content === "string") checkText("content", content);
  else if (!isBytes(content)) {
    throw invalid(`content must be a text or a Uint8Array: ${show(content)}`);
  }
}

function checkRoot(namespace: string[]): string[] {
  const labels = checkNamespace(namespace);
  if (labels.length > 0 && !labels.includes("*")) return labels;
  throw invalid(
    `namespace must have a label, and none that is "*": ${JSON.stringify(labels)}; such as ["files"]`,
  );
}

function linesOf(
  files: readonly StoredFile[],
  pattern: string,
  isWanted: (name: string) => boolean,
): FileMatch[] {
  const find = finderOf(pattern);
  return files.flatMap(({ path, content }) => {
    if (typeof content !== "string" || !isWanted(path.slice(path.lastIndexOf("/") + 1))) return [];
    return content
      .split("\n")
      .map((text, i) => ({ path, line: i + 1, text }))
      .filter(({ text }) => find(text) >= 0);
  });
}

function infoOf({ path, size, createdAt, updatedAt }: StoredFile): FileInfo {
  return { path, size, createdAt, updatedAt };
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : Number(a.path > b.path);
}

function deletionOf(place: ItemPath): PutOperation {
  return { ...place, value: null };
}

function notFound(path: string): never {
  throw new KeepsakeError("not_found", `there is no file ${JSON.stringify(path)}`);
}

function taken(message: string): KeepsakeError {
  return new KeepsakeError("already_exists", `${message}: choose another path, or delete it first`);
}
