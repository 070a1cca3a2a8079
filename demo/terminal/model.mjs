// Who puts the answer into words: a provider, if the environment has a key, else a
// scripted stand-in. Recall is the same for both.
import { ChatCompletions, ModelError } from "../chat-completions.mjs";

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
  #endpoint;

  constructor(options) {
    this.#endpoint = new ChatCompletions(options);
    this.name = this.#endpoint.name;
  }

  async answer(question, recalled) {
    const turns = recalled.map(({ value }) => `- ${value.date}, ${value.text}`).join("\n");
    const { content } = await this.#endpoint.complete({
      messages: [
        { role: "system", content: `Answer in one sentence, from these turns only:\n${turns}` },
        { role: "user", content: question },
      ],
    });
    if (typeof content === "string") return content.trim();
    throw new ModelError(`${this.name} answered without a text`);
  }
}
