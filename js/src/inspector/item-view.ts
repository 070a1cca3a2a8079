// One item: its value, which can be edited, and what can be done with it.

import type { Item } from "../store/store-operations.js";
import { ask, field, h } from "./dom.js";
import { HistoryView } from "./history-view.js";
import type { Host } from "./tab.js";
import { moment, pathOf, pretty } from "./words.js";

// Of the field for its value.
const LEAST_LINES = 6;
const MOST_LINES = 22;

export class ItemView {
  readonly root = h("div", { class: "scroll detail" });
  #item: Item | undefined;
  #isPast = false;
  readonly #host: Host;
  readonly #onGone: () => void;
  readonly #value = h("textarea", { class: "code", spellcheck: "false" });
  readonly #minutes = h("input", { type: "number", min: 1, step: "any", inputmode: "decimal" });
  readonly #history: HistoryView;
  #shown = "";

  constructor(host: Host, onGone: () => void) {
    this.#host = host;
    this.#history = new HistoryView(host, () => this.#reread());
    this.#onGone = onGone;
    this.clear();
  }

  get item(): Item | undefined {
    return this.#item;
  }

  clear(): void {
    this.#item = undefined;
    this.root.replaceChildren(h("p", { class: "empty" }, "Choose an item to see its value."));
  }

  /** With `isPast` it can be read, and brought back. */
  show(item: Item, isPast = false): void {
    this.#item = item;
    this.#isPast = isPast;
    this.#shown = pretty(item.value);
    this.#value.value = this.#shown;
    const lines = this.#shown.split("\n").length + 1;
    this.#value.rows = Math.max(LEAST_LINES, Math.min(lines, MOST_LINES));
    this.#minutes.value = "";
    const isJson = isPlainJson(item.value);
    const isEditable = isJson && !isPast;
    this.#value.readOnly = !isEditable;
    this.root.replaceChildren(
      h("p", { class: "path" }, pathOf(item.namespace)),
      h("h3", {}, item.key),
      h(
        "dl",
        { class: "facts" },
        ...fact("Created", moment(item.createdAt)),
        ...fact("Updated", moment(item.updatedAt)),
        ...(item.validFrom ? fact("Holds from", moment(item.validFrom)) : []),
        ...(item.validUntil ? fact("Holds until", moment(item.validUntil)) : []),
        ...(item.origin ? fact("Comes from", item.origin) : []),
        ...(item.source ? fact("Source", item.source) : []),
        ...(item.quarantined
          ? fact("In quarantine", "No search finds it. Saving takes it out.")
          : []),
      ),
      field(
        "Value, as JSON",
        this.#value,
        isJson
          ? undefined
          : "It holds bytes, which JSON cannot say: it can be read here, not edited.",
      ),
      ...(isPast ? [this.#bringingBack(item)] : [...this.#actions(isEditable), this.#history.root]),
    );
    if (!isPast) this.#history.show(item);
  }

  async #reread(): Promise<void> {
    const now = this.#item && (await this.#read(this.#item));
    if (now) return this.show(now);
    this.clear();
    this.#onGone();
  }

  /** What another tab wrote, unless something was edited here. */
  async refresh(): Promise<void> {
    const item = this.#item;
    if (item === undefined || this.#isPast || this.#value.value !== this.#shown) return;
    const now = await this.#read(item);
    if (this.#item !== item) return;
    if (now === null) this.clear();
    else if (now.updatedAt.getTime() !== item.updatedAt.getTime()) this.show(now);
  }

  #bringingBack(item: Item): HTMLElement {
    const bringBack = async () => {
      await this.#put(item, item.value as object);
      this.#host.say("It is now as it was then.");
    };
    const click = () => this.#host.run(bringBack);
    return h(
      "div",
      { class: "actions" },
      h("button", { type: "button", click }, "Bring this back"),
    );
  }

  #actions(isEditable: boolean): HTMLElement[] {
    const button = (text: string, kind: string, work: () => Promise<void>) =>
      h("button", { type: "button", class: kind, click: () => this.#host.run(work) }, text);
    const lasting = field(
      "Expires after (minutes)",
      this.#minutes,
      "Empty: as the store does by itself. Saving sets it anew; when an item expires now, a store does not tell.",
    );
    const why = async () => {
      if (this.#item) this.#host.searchFor(this.#item.namespace, this.#item.key);
    };
    return [
      ...(isEditable ? [lasting] : []),
      h(
        "div",
        { class: "actions" },
        isEditable && button("Save", "primary", () => this.#save()),
        button("Why is it not found?", "", why),
        button("Delete item", "danger", () => this.#delete()),
      ),
    ];
  }

  #read({ namespace, key }: Item): Promise<Item | null> {
    return this.#host.memory.store.get(namespace, key, { refreshTtl: false });
  }

  async #save(): Promise<void> {
    const item = this.#item;
    if (item === undefined) return;
    const value = parseValue(this.#value.value);
    const now = await this.#read(item);
    if (now?.updatedAt.getTime() !== item.updatedAt.getTime() && !(await this.#overwrite(now)))
      return;
    const ttl = this.#minutes.value === "" ? undefined : Number(this.#minutes.value);
    await this.#put(item, value, ttl);
    const stored = await this.#read(item);
    if (stored) this.show(stored);
    const isMasked = stored !== null && JSON.stringify(stored.value) !== JSON.stringify(value);
    this.#host.say(
      isMasked ? "Saved, but for what looks like a secret: the memory masks it." : "Saved.",
      () => this.#putBack(now, stored),
    );
  }

  async #put(item: Item, value: object, ttl?: number): Promise<void> {
    const { namespace, key, validFrom, validUntil, origin, source } = item;
    const { store } = this.#host.memory;
    // A put replaces when a fact holds and where it comes from, too.
    const options = { ttl, validFrom, validUntil, origin, source };
    await store.put(namespace, key, value, undefined, options);
  }

  // The item as it was before `after` was there, or was no more.
  async #putBack(before: Item | null, after: Item | null): Promise<void> {
    const item = before ?? after;
    if (item === null) return;
    const now = await this.#read(item);
    if (now?.updatedAt.getTime() !== after?.updatedAt.getTime())
      throw new Error(
        `${pathOf(item.namespace, item.key)} was written since then: it stays as it is`,
      );
    if (before === null) await this.#host.memory.store.delete(item.namespace, item.key);
    else await this.#put(before, before.value);
    const back = await this.#read(item);
    if (back === null) this.clear();
    else this.show(back);
    this.#host.say("It is as it was. Its time to live begins anew.");
  }

  async #overwrite(now: Item | null): Promise<boolean> {
    const text =
      now === null
        ? "It was deleted since you opened it. Saving puts it there again."
        : "It was written since you opened it. Saving replaces what was written.";
    const question = { title: "Save it all the same?", text, yes: "Save", isDangerous: true };
    return (await ask(this.#host.root, question)) !== undefined;
  }

  async #delete(): Promise<void> {
    const item = this.#item;
    if (item === undefined) return;
    const agreed = await ask(this.#host.root, {
      title: "Delete this item?",
      text: `${pathOf(item.namespace, item.key)} is deleted.`,
      yes: "Delete item",
      isDangerous: true,
    });
    if (agreed === undefined) return;
    await this.#host.memory.store.delete(item.namespace, item.key);
    this.clear();
    this.#host.say("Deleted.", () => this.#putBack(item, null));
    this.#onGone();
  }
}

function parseValue(text: string): object {
  const value: unknown = JSON.parse(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new Error('a value is a JSON object, such as {"text": "likes tea"}');
}

function isPlainJson(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (ArrayBuffer.isView(value)) return false;
  return Object.values(value).every(isPlainJson);
}

/** A name and what is said of it. */
export function fact(name: string, value: string): HTMLElement[] {
  return [h("dt", {}, name), h("dd", {}, value)];
}
