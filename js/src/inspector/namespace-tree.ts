// Namespaces as a tree, with how many items are below each.

import { KeepsakeError } from "../errors.js";
import type { PastStore } from "../store/past-store.js";
import type { KeepsakeStore } from "../store/store.js";
import { h } from "./dom.js";
import { ALL_ITEMS, coalesced, type Host, isBelow } from "./tab.js";
import { VirtualList } from "./virtual-list.js";
import { bytes, counted, pathOf } from "./words.js";

const PORTION = 1000;
const HELD_PAGE = 1000;
const ROW = 34;
const ALL = "All items";

interface Node {
  namespace: string[];
  children: Map<string, Node>;
}

/** A memory as it was, and the namespaces of which that is kept. */
export interface Past {
  store: PastStore;
  kept: string[][];
}

type Present = { store: KeepsakeStore; kept: string[][] };

/** What is below a namespace. */
export interface Count {
  items: number;
  bytes?: number | undefined;
}

export class NamespaceTree {
  readonly root: HTMLElement;
  /** What it is of: the memory as it was, where that is known. Nothing is counted there. */
  past: Past | undefined;
  /** Everything that is chosen is below it. */
  chosen: string[] = [];
  readonly #host: Host;
  readonly #onChoose: (namespace: string[]) => void;
  readonly #list: VirtualList;
  readonly #load: () => void;
  readonly #open = new Set<string>([idOf([])]);
  readonly #counts = new Map<string, Count>();
  readonly #counting = new Map<string, Promise<Count>>();
  #generation = 0;
  #top: Node = { namespace: [], children: new Map() };
  #visible: Node[] = [];

  constructor(host: Host, onChoose: (namespace: string[]) => void) {
    this.#host = host;
    this.#onChoose = onChoose;
    this.#list = new VirtualList({
      label: "Namespaces",
      role: "tree",
      rowHeight: ROW,
      render: (row, index) => this.#render(row, index),
      isChosen: (index) => idOf(this.#at(index).namespace) === idOf(this.chosen),
      choose: (index) => this.#choose(this.#at(index).namespace),
      onKey: (key, index) => this.#turn(key, index),
      onView: (first, end) => this.#countIn(first, end),
    });
    this.root = this.#list.root;
    this.#load = coalesced(() => this.#reload(), 300);
  }

  /** Reads what is there, and counts what is below these namespaces anew. */
  refresh(namespaces: readonly string[][] | undefined): void {
    for (const id of [...this.#counts.keys()]) {
      const prefix = JSON.parse(id) as string[];
      if (namespaces?.every((namespace) => !isBelow(namespace, prefix)) === true) continue;
      this.#counts.delete(id);
    }
    this.#generation++;
    this.#counting.clear();
    this.#load();
  }

  /** Opens the way to it, and chooses it. */
  reveal(namespace: string[]): void {
    for (let depth = 0; depth < namespace.length; depth++)
      this.#open.add(idOf(namespace.slice(0, depth)));
    this.chosen = namespace;
    this.#show();
  }

  /** How much is below it. */
  count(namespace: string[]): Promise<Count> {
    const id = idOf(namespace);
    const known = this.#counts.get(id);
    if (known) return Promise.resolve(known);
    const counting = this.#counting.get(id) ?? this.#countNow(namespace);
    this.#counting.set(id, counting);
    return counting;
  }

  async #countNow(namespace: string[]): Promise<Count> {
    const generation = this.#generation;
    const isCurrent = () => generation === this.#generation;
    try {
      const count = await countBelow(this.#host, namespace);
      // Unless something was written meanwhile.
      if (!isCurrent()) return count;
      this.#counts.set(idOf(namespace), count);
      this.#counting.delete(idOf(namespace));
      // And counts the next one.
      this.#list.update(this.#visible.length);
      return count;
    } catch (error) {
      if (isCurrent()) this.#counting.delete(idOf(namespace));
      throw error;
    }
  }

  async #reload(): Promise<void> {
    try {
      this.#top = await readTree(this.past ?? { store: this.#host.memory.store, kept: [[]] });
      this.#show();
    } catch (error) {
      this.#host.fail(error);
    }
  }

  #show(): void {
    this.#visible = [...visible(this.#top, this.#open)];
    this.#list.update(this.#visible.length);
  }

  #at(index: number): Node {
    return this.#visible[index] ?? this.#top;
  }

  #choose(namespace: string[]): void {
    this.chosen = namespace;
    this.#list.update(this.#visible.length);
    this.#onChoose(namespace);
  }

  #turn(key: string, index: number): boolean {
    const { namespace, children } = this.#at(index);
    const id = idOf(namespace);
    const isOpen = this.#open.has(id);
    if ((key === "ArrowRight" || key === "Toggle") && !isOpen && children.size > 0)
      this.#open.add(id);
    else if ((key === "ArrowLeft" || key === "Toggle") && isOpen && children.size > 0)
      this.#open.delete(id);
    else if (key === "ArrowRight" && isOpen && children.size > 0) this.#list.activate(index + 1);
    else if (key === "ArrowLeft") this.#toParent(namespace);
    else return false;
    this.#show();
    return true;
  }

  #toParent(namespace: string[]): void {
    const parent = idOf(namespace.slice(0, -1));
    this.#list.activate(this.#visible.findIndex((node) => idOf(node.namespace) === parent));
  }

  #render(row: HTMLElement, index: number): void {
    const { namespace, children } = this.#at(index);
    const id = idOf(namespace);
    const isOpen = this.#open.has(id);
    row.setAttribute("aria-level", String(namespace.length + 1));
    if (children.size > 0) row.setAttribute("aria-expanded", String(isOpen));
    else row.removeAttribute("aria-expanded");
    const indent = h("span", { class: "twisty", "aria-hidden": "true" });
    indent.style.paddingInlineStart = `${namespace.length * 14}px`;
    indent.textContent = children.size === 0 ? "" : isOpen ? "▾" : "▸";
    const count = this.#counts.get(id);
    const size = count?.bytes === undefined ? "" : `, ${bytes(count.bytes)}`;
    row.title = count === undefined ? "" : `${counted(count.items, "item")}${size}`;
    row.append(
      indent,
      h("span", { class: "name" }, namespace.at(-1) ?? ALL),
      h("span", { class: "count" }, count?.items.toLocaleString("en") ?? (this.past ? "" : "…")),
    );
  }

  // Only what is seen, one after the other: each count reads the rows below.
  #countIn(first: number, end: number): void {
    if (this.past !== undefined) return;
    const missing = this.#visible
      .slice(first, end)
      .find(({ namespace }) => !this.#counts.has(idOf(namespace)));
    if (missing === undefined || this.#counting.size > 0) return;
    this.count(missing.namespace).catch((error) => this.#host.fail(error));
  }
}

const idOf = (namespace: readonly string[]): string => JSON.stringify(namespace);

function* visible(node: Node, open: ReadonlySet<string>): Generator<Node> {
  yield node;
  if (!open.has(idOf(node.namespace))) return;
  for (const child of node.children.values()) yield* visible(child, open);
}

async function readTree(from: Past | Present): Promise<Node> {
  const top: Node = { namespace: [], children: new Map() };
  for (const prefix of from.kept) await addBelow(top, from.store, prefix);
  return top;
}

async function addBelow(top: Node, store: KeepsakeStore | PastStore, prefix: string[]) {
  for (let offset = 0; ; offset += PORTION) {
    const page = { limit: PORTION, offset, ...(prefix.length > 0 && { prefix }) };
    const namespaces = await store.listNamespaces(page);
    for (const namespace of namespaces) add(top, namespace);
    if (namespaces.length < PORTION) return;
  }
}

function add(top: Node, namespace: string[]): void {
  let node = top;
  for (const [depth, label] of namespace.entries()) {
    let child = node.children.get(label);
    if (child === undefined) {
      child = { namespace: namespace.slice(0, depth + 1), children: new Map() };
      node.children.set(label, child);
    }
    node = child;
  }
}

// What a forgetting would take is what is there; of everything, statistics are cheaper.
async function countBelow({ memory }: Host, namespace: string[]): Promise<Count> {
  if (namespace.length === 0) return { items: (await memory.store.stats()).items };
  try {
    const { erased } = await memory.forget({ namespaces: [namespace], dryRun: true });
    return { items: erased.items, bytes: erased.bytes };
  } catch (error) {
    if (!(error instanceof KeepsakeError) || error.code !== "held") throw error;
    return { items: await countedOneByOne(memory.store, namespace) };
  }
}

// Of what is held, for which no forgetting is counted.
async function countedOneByOne(store: KeepsakeStore, namespace: string[]): Promise<number> {
  const page = { limit: HELD_PAGE, ...ALL_ITEMS, refreshTtl: false };
  for (let offset = 0; ; offset += HELD_PAGE) {
    const found = await store.search(namespace, { ...page, offset });
    if (found.length < HELD_PAGE) return offset + found.length;
  }
}

/** What people call a namespace. */
export const called = (namespace: readonly string[]): string =>
  namespace.length === 0 ? ALL : pathOf(namespace);
