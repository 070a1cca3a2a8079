// Scopes: what each holds, what its policy allows and how much of that is used, what is held there
// and of what a history is kept.

import { KeepsakeError } from "../errors.js";
import type { Memory } from "../memory.js";
import type { Hold } from "../scope/erasure.js";
import { decodeLabel } from "../scope/labels.js";
import type { PlacedPolicy } from "../scope/policy.js";
import type { HistoryRule } from "../store/history-rules.js";
import type { Changes } from "../wire/changes.js";
import { labelOfThread } from "../wire/scope.js";
import { auditText, type Rule, rulesOf } from "./audit-words.js";
import { h } from "./dom.js";
import { fact } from "./item-view.js";
import { coalesced, type Host, isBelow, Panes, type Tab } from "./tab.js";
import { VirtualList } from "./virtual-list.js";
import { bytes, counted, forAge, moment, pathOf } from "./words.js";

const ROW = 58;
// Of each kind.
const MOST_SCOPES = 1000;
// Whose items are counted for a quota.
const MOST_NAMESPACES = 200;
const KINDS: Record<string, string> = {
  user: "User",
  conv: "Conversation",
  global: "Application",
};

interface Scope {
  place: string[];
  kind: string;
  name: string;
  /** Of each object that was given for it. */
  given: PlacedPolicy[][];
}

export class ScopesTab implements Tab {
  readonly title = "Scopes";
  readonly root: HTMLElement;
  readonly #host: Host;
  readonly #panes: Panes;
  readonly #list: VirtualList;
  readonly #about = h("span", { class: "count" });
  readonly #detail = h("div", { class: "scroll detail" });
  readonly #load: () => void;
  #scopes: Scope[] = [];
  #chosen: Scope | undefined;

  constructor(host: Host) {
    this.#host = host;
    this.#list = new VirtualList({
      label: "Scopes",
      role: "listbox",
      rowHeight: ROW,
      render: (row, index) => renderScope(row, this.#scopes[index]),
      isChosen: (index) => isSame(this.#scopes[index], this.#chosen),
      choose: (index) => this.#choose(this.#scopes[index]),
    });
    this.#panes = new Panes([
      { title: "Scopes", content: this.#list.root, beside: this.#about },
      { title: "Scope", content: this.#detail },
    ]);
    this.root = this.#panes.root;
    this.root.classList.add("two");
    this.#load = coalesced(() => this.#read(), 500);
    this.#detail.append(
      h(
        "p",
        { class: "empty" },
        "Choose a scope to see what it holds, and what may be done there.",
      ),
    );
  }

  refresh(_: Changes): void {
    this.#load();
  }

  async #read(): Promise<void> {
    try {
      this.#scopes = await scopesOf(this.#host);
      this.#about.textContent = counted(this.#scopes.length - 1, "scope");
      this.#list.update(this.#scopes.length);
      const chosen = this.#scopes.find((scope) => isSame(scope, this.#chosen));
      if (chosen !== undefined) await this.#show(chosen);
    } catch (error) {
      this.#host.fail(error);
    }
  }

  #choose(scope: Scope | undefined): void {
    if (scope === undefined) return;
    this.#chosen = scope;
    // Its buttons are those of the one before until this one is shown.
    this.#detail.inert = true;
    this.#panes.show(1);
    this.#host.run(() => this.#show(scope));
  }

  async #show(scope: Scope): Promise<void> {
    const { memory } = this.#host;
    const [facts, holds, rules, policies] = await Promise.all([
      factsOf(this.#host, scope.place),
      memory.holds(),
      memory.store.historyRules(),
      this.#policiesShown(scope),
    ]);
    // Another was chosen meanwhile.
    if (!isSame(scope, this.#chosen)) return;
    this.#detail.replaceChildren(
      h("p", { class: "path" }, scope.kind),
      h("h3", {}, scope.name),
      h("dl", { class: "facts" }, ...facts),
      h("h3", {}, "What may be done"),
      ...policies,
      h("h3", {}, "What is held"),
      listOf(holdsIn(holds, scope.place), "Nothing is held: all may be forgotten."),
      h("h3", {}, "What is kept of the past"),
      listOf(rulesIn(rules, scope.place), "No history is kept."),
      this.#actions(scope.place),
    );
    this.#detail.inert = false;
  }

  #actions(place: string[]): HTMLElement {
    const button = (text: string, click: () => void) =>
      h("button", { type: "button", click }, text);
    return h(
      "div",
      { class: "actions" },
      button("Show its items", () => this.#host.showNamespace(place)),
      button("Who wrote here", () => this.#host.showAudit(place)),
    );
  }

  async #policiesShown({ place, given }: Scope): Promise<HTMLElement[]> {
    if (place.length === 0) return [note("Everything: only scopes have policies.")];
    if (given.length === 0) {
      return [
        note(
          "No policy is known. It belongs to what memory.scoped() answers, not to the file: give that to the scopes of this element.",
        ),
      ];
    }
    const shown = await Promise.all(given.flat().map((placed) => this.#policyShown(placed)));
    return shown.flat();
  }

  async #policyShown({ place, policy }: PlacedPolicy): Promise<HTMLElement[]> {
    const rules = rulesOf(policy);
    const head = note(`Policy of ${pathOf(place)}`);
    if (rules.length === 0) return [head, listOf([h("li", {}, "Everything is allowed.")], "")];
    const rows = await Promise.all(rules.map((rule) => this.#ruleShown(rule, place)));
    return [head, listOf(rows, "")];
  }

  async #ruleShown({ text, most }: Rule, place: string[]): Promise<HTMLElement> {
    if (most === undefined) return h("li", {}, text);
    const { name, count } = most;
    const { used, said } =
      name === "maxBytes" ? await bytesUsed(this.#host, place) : await fullest(this.#host, place);
    const share = count === 0 ? 100 : Math.min(100, Math.round((100 * used) / count));
    const bar = h("meter", { max: 100, high: 90, value: share, "aria-label": `Used of: ${text}` });
    return h("li", {}, `${text}. ${said} (${share} %).`, bar);
  }
}

function renderScope(row: HTMLElement, scope: Scope | undefined): void {
  if (scope === undefined) return;
  const { name, kind, given } = scope;
  row.append(
    h(
      "span",
      { class: "line" },
      h("b", { class: "name" }, name),
      given.length > 0 && h("span", { class: "score" }, "policy"),
    ),
    h("span", { class: "preview" }, kind),
  );
}

// The whole memory, what was given, and whose items or threads are there.
async function scopesOf({ memory, scopes }: Host): Promise<Scope[]> {
  const found = new Map<string, Scope>();
  const add = (place: readonly string[], policies?: PlacedPolicy[]) => {
    const scope = found.get(JSON.stringify(place)) ?? scopeAt([...place]);
    found.set(JSON.stringify(place), scope);
    if (policies) scope.given.push(policies);
  };
  add([]);
  for (const { place, policies } of scopes) add(place, policies);
  for (const kind of Object.keys(KINDS)) {
    const page = { prefix: [kind], maxDepth: 2, limit: MOST_SCOPES };
    const namespaces = await memory.store.listNamespaces(page);
    for (const namespace of namespaces) if (namespace.length === 2) add(namespace);
  }
  for await (const { threadId } of memory.checkpointer.listThreads({ limit: MOST_SCOPES })) {
    const [kind = "", id, thread] = threadId.split("/");
    if (KINDS[kind] !== undefined && id && thread !== undefined) add([kind, labelOfThread(id)]);
  }
  return [...found.values()];
}

function scopeAt(place: string[]): Scope {
  const [root = "", label = ""] = place;
  if (place.length === 0) return { place, kind: "No scope", name: "The whole memory", given: [] };
  const kind = KINDS[root];
  if (place.length === 2 && kind !== undefined)
    return { place, kind, name: decodeLabel(label), given: [] };
  return { place, kind: "A place of its own", name: pathOf(place), given: [] };
}

const isSame = (one: Scope | undefined, other: Scope | undefined) =>
  one !== undefined && JSON.stringify(one.place) === JSON.stringify(other?.place);

// What a forgetting would take is what is there.
async function factsOf({ memory }: Host, place: string[]): Promise<HTMLElement[]> {
  if (place.length === 0) {
    const { store, checkpointer } = await memory.stats();
    return [
      ...fact("Items", counted(store.items, "item")),
      ...fact("Threads", `${counted(checkpointer.threads, "thread")}`),
      ...fact("Audit log", auditText(await memory.auditRule())),
    ];
  }
  try {
    const { erased } = await memory.scoped({ place }).forget({ dryRun: true });
    return [
      ...fact("Lies in", pathOf(place)),
      ...fact("Items", counted(erased.items, "item")),
      ...fact(
        "Threads",
        `${counted(erased.threads, "thread")} with ${counted(erased.checkpoints, "checkpoint")}`,
      ),
      ...fact("Size", bytes(erased.bytes)),
    ];
  } catch (error) {
    if (!(error instanceof KeepsakeError) || error.code !== "held") throw error;
    const { items, bytes: size } = await counts(memory, place);
    return [
      ...fact("Lies in", pathOf(place)),
      ...fact("Items", counted(items, "item")),
      ...fact("Size", `${bytes(size)}, without threads`),
    ];
  }
}

// An eviction that takes nothing counts items, held ones too, and bytes of keys and values. A quota
// counts labels and threads besides.
async function counts(memory: Memory, place: string[]) {
  const nothing = { maxBytes: Number.MAX_SAFE_INTEGER, dryRun: true };
  return (await memory.scoped({ place }).evict(nothing)).kept;
}

async function bytesUsed({ memory }: Host, place: string[]) {
  const { bytes: used } = await counts(memory, place);
  return { used, said: `Keys and values take ${bytes(used)}` };
}

async function fullest({ memory }: Host, place: string[]) {
  const { store } = memory.scoped({ place });
  const namespaces = await store.listNamespaces({ limit: MOST_NAMESPACES });
  let used = 0;
  let name = "";
  for (const namespace of namespaces) {
    const { length } = await store.listKeys(namespace);
    if (length > used) [used, name] = [length, pathOf(namespace)];
  }
  const among = namespaces.length < MOST_NAMESPACES ? "" : `, of the first ${MOST_NAMESPACES}`;
  return {
    used,
    said:
      used === 0 ? "None is there" : `The fullest is ${name}${among}: ${used.toLocaleString("en")}`,
  };
}

const isNear = (one: readonly string[], other: readonly string[]) =>
  isBelow(one, other) || isBelow(other, one);

const placeText = (place: readonly string[]) => (place.length === 0 ? "Everything" : pathOf(place));

function holdsIn(holds: Hold[], place: string[]): HTMLElement[] {
  return holds
    .filter(({ namespace }) => isNear(namespace, place))
    .map(({ namespace, reason, since }) =>
      h("li", {}, `${placeText(namespace)} is held since ${moment(since)}: ${reason}`),
    );
}

function rulesIn(rules: HistoryRule[], place: string[]): HTMLElement[] {
  return rules
    .filter(({ namespace }) => isNear(namespace, place))
    .map(({ namespace, maxVersions, maxAge, since }) => {
      const text = `${counted(maxVersions, "version")} of each item${forAge(maxAge)}, since ${moment(since)}`;
      return h("li", {}, `${placeText(namespace)}: ${text}`);
    });
}

const note = (text: string) => h("p", { class: "note" }, text);

function listOf(rows: HTMLElement[], none: string): HTMLElement {
  return h(
    "ul",
    { class: "holds" },
    ...(rows.length > 0 ? rows : [h("li", { class: "note" }, none)]),
  );
}
