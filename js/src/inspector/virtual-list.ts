// A list of any length, of which only the rows in view are elements. The list has the focus,
// and says which row is meant (aria-activedescendant).

import { h, newId } from "./dom.js";

/** Browsers lay out no more than some 33 million pixels. */
const MOST_PIXELS = 30_000_000;
const BEYOND_VIEW = 8;

export interface ListOptions {
  label: string;
  role: "listbox" | "tree";
  /** Pixels of every row. */
  rowHeight: number;
  /** Fills a row that is empty. May be called again for the same one. */
  render(row: HTMLElement, index: number): void;
  isChosen(index: number): boolean;
  choose(index: number): void;
  /** True if it knew what to do with the key. */
  onKey?(key: string, index: number): boolean;
  /** After rows from `first` to before `end` were rendered. */
  onView?(first: number, end: number): void;
}

export class VirtualList {
  readonly root: HTMLElement;
  readonly #options: ListOptions;
  readonly #space = h("div", { class: "space", role: "presentation" });
  readonly #rows = new Map<number, HTMLElement>();
  readonly #id = newId();
  #count = 0;
  #active = 0;
  #isWaiting = false;

  constructor(options: ListOptions) {
    this.#options = options;
    const { role, label } = options;
    this.root = h("div", { class: "list", role, "aria-label": label, tabindex: 0 }, this.#space);
    this.root.addEventListener("scroll", () => this.#later(), { passive: true });
    this.root.addEventListener("click", (event) => this.#clicked(event));
    this.root.addEventListener("keydown", (event) => this.#pressed(event));
    // A list in a hidden tab has no height until it is shown.
    new ResizeObserver(() => this.#later()).observe(this.root);
  }

  /** How many rows a list of this row height can have. */
  get most(): number {
    return Math.floor(MOST_PIXELS / this.#options.rowHeight);
  }

  /** Shows so many rows, all of them anew. */
  update(count: number): void {
    this.#count = Math.min(count, this.most);
    this.#active = Math.max(0, Math.min(this.#active, this.#count - 1));
    this.#space.style.height = `${this.#count * this.#options.rowHeight}px`;
    this.#render(true);
  }

  /** Moves to the row and has it in view. */
  activate(index: number): void {
    this.#active = Math.max(0, Math.min(index, this.#count - 1));
    const { rowHeight } = this.#options;
    const top = this.#active * rowHeight;
    const { scrollTop, clientHeight } = this.root;
    if (top < scrollTop) this.root.scrollTop = top;
    else if (top + rowHeight > scrollTop + clientHeight)
      this.root.scrollTop = top + rowHeight - clientHeight;
    this.#render(true);
  }

  toTop(): void {
    this.#active = 0;
    this.root.scrollTop = 0;
  }

  #later(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    requestAnimationFrame(() => {
      this.#isWaiting = false;
      this.#render(false);
    });
  }

  #render(isAnew: boolean): void {
    const { rowHeight, onView } = this.#options;
    const { scrollTop, clientHeight } = this.root;
    const first = Math.max(0, Math.floor(scrollTop / rowHeight) - BEYOND_VIEW);
    const inView = Math.ceil((scrollTop + clientHeight) / rowHeight) + BEYOND_VIEW;
    const end = clientHeight === 0 ? 0 : Math.min(this.#count, inView);
    for (const [index, row] of this.#rows) {
      if (index >= first && index < end) continue;
      row.remove();
      this.#rows.delete(index);
    }
    for (let index = first; index < end; index++) this.#renderRow(index, isAnew);
    this.#sayActive();
    if (end > first) onView?.(first, end);
  }

  #renderRow(index: number, isAnew: boolean): void {
    const known = this.#rows.get(index);
    if (known !== undefined && !isAnew) return;
    const row = known ?? this.#newRow(index);
    const { render, isChosen } = this.#options;
    row.replaceChildren();
    render(row, index);
    row.setAttribute("aria-selected", String(isChosen(index)));
    row.setAttribute("aria-setsize", String(this.#count));
    row.classList.toggle("active", index === this.#active);
    if (known === undefined) this.#place(row, index);
  }

  #newRow(index: number): HTMLElement {
    const { role, rowHeight } = this.#options;
    const row = h("div", {
      class: "row",
      id: `${this.#id}-${index}`,
      role: role === "tree" ? "treeitem" : "option",
      "aria-posinset": index + 1,
    });
    row.dataset.index = String(index);
    row.style.height = `${rowHeight}px`;
    row.style.transform = `translateY(${index * rowHeight}px)`;
    this.#rows.set(index, row);
    return row;
  }

  // In their order, for those who read the page in its own.
  #place(row: HTMLElement, index: number): void {
    const next = this.#rows.get(index + 1);
    this.#space.insertBefore(row, next ?? null);
  }

  #sayActive(): void {
    const row = this.#rows.get(this.#active);
    if (row) this.root.setAttribute("aria-activedescendant", row.id);
    else this.root.removeAttribute("aria-activedescendant");
  }

  #clicked(event: MouseEvent): void {
    const row = (event.target as Element).closest<HTMLElement>(".row");
    if (row?.dataset.index === undefined) return;
    this.#active = Number(row.dataset.index);
    if (!(isOnTwisty(row, event) && this.#options.onKey?.("Toggle", this.#active)))
      this.#options.choose(this.#active);
    this.#render(true);
  }

  #pressed(event: KeyboardEvent): void {
    if (this.#count === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const page = Math.max(1, Math.floor(this.root.clientHeight / this.#options.rowHeight) - 1);
    const targets: Record<string, number> = {
      ArrowDown: this.#active + 1,
      ArrowUp: this.#active - 1,
      PageDown: this.#active + page,
      PageUp: this.#active - page,
      Home: 0,
      End: this.#count - 1,
    };
    const target = targets[key];
    if (target !== undefined) this.activate(target);
    else if (this.#does(key)) this.#render(true);
    else return;
    event.preventDefault();
  }

  // True if the key is one for rows.
  #does(key: string): boolean {
    if (key !== "Enter" && key !== " ") return this.#options.onKey?.(key, this.#active) ?? false;
    this.#options.choose(this.#active);
    return true;
  }
}

// By its place: what is in a row may be made anew between the two halves of a click, so that
// only rows hear of one.
function isOnTwisty(row: HTMLElement, { clientX }: MouseEvent): boolean {
  const place = row.querySelector(".twisty")?.getBoundingClientRect();
  return place !== undefined && clientX >= place.left && clientX <= place.right;
}
