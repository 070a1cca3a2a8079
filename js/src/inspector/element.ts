// <keepsake-inspector>: looks inside a memory.

import { show } from "../checks.js";
import { invalid } from "../errors.js";
import type { Memory } from "../memory.js";
import type { Moment } from "../scope/history.js";
import type { ScopedMemory } from "../scope/scoped-memory.js";
import type { Changes } from "../wire/changes.js";
import { AuditTab } from "./audit-tab.js";
import { h, newId } from "./dom.js";
import { ItemsTab } from "./items-tab.js";
import { ScopesTab } from "./scopes-tab.js";
import { SearchTab } from "./search-tab.js";
import { StorageTab } from "./storage-tab.js";
import { styleSheet } from "./styles.js";
import type { Host, Shown, Tab, ThreadTitle } from "./tab.js";
import { ThreadsTab } from "./threads-tab.js";
import { explained } from "./words.js";

const EVERYTHING: Changes = { namespaces: [], threads: [], everything: true };
const MESSAGE_MS = 6000;
const FOLLOW_MS = 1000;

// Where there are no elements, the module can be imported all the same.
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

/**
 * Shows what is in a memory: its items, searches with the reason of each hit, its threads, its
 * scopes, who wrote, and how it is stored. It follows what other tabs write while it is on the page.
 *
 *     document.querySelector("keepsake-inspector").memory = await openMemory({ name: "agent" });
 *
 * It neither opens nor closes the memory. Its height is that of its box: 36rem unless you say.
 */
export class KeepsakeInspector extends Base {
  #memory: Memory | undefined;
  #scopes: readonly ScopedMemory[] = [];
  #threadTitle: ThreadTitle | undefined;
  #inspection: Inspection | undefined;

  /** What is looked at: a `Memory` of `openMemory()`; undefined for nothing. */
  get memory(): Memory | undefined {
    return this.#memory;
  }

  set memory(memory: Memory | undefined) {
    if (memory !== undefined && !isMemory(memory)) {
      throw invalid(
        `<keepsake-inspector>: memory must be what openMemory() resolves to: ${show(memory)}`,
      );
    }
    this.#memory = memory;
    this.#begin();
  }

  /**
   * Whose policies are shown: what `memory.scoped()` answered. A policy belongs to that object,
   * and no file has it. @default none
   */
  get scopes(): readonly ScopedMemory[] {
    return this.#scopes;
  }

  set scopes(scopes: readonly ScopedMemory[]) {
    if (!Array.isArray(scopes) || !scopes.every(isScope)) {
      throw invalid(
        `<keepsake-inspector>: scopes must be a list of what memory.scoped() answers: ${show(scopes)}`,
      );
    }
    this.#scopes = [...scopes];
    this.#begin();
  }

  /**
   * What your page calls a thread, in the place of its id: it is called for each that is listed.
   * @default threads are called by their ids
   */
  get threadTitle(): ThreadTitle | undefined {
    return this.#threadTitle;
  }

  set threadTitle(threadTitle: ThreadTitle | undefined) {
    if (threadTitle !== undefined && typeof threadTitle !== "function") {
      throw invalid(
        `<keepsake-inspector>: threadTitle must be a function that answers a text for the id of a thread: ${show(threadTitle)}`,
      );
    }
    this.#threadTitle = threadTitle;
    this.#begin();
  }

  /** @internal */
  connectedCallback(): void {
    this.#takeEarlier("threadTitle");
    this.#takeEarlier("scopes");
    this.#takeEarlier("memory");
    this.#begin();
  }

  /** @internal */
  disconnectedCallback(): void {
    this.#end();
  }

  // What was set before the element was defined hides the accessor.
  #takeEarlier<Name extends "memory" | "scopes" | "threadTitle">(name: Name): void {
    if (!Object.hasOwn(this, name)) return;
    const value = this[name];
    delete (this as Partial<KeepsakeInspector>)[name];
    this[name] = value;
  }

  #begin(): void {
    this.#end();
    if (!this.isConnected) return;
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [styleSheet()];
    const { memory, scopes, threadTitle = () => undefined } = this;
    if (memory) this.#inspection = new Inspection({ memory, scopes, threadTitle, root });
    else root.replaceChildren(h("p", { class: "empty" }, "No memory is given yet."));
  }

  #end(): void {
    this.#inspection?.end();
    this.#inspection = undefined;
  }
}

function isMemory(memory: unknown): memory is Memory {
  if (typeof memory !== "object" || memory === null) return false;
  const { store, checkpointer, onChange, forget, diagnose } = memory as Partial<Memory>;
  const has = [onChange, forget, diagnose].every((call) => typeof call === "function");
  return has && typeof store === "object" && typeof checkpointer === "object";
}

function isScope(scope: unknown): scope is ScopedMemory {
  const { place, policies } = Object(scope) as Partial<ScopedMemory>;
  return Array.isArray(place) && Array.isArray(policies);
}

/** One memory in one element, from the moment it is shown. */
class Inspection implements Host {
  readonly memory: Memory;
  readonly scopes: readonly ScopedMemory[];
  readonly threadTitle: ThreadTitle;
  readonly root: ShadowRoot;
  readonly #stop: () => void;
  readonly #items: ItemsTab;
  readonly #search: SearchTab;
  readonly #audit: AuditTab;
  readonly #tabs: Tab[];
  // What was written since a tab was last shown.
  readonly #missed = new Map<Tab, Changes>();
  readonly #buttons: HTMLElement[];
  readonly #panels: HTMLElement[];
  readonly #message = h("p", { class: "message" });
  readonly #live = h("div", { class: "messages", role: "status" }, this.#message);
  #shown = 0;
  // Set while what is written waits to be shown.
  #following: ReturnType<typeof setTimeout> | undefined;
  #hiding: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor({ memory, scopes, threadTitle, root }: Shown) {
    this.memory = memory;
    this.scopes = scopes;
    this.threadTitle = threadTitle;
    this.root = root;
    this.#items = new ItemsTab(this);
    this.#search = new SearchTab(this);
    this.#audit = new AuditTab(this);
    this.#tabs = [
      this.#items,
      this.#search,
      new ThreadsTab(this),
      new ScopesTab(this),
      this.#audit,
      new StorageTab(this),
    ];
    this.#panels = this.#tabs.map(({ root: content }) =>
      h("div", { class: "panel", role: "tabpanel", id: newId() }, content),
    );
    this.#buttons = this.#tabs.map(({ title }, i) => this.#button(title, i));
    for (const tab of this.#tabs) this.#missed.set(tab, EVERYTHING);
    const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Parts of the memory" });
    tabs.append(...this.#buttons);
    tabs.addEventListener("keydown", (event) => this.#pressed(event));
    root.replaceChildren(h("div", { class: "inspector" }, tabs, ...this.#panels, this.#live));
    this.#stop = memory.onChange((changes) => this.#changed(changes));
    this.#show(0);
  }

  end(): void {
    this.#isOver = true;
    this.#stop();
    clearTimeout(this.#hiding);
    clearTimeout(this.#following);
  }

  run(work: () => Promise<void>): void {
    this.#try(work).catch((error) => this.fail(error));
  }

  say(text: string, undo?: () => Promise<void>): void {
    this.#tell(text, false);
    if (undo === undefined) this.#hiding = setTimeout(() => this.#hide(), MESSAGE_MS);
    else this.#offer(undo);
  }

  fail(error: unknown): void {
    this.#tell(explained(error), true);
  }

  openItem(namespace: string[], key: string): void {
    this.run(async () => {
      const item = await this.memory.store.get(namespace, key, { refreshTtl: false });
      if (item === null) throw new Error(`there is no item ${JSON.stringify(key)} any more`);
      this.#show(0);
      this.#items.show(item);
    });
  }

  showAsOf(moment: Moment, called: string): void {
    this.#show(0);
    this.#items.showAsOf(moment, called);
  }

  searchFor(namespace: string[], key: string): void {
    this.#show(1);
    this.#search.ask(namespace, key);
  }

  showNamespace(namespace: string[]): void {
    this.#show(0);
    this.#items.showBelow(namespace);
  }

  showAudit(namespace: string[]): void {
    this.#show(this.#tabs.indexOf(this.#audit));
    this.#audit.showPlace(namespace);
  }

  // Also what it throws at once.
  async #try(work: () => Promise<void>): Promise<void> {
    await work();
  }

  #tell(text: string, isError: boolean): void {
    // What an element that is gone asked for concerns nobody.
    if (this.#isOver) return;
    clearTimeout(this.#hiding);
    const hide = h("button", { type: "button", click: () => this.#hide() }, "Dismiss");
    this.#message.replaceChildren(h("span", {}, text), hide);
    this.#live.classList.toggle("error", isError);
    this.#live.classList.add("shown");
  }

  #offer(undo: () => Promise<void>): void {
    const click = () => {
      this.#hide();
      this.run(undo);
    };
    const button = h("button", { type: "button", class: "primary", click }, "Undo");
    this.#message.firstElementChild?.after(button);
  }

  #hide(): void {
    this.#live.classList.remove("shown");
    this.#message.replaceChildren();
  }

  #changed(changes: Changes): void {
    for (const tab of this.#tabs) this.#missed.set(tab, both(this.#missed.get(tab), changes));
    if (this.#following !== undefined) return;
    this.#catchUp();
    // An agent that writes and writes is not to wait for what is counted anew.
    this.#following = setTimeout(() => {
      this.#following = undefined;
      if (this.#missed.size > 0) this.#catchUp();
    }, FOLLOW_MS);
  }

  #catchUp(): void {
    const tab = this.#tabs[this.#shown];
    const changes = tab && this.#missed.get(tab);
    if (changes === undefined) return;
    this.#missed.delete(tab as Tab);
    tab?.refresh(changes);
  }

  #button(title: string, index: number): HTMLElement {
    const panel = this.#panels[index];
    const id = newId();
    panel?.setAttribute("aria-labelledby", id);
    const attributes = { type: "button", role: "tab", id, "aria-controls": panel?.id };
    return h("button", { ...attributes, click: () => this.#show(index) }, title);
  }

  #show(index: number): void {
    this.#shown = index;
    for (const [i, button] of this.#buttons.entries()) {
      button.setAttribute("aria-selected", String(i === index));
      button.tabIndex = i === index ? 0 : -1;
    }
    for (const [i, panel] of this.#panels.entries()) panel.hidden = i !== index;
    this.#catchUp();
  }

  #pressed(event: KeyboardEvent): void {
    const last = this.#tabs.length - 1;
    const targets: Record<string, number> = {
      ArrowRight: this.#shown === last ? 0 : this.#shown + 1,
      ArrowLeft: this.#shown === 0 ? last : this.#shown - 1,
      Home: 0,
      End: last,
    };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    this.#show(target);
    this.#buttons[target]?.focus();
  }
}

// All that a tab that is not shown missed. More than so many names are everything.
const MOST_NAMES = 1000;

function both(a: Changes | undefined, b: Changes): Changes {
  if (a === undefined) return b;
  if (a.everything || a.namespaces.length + a.threads.length > MOST_NAMES) return EVERYTHING;
  return {
    namespaces: [...a.namespaces, ...b.namespaces],
    threads: [...a.threads, ...b.threads],
    everything: b.everything,
  };
}
