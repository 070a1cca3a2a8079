// The memory as it is: namespaces, their items, and each value. What other tabs write
// appears by itself.
import { PERSON } from "../agent/items.mjs";
import { byId, coalesced, h, KeyedList } from "../dom.mjs";
import { THREADS } from "../memory/threads.mjs";
import { counted, cut, fitting, moment, path, whyFound } from "../words.mjs";
import { confirmed } from "./confirm.mjs";

const MOST_NAMESPACES = 200;
const MOST_ITEMS = 200;
const MOST_FOUND = 20;
const PREVIEW = 90;
// What is younger was just written, here or in another tab.
const FRESH_MS = 3_000;
// "1.2" before "1.10".
const BY_KEY = new Intl.Collator("en", { numeric: true });

export class MemoryView {
  #app;
  #query = byId("memory-query");
  #namespaces = new KeyedList(byId("namespaces"), (entry) => new NamespaceRow(this.#app, entry));
  #found = new KeyedList(byId("found"), (entry) => new ItemRow(this.#app, entry));

  constructor(app) {
    this.#app = app;
    this.update = coalesced(() => this.#update());
    const search = app.notices.guarded(() => this.update());
    this.#query.addEventListener("input", search);
    byId("memory-search").addEventListener("submit", (event) => event.preventDefault());
  }

  async #update() {
    const query = this.#query.value.trim();
    byId("namespaces").hidden = query !== "";
    byId("found").hidden = query === "";
    await (query === "" ? this.#showNamespaces() : this.#showFound(query));
  }

  async #showNamespaces() {
    const namespaces = await this.#app.database.use(async ({ store }) => {
      const all = await store.listNamespaces({ limit: MOST_NAMESPACES });
      return withCounts(store, [...all.filter(isOfThePerson), ...all.filter(isOfOthers)]);
    });
    this.#namespaces.show(namespaces);
    const items = namespaces.reduce((sum, { count }) => sum + count, 0);
    byId("memory-count").textContent = items === 0 ? "" : counted(items, "item");
    this.#sayEmpty(
      namespaces.length === 0,
      "Nothing here yet. Load a conversation, or tell the agent something: what it keeps appears here, from every tab.",
    );
  }

  async #showFound(query) {
    const items = await this.#app.database.use(({ store }) => found(store, query));
    if (query !== this.#query.value.trim()) return;
    this.#found.show(items.map((item) => ({ key: pathOf(item), item, score: item.score })));
    this.#sayEmpty(items.length === 0, `Nothing in the memory is like “${query}”.`);
  }

  #sayEmpty(isEmpty, text) {
    byId("memory-empty").hidden = !isEmpty;
    byId("memory-empty").textContent = text;
  }
}

// The page's list of threads is none of what the agent knows.
const isMemory = ([root]) => root !== THREADS[0];

// What the person just told is not to be looked for below all that was only heard.
const isOfThePerson = (namespace) => PERSON.every((label, i) => namespace[i] === label);
const isOfOthers = (namespace) => isMemory(namespace) && !isOfThePerson(namespace);

function withCounts(store, namespaces) {
  return Promise.all(
    namespaces.map(async (namespace) => ({
      key: path(namespace),
      namespace,
      count: (await store.listKeys(namespace)).length,
    })),
  );
}

// What the words of the query are about, the best first, then what holds its letters somewhere.
async function found(store, query) {
  const [about, holding] = await store.batch([
    { namespacePrefix: [], query, limit: MOST_FOUND, explain: true, snippet: PREVIEW },
    { namespacePrefix: [], query, limit: MOST_FOUND, ranking: { mode: "contains" } },
  ]);
  const paths = new Set(about.map(pathOf));
  const others = holding.filter((item) => !paths.has(pathOf(item)));
  const items = [...about, ...others.map((item) => ({ ...item, score: undefined }))];
  return items.filter(({ namespace }) => isMemory(namespace));
}

function pathOf({ namespace, key }) {
  return path([...namespace, key]);
}

class NamespaceRow {
  #app;
  #namespace;
  #items;
  #count = h("span", { class: "count" });
  #body = h("div", { class: "items" });

  constructor(app, entry) {
    this.#app = app;
    this.#namespace = entry.namespace;
    this.#items = new KeyedList(this.#body, (item) => new ItemRow(app, item));
    this.root = h(
      "details",
      { class: "namespace" },
      h("summary", {}, labels(entry.namespace), this.#count),
      this.#body,
    );
    this.root.addEventListener(
      "toggle",
      app.notices.guarded(() => this.#showItems()),
    );
    this.update(entry);
  }

  update({ count }) {
    this.#count.textContent = count;
    this.#app.notices.guarded(() => this.#showItems())();
  }

  async #showItems() {
    if (!this.root.open) return;
    const items = await this.#app.database.use(({ store }) =>
      store.search(this.#namespace, { limit: MOST_ITEMS }),
    );
    const own = items.filter(({ namespace }) => namespace.length === this.#namespace.length);
    own.sort((a, b) => BY_KEY.compare(a.key, b.key));
    this.#items.show(own.map((item) => ({ key: item.key, item, isInTree: true })));
  }
}

class ItemRow {
  #app;
  #shown;

  constructor(app, entry) {
    this.#app = app;
    this.root = h("details", { class: "item" });
    this.root.addEventListener("animationend", () => this.root.classList.remove("fresh"));
    this.update(entry);
  }

  update({ item, score, isInTree }) {
    const shown = `${item.updatedAt.getTime()} ${score}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const { namespace, key, value, createdAt, updatedAt, explain, plan, snippet } = item;
    const preview = snippet
      ? marked(snippet)
      : [cut(value.text ?? value.title ?? JSON.stringify(value), PREVIEW)];
    this.root.classList.toggle("fresh", Date.now() - updatedAt.getTime() < FRESH_MS);
    this.root.replaceChildren(
      h(
        "summary",
        {},
        h("b", { class: "key" }, isInTree ? key : path([namespace.at(-1), key])),
        h("span", { class: "preview" }, ...preview),
      ),
      isInTree ? "" : h("p", { class: "note" }, path(namespace)),
      h("pre", { tabindex: "0", "aria-label": `Value of ${key}` }, JSON.stringify(value, null, 2)),
      explain
        ? h("p", { class: "note why", title: plan }, `${whyFound(explain)} ${fitting(score)}`)
        : "",
      h("p", { class: "note" }, `Created ${moment(createdAt)}, updated ${moment(updatedAt)}`),
      this.#removal(item),
    );
  }

  #removal({ namespace, key }) {
    const remove = this.#app.notices.guarded(() => this.#delete(namespace, key));
    return h("button", { type: "button", class: "danger", click: remove }, "Delete item");
  }

  async #delete(namespace, key) {
    const agreed = await confirmed({
      title: "Delete this item?",
      text: `${path([...namespace, key])} is deleted from the memory for good.`,
      yes: "Delete item",
    });
    if (agreed) await this.#app.database.use(({ store }) => store.delete(namespace, key));
  }
}

// The snippet with what was found in it.
function marked({ text, highlights }) {
  const ends = [0, ...highlights.map(([, end]) => end)];
  const found = highlights.flatMap(([begin, end], i) => [
    text.slice(ends[i], begin),
    h("mark", {}, text.slice(begin, end)),
  ]);
  return [...found, text.slice(ends.at(-1))];
}

function labels(namespace) {
  const parts = namespace.map((label, i) =>
    i === namespace.length - 1 ? h("b", {}, label) : `${label} › `,
  );
  return h("span", { class: "path" }, ...parts);
}
