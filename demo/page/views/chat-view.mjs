// The chat: what was said, what the agent asks, and where a person writes.
import { byId, h, KeyedList } from "../dom.mjs";
import { draftOf, keepDraft } from "../drafts.mjs";
import { TurnRow, turnsOf } from "./message-view.mjs";

// Nearer to the end than this, the page follows what comes.
const AT_END = 80;

export class ChatView {
  #app;
  #scroll = byId("chat-scroll");
  #message = byId("message");
  #pending = byId("pending");
  #list = logRows();
  #shownThread;
  #shownPending;
  /** What is to be sent when the agent has answered: {threadId, text}. */
  #waiting;
  /** What is on its way into the thread. */
  #sent = "";

  constructor(app) {
    this.#app = app;
    app.chat.addEventListener("update", () => this.update());
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.send(this.#message.value);
    });
    this.#message.addEventListener("keydown", (event) => this.#sendOnEnter(event));
    this.#message.addEventListener("input", () => this.#keepDraft());
    byId("ask-about").addEventListener("click", () => app.showThread());
    this.#stayAtEnd();
  }

  send = async (text) => {
    if (text.trim() === "" || !this.#app.chat.isLoaded || this.#app.chat.past) return;
    this.#app.notices.clear();
    // Of a suggestion, what the person is writing stays.
    if (text === this.#message.value) this.#message.value = "";
    if (this.#isBusy()) this.#letWait(text.trim());
    else await this.#say(text.trim());
  };

  async #say(text) {
    const { threadId } = this.#app.chat;
    this.#sent = text;
    this.#keepDraft();
    // What is said comes into sight, wherever its writer was reading.
    if (this.#app.chat.messages.length > 0) this.#scrollToEnd();
    try {
      await this.#app.chat.say(text);
    } catch (error) {
      if (threadId === this.#app.chat.threadId) this.#takeBack(this.#wasSaid(text) ? "" : text);
      this.#app.notices.fail(error);
    }
    if (threadId === this.#app.chat.threadId) this.#keepDraft();
  }

  // ---- a message that is sent when the agent has answered

  #letWait(text) {
    const { threadId } = this.#app.chat;
    const before = this.#waiting ? `${this.#waiting.text}\n` : "";
    this.#waiting = { threadId, text: before + text };
    this.#keepDraft();
    this.#showWaiting();
    this.#scrollToEnd();
  }

  #sendWaiting() {
    if (this.#waiting === undefined || this.#isBusy()) return;
    const { isUnfinished, isLoaded } = this.#app.chat;
    if (!isLoaded) return;
    const { text } = this.#waiting;
    this.#waiting = undefined;
    this.#showWaiting();
    // What stopped is to be looked at first.
    if (isUnfinished) this.#takeBack(text);
    else this.#say(text);
  }

  #takeBack(text) {
    this.#sent = "";
    this.#waiting = undefined;
    const parts = [text, this.#message.value];
    this.#message.value = parts.filter((part) => part !== "").join("\n");
    this.#showWaiting();
    this.#keepDraft();
  }

  #showWaiting() {
    const { text } = this.#waiting ?? {};
    const takeBack = () => {
      this.#takeBack(text);
      this.#message.focus();
    };
    byId("waiting").replaceChildren(
      ...(text === undefined
        ? []
        : [
            h("div", { class: "said unsent" }, h("p", { class: "text" }, text)),
            h(
              "p",
              { class: "note" },
              "Sent when the agent has answered. ",
              h("button", { type: "button", class: "link", click: takeBack }, "Take it back"),
            ),
          ]),
    );
  }

  // Until it is in the thread, a reload brings it back.
  #keepDraft() {
    const { threadId } = this.#app.chat;
    if (threadId === undefined) return;
    if (this.#sent !== "" && this.#wasSaid(this.#sent)) this.#sent = "";
    const parts = [this.#sent, this.#waiting?.text, this.#message.value];
    keepDraft(threadId, parts.filter(Boolean).join("\n"));
  }

  update() {
    const { chat } = this.#app;
    const isAtEnd = this.#isAtEnd();
    const isNew = this.#startThread();
    const turns = turnsOf(chat.shown);
    this.#list.show(turns);
    this.#showPending();
    this.#showComposer();
    if (this.#sent !== "") this.#keepDraft();
    this.#sendWaiting();
    if ((isNew || isAtEnd) && turns.length > 0) this.#scrollToEnd();
  }

  // A thread's rows belong to it: keys of another may be the same.
  #startThread() {
    const { chat } = this.#app;
    const isNew = this.#shownThread !== chat.threadId;
    if (isNew) {
      byId("log").replaceChildren();
      this.#list = logRows();
      this.#startWriting();
      this.#shownThread = chat.threadId;
    }
    return isNew;
  }

  // What was written before the first thread was there belongs to it.
  #startWriting() {
    const written = this.#shownThread === undefined ? this.#message.value : "";
    this.#sent = "";
    this.#waiting = undefined;
    this.#showWaiting();
    this.#message.value = draftOf(this.#app.chat.threadId) || written;
  }

  #showPending() {
    const [kind, make] = this.#pendingNow();
    if (kind === this.#shownPending) return;
    this.#shownPending = kind;
    this.#pending.replaceChildren(...(make ? [make()] : []));
  }

  #pendingNow() {
    const { chat } = this.#app;
    const { question } = chat;
    if (chat.past) return ["", undefined];
    if (chat.isRunning) return ["running", () => working("Thinking…")];
    if (chat.isRunningElsewhere) return ["elsewhere", () => working("Answering in another tab…")];
    if (question) return [`ask ${question.key}`, () => this.#approval(question)];
    if (chat.isUnfinished) return ["unfinished", () => this.#unfinished()];
    return ["", undefined];
  }

  #approval({ text, namespace, key }) {
    const decide = (approved) =>
      this.#app.notices.guarded(() => {
        this.#message.focus();
        return this.#app.chat.decide(approved);
      });
    return h(
      "section",
      { class: "card question", "aria-labelledby": "question-title" },
      h("h3", { id: "question-title" }, "May I forget this?"),
      h("blockquote", {}, text),
      h(
        "p",
        { class: "note" },
        `${namespace.join(" › ")} › ${key}. The run waits in the checkpointer: reload the page, and it still waits.`,
      ),
      h(
        "div",
        { class: "actions" },
        h("button", { type: "button", class: "danger", click: decide(true) }, "Approve: forget it"),
        h("button", { type: "button", click: decide(false) }, "Decline: keep it"),
      ),
    );
  }

  #unfinished() {
    const goOn = this.#app.notices.guarded(() => this.#app.chat.goOn());
    return h(
      "section",
      { class: "card" },
      h("p", {}, "The agent stopped before it had answered. Its last step is in the checkpointer."),
      h(
        "div",
        { class: "actions" },
        h("button", { type: "button", click: goOn }, "Go on from there"),
      ),
    );
  }

  #showComposer() {
    const { chat } = this.#app;
    const isRecording = this.#app.currentThread()?.recording !== undefined;
    const isPast = chat.past !== undefined;
    byId("composer").hidden = isRecording || isPast;
    byId("recording-note").hidden = !isRecording || isPast;
    byId("waiting").hidden = isPast;
    byId("composer").querySelector("button").disabled = !chat.isLoaded;
    this.#message.placeholder = chat.question ? "First answer above" : "Tell it something, or ask";
  }

  // It answers, or waits for an answer.
  #isBusy() {
    const { isRunning, isRunningElsewhere, question } = this.#app.chat;
    return isRunning || isRunningElsewhere || question !== undefined;
  }

  #wasSaid(text) {
    return this.#app.chat.messages.some(({ content }) => content === text.trim());
  }

  // Also when the window, or a keyboard on it, changes its size.
  #stayAtEnd() {
    let isAtEnd = true;
    this.#scroll.addEventListener("scroll", () => {
      isAtEnd = this.#isAtEnd();
    });
    new ResizeObserver(() => {
      if (isAtEnd && this.#app.chat.messages.length > 0) this.#scrollToEnd();
    }).observe(this.#scroll);
  }

  #scrollToEnd() {
    this.#scroll.scrollTop = this.#scroll.scrollHeight;
  }

  #isAtEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroll;
    return scrollHeight - scrollTop - clientHeight < AT_END;
  }

  #sendOnEnter(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.send(this.#message.value);
  }
}

function logRows() {
  return new KeyedList(byId("log"), (turn) => new TurnRow(turn));
}

function working(text) {
  return h("p", { class: "working" }, text);
}
