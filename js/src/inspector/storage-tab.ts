// Where the memory is kept, how much it is, and what moves or erases all of it.

import type { Diagnosis, MemoryStats } from "../memory.js";
import type { ErasureReceipt, ForgetOptions } from "../scope/erasure.js";
import type { HistoryRule } from "../store/history-rules.js";
import type { CheckReport, TransferProgress } from "../transfer/options.js";
import type { Changes } from "../wire/changes.js";
import { ask, choice, field, h, saveAs } from "./dom.js";
import { fact } from "./item-view.js";
import { coalesced, type Host, parseJson, parseNamespace, type Tab } from "./tab.js";
import { bytes, counted, forAge, moment, pathOf } from "./words.js";

const FORMATS = {
  sqlite: "A SQLite file",
  portable: "A portable stream",
};
const KINDS = {
  replace: "Replace everything by an export",
  add: "Add another program's SQLite file",
};
const DURABILITIES: Record<string, string> = {
  strict: "Strict: on the disk before an answer",
  relaxed: "Relaxed: a power cut may take the last moments",
};
const PLACES: Record<string, string> = {
  opfs: "Private file of this site (OPFS)",
  indexeddb: "The browser's database (IndexedDB)",
  file: "A file",
  memory: "Memory only: gone with the last tab",
  "durable-object": "A Durable Object",
  connection: "A database of the application's",
};

export class StorageTab implements Tab {
  readonly title = "Storage";
  readonly root: HTMLElement;
  readonly #host: Host;
  readonly #facts = h("dl", { class: "facts wide" });
  readonly #holds = h("ul", { class: "holds" });
  readonly #rules = h("ul", { class: "holds" });
  readonly #load: () => void;
  readonly #format = choice(FORMATS);
  readonly #kind = choice(KINDS);
  readonly #namespaces = h("textarea", { rows: 2, spellcheck: "false", placeholder: "users/ada" });
  readonly #filter = h("input", { type: "text", placeholder: '{"kind": "fact"}' });
  readonly #threads = h("textarea", { rows: 2, spellcheck: "false", placeholder: "thread-1" });
  readonly #outcome = h("div", { class: "outcome", role: "status" });
  readonly #erase = h(
    "button",
    { type: "button", class: "danger", disabled: true },
    "Forget for good",
  );
  // What was counted, so that nothing else is erased.
  #counted: ForgetOptions | undefined;

  constructor(host: Host) {
    this.#host = host;
    this.#load = coalesced(() => this.#read(), 500);
    this.root = h(
      "div",
      { class: "scroll storage" },
      card("Where it is", this.#facts),
      card("Held, and kept as history", this.#holds, this.#rules),
      card("Check", this.#checkingPages()),
      card("Move", this.#moving()),
      card("Forget", this.#forgetting()),
      card("Check a receipt", this.#checking()),
    );
  }

  refresh(_: Changes): void {
    this.#load();
  }

  async #read(): Promise<void> {
    try {
      const { memory } = this.#host;
      const [stats, diagnosis, holds, rules] = await Promise.all([
        memory.stats(),
        memory.diagnose(),
        memory.holds(),
        memory.store.historyRules(),
      ]);
      this.#facts.replaceChildren(...factsOf(stats, diagnosis));
      const held = holds.map(({ namespace, reason, since }) =>
        h("li", {}, `${pathOf(namespace)} is held since ${moment(since)}: ${reason}`),
      );
      this.#holds.replaceChildren(...orNone(held, "Nothing is held: all may be forgotten."));
      const kept = rules.map((rule) => this.#rule(rule));
      this.#rules.replaceChildren(...orNone(kept, "No history is kept."));
    } catch (error) {
      this.#host.fail(error);
    }
  }

  #rule({ namespace, maxVersions, maxAge, since }: HistoryRule): HTMLElement {
    const place = placeOf(namespace);
    const text = `${place}: ${maxVersions} versions of each item${forAge(maxAge)}, since ${moment(since)}`;
    const drop = async () => {
      const agreed = await ask(this.#host.root, {
        title: "Drop this history?",
        text: `What was kept of ${place} is deleted. The items stay as they are now.`,
        yes: "Drop it",
        isDangerous: true,
      });
      if (agreed === undefined) return;
      await this.#host.memory.store.dropHistory(namespace);
      this.#host.say("The history was dropped.");
      this.#load();
    };
    return h(
      "li",
      {},
      `${text} `,
      button("Drop it…", "danger", () => this.#host.run(drop)),
    );
  }

  #checkingPages(): HTMLElement {
    const bar = h("progress", { hidden: true, "aria-label": "Progress of the check" });
    const verdict = h("p", { class: "verdict", role: "status" });
    const check = async () => {
      verdict.textContent = "";
      const onProgress = ({ done, total }: TransferProgress) => {
        bar.hidden = false;
        bar.max = total;
        bar.value = done;
      };
      try {
        verdict.textContent = checked(await this.#host.memory.check({ onProgress }));
      } finally {
        bar.hidden = true;
      }
    };
    return h(
      "div",
      {},
      h("p", { class: "note" }, "Reads every page of the file, and compares it with its checksum."),
      h(
        "div",
        { class: "actions" },
        button("Check the file", "", () => this.#host.run(check)),
      ),
      bar,
      verdict,
    );
  }

  #moving(): HTMLElement {
    const file = h("input", { type: "file", hidden: true, "aria-label": "File to import" });
    file.addEventListener("change", () => {
      const [chosen] = file.files ?? [];
      file.value = "";
      if (chosen) this.#host.run(() => this.#import(chosen));
    });
    const exported = () => this.#host.run(() => this.#export());
    return h(
      "div",
      { class: "columns" },
      h(
        "div",
        {},
        field("Export as", this.#format),
        h("div", { class: "actions" }, button("Export", "primary", exported)),
      ),
      h(
        "div",
        {},
        field("Import", this.#kind),
        h(
          "div",
          { class: "actions" },
          button("Choose a file…", "", () => file.click()),
          file,
        ),
      ),
    );
  }

  async #export(): Promise<void> {
    const format = this.#format.value as keyof typeof FORMATS;
    const stream = this.#host.memory.exportStream({ format });
    const content = await new Response(stream).blob();
    saveAs(`memory-${today()}.${format === "sqlite" ? "db" : "keepsake"}`, content);
    this.#host.say(`Exported ${bytes(content.size)}.`);
  }

  async #import(file: File): Promise<void> {
    if (this.#kind.value === "add") return this.#importFrom(file);
    const { items } = (await this.#host.memory.stats()).store;
    const agreed = await ask(this.#host.root, {
      title: "Replace the whole memory?",
      text: `Everything that is here, ${counted(items, "item")} and all threads, is replaced by ${file.name}. Export it first if you may want it back.`,
      yes: "Replace everything",
      isDangerous: true,
    });
    if (agreed === undefined) return;
    await this.#host.memory.import(file);
    this.#host.say(`Imported ${file.name}.`);
  }

  async #importFrom(file: File): Promise<void> {
    const source = new Uint8Array(await file.arrayBuffer());
    const report = await this.#host.memory.importFrom(source);
    const { items, checkpoints, kept, skipped } = report;
    const rest = [
      kept > 0 ? `${kept} were there already and stayed.` : "",
      skipped.length > 0 ? `${skipped.length} could not be carried over: ${skipped[0]?.why}.` : "",
    ];
    const added = `Added ${counted(items, "item")} and ${counted(checkpoints, "checkpoint")}.`;
    this.#host.say([added, ...rest].join(" ").trim());
  }

  #forgetting(): HTMLElement {
    const changed = () => this.#nothingCounted();
    for (const input of [this.#namespaces, this.#filter, this.#threads])
      input.addEventListener("input", changed);
    this.#erase.addEventListener("click", () => this.#host.run(() => this.#forget()));
    return h(
      "div",
      {},
      h(
        "p",
        { class: "note" },
        "Erases it for good. The receipt says where bytes of it may be left. Count first: that changes nothing.",
      ),
      h(
        "div",
        { class: "columns" },
        field("Below these namespaces", this.#namespaces, "One a line. [] is all of them."),
        field("These threads", this.#threads, "One id a line."),
        field("Only items that match, as JSON", this.#filter),
      ),
      h(
        "div",
        { class: "actions" },
        button("Count", "", () => this.#host.run(() => this.#count())),
        this.#erase,
      ),
      this.#outcome,
    );
  }

  #nothingCounted(): void {
    this.#counted = undefined;
    this.#erase.disabled = true;
    this.#outcome.replaceChildren();
  }

  #asked(): ForgetOptions {
    const lines = (text: string) => text.split("\n").filter((line) => line.trim() !== "");
    const namespaces = lines(this.#namespaces.value).map(parseNamespace);
    const threads = lines(this.#threads.value).map((id) => id.trim());
    const filter = parseJson("The filter", this.#filter.value);
    if (namespaces.length === 0 && threads.length === 0)
      throw new Error("say what is to be forgotten: a namespace or a thread");
    return {
      ...(namespaces.length > 0 && { namespaces }),
      ...(threads.length > 0 && { threads }),
      ...(filter && { filter }),
    };
  }

  async #count(): Promise<void> {
    this.#nothingCounted();
    const asked = this.#asked();
    const { erased } = await this.#host.memory.forget({ ...asked, dryRun: true });
    const isNothing = erased.items === 0 && erased.checkpoints === 0;
    this.#counted = asked;
    this.#erase.disabled = isNothing;
    const text = isNothing ? "Nothing matches." : `This would go: ${erasedText(erased)}.`;
    this.#outcome.replaceChildren(h("p", {}, text));
  }

  async #forget(): Promise<void> {
    const asked = this.#counted;
    if (asked === undefined) return;
    const { erased } = await this.#host.memory.forget({ ...asked, dryRun: true });
    const agreed = await ask(this.#host.root, {
      title: "Forget this for good?",
      text: `${erasedText(erased)} are erased for good. This cannot be undone.`,
      yes: "Forget for good",
      isDangerous: true,
    });
    if (agreed === undefined) return;
    const receipt = await this.#host.memory.forget(asked);
    this.#nothingCounted();
    this.#outcome.replaceChildren(...this.#receiptShown(receipt));
  }

  #receiptShown(receipt: ErasureReceipt): HTMLElement[] {
    const text = JSON.stringify(receipt, undefined, 2);
    const save = () =>
      saveAs(`receipt-${receipt.id}.json`, new Blob([text], { type: "application/json" }));
    return [
      h("p", {}, `Forgotten: ${erasedText(receipt.erased)}. ${receipt.remains ?? ""}`),
      h("pre", { tabindex: 0, "aria-label": "Receipt" }, text),
      h("div", { class: "actions" }, button("Save the receipt", "", save)),
    ];
  }

  #checking(): HTMLElement {
    const text = h("textarea", { rows: 3, class: "code", spellcheck: "false" });
    const verdict = h("p", { class: "verdict", role: "status" });
    const check = async () => {
      verdict.textContent = "";
      const given = parseJson("The receipt", text.value);
      if (given === undefined) throw new Error("paste the JSON of a receipt");
      const { isGenuine, remains, found } = await this.#host.memory.checkReceipt(
        given as unknown as ErasureReceipt,
      );
      const again = found.items + found.threads;
      verdict.textContent = [
        isGenuine ? "It is genuine." : "It is not of this memory, or it was changed.",
        (isGenuine && remains) || "",
        again === 0
          ? "Nothing is there under those names."
          : `Under those names there is something now: ${counted(found.items, "item")}, ${counted(found.threads, "thread")}.`,
      ]
        .filter((sentence) => sentence !== "")
        .join(" ");
    };
    return h(
      "div",
      {},
      field("Receipt, as JSON", text),
      h(
        "div",
        { class: "actions" },
        button("Check", "", () => this.#host.run(check)),
      ),
      verdict,
    );
  }
}

function button(text: string, kind: string, click: () => void): HTMLElement {
  return h("button", { type: "button", class: kind, click }, text);
}

function card(title: string, ...content: HTMLElement[]): HTMLElement {
  return h("section", { class: "card", "aria-label": title }, h("h2", {}, title), ...content);
}

function checked({ isOk, pages, damagedPages, problem }: CheckReport): string {
  if (isOk) return `All is well: ${counted(pages, "page")}, all as written.`;
  const damaged = `Damaged: ${counted(damagedPages.length, "page")} of ${pages.toLocaleString("en")}.`;
  const what = damagedPages.length > 0 ? damaged : `It does not fit together: ${problem}.`;
  return `${what} salvage() saves what can still be read, and lists what is lost.`;
}

const today = () => new Date().toISOString().slice(0, 10);

function erasedText({
  items,
  threads,
  checkpoints,
  bytes: size,
}: ErasureReceipt["erased"]): string {
  return `${counted(items, "item")}, ${counted(threads, "thread")} with ${counted(checkpoints, "checkpoint")} (${bytes(size)})`;
}

function factsOf(stats: MemoryStats, diagnosis: Diagnosis): HTMLElement[] {
  const { store, checkpointer, quota, persisted } = stats;
  const { persistence, durability, database, isOwner, lastError } = diagnosis;
  const place = PLACES[persistence] ?? persistence;
  const vectors = [
    counted(store.vectors, "vector"),
    ...(store.pending > 0 ? [`${counted(store.pending, "item")} wait for theirs`] : []),
  ];
  return [
    ...fact("Kept in", place),
    ...fact("Database", database),
    ...fact("Size", bytes(stats.bytes)),
    ...fact("Durability", DURABILITIES[durability] ?? durability),
    ...(isOwner === undefined
      ? []
      : fact(
          "This tab",
          isOwner ? "Owner: it holds the file" : "Follower: it asks the tab that holds the file",
        )),
    ...(persisted === undefined || persistence === "memory"
      ? []
      : fact(
          "When the disk is full",
          persisted ? "The browser does not clear it" : "The browser may clear it",
        )),
    ...(quota === undefined
      ? []
      : fact("This site uses", `${bytes(quota.usage)} of ${bytes(quota.quota)}`)),
    ...fact(
      "Items",
      `${counted(store.items, "item")} in ${counted(store.namespaces, "namespace")}`,
    ),
    ...fact("Vectors", vectors.join(", ")),
    ...fact(
      "Threads",
      `${counted(checkpointer.threads, "thread")} with ${counted(checkpointer.checkpoints, "checkpoint")}, ${bytes(checkpointer.bytes)}`,
    ),
    ...(lastError ? fact("Last error", String(lastError)) : []),
  ];
}

const placeOf = (namespace: string[]): string =>
  namespace.length === 0 ? "Everything" : pathOf(namespace);

function orNone(rows: HTMLElement[], none: string): HTMLElement[] {
  return rows.length > 0 ? rows : [h("li", { class: "note" }, none)];
}
