// Threads, the checkpoints of one as a tree, and what one of them changed.

import type { ThreadSummary } from "../checkpointer/checkpointer.js";
import type { CheckpointDiff } from "../checkpointer/diff.js";
import { orUndefined } from "../errors.js";
import { shownThreadId } from "../scope/thread-ids.js";
import type { Changes } from "../wire/changes.js";
import { CheckpointTree, type Step } from "./checkpoint-tree.js";
import { ask, type Child, h } from "./dom.js";
import { fact } from "./item-view.js";
import { coalesced, type Host, Panes, type Tab } from "./tab.js";
import { VirtualList } from "./virtual-list.js";
import { briefMoment, bytes, counted, cut, moment, pretty } from "./words.js";

const THREAD_ROW = 58;
const STEP_ROW = 58;
const FIRST_THREADS = 100;
// Of one channel.
const MOST_TEXT = 20_000;
const LANE = 16;
const MOST_LANES = 8;
// Of checkpoints that are read again when one is added.
const MOST_AGAIN = 1000;
// Of each step that is replayed.
const REPLAY_MS = 1000;

export class ThreadsTab implements Tab {
  readonly title = "Threads";
  readonly root: HTMLElement;
  readonly #host: Host;
  readonly #panes: Panes;
  readonly #threadList: VirtualList;
  readonly #stepList: VirtualList;
  readonly #about = h("span", { class: "count" });
  readonly #detail = h("div", { class: "scroll detail" });
  readonly #reload: () => void;
  #threads: ThreadSummary[] = [];
  #most = FIRST_THREADS;
  #threadId: string | undefined;
  #tree: CheckpointTree | undefined;
  #chosen: Step | undefined;
  #replaying: ReturnType<typeof setInterval> | undefined;

  constructor(host: Host) {
    this.#host = host;
    this.#threadList = new VirtualList({
      label: "Threads, the last active first",
      role: "listbox",
      rowHeight: THREAD_ROW,
      render: (row, index) => this.#renderThread(row, index),
      isChosen: (index) => this.#threads[index]?.threadId === this.#threadId,
      choose: (index) => this.#chooseThread(this.#threads[index]?.threadId),
      onView: (_, end) => this.#moreThreads(end),
    });
    this.#stepList = new VirtualList({
      label: "Checkpoints, the newest first",
      role: "listbox",
      rowHeight: STEP_ROW,
      render: (row, index) => this.#renderStep(row, this.#tree?.steps[index]),
      isChosen: (index) => isSame(this.#tree?.steps[index], this.#chosen),
      choose: (index) => {
        this.#endReplay();
        this.#chooseStep(this.#tree?.steps[index]);
      },
      onView: (_, end) => this.#moreSteps(end),
    });
    this.#panes = new Panes([
      { title: "Threads", content: this.#threadList.root },
      { title: "Checkpoints", content: this.#stepList.root, beside: this.#about },
      { title: "Checkpoint", content: this.#detail },
    ]);
    this.root = this.#panes.root;
    this.root.classList.add("threads");
    this.#reload = coalesced(() => this.#readThreads(), 300);
    this.#sayNothingChosen();
  }

  refresh({ everything, threads }: Changes): void {
    this.#reload();
    const id = this.#threadId;
    if (id === undefined || !(everything || threads.includes(id))) return;
    this.#startTree(id, this.#tree?.steps.length);
  }

  #sayNothingChosen(): void {
    this.#detail.replaceChildren(
      h(
        "p",
        { class: "empty" },
        "Choose a thread and one of its checkpoints to see what it changed.",
      ),
    );
  }

  async #readThreads(): Promise<void> {
    try {
      const threads: ThreadSummary[] = [];
      const limit = this.#most;
      for await (const thread of this.#host.memory.checkpointer.listThreads({ limit }))
        threads.push(thread);
      this.#threads = threads;
      this.#threadList.update(threads.length);
    } catch (error) {
      this.#host.fail(error);
    }
  }

  #moreThreads(end: number): void {
    if (end < this.#most || this.#threads.length < this.#most) return;
    this.#most *= 4;
    this.#reload();
  }

  #renderThread(row: HTMLElement, index: number): void {
    const thread = this.#threads[index];
    if (thread === undefined) return;
    const { checkpoints, lastActivity, bytes: size } = thread;
    const when = lastActivity === undefined ? "" : `${briefMoment(lastActivity)} · `;
    row.append(
      h("span", { class: "line" }, h("b", { class: "name" }, this.#titleOf(thread.threadId))),
      h(
        "span",
        { class: "preview" },
        `${when}${counted(checkpoints, "checkpoint")}, ${bytes(size)}`,
      ),
    );
  }

  #titleOf(threadId: string): string {
    const given = orUndefined(() => this.#host.threadTitle(threadId));
    const known = this.#threads.find((thread) => thread.threadId === threadId);
    return given ?? (known?.metadata?.title as string | undefined) ?? shownThreadId(threadId);
  }

  #chooseThread(threadId: string | undefined): void {
    if (threadId === undefined) return;
    this.#endReplay();
    this.#threadId = threadId;
    this.#chosen = undefined;
    this.#stepList.toTop();
    this.#sayNothingChosen();
    this.#startTree(threadId);
    this.#panes.show(1);
    this.#detail.append(this.#threadActions(threadId));
  }

  #threadActions(threadId: string, ...others: Child[]): HTMLElement {
    const remove = () => this.#host.run(() => this.#deleteThread(threadId));
    return h(
      "div",
      { class: "actions" },
      ...others,
      h("button", { type: "button", class: "danger", click: remove }, "Delete thread"),
    );
  }

  // Reads as much as was there before, so that nothing moves.
  #startTree(threadId: string, least = 0): void {
    const tree = new CheckpointTree(this.#host.memory.checkpointer, threadId);
    this.#host.run(async () => {
      do await tree.more();
      while (tree.steps.length < Math.min(least, MOST_AGAIN) && !tree.isDone);
      // Another was chosen meanwhile.
      if (this.#threadId !== threadId) return;
      this.#tree = tree;
      this.#showSteps();
    });
  }

  // A row more while there is more to come.
  #showSteps(): void {
    const { steps = [], isDone = true } = this.#tree ?? {};
    const title = this.#titleOf(this.#threadId ?? "");
    this.#about.textContent = `${steps.length}${isDone ? "" : " so far"} of ${title}`;
    this.#stepList.update(steps.length + (isDone ? 0 : 1));
  }

  #moreSteps(end: number): void {
    const tree = this.#tree;
    if (tree === undefined || tree.isDone || end <= tree.steps.length) return;
    // Whoever reads shows what came.
    if (tree.isReading) return;
    this.#host.run(async () => {
      await tree.more();
      if (tree === this.#tree) this.#showSteps();
    });
  }

  #renderStep(row: HTMLElement, step: Step | undefined): void {
    if (step === undefined) {
      row.append(h("span", { class: "preview" }, "…"));
      return;
    }
    const lane = h("span", { class: "lane", "aria-hidden": "true" });
    lane.style.marginInlineStart = `${Math.min(step.lane, MOST_LANES) * LANE}px`;
    const notes = [
      step.lane > 0 ? `branch ${step.lane + 1}` : "",
      step.children > 1 ? `${step.children} branches begin here` : "",
      step.pending > 0 ? counted(step.pending, "pending write") : "",
      step.namespace === "" ? "" : `in ${step.namespace}`,
    ].filter((note) => note !== "");
    row.append(
      ...rails(step),
      h(
        "span",
        { class: "step" },
        lane,
        h(
          "span",
          { class: "line" },
          h("b", { class: "name" }, step.step === undefined ? "Step" : `Step ${step.step}`),
          h("time", { class: "count" }, briefMoment(step.time)),
        ),
        h("span", { class: "preview" }, [step.source ?? "", ...notes].join(" · ")),
      ),
    );
  }

  #chooseStep(step: Step | undefined): void {
    if (step === undefined) return;
    this.#chosen = step;
    this.#panes.show(2);
    this.#host.run(async () => {
      const shown = await this.#stepShown(step);
      if (this.#chosen === step) this.#showDetail(shown);
    });
  }

  // Whoever stands on a button still does.
  #showDetail(shown: HTMLElement[]): void {
    const buttons = () => [...this.#detail.querySelectorAll("button")];
    const at = buttons().indexOf(this.#host.root.activeElement as HTMLButtonElement);
    this.#detail.replaceChildren(...shown);
    buttons()[at]?.focus();
  }

  async #stepShown(step: Step): Promise<HTMLElement[]> {
    const threadId = this.#threadId ?? "";
    const changed = await this.#changesOf(threadId, step);
    const fork = () => this.#host.run(() => this.#fork(threadId, step));
    const then = () =>
      this.#host.showAsOf(configOf(threadId, step.namespace, step.id), moment(step.time));
    return [
      h("p", { class: "path" }, shownThreadId(threadId)),
      h("h3", {}, step.step === undefined ? "Checkpoint" : `Step ${step.step}`),
      this.#walking(step),
      h(
        "dl",
        { class: "facts" },
        ...fact("Id", step.id),
        ...fact("Written", moment(step.time)),
        ...fact("By", step.source ?? "unknown"),
        ...fact("Channels", step.channels.join(", ") || "none"),
      ),
      h("h3", {}, step.parent === undefined ? "It holds" : "Against the step before"),
      ...changed,
      this.#wholeState(threadId, step),
      this.#threadActions(
        threadId,
        step.namespace === "" &&
          h("button", { type: "button", class: "primary", click: fork }, "Fork from here"),
        h("button", { type: "button", click: then }, "What was remembered then"),
      ),
    ];
  }

  // One step earlier or later, or all later ones, one after the other.
  #walking(step: Step): HTMLElement {
    const button = (text: string, isThere: boolean, click: () => void) =>
      h("button", { type: "button", disabled: !isThere, click }, text);
    const later = this.#laterThan(step);
    const goOn = () => {
      this.#endReplay();
      this.#walkTo(later);
    };
    const replay = () => {
      if (this.#replaying === undefined) return this.#replay();
      this.#endReplay();
      this.#walkTo(step);
    };
    return h(
      "div",
      { class: "actions" },
      button("Earlier", step.parent !== undefined, () => this.#goBack(step)),
      button("Later", later !== undefined, goOn),
      button(this.#replaying ? "Stop" : "Replay from here", later !== undefined, replay),
    );
  }

  #goBack(step: Step): void {
    this.#endReplay();
    const tree = this.#tree;
    if (tree === undefined) return;
    const find = () =>
      tree.steps.find((other) => isSame(other, { ...step, id: step.parent ?? "" }));
    this.#host.run(async () => {
      while (find() === undefined && !tree.isDone) await tree.more();
      if (tree === this.#tree) this.#walkTo(find());
    });
  }

  // Of several branches, the one that is drawn first.
  #laterThan(step: Step): Step | undefined {
    const { steps = [] } = this.#tree ?? {};
    return steps
      .filter(({ namespace, parent }) => namespace === step.namespace && parent === step.id)
      .sort((a, b) => a.lane - b.lane)[0];
  }

  #walkTo(step: Step | undefined): void {
    this.#chooseStep(step);
    this.#showSteps();
  }

  #replay(): void {
    const goOn = () => {
      const next = this.#chosen && this.#laterThan(this.#chosen);
      if (next === undefined || !this.root.isConnected) return this.#endReplay();
      this.#walkTo(next);
      if (this.#laterThan(next) === undefined) this.#endReplay();
    };
    this.#replaying = setInterval(goOn, REPLAY_MS);
    goOn();
  }

  #endReplay(): void {
    clearInterval(this.#replaying);
    this.#replaying = undefined;
  }

  async #changesOf(threadId: string, step: Step): Promise<HTMLElement[]> {
    const { checkpointer } = this.#host.memory;
    const own = configOf(threadId, step.namespace, step.id);
    if (step.parent !== undefined) {
      const parent = configOf(threadId, step.namespace, step.parent);
      if ((await checkpointer.getTuple(parent)) !== undefined)
        return diffShown(await checkpointer.diff(parent, own));
    }
    const tuple = await checkpointer.getTuple(own);
    const added = tuple?.checkpoint.channel_values ?? {};
    const note =
      step.parent === undefined
        ? []
        : [h("p", { class: "note" }, "That is no longer kept: here is all of it.")];
    return [...note, ...diffShown({ added, removed: {}, changed: {}, unchanged: [] })];
  }

  #wholeState(threadId: string, step: Step): HTMLElement {
    const text = h("pre", { tabindex: 0, "aria-label": "Whole state" }, "…");
    const details = h("details", {}, h("summary", {}, "Whole state"), text);
    details.addEventListener("toggle", () => {
      if (!details.open) return;
      this.#host.run(async () => {
        const { checkpointer } = this.#host.memory;
        const tuple = await checkpointer.getTuple(configOf(threadId, step.namespace, step.id));
        text.textContent = cut(pretty(tuple?.checkpoint.channel_values ?? null), MOST_TEXT);
      });
    });
    return details;
  }

  async #fork(threadId: string, step: Step): Promise<void> {
    const name = await ask(this.#host.root, {
      title: "Fork this thread",
      text: "A new thread begins with the history up to this checkpoint. The old one stays as it is.",
      yes: "Fork",
      input: { label: "Id of the new thread", value: `${threadId}-fork` },
    });
    if (name === undefined) return;
    await this.#host.memory.checkpointer.forkThread(threadId, step.id, name);
    this.#host.say(
      `Thread ${name} begins at ${step.step === undefined ? "it" : `step ${step.step}`}.`,
    );
    this.#chooseThread(name);
  }

  async #deleteThread(threadId: string): Promise<void> {
    const agreed = await ask(this.#host.root, {
      title: "Delete this thread?",
      text: `All checkpoints of ${this.#titleOf(threadId)} are deleted. This cannot be undone.`,
      yes: "Delete thread",
      isDangerous: true,
    });
    if (agreed === undefined) return;
    await this.#host.memory.checkpointer.deleteThread(threadId);
    this.#threadId = undefined;
    this.#tree = undefined;
    this.#chosen = undefined;
    this.#about.textContent = "";
    this.#stepList.update(0);
    this.#sayNothingChosen();
    this.#panes.show(0);
    this.#host.say("Deleted.");
  }
}

// Lines from each checkpoint to the one before it.
function rails({ lane, children, parent, passing }: Step): HTMLElement[] {
  const rail = (at: number, kind: string) => {
    const line = h("span", { class: `rail ${kind}`, "aria-hidden": "true" });
    line.style.insetInlineStart = `${Math.min(at, MOST_LANES) * LANE + 18}px`;
    return line;
  };
  return [
    ...passing.map((other) => rail(other, "")),
    ...(children > 0 ? [rail(lane, "up")] : []),
    ...(parent === undefined ? [] : [rail(lane, "down")]),
  ];
}

function isSame(a: Step | undefined, b: Step | undefined): boolean {
  return a !== undefined && a.id === b?.id && a.namespace === b.namespace;
}

function configOf(thread_id: string, checkpoint_ns: string, checkpoint_id: string) {
  return { configurable: { thread_id, checkpoint_ns, checkpoint_id } };
}

function diffShown({ added, removed, changed, unchanged }: CheckpointDiff): HTMLElement[] {
  const shown = [
    ...Object.entries(added).map(([name, value]) => change("added", name, value)),
    ...Object.entries(changed).flatMap(([name, { before, after, appended }]) =>
      appended === undefined
        ? [change("removed", name, before), change("added", name, after)]
        : [change("added", `${name}, ${appended.length} more`, appended)],
    ),
    ...Object.entries(removed).map(([name, value]) => change("removed", name, value)),
  ];
  const rest =
    unchanged.length > 0 ? [h("p", { class: "note" }, `Unchanged: ${unchanged.join(", ")}.`)] : [];
  return shown.length > 0
    ? [...shown, ...rest]
    : [h("p", { class: "note" }, "Nothing changed."), ...rest];
}

function change(kind: "added" | "removed", name: string, value: unknown): HTMLElement {
  const sign = kind === "added" ? "+" : "−";
  const text = cut(pretty(value), MOST_TEXT);
  return h(
    "figure",
    { class: `change ${kind}` },
    h("figcaption", {}, `${sign} ${name}`, h("span", { class: "hidden" }, ` ${kind}`)),
    h("pre", { tabindex: 0, "aria-label": `${name}, ${kind}` }, text),
  );
}
