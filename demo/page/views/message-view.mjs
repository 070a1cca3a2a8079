// What one message, and what the agent did for it, look like.
import { isAIMessage, isHumanMessage, isToolMessage } from "@langchain/core/messages";
import { h } from "../dom.mjs";
import { counted, path, whyFound } from "../words.mjs";

/** → [{key, version, human, results, answer}]: a turn begins with what a person said. */
export function turnsOf(messages) {
  const turns = [];
  for (const message of messages) {
    if (isHumanMessage(message)) turns.push({ key: message.id, human: message, results: [] });
    else addToTurn(turns.at(-1), message);
  }
  for (const turn of turns) turn.version = `${turn.results.length}/${turn.answer?.id}`;
  return turns;
}

function addToTurn(turn, message) {
  if (isToolMessage(message)) turn.results.push(resultOf(message));
  else if (isAIMessage(message) && message.content !== "") turn.answer = message;
}

function resultOf({ tool_call_id: id, name, content }) {
  return { id, name, ...JSON.parse(content) };
}

/** A turn as elements; update() adds what has come. */
export class TurnRow {
  root = h("article", { class: "turn" });
  #version;

  constructor(turn) {
    this.root.append(saidBy(turn.human));
    this.update(turn);
  }

  update(turn) {
    if (turn.version === this.#version) return;
    this.#version = turn.version;
    const [said] = this.root.children;
    this.root.replaceChildren(said, ...[...answered(turn)].filter(Boolean));
  }
}

function saidBy({ name, content, additional_kwargs: { date } = {} }) {
  const isRecorded = name !== undefined;
  return h(
    "div",
    { class: isRecorded ? "said heard" : "said" },
    h("p", { class: isRecorded ? "who" : "hidden" }, isRecorded ? `${name}, ${date}` : "You"),
    h("p", { class: "text" }, content),
  );
}

function* answered({ results, answer }) {
  if (answer)
    yield h(
      "div",
      { class: "answer" },
      h("p", { class: "hidden" }, "Agent"),
      h("p", { class: "text" }, answer.content),
    );
  for (const result of results) yield (SHOWN[result.name] ?? shownError)(result);
}

const SHOWN = { recall: shownRecall, remember: shownRemember, forget: shownForget };

function shownRecall(result) {
  if (result.error) return shownError(result);
  const { items, plan } = result;
  if (items.length === 0) return h("p", { class: "did" }, "Searched the memory, and found nothing");
  return h(
    "details",
    { class: "recalled" },
    h("summary", {}, `Recalled ${counted(items.length, "item")}`),
    h("ol", {}, ...items.map(recalledItem)),
    plan && h("p", { class: "plan" }, `Looked for by ${plan}`),
  );
}

function recalledItem({ namespace, key, score, text, date, explain }) {
  const share = Math.max(0, Math.min(1, score ?? 0));
  return h(
    "li",
    {},
    h("p", { class: "text" }, text),
    h(
      "p",
      { class: "source" },
      score !== undefined && h("meter", { min: 0, max: 1, value: share, "aria-hidden": "true" }),
      score !== undefined &&
        h("span", { class: "score", title: "How well it fits, from 0 to 1" }, score.toFixed(2)),
      h("span", { class: "where" }, `${path(namespace)} › `, h("b", {}, key)),
      h("span", {}, date),
    ),
    explain && h("p", { class: "why" }, whyFound(explain)),
  );
}

function shownRemember(result) {
  if (result.error) return shownError(result);
  return h(
    "p",
    { class: "did" },
    "Remembered under ",
    h("b", {}, path(result.namespace)),
    `: ${result.text}`,
  );
}

function shownForget(result) {
  if (result.error) return shownError(result);
  const { forgotten, namespace, key } = result;
  if (!forgotten) return h("p", { class: "did" }, "Nothing was deleted");
  return h("p", { class: "did" }, "Deleted ", h("b", {}, `${path(namespace)} › ${key}`));
}

function shownError({ name, error }) {
  return h("p", { class: "did wrong" }, `${name} failed: ${error ?? "unknown tool"}`);
}
