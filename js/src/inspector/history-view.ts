// What an item was, where a history is kept: each change, with what can be undone of it.

import { KeepsakeError } from "../errors.js";
import type { ItemVersion } from "../store/past-store.js";
import type { Item } from "../store/store-operations.js";
import { ask, h } from "./dom.js";
import type { Host } from "./tab.js";
import { moment, pathOf, pretty } from "./words.js";

const MOST_VERSIONS = 50;

const CHANGES: Record<ItemVersion["change"], string> = {
  put: "Written",
  delete: "Deleted",
  supersede: "Superseded",
  expire: "Expired",
  undo: "Undone",
  earlier: "Before the history began",
};

export class HistoryView {
  readonly root = h("details", { class: "history" }, h("summary", {}, "History"));
  #item: Item | undefined;
  readonly #host: Host;
  readonly #onChanged: () => Promise<void>;
  readonly #body = h("div", {});

  constructor(host: Host, onChanged: () => Promise<void>) {
    this.#host = host;
    this.#onChanged = onChanged;
    this.root.append(this.#body);
    this.root.addEventListener("toggle", () => this.#load());
  }

  show(item: Item): void {
    this.#item = item;
    this.#load();
  }

  // Nothing is asked before somebody looks.
  #load(): void {
    const item = this.#item;
    if (!this.root.open || item === undefined) return;
    this.#host.run(async () => {
      const content = await this.#contentFor(item);
      if (this.#item === item) this.#body.replaceChildren(...content);
    });
  }

  async #contentFor(item: Item): Promise<HTMLElement[]> {
    const { store } = this.#host.memory;
    try {
      const options = { limit: MOST_VERSIONS };
      const versions = await store.history(item.namespace, item.key, options);
      if (versions.length === 0) return [h("p", { class: "note" }, "Nothing has changed yet.")];
      return [h("ol", {}, ...versions.map((version, i) => this.#row(version, i === 0)))];
    } catch (error) {
      if (!(error instanceof KeepsakeError) || error.code !== "no_history") throw error;
      return this.#offer(item);
    }
  }

  #offer({ namespace }: Item): HTMLElement[] {
    const place = namespace.slice(0, 1);
    const keep = async () => {
      const agreed = await ask(this.#host.root, {
        title: "Keep a history?",
        text: `From now on up to 50 versions are kept of each item below ${pathOf(place)}. They take room.`,
        yes: "Keep it",
      });
      if (agreed === undefined) return;
      await this.#host.memory.store.keepHistory(place);
      this.#host.say(`A history is kept below ${pathOf(place)}.`);
      this.#load();
    };
    return [
      h("p", { class: "note" }, "No history is kept of this item."),
      this.#button("Keep one from now on", keep),
    ];
  }

  #row(version: ItemVersion, isNewest: boolean): HTMLElement {
    const { change, time, actor, value } = version;
    const who = actor === undefined ? "" : ` by ${actor}`;
    return h(
      "li",
      {},
      h("p", {}, `${CHANGES[change]}${who}, ${moment(time)}`),
      value !== null && h("pre", {}, pretty(value)),
      this.#remedy(version, isNewest),
    );
  }

  #remedy({ operation, item }: ItemVersion, isNewest: boolean): HTMLElement | false {
    if (isNewest) {
      return (
        operation !== undefined && this.#button("Undo this change", () => this.#undo(operation))
      );
    }
    return item !== null && this.#button("Bring this back", () => this.#bringBack(item));
  }

  async #undo(operation: number): Promise<void> {
    const { items } = await this.#host.memory.store.undo(operation);
    this.#host.say(items === 1 ? "Undone." : `Undone, with all that it changed: ${items} items.`);
    await this.#onChanged();
  }

  async #bringBack({ namespace, key, value, ...rest }: Item): Promise<void> {
    const { validFrom, validUntil, origin, source } = rest;
    const options = { validFrom, validUntil, origin, source };
    await this.#host.memory.store.put(namespace, key, value, undefined, options);
    this.#host.say("It is as it was then. The history has this change, too.");
    await this.#onChanged();
  }

  #button(text: string, work: () => Promise<void>): HTMLElement {
    return h("button", { type: "button", click: () => this.#host.run(work) }, text);
  }
}
