// What the tabs of the inspector and the inspector know of each other.

import type { Memory } from "../memory.js";
import type { Moment } from "../scope/history.js";
import type { ScopedMemory } from "../scope/scoped-memory.js";
import type { Changes } from "../wire/changes.js";
import { h } from "./dom.js";

/** Of a search: what is shown here need not hold now, and may be in quarantine. */
export const ALL_ITEMS = { validAt: "anytime", includeQuarantined: true } as const;

/** What a page calls the thread of this id; undefined leaves it the id. */
export type ThreadTitle = (threadId: string) => string | undefined;

/** What is shown, and where. */
export interface Shown {
  readonly memory: Memory;
  readonly root: ShadowRoot;
  /** Whose policies are shown. */
  readonly scopes: readonly ScopedMemory[];
  readonly threadTitle: ThreadTitle;
}

/** The inspector, for its tabs. */
export interface Host extends Shown {
  /** Does it; what it rejects with is shown. */
  run(work: () => Promise<void>): void;
  /** Shows a message, and reads it out. One with `undo` stays until it is dismissed. */
  say(text: string, undo?: () => Promise<void>): void;
  /** Shows an error, and reads it out. */
  fail(error: unknown): void;
  openItem(namespace: string[], key: string): void;
  /** Shows all items as they were; `called` says when that was. */
  showAsOf(moment: Moment, called: string): void;
  searchFor(namespace: string[], key: string): void;
  /** Shows the items below it. */
  showNamespace(namespace: string[]): void;
  /** Shows who wrote below it. */
  showAudit(namespace: string[]): void;
}

export interface Tab {
  readonly title: string;
  readonly root: HTMLElement;
  /** Something was written. Called while the tab is shown, or when it is shown again. */
  refresh(changes: Changes): void;
}

/** One of the panes that stand side by side, or one after the other where it is narrow. */
export interface Pane {
  title: string;
  content: HTMLElement;
  /** Beside the title. */
  beside?: HTMLElement;
}

export class Panes {
  readonly root: HTMLElement;

  constructor(panes: Pane[]) {
    this.root = h("div", { class: "panes" }, ...panes.map((pane, i) => this.#paneOf(pane, i)));
    this.show(0);
  }

  /** Where it is narrow, the pane that is seen. */
  show(step: number): void {
    this.root.dataset.step = String(step);
  }

  #paneOf({ title, content, beside }: Pane, step: number): HTMLElement {
    const back = step > 0 && this.#back(step);
    const head = h("header", {}, back, h("h2", {}, title), beside);
    return h("section", { class: `pane pane-${step}`, "aria-label": title }, head, content);
  }

  #back(step: number): HTMLElement {
    const click = () => this.show(step - 1);
    return h("button", { type: "button", class: "back", "aria-label": "Back", click }, "‹");
  }
}

/** Calls of `work` that overlap become one more, and never follow each other within `pauseMs`. */
export function coalesced(work: () => Promise<void>, pauseMs: number): () => void {
  let isRunning = false;
  let isAsked = false;
  const run = async () => {
    isRunning = true;
    while (isAsked) {
      isAsked = false;
      await work();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    isRunning = false;
  };
  return () => {
    isAsked = true;
    if (!isRunning) void run();
  };
}

/** Whether `namespace` is below `prefix`, or is it. */
export function isBelow(namespace: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((label, i) => label === namespace[i]);
}

/** `users/ada`, or a JSON list of labels where one of them has a slash. */
export function parseNamespace(text: string): string[] {
  const trimmed = text.trim();
  if (trimmed.startsWith("[")) return JSON.parse(trimmed) as string[];
  return trimmed.split("/").filter((label) => label !== "");
}

/** What `parseNamespace()` reads. */
export function namespaceText(namespace: readonly string[]): string {
  const isPlain = namespace.every((label) => !label.includes("/") && label.trim() === label);
  return isPlain && !namespace[0]?.startsWith("[")
    ? namespace.join("/")
    : JSON.stringify(namespace);
}

/** The JSON of a field, undefined if it is empty. Throws with the field's name. */
export function parseJson(name: string, text: string): Record<string, unknown> | undefined {
  if (text.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Error(`${name} is no JSON: ${(cause as Error).message}`, { cause });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new Error(`${name} must be a JSON object, such as {"kind": "fact"}`);
}
