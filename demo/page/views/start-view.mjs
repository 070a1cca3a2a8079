// How long it took until the memory's first answer, and what took it.
import { byId, h } from "../dom.mjs";
import { bytes, milliseconds } from "../words.mjs";

const NAMES = {
  page: "Page",
  script: "Script",
  module: "Module",
  database: "Database",
  answer: "First answer",
};

export class StartView {
  #start;

  constructor({ database, notices }) {
    this.#start = database.start;
    this.#start.addEventListener("change", () => this.#show());
    const open = notices.guarded(() => byId("start").showModal());
    byId("open-start").addEventListener("click", open);
  }

  #show() {
    const measured = this.#start.measured();
    byId("open-start").hidden = measured === undefined;
    if (measured === undefined) return;
    const { steps, milliseconds: total } = measured;
    byId("fact-start").textContent = milliseconds(total);
    byId("start-total").textContent =
      `The memory answered its first search ${milliseconds(total)} after this page was asked for. ${coldness(measured)}`;
    byId("start-steps").replaceChildren(...steps.map((step) => row(step, measured)));
  }
}

function row({ name, from, milliseconds: took }, measured) {
  const bar = h("span", { class: "bar" });
  bar.style.setProperty("--from", from / measured.milliseconds);
  bar.style.setProperty("--took", took / measured.milliseconds);
  return h(
    "div",
    {},
    h("dt", {}, NAMES[name]),
    h("dd", { class: "took" }, milliseconds(took)),
    h("dd", { class: "line", "aria-hidden": "true" }, bar),
    h("dd", { class: "hint" }, explanationOf(name, measured)),
  );
}

function coldness({ areFilesKept, isFollower }) {
  const files = areFilesKept ? "This browser had the files" : "The files came from the server";
  return isFollower
    ? `${files}, and another tab had the database open.`
    : `${files}; worker, module and database began anew.`;
}

function explanationOf(name, { areFilesKept, scriptBytes, isFollower }) {
  switch (name) {
    case "page":
      return areFilesKept
        ? "The HTML was asked of the server, and the script was in this browser’s cache."
        : "The HTML and the script came from the server.";
    case "script":
      return `LangGraph, the agent and this page${scriptBytes ? ` (${bytes(scriptBytes)})` : ""} began.`;
    case "module":
      return "A worker fetched and compiled SQLite and Keepsake, which are WebAssembly.";
    case "database":
      return isFollower
        ? "A worker began, and found the tab that owns the file. It needs no module."
        : "The file was opened; a first visit also makes its tables.";
    default:
      return "A search by words went to the worker and back.";
  }
}
