// Namespaces, the items below one, and one of them.

import type { Item, SearchItem } from "../store/store-operations.js";
import type { Changes } from "../wire/changes.js";
import { h } from "./dom.js";
import { ItemView } from "./item-view.js";
import { called, NamespaceTree } from "./namespace-tree.js";
import { Pages } from "./pages.js";
import { coalesced, type Host, isBelow, Panes, type Tab } from "./tab.js";
import { VirtualList } from "./virtual-list.js";
import { counted, moment, pathOf, preview } from "./words.js";

const ROW = 58;

export class ItemsTab implements Tab {
  readonly title = "Items";
  readonly root: HTMLElement;
  readonly #host: Host;
  readonly #panes: Panes;
  readonly #tree: NamespaceTree;
  readonly #list: VirtualList;
  readonly #pages: Pages<SearchItem>;
  readonly #view: ItemView;
  readonly #about = h("span", { class: "count" });
  readonly #countAnew: () => void;
  #namespace: string[] = [];
  #count = 0;

  constructor(host: Host) {
    this.#host = host;
    this.#tree = new NamespaceTree(host, (namespace) => this.#choose(namespace));
    this.#view = new ItemView(host, () => this.#panes.show(1));
    const show = () => this.#list.update(this.#count);
    this.#pages = new Pages(
      (offset, limit) => this.#read(offset, limit),
      show,
      (error) => host.fail(error),
    );
    this.#list = new VirtualList({
      label: "Items, the newest first",
      role: "listbox",
      rowHeight: ROW,
      render: (row, index) => this.#render(row, index),
      isChosen: (index) => this.#isChosen(this.#pages.at(index)),
      choose: (index) => this.#open(this.#pages.at(index)),
    });
    this.#countAnew = coalesced(() => this.#recount(), 300);
    this.#panes = new Panes([
      { title: "Namespaces", content: this.#tree.root },
      { title: "Items", content: this.#list.root, beside: this.#about },
      { title: "Item", content: this.#view.root },
    ]);
    this.root = this.#panes.root;
  }

  refresh({ everything, namespaces }: Changes): void {
    this.#tree.refresh(everything ? undefined : namespaces);
    if (!everything && !namespaces.some((changed) => isBelow(changed, this.#namespace))) return;
    this.#pages.reset(false);
    this.#countAnew();
    this.#host.run(() => this.#view.refresh());
  }

  /** Shows one item, whatever was shown before. */
  show(item: Item): void {
    this.#tree.reveal(item.namespace);
    this.#choose(item.namespace);
    this.#open(item);
  }

  #read(offset: number, limit: number): Promise<SearchItem[]> {
    const options = { offset, limit, refreshTtl: false, includeSuperseded: true };
    return this.#host.memory.store.search(this.#namespace, options);
  }

  #choose(namespace: string[]): void {
    this.#namespace = namespace;
    this.#count = 0;
    this.#pages.reset(true);
    this.#list.update(0);
    this.#list.toTop();
    this.#about.textContent = called(namespace);
    this.#panes.show(1);
    void this.#recount();
  }

  async #recount(): Promise<void> {
    const namespace = this.#namespace;
    try {
      const { items } = await this.#tree.count(namespace);
      // Another was chosen meanwhile: it asked for itself.
      if (namespace !== this.#namespace) return;
      this.#count = items;
      this.#list.update(items);
      const shown = items > this.#list.most ? `, the newest ${this.#list.most} of them` : "";
      this.#about.textContent = `${called(namespace)}: ${counted(items, "item")}${shown}`;
    } catch (error) {
      this.#host.fail(error);
    }
  }

  #render(row: HTMLElement, index: number): void {
    const item = this.#pages.at(index);
    if (item === undefined) {
      row.append(h("span", { class: "preview" }, "…"));
      return;
    }
    const below = item.namespace.slice(this.#namespace.length);
    row.append(
      h(
        "span",
        { class: "line" },
        h("b", { class: "name" }, pathOf(below, item.key)),
        isPast(item) && h("span", { class: "score" }, "held before"),
        h("time", { class: "count" }, moment(item.updatedAt)),
      ),
      h("span", { class: "preview" }, preview(item.value)),
    );
  }

  #isChosen(item: Item | undefined): boolean {
    const chosen = this.#view.item;
    if (item === undefined || chosen === undefined || item.key !== chosen.key) return false;
    return pathOf(item.namespace) === pathOf(chosen.namespace);
  }

  #open(item: Item | undefined): void {
    if (item === undefined) return;
    this.#view.show(item);
    this.#panes.show(2);
  }
}

// A fact that another one took the place of, mostly.
const isPast = ({ validUntil }: Item) => validUntil !== undefined && validUntil <= new Date();
