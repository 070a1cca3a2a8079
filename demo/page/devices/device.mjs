// A device: a memory of its own in this browser, and a switch that takes it off the network.
import { openMemory } from "keepsake";
import { keyOf } from "../agent/items.mjs";
import { coalesced } from "../dom.mjs";
import { counted } from "../words.mjs";

const FACTS = ["facts"];
const MOST = 200;
const EVERY_MS = 1_000;
const EVERYTHING = { namespaces: [[]], threads: "all" };

/** Tells "change" after it has looked at its memory. */
export class Device extends EventTarget {
  name;
  title;
  /** [{key, about, text, by}], the newest first; undefined before they were read. */
  facts;
  /** What `memory.syncStatus()` said last. */
  status;
  isHeld = false;
  /** Its last request was answered: the memory itself goes on asking for half a minute. */
  isReaching = true;
  /** What another device did, in a sentence. */
  news = "";
  #options;
  #memory;

  constructor({ name, title, id, key, bucketWith }) {
    super();
    this.name = name;
    this.title = title;
    const bucket = bucketWith((url, init) => this.#fetch(url, init));
    const sync = { bucket, name: id, key, device: name, everyMs: EVERY_MS };
    this.#options = { name: `keepsake-demo-${name}-${id}`, sync };
    this.look = coalesced(() => this.#look());
  }

  async open() {
    this.#memory = await openMemory(this.#options);
    this.#memory.onChange(() => this.look());
    await this.look();
  }

  async close() {
    const memory = this.#memory;
    this.#memory = undefined;
    await memory?.close();
  }

  // ---- the network

  // For every tab: it may be another one that syncs.
  get isOffline() {
    return localStorage.getItem(this.#offlineKey) !== null;
  }

  /** A device that comes back syncs at once. What goes wrong then is in its status. */
  async setOffline(isOffline) {
    if (isOffline) localStorage.setItem(this.#offlineKey, "yes");
    else localStorage.removeItem(this.#offlineKey);
    await this.look();
    if (!isOffline) await this.#memory.sync().catch(() => {});
    await this.look();
  }

  get #offlineKey() {
    return `keepsake-demo:offline:${this.name}`;
  }

  async #fetch(url, init) {
    try {
      if (this.isOffline) throw new TypeError(`the ${this.name} is offline`);
      const answer = await fetch(url, init);
      this.isReaching = true;
      return answer;
    } catch (error) {
      this.isReaching = false;
      throw error;
    }
  }

  // ---- what it keeps

  async keep(about, text) {
    await this.#memory.store.put(FACTS, keyOf(about), { about, text, by: this.name });
    await this.look();
  }

  async forgetEverything() {
    await this.#memory.forget(EVERYTHING);
    this.news = "";
    this.facts = [];
    await this.look();
  }

  async setHeld(isHeld) {
    if (isHeld) await this.#memory.hold(FACTS, "somebody asked to keep them");
    else await this.#memory.release(FACTS);
    await this.look();
  }

  async dropSetAside() {
    await this.#memory.dropSetAside(this.status.setAside.map(({ id }) => id));
    await this.look();
  }

  async #look() {
    const memory = this.#memory;
    if (memory === undefined) return;
    try {
      await this.#read(memory);
    } catch (error) {
      // It was closed meanwhile.
      if (memory === this.#memory) throw error;
    }
  }

  async #read(memory) {
    const [items, holds] = await Promise.all([
      memory.store.search(FACTS, { limit: MOST }),
      memory.holds(),
    ]);
    // After them, so that it knows of what undid something in them.
    const status = await memory.syncStatus();
    const facts = items.sort((a, b) => b.updatedAt - a.updatedAt);
    this.status = status;
    this.#take(facts.map(({ key, value }) => ({ key, ...value })));
    this.isHeld = holds.length > 0;
    this.dispatchEvent(new Event("change"));
  }

  // What comes back because it was set aside is no news of others.
  #take(facts) {
    if (this.status.setAside.length > 0) this.news = "";
    else if (this.facts !== undefined) this.news = this.#newsOf(facts) ?? this.news;
    this.facts = facts;
  }

  #newsOf(facts) {
    const before = new Map(this.facts.map((fact) => [fact.key, fact]));
    const came = facts.filter(({ key, text, by }) => {
      const old = before.get(key);
      return by !== this.name && (old?.text !== text || old?.by !== by);
    });
    if (came.length > 0) return sentenceOf(came, before);
    const isAllGone = this.facts.length > 0 && facts.length === 0;
    return isAllGone ? "The other device forgot everything." : undefined;
  }
}

function sentenceOf(came, before) {
  const replaced = came.map(({ key }) => before.get(key)).filter(Boolean);
  const [first] = came;
  if (came.length === 1) {
    const instead = replaced.length > 0 ? `, in place of “${replaced[0].text}”` : "";
    return `“${first.about}” came from the ${first.by}${instead}.`;
  }
  const instead = replaced.length > 0 ? `, ${replaced.length} in place of what was here` : "";
  return `${counted(came.length, "fact")} came from the ${first.by}${instead}.`;
}
