// The chat: what was said, what the agent asks, and where a person writes.
import { byId, h, KeyedList } from "../dom.mjs";
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

  constructor(app) {
    this.#app = app;
    app.chat.addEventListener("update", () => this.update());
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.send(this.#message.value);
    });
    this.#message.addEventListener("keydown", (event) => this.#sendOnEnter(event));
    byId("ask-about").addEventListener("click", () => app.showThread());
    this.#stayAtEnd();
  }

  send = async (text) => {
    if (text.trim() === "" || this.#isBlocked()) return;
    this.#message.value = "";
    try {
      await this.#app.chat.say(text.trim());
    } catch (error) {
      this.#message.value ||= this.#wasSaid(text) ? "" : text;
      this.#app.notices.fail(error);
    }
  };

  update() {
    const { chat } = this.#app;
    const isAtEnd = this.#isAtEnd();
    const isNew = this.#startThread();
    const turns = turnsOf(chat.messages);
    this.#list.show(turns);
    this.#showPending();
    this.#showComposer();
    if ((isNew || isAtEnd) && turns.length > 0) this.#scrollToEnd();
  }

  // A thread's rows belong to it: keys of another may be the same.
  #startThread() {
    const { chat } = this.#app;
    const isNew = this.#shownThread !== chat.threadId;
    if (isNew) {
      byId("log").replaceChildren();
      this.#list = logRows();
      this.#shownThread = chat.threadId;
    }
    return isNew;
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
    byId("composer").hidden = isRecording;
    byId("recording-note").hidden = !isRecording;
    byId("composer").querySelector("button").disabled = this.#isBlocked();
    this.#message.placeholder = chat.question ? "First answer above" : "Tell it something, or ask";
  }

  #isBlocked() {
    const { isRunning, isRunningElsewhere, question, isLoaded } = this.#app.chat;
    return isRunning || isRunningElsewhere || question !== undefined || !isLoaded;
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
