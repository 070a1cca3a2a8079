// The one call of an OpenAI-compatible endpoint that the demo makes, with errors in words.

const TIMEOUT_MS = 60_000;

export class ModelError extends Error {
  name = "ModelError";
}

export class ChatCompletions {
  #key;
  #url;
  #model;

  constructor({ key, baseUrl, model }) {
    if (!URL.canParse(baseUrl)) throw new ModelError(`the endpoint is not a URL: ${baseUrl}`);
    this.#key = key;
    this.#url = `${baseUrl.replace(/\/+$/, "")}/chat/completions`;
    this.#model = model;
    this.name = `“${model}” at ${new URL(baseUrl).host}`;
  }

  // → the message of the first choice
  async complete(request) {
    const response = await this.#post({ model: this.#model, ...request });
    const message = response.choices?.[0]?.message;
    if (message) return message;
    throw new ModelError(`${this.name} answered without a message`);
  }

  async #post(body) {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: { "content-type": "application/json", ...this.#authorization() },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((cause) => {
      throw new ModelError(`${this.name} is out of reach: ${reasonOf(cause)}`, { cause });
    });
    const text = await response.text();
    if (!response.ok) {
      throw new ModelError(`${this.name} answered ${response.status}: ${text.slice(0, 200)}`);
    }
    return this.#parsed(text);
  }

  // Endpoints on one's own machine need none.
  #authorization() {
    return this.#key ? { authorization: `Bearer ${this.#key}` } : {};
  }

  #parsed(text) {
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw new ModelError(`${this.name} answered no JSON: ${text.slice(0, 80)}`, { cause });
    }
  }
}

function reasonOf({ cause, message }) {
  return cause?.message ?? message;
}
