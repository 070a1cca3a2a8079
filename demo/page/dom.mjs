// Elements without a framework.

/** An element: functions listen, booleans are there or not, the rest is set as it is. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (typeof value === "boolean") element.toggleAttribute(name, value);
    else if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(
    ...children.filter((child) => child !== undefined && child !== null && child !== false),
  );
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Downloads the blob. */
export function saveAs(name, blob) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url));
}

/**
 * The children of `root`, one for each entry with a `key`. What is there already is kept,
 * with its focus and what is open in it, and told its new entry.
 */
export class KeyedList {
  #root;
  #create;
  #rows = new Map();

  // `create(entry)` → {root, update?(entry)}
  constructor(root, create) {
    this.#root = root;
    this.#create = create;
  }

  show(entries) {
    const rows = new Map(entries.map((entry) => [entry.key, this.#rowFor(entry)]));
    for (const [key, { root }] of this.#rows) if (!rows.has(key)) root.remove();
    this.#rows = rows;
    let next = this.#root.firstChild;
    for (const { root } of rows.values()) {
      if (root === next) next = next.nextSibling;
      else this.#root.insertBefore(root, next);
    }
  }

  #rowFor(entry) {
    const row = this.#rows.get(entry.key);
    if (row === undefined) return this.#create(entry);
    row.update?.(entry);
    return row;
  }
}

/** `work`, never twice at a time: asked for while it runs, it runs once more. */
export function coalesced(work) {
  let running;
  let again = false;
  const run = async () => {
    do {
      again = false;
      await work();
    } while (again);
  };
  return () => {
    again = true;
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}
