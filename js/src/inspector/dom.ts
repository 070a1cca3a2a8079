// Elements without a framework.

export type Child = Node | string | undefined | null | false;
type Attribute = string | number | boolean | undefined | ((event: never) => void);

/** An element: functions listen, booleans are there or not, the rest is set as it is. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, Attribute> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (typeof value === "boolean") element.toggleAttribute(name, value);
    else if (value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...present(children));
  return element;
}

/** Those that are to be shown. */
export function present(children: readonly Child[]): (Node | string)[] {
  return children.filter((child) => child !== undefined && child !== null && child !== false);
}

let ids = 0;
/** An id that no other element has. */
export const newId = (): string => `k${++ids}`;

/** Label and control, one above the other. */
export function field(label: string, control: HTMLElement, hint?: string): HTMLElement {
  control.id ||= newId();
  const described = hint === undefined ? undefined : h("small", { id: newId() }, hint);
  if (described) control.setAttribute("aria-describedby", described.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, described);
}

/** A choice of values by what they are called. */
export function choice(options: Record<string, string>): HTMLSelectElement {
  const entries = Object.entries(options);
  return h("select", {}, ...entries.map(([value, text]) => h("option", { value }, text)));
}

/** Downloads the bytes. */
export function saveAs(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** What is asked before something is done. */
export interface Question {
  title: string;
  text: string;
  /** What the button says that does it. */
  yes: string;
  isDangerous?: boolean;
  /** Asks for a text, too. */
  input?: { label: string; value: string };
}

/** The text that was entered ("" where none is asked for), or undefined for no. */
export function ask(root: ShadowRoot, question: Question): Promise<string | undefined> {
  const title = h("h2", { id: newId() }, question.title);
  const text = h("p", { id: newId() }, question.text);
  const input = question.input && h("input", { type: "text", required: true });
  if (input) input.value = question.input?.value ?? "";
  const kind = question.isDangerous ? "danger" : "primary";
  const dialog = h(
    "dialog",
    { "aria-labelledby": title.id, "aria-describedby": text.id },
    h(
      "form",
      { method: "dialog" },
      title,
      text,
      input && field(question.input?.label ?? "", input),
      h(
        "div",
        { class: "actions" },
        h("button", { value: "", formnovalidate: true, autofocus: !input }, "Cancel"),
        h("button", { value: "yes", class: kind }, question.yes),
      ),
    ),
  );
  root.append(dialog);
  // Enter in the text field would press the first button, which is Cancel.
  input?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (input.reportValidity()) dialog.close("yes");
  });
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes" ? (input?.value ?? "") : undefined);
    });
    dialog.showModal();
    input?.select();
  });
}
