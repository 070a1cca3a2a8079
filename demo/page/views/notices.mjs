// What the page has to say to the person: a line that goes by itself, or an error that stays.
import { byId, h } from "../dom.mjs";
import { explained } from "../words.mjs";

const SHOWN_MS = 8_000;

export class Notices {
  #root = byId("notices");

  say(text) {
    const notice = this.#show(text, "notice");
    setTimeout(() => notice.remove(), SHOWN_MS);
  }

  fail(error) {
    console.warn(error);
    this.clear();
    this.#show(explained(error), "notice error", "alert");
  }

  /** What failed before is past. */
  clear() {
    for (const notice of this.#root.querySelectorAll(".error")) notice.remove();
  }

  /** A listener that runs `work`, and says if that fails. */
  guarded(work) {
    return async (event) => {
      try {
        if (event?.type === "click") this.clear();
        await work(event);
      } catch (error) {
        this.fail(error);
      }
    };
  }

  /** Nothing is swallowed. */
  hearUncaught() {
    addEventListener("error", ({ error, message }) => this.fail(error ?? message));
    addEventListener("unhandledrejection", ({ reason }) => this.fail(reason));
  }

  // What is said already is not said twice.
  #show(text, kind, role) {
    const same = [...this.#root.children].find((notice) => notice.dataset.text === text);
    same?.remove();
    const close = h("button", { type: "button", class: "close", "aria-label": "Dismiss" }, "×");
    const notice = h("div", { class: kind, role, "data-text": text }, h("p", {}, text), close);
    close.addEventListener("click", () => notice.remove());
    this.#root.append(notice);
    return notice;
  }
}
