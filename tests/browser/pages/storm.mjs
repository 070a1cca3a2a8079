// A tab of a storm: writes without a rest, and tells the test what was acknowledged.

import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { openMemory } from "keepsake";

const BURST = 4;
const PAUSE_MS = 30;
const REPORT_AFTER_MS = 5;
const REPORT_LONGER_MS = 50;

let memory;
let storm;

/** `tab` is who writes, `round` which of its lives this is. */
globalThis.startStorm = async ({ tab, round, ...options }) => {
  memory = await openMemory(options);
  storm = new Storm(tab, round);
  await storm.begin();
};

/** Resolves when every call has settled. */
globalThis.stopStorm = () => storm.stop();

globalThis.isOwner = async () => (await memory.diagnose()).isOwner;

globalThis.transport = async () => (await memory.diagnose()).transport;

globalThis.exportBase64 = async () => {
  const blob = new Blob([await memory.export()]);
  const url = await new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.readAsDataURL(blob);
  });
  return url.slice(url.indexOf(",") + 1);
};

class Storm {
  #tab;
  #round;
  #n = 0;
  #isStopping = false;
  #running;
  #lastAnswer;
  #longestStall = REPORT_LONGER_MS;
  #events = [];

  constructor(tab, round) {
    this.#tab = tab;
    this.#round = round;
    // The time in the browser's cache is nobody's stall.
    addEventListener("pageshow", () => {
      this.#lastAnswer = performance.now();
    });
  }

  // What the page before this one wrote last is there, or what it had not heard of yet.
  async begin() {
    const before = await memory.store.get(["counter"], this.#tab);
    this.#tell({ kind: "begun", last: before?.value ?? null });
    this.#lastAnswer = performance.now();
    this.#running = this.#run();
  }

  async stop() {
    this.#isStopping = true;
    await this.#running;
  }

  async #run() {
    while (!this.#isStopping) {
      try {
        await this.#burst();
      } catch (error) {
        this.#tell({ kind: "failed", error: String(error) });
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  async #burst() {
    const writes = [];
    for (let i = 0; i < BURST; i++) writes.push(this.#count(++this.#n));
    writes.push(this.#comeAndGo(this.#n), this.#checkpoint(this.#n));
    await Promise.all(writes);
    const { value } = await memory.store.get(["counter"], this.#tab);
    if (value.round !== this.#round || value.n !== this.#n) {
      this.#tell({ kind: "failed", error: `counter is ${JSON.stringify(value)}, not ${this.#n}` });
    }
  }

  async #count(n) {
    await memory.store.batch([
      { namespace: ["counter"], key: this.#tab, value: { round: this.#round, n } },
      { namespace: ["log", this.#tab], key: `${this.#round}-${n}`, value: { n } },
    ]);
    this.#answered({ kind: "log", n });
  }

  // A put that is applied again later would bring it back.
  async #comeAndGo(n) {
    const namespace = ["gone", this.#tab];
    const key = `${this.#round}-${n}`;
    await memory.store.put(namespace, key, { n });
    await memory.store.delete(namespace, key);
    this.#answered({ kind: "gone", n });
  }

  async #checkpoint(n) {
    const config = { configurable: { thread_id: this.#tab, checkpoint_ns: "" } };
    const checkpoint = { ...emptyCheckpoint(), id: uuid6(n) };
    const metadata = { source: "loop", step: n, parents: {} };
    const saved = await memory.checkpointer.put(config, checkpoint, metadata, {});
    await memory.checkpointer.putWrites(saved, [["channel", n]], "task");
    this.#answered({ kind: "checkpoint", id: checkpoint.id, n });
  }

  #answered(event) {
    const now = performance.now();
    const stall = now - this.#lastAnswer;
    this.#lastAnswer = now;
    this.#tell(event);
    if (stall <= this.#longestStall) return;
    this.#longestStall = stall;
    this.#tell({ kind: "stall", stall });
  }

  #tell(event) {
    if (this.#events.push(event) > 1) return;
    setTimeout(() => {
      const events = this.#events.splice(0);
      globalThis.report(JSON.stringify({ tab: this.#tab, round: this.#round, events }));
    }, REPORT_AFTER_MS);
  }
}
