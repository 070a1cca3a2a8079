// Who wrote where, and what was refused: the entries of the audit log, as far as they are asked for.

import type { AuditEntry } from "../scope/audit.js";
import { shownThreadId } from "../scope/thread-ids.js";
import type { Changes } from "../wire/changes.js";
import { auditText, doneText, OPERATIONS, outcomeText, whereText } from "./audit-words.js";
import { ask, choice, field, h } from "./dom.js";
import { fact } from "./item-view.js";
import { coalesced, type Host, namespaceText, Panes, parseNamespace, type Tab } from "./tab.js";
import { VirtualList } from "./virtual-list.js";
import { briefMoment, pathOf } from "./words.js";

const ROW = 58;
// Entries of one call, and rows that are looked for before somebody scrolls on.
const PAGE = 200;
const ROWS = 60;
// Of rows that are read again when something was written.
const MOST_AGAIN = 1000;

/** What is looked for, read from the fields. */
interface Wanted {
  namespace: string[];
  since: Date | undefined;
  until: Date | undefined;
  operation: string;
  isRefused: boolean;
}

export class AuditTab implements Tab {
  readonly title = "Audit";
  readonly root: HTMLElement;
  readonly #host: Host;
  readonly #panes: Panes;
  readonly #list: VirtualList;
  readonly #about = h("span", { class: "count" });
  readonly #detail = h("div", { class: "scroll detail" });
  readonly #rule = h("div", { class: "actions rule" });
  readonly #place = h("input", { type: "text", placeholder: "all, or user/ada" });
  readonly #operation = choice({ "": "All", ...namesOf(OPERATIONS) });
  readonly #since = h("input", { type: "datetime-local" });
  readonly #until = h("input", { type: "datetime-local" });
  readonly #refused = h("input", { type: "checkbox" });
  readonly #load: () => void;
  #entries: AuditEntry[] = [];
  #wanted: Wanted | undefined;
  // The last one that was read, whether it is shown or not.
  #before: number | undefined;
  #isDone = true;
  #isReading = false;
  #chosen: AuditEntry | undefined;

  constructor(host: Host) {
    this.#host = host;
    this.#list = new VirtualList({
      label: "Entries, the newest first",
      role: "listbox",
      rowHeight: ROW,
      render: (row, index) => renderEntry(row, this.#entries[index]),
      isChosen: (index) => this.#entries[index]?.id === (this.#chosen?.id ?? -1),
      choose: (index) => this.#choose(this.#entries[index]),
      onView: (_, end) => this.#more(end),
    });
    this.#panes = new Panes([
      { title: "Entries", content: this.#list.root, beside: this.#about },
      { title: "Entry", content: this.#detail },
    ]);
    this.#panes.root.classList.add("two");
    this.root = h("div", { class: "barred" }, this.#filter(), this.#panes.root);
    this.#load = coalesced(() => this.#read(), 500);
    this.#sayNothingChosen();
  }

  refresh(_: Changes): void {
    this.#load();
  }

  /** Only what was done below it. */
  showPlace(place: string[]): void {
    this.#place.value = namespaceText(place);
    this.#load();
  }

  #filter(): HTMLElement {
    const refused = h("label", { class: "check" }, this.#refused, "Refused only");
    const form = h(
      "form",
      {
        class: "filter",
        submit: (event: Event) => event.preventDefault(),
        change: () => this.#load(),
      },
      field("In or below", this.#place),
      field("What was done", this.#operation),
      field("From", this.#since),
      field("Until", this.#until),
      refused,
    );
    const again = h("button", { type: "button", click: () => this.#load() }, "Read anew");
    return h(
      "div",
      { class: "bar audit" },
      h("details", {}, h("summary", {}, "Filter"), form),
      again,
      this.#rule,
    );
  }

  async #read(): Promise<void> {
    try {
      this.#showRule(await this.#host.memory.auditRule());
      this.#wanted = this.#asked();
      // As many as before, so that nothing moves.
      await this.#readOn([], undefined, Math.min(this.#entries.length, MOST_AGAIN));
    } catch (error) {
      this.#host.fail(error);
    }
  }

  #asked(): Wanted {
    const time = ({ value }: HTMLInputElement) => (value === "" ? undefined : new Date(value));
    return {
      namespace: parseNamespace(this.#place.value),
      since: time(this.#since),
      until: time(this.#until),
      operation: this.#operation.value,
      isRefused: this.#refused.checked,
    };
  }

  #more(end: number): void {
    if (this.#isDone || this.#isReading || end < this.#entries.length) return;
    this.#host.run(() => this.#readOn(this.#entries, this.#before, this.#entries.length + ROWS));
  }

  // Behind what is known, page by page, until there are some rows more.
  async #readOn(known: AuditEntry[], last: number | undefined, least: number): Promise<void> {
    const wanted = this.#wanted;
    if (wanted === undefined) return;
    this.#isReading = true;
    const entries = [...known];
    let before = last;
    let isDone = false;
    try {
      while (!isDone && entries.length < Math.max(least, ROWS)) {
        const { namespace, since } = wanted;
        const page = await this.#host.memory.auditLog({ namespace, since, before, limit: PAGE });
        before = page.at(-1)?.id ?? before;
        isDone = page.length < PAGE;
        entries.push(...page.filter((entry) => isWanted(entry, wanted)));
      }
    } finally {
      // Else something else is asked for by now.
      if (wanted === this.#wanted) this.#isReading = false;
    }
    if (wanted !== this.#wanted) return;
    this.#entries = entries;
    this.#before = before;
    this.#isDone = isDone;
    this.#showEntries();
  }

  #showEntries(): void {
    const { length } = this.#entries;
    const count = length.toLocaleString("en");
    this.#about.textContent = length === 0 ? "none" : `${count}${this.#isDone ? "" : " so far"}`;
    this.#list.update(length);
  }

  #showRule(rule: Parameters<typeof auditText>[0]): void {
    const button = (text: string, kind: string, work: () => Promise<void>) =>
      h("button", { type: "button", class: kind, click: () => this.#host.run(work) }, text);
    this.#rule.replaceChildren(
      h("span", { class: "note" }, `${auditText(rule)}.`),
      rule === undefined
        ? button("Keep a log from now on", "primary", () => this.#keep())
        : button("Drop the log…", "danger", () => this.#drop()),
    );
  }

  async #keep(): Promise<void> {
    await this.#host.memory.keepAudit();
    this.#host.say("From now on writes and refusals leave an entry.");
    this.#load();
  }

  async #drop(): Promise<void> {
    const agreed = await ask(this.#host.root, {
      title: "Drop the audit log?",
      text: "All entries are deleted, and no more are kept. This cannot be undone.",
      yes: "Drop it",
      isDangerous: true,
    });
    if (agreed === undefined) return;
    await this.#host.memory.dropAudit();
    this.#sayNothingChosen();
    this.#host.say("The audit log was dropped.");
    this.#load();
  }

  #sayNothingChosen(): void {
    this.#chosen = undefined;
    this.#detail.replaceChildren(
      h("p", { class: "empty" }, "Choose an entry to see who did it, where, and how it ended."),
    );
  }

  #choose(entry: AuditEntry | undefined): void {
    if (entry === undefined) return;
    this.#chosen = entry;
    this.#panes.show(1);
    const { id, time, scope, namespace, threadId, actor, nodeId } = entry;
    const show = () => namespace && this.#host.showNamespace(namespace);
    this.#detail.replaceChildren(
      h("h3", {}, doneText(entry)),
      h(
        "dl",
        { class: "facts" },
        ...fact("When", time.toISOString()),
        ...fact("Scope", scope || "the whole memory"),
        ...(namespace ? fact("Namespace", pathOf(namespace) || "everything") : []),
        ...(threadId === undefined ? [] : fact("Thread", shownThreadId(threadId))),
        ...fact("By", actor ?? "nobody was named"),
        ...(nodeId === undefined ? [] : fact("Node of the graph", nodeId)),
        ...fact("How it ended", outcomeText(entry)),
        ...fact("Number", String(id)),
      ),
      h("p", { class: "note" }, "Keys and values are never in the log."),
      h(
        "div",
        { class: "actions" },
        namespace && h("button", { type: "button", click: show }, "Show the items there"),
      ),
    );
  }
}

const namesOf = (operations: Record<string, string>) =>
  Object.fromEntries(Object.keys(operations).map((name) => [name, name]));

function isWanted(entry: AuditEntry, { until, operation, isRefused }: Wanted): boolean {
  if (until !== undefined && entry.time > until) return false;
  if (operation !== "" && entry.operation !== operation) return false;
  return !isRefused || !entry.success;
}

function renderEntry(row: HTMLElement, entry: AuditEntry | undefined): void {
  if (entry === undefined) return;
  row.append(
    h(
      "span",
      { class: "line" },
      h("b", { class: entry.success ? "name" : "name refused" }, doneText(entry)),
      h("time", { class: "count" }, briefMoment(entry.time)),
    ),
    h("span", { class: "preview" }, whereText(entry)),
  );
}
