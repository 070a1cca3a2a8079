// Who puts the answer into words: a provider, if the environment has a key, else a
// scripted stand-in. Recall is the same for both.

const TIMEOUT_MS = 30_000;

export class ModelError extends Error {
  name = "ModelError";
}

export function modelFromEnvironment(env = process.env) {
  if (!env.OPENAI_API_KEY) return new ScriptedModel();
  return new OpenAiModel({
    key: env.OPENAI_API_KEY,
    baseUrl: env.OPENAI_BASE_URL ?? "https://api.openai.com/v1",
    model: env.OPENAI_MODEL ?? "gpt-4o-mini",
  });
}

// Quotes the best turn. It understands nothing, so that the demo runs anywhere.
class ScriptedModel {
  name = "a scripted stand-in that quotes the best turn (set OPENAI_API_KEY for a model)";

  async answer(_question, recalled) {
    if (recalled.length === 0) return "I remember nothing about that.";
    const { date, text } = recalled[0].value;
    return `${date}, ${text}`;
  }
}

class OpenAiModel {
  #key;
  #url;
  #model;

  constructor({ key, baseUrl, model }) {
    this.#key = key;
    if (!URL.canParse(baseUrl)) throw new ModelError(`OPENAI_BASE_URL is not a URL: ${baseUrl}`);
    this.#url = `${baseUrl.replace(/\/+$/, "")}/chat/completions`;
    this.#model = model;
    this.name = `${model} at ${new URL(baseUrl).host}`;
  }

  async answer(question, recalled) {
    const turns = recalled.map(({ value }) => `- ${value.date}, ${value.text}`).join("\n");
    const response = await this.#post({
      model: this.#model,
      messages: [
        { role: "system", content: `Answer in one sentence, from these turns only:\n${turns}` },
        { role: "user", content: question },
      ],
    });
    const answer = response.choices?.[0]?.message?.content;
    if (typeof answer !== "string") throw new ModelError(`${this.name} answered without a message`);
    return answer.trim();
  }

  async #post(body) {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${this.#key}` },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((cause) => {
      throw new ModelError(
        `${this.name} is out of reach: ${cause.cause?.message ?? cause.message}`,
        {
          cause,
        },
      );
    });
    if (response.ok) return response.json();
    const detail = (await response.text()).slice(0, 200);
    throw new ModelError(`${this.name} answered ${response.status}: ${detail}`);
  }
}
