// What a person can do next: the first steps in an empty thread, and questions to try.
import ownConversation from "../../conversation.json";
import { readConversation } from "../../conversation.mjs";
import { byId, h } from "../dom.mjs";
import { recordingThread } from "../memory/recording.mjs";
import { counted } from "../words.mjs";

const TO_TELL = [
  "I'm allergic to peanuts.",
  "My sister Leila lives in Porto.",
  "I love green tea.",
];
const ABOUT_PERSON = "What do you know about me?";
const TO_FORGET = "Forget that I love green tea.";
const MOST_SUGGESTED = 2;
const MOST_IN_WELCOME = 5;

export class WelcomeView {
  #app;
  #send;
  #own = readConversation(ownConversation, { source: "conversation.json" });
  /** {title, heard, total}, while the agent listens. */
  #progress;
  #shown;
  #suggested;

  /** `send` is what a suggestion does with its text. */
  constructor(app, send) {
    this.#app = app;
    this.#send = send;
    app.chat.addEventListener("update", () => this.update());
  }

  update() {
    const { chat } = this.#app;
    const isEmpty = chat.isLoaded && chat.messages.length === 0 && !chat.isRunning;
    byId("welcome").hidden = !isEmpty;
    if (isEmpty) this.#showWelcome();
    this.#showSuggestions(isEmpty);
  }

  // ---- the first steps

  #showWelcome() {
    const recordings = this.#recordings();
    const state = JSON.stringify([recordings, this.#progress?.title]);
    if (state !== this.#shown) {
      this.#shown = state;
      byId("welcome").replaceChildren(
        h("h3", {}, "It remembers, and nothing leaves this page"),
        h(
          "p",
          { class: "lead" },
          "The agent, its memory and its database run in your browser: no server, no account, no key.",
        ),
        h(
          "ol",
          { class: "steps" },
          this.#listenStep(recordings),
          this.#tellStep(),
          this.#askStep(recordings),
        ),
      );
    }
    this.#showProgress();
  }

  #listenStep(recordings) {
    const own = recordings.find(({ threadId }) => threadId === recordingThread(this.#own));
    return step(
      "Let it listen",
      `A recorded conversation, “${this.#own.title}”: ${counted(this.#own.turns.length, "turn")} between ${this.#own.people.join(" and ")}.`,
      this.#progress ? progressBar() : this.#listenActions(own),
    );
  }

  #listenActions(own) {
    const first = own?.isComplete
      ? h("p", { class: "done" }, "Heard: each turn is an item in the memory now.")
      : this.#listenButton(own);
    return h("div", { class: "actions" }, first, this.#fileChoice());
  }

  #listenButton(own) {
    const listen = this.#app.notices.guarded(() => this.#listen(this.#own));
    const label = own ? "Go on loading" : "Load a conversation";
    return h("button", { type: "button", class: "primary", click: listen }, label);
  }

  #fileChoice() {
    const file = h("input", { type: "file", accept: ".json", class: "hidden", id: "own-file" });
    const listen = this.#app.notices.guarded(() => this.#listenToFile(file));
    file.addEventListener("change", listen);
    return h(
      "span",
      { class: "file" },
      file,
      h("label", { for: "own-file" }, "or one of yours (JSON)"),
    );
  }

  #tellStep() {
    return step(
      "Tell it something about you",
      "It keeps facts for every thread.",
      this.#chips(TO_TELL),
    );
  }

  #askStep(recordings) {
    const questions = recordings.flatMap((recording) => recording.questions);
    const chips = [ABOUT_PERSON, ...questions.slice(0, MOST_IN_WELCOME)];
    return step(
      "Ask, here or in a new thread",
      "Each answer shows what was recalled for it.",
      this.#chips(chips),
    );
  }

  #chips(texts) {
    return h("div", { class: "chips" }, ...texts.map((text) => this.#chip(text)));
  }

  #chip(text) {
    return h("button", { type: "button", class: "chip", click: () => this.#send(text) }, text);
  }

  // ---- listening

  async #listenToFile(input) {
    const [file] = input.files;
    if (file === undefined) return;
    const text = await file.text();
    input.value = "";
    await this.#listen(readConversation(text, { source: file.name }));
  }

  async #listen(conversation) {
    const { title, turns } = conversation;
    this.#progress = { title, heard: 0, total: turns.length };
    this.update();
    const start = performance.now();
    try {
      const isOver = await this.#app.recorder.listen(conversation, (heard, total) => {
        this.#progress = { title, heard, total };
        this.#showProgress();
      });
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      this.#app.notices.say(
        isOver
          ? `Heard ${counted(turns.length, "turn")} in ${seconds} s. Now ask about them.`
          : "Another tab is listening already.",
      );
    } finally {
      this.#progress = undefined;
      this.update();
    }
  }

  #showProgress() {
    const bar = byId("listening");
    if (bar === null || this.#progress === undefined) return;
    const { title, heard, total } = this.#progress;
    bar.value = heard / total;
    byId("heard").textContent = `Listening to “${title}”: ${heard} of ${counted(total, "turn")}`;
  }

  // ---- suggestions

  #showSuggestions(isEmpty) {
    const texts = isEmpty || this.#isBlocked() ? [] : this.#suggestions();
    const state = JSON.stringify(texts);
    byId("suggestions").hidden = texts.length === 0;
    if (state === this.#suggested) return;
    this.#suggested = state;
    byId("suggestions").replaceChildren(...texts.map((text) => this.#chip(text)));
  }

  #isBlocked() {
    const { question, isRunningElsewhere, past } = this.#app.chat;
    const isRecording = this.#app.currentThread()?.recording !== undefined;
    return question !== undefined || isRunningElsewhere || isRecording || past !== undefined;
  }

  #suggestions() {
    const asked = new Set(this.#app.chat.messages.map(({ content }) => content));
    const questions = this.#recordings().flatMap((recording) => recording.questions);
    const told = [...asked].some((text) => TO_TELL.includes(text));
    const aboutPerson = told ? [ABOUT_PERSON] : [];
    const toForget = asked.has(TO_TELL.at(-1)) ? [TO_FORGET] : [];
    const open = [...aboutPerson, ...toForget, ...questions].filter((text) => !asked.has(text));
    return open.slice(0, MOST_SUGGESTED);
  }

  #recordings() {
    return this.#app.knownThreads
      .filter(({ recording }) => recording !== undefined)
      .map(({ id, recording }) => ({ threadId: id, ...recording }));
  }
}

function step(title, text, action) {
  return h("li", { class: "step" }, h("h4", {}, title), h("p", {}, text), action);
}

function progressBar() {
  return h(
    "div",
    { class: "progress" },
    h("label", { for: "listening", id: "heard", "aria-live": "off" }, "Listening…"),
    h("progress", { id: "listening", max: 1, value: 0 }),
  );
}
