// A model behind the chat API that most servers speak: POST <base>/chat/completions.

import { setTimeout as pause } from "node:timers/promises";
import { ABSTAINS } from "./judges.mjs";

/** With any change of the prompt: what was read with another one is not to be compared. */
export const READER_VERSION = 1;

const READER = `You answer questions about a long conversation. You are given notes of it: what was said, by whom, and mostly when. Answer by these notes alone, and as shortly as the question allows: a name, a date, a number, a few words, or a few sentences where it asks for more. Work out what "yesterday" or "last week" means from the date of its line. If the notes do not say it, answer exactly: ${ABSTAINS}`;
const LONGEST_PAUSE_MS = 60_000;
// A longer body is no message for people.
const SHOWN = 300;

/** A request that need not be made again, as one with a wrong key; `isFatal` if none need be. */
export class RefusedError extends Error {
  constructor(message, isFatal) {
    super(message);
    this.isFatal = isFatal;
  }
}

/** The messages that ask a reader. */
export function readerPrompt({ text, asked }, lines) {
  const notes = lines.length === 0 ? "(none)" : lines.join("\n");
  const when = asked ? `The question is asked on ${asked}.\n` : "";
  return [
    { role: "system", content: READER },
    { role: "user", content: `Notes:\n${notes}\n\n${when}Question: ${text}` },
  ];
}

export class Chat {
  #options;

  /**
   * `body` is added to each request, and takes out what it says is null. `retries` are those after
   * the first request, `backoff` the milliseconds before the first of them, which double each time.
   */
  constructor({ baseUrl, model, key, body = {}, maxTokens, retries, backoff, timeout }) {
    this.#options = { baseUrl, model, key, body, maxTokens, retries, backoff, timeout };
  }

  get title() {
    return `${this.#options.model} at ${new URL(this.#options.baseUrl).host}`;
  }

  async answer({ question, lines }) {
    return this.ask(readerPrompt(question, lines));
  }

  /** What the model says, its tokens as the server counts them, and how often it was asked. */
  async ask(messages) {
    const { model, body, maxTokens, retries } = this.#options;
    const wanted = { model, messages, temperature: 0, max_tokens: maxTokens, ...body };
    const request = Object.fromEntries(
      Object.entries(wanted).filter(([, value]) => value !== null),
    );
    for (let attempt = 1; ; attempt++) {
      const began = performance.now();
      try {
        const reply = await this.#post("chat/completions", request);
        return { ...replyIn(reply), ms: performance.now() - began, attempts: attempt };
      } catch (error) {
        if (error instanceof RefusedError) throw error;
        if (attempt > retries) throw new Error(`${error.message} (${attempt} times)`);
        await this.#wait(attempt, error.retryAfterMs);
      }
    }
  }

  /** Vectors of texts, for searches by an embedding model of the same server. */
  async embed(texts) {
    const { model, retries } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        const { data } = await this.#post("embeddings", { model, input: texts });
        if (!Array.isArray(data) || data.length !== texts.length) {
          throw new Error(`embeddings of ${texts.length} texts were asked for, and did not come`);
        }
        return data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding);
      } catch (error) {
        if (error instanceof RefusedError || attempt > retries) throw error;
        await this.#wait(attempt, error.retryAfterMs);
      }
    }
  }

  // Half of it by chance, so that those who were refused together don't come back together.
  async #wait(attempt, retryAfterMs = 0) {
    const full = Math.min(this.#options.backoff * 2 ** (attempt - 1), LONGEST_PAUSE_MS);
    await pause(Math.max(full * (0.5 + Math.random() / 2), retryAfterMs));
  }

  async #post(path, request) {
    const { baseUrl, key, timeout } = this.#options;
    const response = await fetch(`${baseUrl.replace(/\/+$/, "")}/${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(key && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(timeout),
    }).catch((error) => {
      throw new Error(`${baseUrl} can't be reached: ${error.cause?.message ?? error.message}`);
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    const message = `${response.status} of ${path}: ${text.slice(0, SHOWN)}`;
    const isPassing = response.status === 429 || response.status === 408 || response.status >= 500;
    if (isPassing) {
      throw Object.assign(new Error(message), { retryAfterMs: retryAfterOf(response) });
    }
    throw new RefusedError(message, [401, 402, 403, 404].includes(response.status));
  }
}

// Seconds, or a date.
function retryAfterOf(response) {
  const said = response.headers.get("retry-after");
  if (said === null) return 0;
  const ms = /^\d+(\.\d+)?$/.test(said) ? Number(said) * 1000 : Date.parse(said) - Date.now();
  return Math.min(Math.max(ms || 0, 0), LONGEST_PAUSE_MS);
}

function replyIn({ choices, usage }) {
  const message = choices?.[0]?.message;
  if (typeof message !== "object" || message === null) throw new Error("the reply has no message");
  return {
    // A model that thought until its tokens were gone says nothing, which is an answer, too.
    text: typeof message.content === "string" ? message.content.trim() : "",
    ...(usage?.prompt_tokens !== undefined && {
      tokens: { in: usage.prompt_tokens, out: usage.completion_tokens ?? 0 },
    }),
  };
}
