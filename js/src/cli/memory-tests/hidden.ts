// Whether something of one part of a memory is seen from another.

import { KeepsakeError } from "../../errors.js";
import type { Item, SearchOperation } from "../../store/store-operations.js";
import { brief, pathOf } from "../output.js";
import type { HiddenTest, Way } from "./expectations.js";
import { type FilteredView, shownView } from "./fields.js";
import type { TestMemory, Tier } from "./memory.js";
import { type Problem, someOf } from "./outcome.js";
import { stringsIn, threadsOf } from "./snapshot.js";

const ALL = 0xffff_ffff;
// So many items are asked for one by one; a listing looks at all.
const MOST_ASKED = 100;
const QUERY = 500;
const EVERYTHING = { limit: ALL, refreshTtl: false, includeQuarantined: true } as const;

/** @internal */
export async function hiddenProblems(memory: TestMemory, test: HiddenTest): Promise<Problem[]> {
  const owner = memory.tier(test.scope);
  const items = await owner.store.search(test.namespace, {
    ...EVERYTHING,
    filter: test.filter,
    validAt: "anytime",
  });
  // Threads lie in no namespace.
  const threads = test.scope === undefined ? [] : await threadsOf(owner.checkpointer);
  if (items.length + threads.length === 0) {
    const expected = `something that ${shownView(test)} may hide`;
    return [{ expected, came: ["nothing is there"], why: [] }];
  }
  const search = new Leaks(memory.tier(test.from.scope), test, owner.place);
  const seen = await search.of(items, threads);
  if (seen.length === 0) return [];
  const expected = `nothing of ${shownView(test)} is seen from ${shownView(test.from)}`;
  return [{ expected, came: someOf(seen), why: [] }];
}

class Leaks {
  readonly #viewer: Tier;
  readonly #from: FilteredView;
  readonly #by: readonly Way[];
  readonly #texts: readonly string[];
  readonly #place: readonly string[];
  readonly #hidden = new Set<string>();
  readonly #seen = new Map<string, string>();

  /** `place` is where what is hidden lies. */
  constructor(viewer: Tier, { from, by, texts }: HiddenTest, place: readonly string[]) {
    this.#viewer = viewer;
    this.#from = from;
    this.#by = by;
    this.#texts = texts.map((text) => text.toLowerCase());
    this.#place = place;
  }

  /** What is seen, a line each, with the way by which it is. */
  async of(items: readonly Item[], threads: readonly string[]): Promise<string[]> {
    for (const { namespace, key } of items) {
      this.#hidden.add(nameOf([...this.#place, ...namespace], key));
    }
    if (this.#has("search")) await this.#bySearch(items);
    if (this.#has("filter")) await this.#byFilter(items);
    if (this.#has("get")) await this.#byGet(items);
    if (this.#has("thread")) await this.#byThread(threads);
    return [...this.#seen.values()];
  }

  #has(way: Way): boolean {
    return this.#by.includes(way);
  }

  async #bySearch(items: readonly Item[]): Promise<void> {
    await this.#search("search", { validAt: "anytime" });
    const queries = [...this.#texts, ...items.slice(0, MOST_ASKED).map(queryFor)];
    for (const query of new Set(queries)) await this.#search("search", { query });
  }

  async #byFilter(items: readonly Item[]): Promise<void> {
    for (const { value } of items.slice(0, MOST_ASKED)) {
      for (const [field, wanted] of Object.entries(value)) {
        if (typeof wanted === "object") continue;
        await this.#search("filter", { filter: { [field]: wanted, ...this.#from.filter } });
      }
    }
  }

  async #search(way: Way, options: Partial<SearchOperation>): Promise<void> {
    const { namespace, filter } = this.#from;
    const hits = await orNothing(
      this.#viewer.store.search(namespace, { ...EVERYTHING, filter, ...options }),
    );
    for (const hit of hits ?? []) this.#look(way, hit);
  }

  async #byGet(items: readonly Item[]): Promise<void> {
    const { store } = this.#viewer;
    const { namespace: prefix } = this.#from;
    for (const { namespace, key } of items) {
      for (const tried of [namespace, [...this.#place, ...namespace]]) {
        if (!prefix.every((label, i) => tried[i] === label)) continue;
        const item = await orNothing(store.get(tried, key, { refreshTtl: false }));
        if (item) this.#look("get", item);
      }
    }
  }

  async #byThread(threads: readonly string[]): Promise<void> {
    const { checkpointer, place } = this.#viewer;
    const hidden = new Set(threads.map((id) => [...this.#place, id].join("/")));
    const own = (await orNothing(threadsOf(checkpointer))) ?? [];
    for (const id of new Set([...own, ...threads, ...hidden])) {
      const config = { configurable: { thread_id: id, checkpoint_ns: "" } };
      const tuple = await orNothing(checkpointer.getTuple(config));
      if (!tuple) continue;
      const name = [...place, id].join("/");
      const said = stringsIn(tuple.checkpoint.channel_values).join("\n");
      if (hidden.has(name) || this.#holdsText(said)) {
        this.#seen.set(`thread ${name}`, `by thread: ${name}  ${brief(said, 80)}`);
      }
    }
  }

  #look(way: Way, { namespace, key, value }: Item): void {
    const path = [...this.#viewer.place, ...namespace];
    const name = nameOf(path, key);
    if (!this.#hidden.has(name) && !this.#holdsText(stringsIn(value).join("\n"))) return;
    this.#seen.set(`${way} ${name}`, `by ${way}: ${pathOf([...path, key])}  ${brief(value, 80)}`);
  }

  #holdsText(text: string): boolean {
    const folded = text.toLowerCase();
    return this.#texts.some((each) => folded.includes(each));
  }
}

const nameOf = (namespace: readonly string[], key: string) => JSON.stringify([namespace, key]);
const queryFor = ({ value }: Item) => stringsIn(value).join(" ").slice(0, QUERY);

// What a policy refuses is not seen.
async function orNothing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof KeepsakeError && error.code === "access_denied") return undefined;
    throw error;
  }
}
