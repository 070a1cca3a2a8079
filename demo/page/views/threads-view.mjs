// The list of threads: switch, begin, delete.
import { byId, coalesced, h, KeyedList } from "../dom.mjs";
import { bytes, counted, moment } from "../words.mjs";
import { confirmed } from "./confirm.mjs";

export class ThreadsView {
  #app;
  #list = new KeyedList(byId("thread-list"), (thread) => this.#row(thread));

  constructor(app) {
    this.#app = app;
    byId("new-thread").addEventListener("click", () => app.showThread());
    this.update = coalesced(() => this.#update());
  }

  async #update() {
    const threads = await this.#app.listThreads();
    const current = this.#app.chat.threadId;
    this.#list.show(
      threads.map((thread) => ({ ...thread, key: thread.id, isCurrent: thread.id === current })),
    );
    byId("no-threads").hidden = threads.length > 0;
  }

  #row({ id, title, ...rest }) {
    const label = h("span", { class: "title" }, title);
    const detail = h("small");
    const open = h("button", { type: "button", class: "open" }, label, detail);
    open.addEventListener("click", () => this.#app.showThread(id));
    const remove = h(
      "button",
      { type: "button", class: "remove", "aria-label": `Delete the thread “${title}”` },
      "×",
    );
    remove.addEventListener(
      "click",
      this.#app.notices.guarded(() => this.#delete(id, title)),
    );
    const update = (thread) => {
      detail.textContent = detailOf(thread);
      if (thread.isCurrent) open.setAttribute("aria-current", "true");
      else open.removeAttribute("aria-current");
    };
    update(rest);
    return { root: h("li", {}, open, remove), update };
  }

  async #delete(id, title) {
    const agreed = await confirmed({
      title: "Delete this thread?",
      text: `“${title}” goes with all of its checkpoints. What was remembered in it stays in the memory.`,
      yes: "Delete thread",
    });
    if (!agreed) return;
    await this.#app.threads.delete(id);
    if (id === this.#app.chat.threadId) this.#app.showThread();
  }
}

function detailOf({ usedAt, size, recording }) {
  if (recording === undefined) return `${moment(new Date(usedAt))} · ${bytes(size)}`;
  const extent = counted(recording.turns, "turn");
  return recording.isComplete ? `Recording, ${extent}` : `Recording, not all of ${extent} yet`;
}
