// A place to try searches: what was found and why, and why something was not.

import type { KeepsakeError } from "../errors.js";
import type { SearchOptions } from "../store/store.js";
import type { SearchItem } from "../store/store-operations.js";
import type { Changes } from "../wire/changes.js";
import { choice, field, h, newId } from "./dom.js";
import {
  ALL_ITEMS,
  type Host,
  namespaceText,
  Panes,
  parseJson,
  parseNamespace,
  type Tab,
} from "./tab.js";
import { cut, pathOf, pretty, preview, whyFound, whyMissed } from "./words.js";

const MOST_OFFERED = 100;
const MODES = {
  "": "As the store does by itself",
  text: "By words",
  vector: "By meaning",
  hybrid: "By words and meaning",
  contains: "Contains the question as it stands",
};
// These bring no piece of text that was found.
const WITHOUT_SNIPPET = ["vector", "contains"];

interface Asked {
  query: string;
  prefix: string[];
  options: SearchOptions;
}

export class SearchTab implements Tab {
  readonly title = "Search";
  readonly root: HTMLElement;
  readonly #host: Host;
  readonly #panes: Panes;
  readonly #query = h("input", { type: "search", placeholder: "A question, or some words" });
  readonly #prefix = h("input", { type: "text", placeholder: "all, or users/ada" });
  readonly #mode = choice(MODES);
  readonly #limit = h("input", { type: "number", min: 1, max: 1000, value: 10, required: true });
  readonly #asOf = h("input", { type: "date" });
  readonly #filter = h("input", { type: "text", placeholder: '{"kind": "fact"}' });
  readonly #missed = h("input", { type: "text", placeholder: "users/ada/drink" });
  readonly #offered = h("datalist", { id: newId() });
  readonly #about = h("span", { class: "count" });
  readonly #hits = h("ol", { class: "hits" });
  readonly #verdict = h("p", { class: "verdict", role: "status" });
  #isAsked = false;
  #latest = 0;

  constructor(host: Host) {
    this.#host = host;
    this.#missed.setAttribute("list", this.#offered.id);
    const results = h("div", { class: "scroll" }, this.#hits);
    this.#panes = new Panes([
      { title: "What to look for", content: this.#form() },
      { title: "What was found", content: results, beside: this.#about },
    ]);
    this.root = this.#panes.root;
    this.root.classList.add("two");
    this.#missed.addEventListener("focus", () => host.run(() => this.#offer()));
  }

  refresh(_: Changes): void {
    if (this.#isAsked) this.#host.run(() => this.#search());
  }

  /** Asks why this item was not found. */
  ask(namespace: string[], key: string): void {
    this.#missed.value = itemText(namespace, key);
    this.#panes.show(0);
    if (this.#query.value.trim() === "") {
      this.#verdict.textContent = "Enter a question first, then ask why the item is missing.";
      this.#query.focus();
    } else this.#host.run(() => this.#explain());
  }

  #form(): HTMLElement {
    const search = h(
      "form",
      {
        submit: (event: Event) => {
          event.preventDefault();
          this.#panes.show(1);
          this.#host.run(() => this.#search());
        },
      },
      field("Question", this.#query),
      field("Below namespace", this.#prefix),
      field("How", this.#mode),
      field("Filter, as JSON", this.#filter),
      field("At most", this.#limit),
      field("As of", this.#asOf, "Empty: what holds now."),
      h("div", { class: "actions" }, h("button", { class: "primary" }, "Search")),
    );
    const missing = h(
      "form",
      {
        class: "missing",
        submit: (event: Event) => {
          event.preventDefault();
          this.#host.run(() => this.#explain());
        },
      },
      h("h3", {}, "Is something missing?"),
      field("Item, as namespace/key", this.#missed),
      this.#offered,
      h("div", { class: "actions" }, h("button", {}, "Why not this one?")),
      this.#verdict,
    );
    return h("div", { class: "scroll forms" }, search, missing);
  }

  #asked(): Asked {
    const query = this.#query.value.trim();
    const mode = this.#mode.value as keyof typeof MODES;
    const options: SearchOptions = { limit: Number(this.#limit.value), refreshTtl: false };
    if (this.#asOf.value !== "") options.validAt = this.#asOf.value;
    const filter = parseJson("The filter", this.#filter.value);
    if (filter) options.filter = filter;
    if (query !== "") Object.assign(options, { query, explain: true });
    if (query !== "" && mode !== "") options.ranking = { mode };
    return { query, prefix: parseNamespace(this.#prefix.value), options };
  }

  async #search(): Promise<void> {
    const { query, prefix, options } = this.#asked();
    const call = ++this.#latest;
    const hits = await this.#found(prefix, options);
    if (call !== this.#latest) return;
    this.#isAsked = true;
    this.#about.textContent = hits.length === 0 ? "nothing" : `${hits.length}, the best first`;
    if (query === "") this.#about.textContent = `${hits.length}, the newest first`;
    this.#hits.replaceChildren(...hits.map((hit) => this.#hit(hit, query)));
    if (hits.length === 0) this.#hits.append(h("li", { class: "empty" }, nothing(query)));
  }

  async #found(prefix: string[], options: SearchOptions): Promise<SearchItem[]> {
    const { store } = this.#host.memory;
    const { query, ranking: { mode = "auto" } = {} } = options;
    if (query === undefined || WITHOUT_SNIPPET.includes(mode)) return store.search(prefix, options);
    try {
      return await store.search(prefix, { ...options, snippet: true });
    } catch (error) {
      // By itself, a store with an index searches by meaning.
      if (mode !== "auto" || (error as KeepsakeError).code !== "invalid_argument") throw error;
      return store.search(prefix, options);
    }
  }

  #hit(hit: SearchItem, query: string): HTMLElement {
    const { namespace, key, value, score, explain, plan } = hit;
    const open = () => this.#host.openItem(namespace, key);
    const numbers = Object.entries(explain ?? {}).map(
      ([name, part]) => `${name} ${part.toFixed(2)}`,
    );
    return h(
      "li",
      {},
      h(
        "div",
        { class: "line" },
        h("button", { type: "button", class: "link", click: open }, pathOf(namespace, key)),
        score !== undefined && h("span", { class: "score", title: "Score" }, score.toFixed(2)),
      ),
      h("p", { class: "preview" }, ...(hit.snippet ? marked(hit.snippet) : [preview(value)])),
      h("ul", { class: "why" }, ...whyFound(hit, query).map((why) => h("li", {}, why))),
      h(
        "details",
        {},
        h("summary", {}, "Value and numbers"),
        numbers.length > 0 && h("p", { class: "note" }, `${numbers.join(", ")}. ${plan ?? ""}`),
        h("pre", { tabindex: 0, "aria-label": `Value of ${key}` }, cut(pretty(value), 20_000)),
      ),
    );
  }

  async #explain(): Promise<void> {
    const { prefix, options } = this.#asked();
    const { namespace, key } = parseItem(this.#missed.value);
    this.#verdict.textContent = "";
    const why = await this.#host.memory.store.whyNot(prefix, { namespace, key }, options);
    this.#verdict.textContent = `${pathOf(namespace, key)}: ${whyMissed(why, prefix)}`;
    this.#verdict.scrollIntoView({ block: "nearest" });
  }

  // What may be meant, to be chosen from.
  async #offer(): Promise<void> {
    const { prefix } = this.#asked();
    const items = await this.#host.memory.store.search(prefix, {
      limit: MOST_OFFERED,
      ...ALL_ITEMS,
      refreshTtl: false,
    });
    const options = items.map(({ namespace, key }) =>
      h("option", { value: itemText(namespace, key) }),
    );
    this.#offered.replaceChildren(...options);
  }
}

const nothing = (query: string) =>
  query === "" ? "There is nothing here." : `Nothing is like “${cut(query, 60)}”.`;

function itemText(namespace: string[], key: string): string {
  const text = namespaceText(namespace);
  return text.startsWith("[") || key.includes("/")
    ? JSON.stringify([...namespace, key])
    : `${text}/${key}`;
}

function parseItem(text: string): { namespace: string[]; key: string } {
  const labels = parseNamespace(text);
  const key = labels.pop();
  if (key === undefined || labels.length === 0)
    throw new Error("name the item with its namespace: users/ada/drink");
  return { namespace: labels, key };
}

// The snippet, with what was found in it.
function marked({ text, highlights }: NonNullable<SearchItem["snippet"]>): (Node | string)[] {
  const parts: (Node | string)[] = [];
  let done = 0;
  for (const [begin, end] of highlights) {
    parts.push(text.slice(done, begin), h("mark", {}, text.slice(begin, end)));
    done = end;
  }
  return withoutMark([...parts, text.slice(done)]);
}

// A piece from the middle of a text may begin with the comma before it.
function withoutMark([first = "", ...rest]: (Node | string)[]): (Node | string)[] {
  return [typeof first === "string" ? first.replace(/^[,;:.!?]\s+/, "… ") : first, ...rest];
}
