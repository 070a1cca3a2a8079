// Tabs of one profile that write to one database, and what was acknowledged to them,
// which is kept here, where no browser can lose it.

import { writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { openMemory } from "keepsake";
import { temporaryFile } from "../../js/support/temporary.mjs";

const SETTLES_WITHIN_MS = 60_000;

/** The ledger of what pages have reported, by tab. */
export class Ledger {
  longestStall = 0;
  failures = [];
  #tabs = new Map();

  hear({ tab, round, events }) {
    for (const event of events) this.#hearEvent(this.of(tab), round, event);
  }

  of(tab) {
    if (!this.#tabs.has(tab)) {
      this.#tabs.set(tab, { last: undefined, log: [], gone: [], checkpoints: [] });
    }
    return this.#tabs.get(tab);
  }

  get acknowledged() {
    return this.#sum(({ log, gone, checkpoints }) => log.length + gone.length + checkpoints.length);
  }

  #sum(count) {
    return [...this.#tabs.values()].reduce((sum, entry) => sum + count(entry), 0);
  }

  #hearEvent(entry, round, event) {
    switch (event.kind) {
      case "log":
        entry.log.push({ round, n: event.n });
        entry.last = { round, n: event.n };
        return;
      case "gone":
        entry.gone.push(`${round}-${event.n}`);
        return;
      case "checkpoint":
        entry.checkpoints.push({ id: event.id, n: event.n });
        return;
      case "stall":
        this.longestStall = Math.max(this.longestStall, event.stall);
        return;
      case "begun":
        if (isBefore(event.last, entry.last)) {
          this.failures.push(`after ${show(entry.last)} a new page found ${show(event.last)}`);
        }
        return;
      case "failed":
        this.failures.push(event.error);
    }
  }

  /** Everything that was acknowledged is in the database, once and in order. */
  async check(database) {
    const path = temporaryFile();
    writeFileSync(path, database);
    const lacking = [];
    const memory = await openMemory({ path });
    for (const [tab, entry] of this.#tabs) lacking.push(...(await lackingOf(memory, tab, entry)));
    await memory.close();
    const plain = new Database(path, { readonly: true });
    const integrity = plain.pragma("integrity_check", { simple: true });
    plain.close();
    return { integrity, lacking, failures: this.failures };
  }
}

const show = (value) => JSON.stringify(value);

function isBefore(found, acknowledged) {
  if (acknowledged === undefined) return false;
  if (found === null || found === undefined) return true;
  const rounds = found.round - acknowledged.round;
  return rounds < 0 || (rounds === 0 && found.n < acknowledged.n);
}

async function lackingOf(memory, tab, { last, log, gone, checkpoints }) {
  const lacking = [];
  const { store, checkpointer } = memory;
  const counter = await store.get(["counter"], tab);
  if (isBefore(counter?.value, last)) lacking.push(`${tab}: counter ${show(last)}`);
  for (const { round, n } of log) {
    const item = await store.get(["log", tab], `${round}-${n}`);
    if (item?.value.n !== n) lacking.push(`${tab}: ${round}-${n}`);
  }
  for (const key of gone) {
    if (await store.get(["gone", tab], key)) lacking.push(`${tab}: deletion of ${key}`);
  }
  for (const { id, n } of checkpoints) {
    const configurable = { thread_id: tab, checkpoint_ns: "", checkpoint_id: id };
    const tuple = await checkpointer.getTuple({ configurable });
    if (show(tuple?.pendingWrites) !== show([["task", "channel", n]])) {
      lacking.push(`${tab}: checkpoint ${id} with its writes`);
    }
  }
  return lacking;
}

/** A tab that always comes back, under the same name. */
export class StormTab {
  page;
  #browser;
  #ledger;
  #url;
  #name;
  #options;
  #round = 0;

  constructor({ browser, ledger, url, name, options }) {
    this.#browser = browser;
    this.#ledger = ledger;
    this.#url = url;
    this.#name = name;
    this.#options = options;
  }

  async open() {
    this.page = await this.#browser.context.newPage();
    // Playwright's exposeBinding() would answer each report, which costs more than the writes.
    const session = await this.page.context().newCDPSession(this.page);
    session.on("Runtime.bindingCalled", ({ payload }) => this.#ledger.hear(JSON.parse(payload)));
    await session.send("Runtime.enable");
    await session.send("Runtime.addBinding", { name: "report" });
    await this.page.goto(this.#url);
    await this.begin();
  }

  async begin() {
    const options = { ...this.#options, tab: this.#name, round: ++this.#round };
    await settled(this.page.evaluate((given) => globalThis.startStorm(given), options));
  }

  /** Resolves when every call has settled. */
  stop() {
    return settled(this.page.evaluate(() => globalThis.stopStorm()));
  }

  isOwner() {
    return settled(this.page.evaluate(() => globalThis.isOwner()));
  }

  async export() {
    const base64 = await settled(this.page.evaluate(() => globalThis.exportBase64()));
    return Buffer.from(base64, "base64");
  }
}

async function settled(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    const error = new Error(`a call did not settle within ${SETTLES_WITHIN_MS / 1000} s`);
    timer = setTimeout(() => reject(error), SETTLES_WITHIN_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
