// Namespaces, the items below one, and one of them.

import type { Moment } from "../scope/history.js";
import type { Item, SearchItem } from "../store/store-operations.js";
import type { Changes } from "../wire/changes.js";
import { h } from "./dom.js";
import { ItemView } from "./item-view.js";
import { called, NamespaceTree, type Past } from "./namespace-tree.js";
import { Pages } from "./pages.js";
import { ALL_ITEMS, coalesced, type Host, isBelow, Panes, type Tab } from "./tab.js";
import { VirtualList } from "./virtual-list.js";
import { briefMoment, counted, moment, pathOf, preview } from "./words.js";

const ROW = 58;
// Of the past, which is not counted.
const MOST_PAST = 1000;

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
  readonly #time = h("input", { type: "datetime-local", "aria-label": "As it was on" });
  readonly #notice = h("span", { class: "note", role: "status" });
  readonly #backToNow = h("button", { type: "button", hidden: true }, "Back to now");
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
      choose: (index) => this.#pages.whenHere(index, (item) => this.#open(item)),
    });
    this.#countAnew = coalesced(() => this.#recount(), 300);
    this.#panes = new Panes([
      { title: "Namespaces", content: this.#tree.root },
      { title: "Items", content: this.#list.root, beside: this.#about },
      { title: "Item", content: this.#view.root },
    ]);
    this.#time.addEventListener("change", () => this.#turnTo(this.#time.value));
    this.#backToNow.addEventListener("click", () => this.#turnTo(""));
    // Seen above, reached by keyboard behind: a field for a time has seven stops.
    const bar = h(
      "div",
      { class: "bar" },
      h("span", { "aria-hidden": "true" }, "As it was on"),
      this.#time,
      this.#backToNow,
      this.#notice,
    );
    this.root = h("div", { class: "barred" }, this.#panes.root, bar);
  }

  refresh({ everything, namespaces }: Changes): void {
    // The past stays as it is, once it is shown.
    if (this.#tree.past !== undefined && !everything) return;
    this.#tree.refresh(everything ? undefined : namespaces);
    if (!everything && !namespaces.some((changed) => isBelow(changed, this.#namespace))) return;
    this.#pages.reset(false);
    this.#countAnew();
    this.#host.run(() => this.#view.refresh());
  }

  /** Shows one item, whatever was shown before. */
  show(item: Item): void {
    this.showBelow(item.namespace);
    this.#open(item);
  }

  /** Shows the items of this namespace and below it, as they are now. */
  showBelow(namespace: string[]): void {
    if (this.#tree.past !== undefined) this.#showAt(undefined, "");
    this.#tree.reveal(namespace);
    this.#choose(namespace);
  }

  /** Everything as it was then; `called` says when that was. */
  showAsOf(moment: Moment, called: string): void {
    this.#host.run(async () => {
      const rules = await this.#host.memory.store.historyRules();
      const kept = rules.map(({ namespace }) => namespace);
      if (kept.length === 0)
        throw new Error("no history is kept: open an item, and keep one from now on");
      this.#showAt({ store: this.#host.memory.asOf(moment), kept }, called);
    });
  }

  // A time as the field has it, or "" for now.
  #turnTo(time: string): void {
    if (time === "") this.#showAt(undefined, "");
    else this.showAsOf(new Date(time), moment(time));
  }

  #showAt(past: Past | undefined, called: string): void {
    this.#tree.past = past;
    this.#backToNow.hidden = past === undefined;
    if (past === undefined) this.#time.value = "";
    this.#notice.textContent =
      past === undefined ? "" : `This is how it was: ${called}. It can be read, not changed.`;
    this.#view.clear();
    this.#tree.refresh(undefined);
    const isKept = past?.kept.some((prefix) => isBelow(this.#namespace, prefix)) ?? true;
    const place = isKept ? [...this.#namespace] : (past?.kept[0] ?? []);
    this.#tree.reveal(place);
    this.#choose(place);
    this.#panes.show(0);
  }

  #read(offset: number, limit: number): Promise<SearchItem[]> {
    const options = { offset, limit, refreshTtl: false, ...ALL_ITEMS };
    return (this.#tree.past ?? this.#host.memory).store.search(this.#namespace, options);
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
      const items = await this.#countBelow(namespace);
      // Another was chosen meanwhile: it asked for itself.
      if (namespace !== this.#namespace) return;
      this.#count = items;
      this.#list.update(items);
      const most = this.#tree.past ? MOST_PAST : this.#list.most;
      const about =
        items > most ? `the newest ${most.toLocaleString("en")} items` : counted(items, "item");
      this.#about.textContent = `${called(namespace)}: ${about}`;
    } catch (error) {
      this.#host.fail(error);
    }
  }

  async #countBelow(namespace: string[]): Promise<number> {
    if (this.#tree.past === undefined) return (await this.#tree.count(namespace)).items;
    const options = { limit: MOST_PAST + 1, ...ALL_ITEMS };
    return (await this.#tree.past.store.search(namespace, options)).length;
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
        h(
          "b",
          { class: "name" },
          below.length > 0 && h("span", { class: "place" }, `${pathOf(below)} / `),
          keyOf(item.key),
        ),
        isPast(item) && h("span", { class: "score" }, "held before"),
        item.quarantined && h("span", { class: "score" }, "in quarantine"),
        h("time", { class: "count" }, briefMoment(item.updatedAt)),
      ),
      h("span", { class: "preview" }, preview(item.value)),
    );
  }

  #isChosen(item: Item | undefined): boolean {
    const chosen = this.#view.item;
    if (item === undefined || chosen === undefined || item.key !== chosen.key) return false;
    return pathOf(item.namespace) === pathOf(chosen.namespace);
  }

  #open(item: Item): void {
    this.#view.show(item, this.#tree.past !== undefined);
    this.#list.update(this.#count);
    this.#panes.show(2);
  }
}

// A fact that another one took the place of, mostly.
const isPast = ({ validUntil }: Item) => validUntil !== undefined && validUntil <= new Date();

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

// A random key says nothing: what the item holds stands out, and the key is whole beside it.
function keyOf(key: string): HTMLElement {
  if (!UUID.test(key)) return h("span", { class: "key" }, key);
  return h("span", { class: "key random", title: key }, `${key.slice(0, 8)}…`);
}
