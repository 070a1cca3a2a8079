// Where the memory lives and how big it is, and what can be done to it.
import { byId, coalesced, saveAs } from "../dom.mjs";
import { THREADS } from "../memory/threads.mjs";
import { bytes, counted, keeping, place, role } from "../words.mjs";
import { confirmed } from "./confirm.mjs";

// Who owns the database changes without anything being written.
const REFRESH_MS = 2_000;
// What stays of each thread when its history is shortened.
const KEPT_STEPS = 10;
// Less is over before anybody can read it.
const WORTH_PROGRESS = 4 << 20;

export class StorageView {
  #app;

  constructor(app) {
    this.#app = app;
    this.update = coalesced(() => this.#update());
    const onClick = (id, work) => byId(id).addEventListener("click", app.notices.guarded(work));
    onClick("end-worker", () => this.#endWorker());
    onClick("shorten", () => this.#shorten());
    onClick("export", () => this.#export());
    onClick("import", () => byId("import-file").click());
    onClick("forget", () => this.#forget());
    byId("import-file").addEventListener(
      "change",
      app.notices.guarded(() => this.#import()),
    );
  }

  /** Goes on looking, while anybody looks. */
  watch() {
    const look = this.#app.notices.guarded(() => this.update());
    setInterval(() => document.visibilityState === "visible" && look(), REFRESH_MS);
    document.addEventListener("visibilitychange", look);
  }

  async #update() {
    const [diagnosis, stats, listed] = await this.#app.database.use((memory) =>
      Promise.all([memory.diagnose(), memory.stats(), memory.store.listKeys(THREADS)]),
    );
    this.#say("place", place(diagnosis));
    this.#say("size", size(stats, listed.length));
    this.#say("role", role(diagnosis));
    this.#say("keeping", keeping(diagnosis));
  }

  #say(fact, { name, hint }) {
    byId(`fact-${fact}`).textContent = name;
    byId(`hint-${fact}`).textContent = hint;
  }

  async #endWorker() {
    const { milliseconds, isLost } = await this.#app.database.endWorker();
    await this.update();
    this.#app.notices.say(
      `The worker was killed. A new one had the memory open after ${Math.round(milliseconds)} ms; ${isLost ? "this browser keeps nothing, and all is gone" : "nothing is lost"}.`,
    );
  }

  async #shorten() {
    const rules = { keepLast: KEPT_STEPS };
    const would = await this.#app.database.use(({ checkpointer }) =>
      checkpointer.prune({ ...rules, dryRun: true }),
    );
    if (would.checkpoints === 0) {
      this.#app.notices.say(`No thread has more than its last ${KEPT_STEPS} steps.`);
      return;
    }
    const agreed = await confirmed({
      title: "Shorten the history?",
      text: `${counted(would.checkpoints, "old checkpoint")} would go, ${bytes(would.bytes)} in all. Each thread stays as it is now, and keeps its last ${KEPT_STEPS} steps.`,
      yes: "Shorten",
    });
    if (!agreed) return;
    const went = await this.#app.database.use(({ checkpointer }) => checkpointer.prune(rules));
    this.#app.notices.say(`${counted(went.checkpoints, "old checkpoint")} went.`);
  }

  async #export() {
    const database = await this.#app.database.use((memory) =>
      new Response(memory.exportStream({ onProgress: this.#progress("Exporting") })).blob(),
    );
    saveAs("keepsake-demo.db", database);
    this.#app.notices.say(`Exported ${bytes(database.size)}: a plain SQLite file.`);
  }

  async #import() {
    const [file] = byId("import-file").files;
    byId("import-file").value = "";
    if (file === undefined) return;
    const agreed = await confirmed({
      title: "Replace the whole memory?",
      text: `All threads and items here make way for those in “${file.name}” (${bytes(file.size)}), in every tab.`,
      yes: "Replace",
    });
    if (!agreed) return;
    await this.#app.database.use((memory) =>
      memory.import(file, { onProgress: this.#progress("Importing") }),
    );
    this.#app.notices.say(`Imported “${file.name}”.`);
  }

  async #forget() {
    const everything = { namespaces: [[]], threads: "all" };
    const [{ erased: would }, listed] = await this.#app.database.use((memory) =>
      Promise.all([memory.forget({ ...everything, dryRun: true }), memory.store.listKeys(THREADS)]),
    );
    const what = `${counted(would.items - listed.length, "item")} and ${counted(would.threads, "thread")}`;
    if (would.items + would.threads === 0) {
      this.#app.notices.say("There is nothing to forget.");
      return;
    }
    const agreed = await confirmed({
      title: "Forget everything?",
      text: `${what} go for good, in every tab, and nothing brings them back. The receipt says whether bytes of them may be left.`,
      yes: "Forget",
    });
    if (!agreed) return;
    const receipt = await this.#app.database.use((memory) => memory.forget(everything));
    this.#app.showThread();
    saveAs("keepsake-receipt.json", new Blob([JSON.stringify(receipt, undefined, 2)]));
    this.#app.notices.say(
      `${what} were forgotten. The receipt says what went, and not what it was.`,
    );
  }

  #progress(doing) {
    return ({ done, total }) => {
      if (total < WORTH_PROGRESS) return;
      byId("fact-size").textContent = `${doing}, ${Math.floor((100 * done) / total)}%`;
    };
  }
}

// The page's list of threads is in the store, too, and is nothing that the agent remembers.
function size({ bytes: own, quota, store, checkpointer }, listed) {
  const items = counted(store.items - listed, "item");
  const holds = `${items}, ${counted(checkpointer.checkpoints, "checkpoint")}`;
  const room = quota ? `; the browser allows ${bytes(quota.quota)}.` : ".";
  return { name: bytes(own), hint: `${holds}${room}` };
}
