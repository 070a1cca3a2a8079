// Time travel: the thread as it was after each of its turns, and a new thread from there.
import { byId } from "../dom.mjs";
import { cut, moment } from "../words.mjs";

const LONGEST_TITLE = 40;

export class PastView {
  #app;
  #slider = byId("past-at");

  constructor(app) {
    this.#app = app;
    const onClick = (id, work) => byId(id).addEventListener("click", app.notices.guarded(work));
    onClick("look-back", () => this.#lookBack());
    onClick("come-back", () => this.#comeBack());
    onClick("fork-here", () => this.#fork());
    this.#slider.addEventListener("input", () => app.chat.visit(Number(this.#slider.value) - 1));
    app.chat.addEventListener("update", () => this.#show());
  }

  #show() {
    const { past, messages, isRunning } = this.#app.chat;
    byId("look-back").hidden = past !== undefined || messages.length === 0;
    byId("look-back").disabled = isRunning;
    byId("past").hidden = past === undefined;
    byId("chat-scroll").classList.toggle("past", past !== undefined);
    if (past === undefined) return;
    const { moments, at } = past;
    this.#slider.max = String(moments.length);
    this.#slider.value = String(at + 1);
    this.#slider.setAttribute("aria-valuetext", `turn ${at + 1} of ${moments.length}`);
    byId("past-when").textContent =
      `As it was after turn ${at + 1} of ${moments.length}, ${moment(moments[at].at)}`;
  }

  async #lookBack() {
    await this.#app.chat.lookBack();
    this.#slider.focus();
  }

  #comeBack() {
    this.#app.chat.comeBack();
    byId("look-back").focus();
  }

  // The thread itself stays as it is. What tells the new one apart comes first: titles are cut.
  async #fork() {
    const { threadId, past } = this.#app.chat;
    const title = cut(this.#app.currentThread()?.title ?? "Thread", LONGEST_TITLE);
    const newId = crypto.randomUUID();
    const { checkpointId } = past.moments[past.at];
    await this.#app.threads.fork(
      threadId,
      checkpointId,
      newId,
      `From turn ${past.at + 1}: ${title}`,
    );
    this.#app.showThread(newId);
  }
}
