// A chat model of OpenAI, Anthropic, Google or Ollama, by a name or by the key that is there.
//
// Needs: the provider's package, which is imported when it is chosen, and its key in the
// environment (PROVIDERS has both). Ollama needs no key: it runs on this machine.

import type { BaseChatModel } from "@langchain/core/language_models/chat_models";

export interface Choice {
  /** The first whose key is set, if it isn't said. */
  provider?: string | undefined;
  /** The provider's `model` below, if it isn't said. */
  model?: string | undefined;
  /** Where it is asked: a gateway, or a server that speaks the same protocol. */
  endpoint?: string | undefined;
}

interface Provider {
  key?: string;
  model: string;
  make(model: string, endpoint: string | undefined): Promise<BaseChatModel>;
}

const PROVIDERS: Record<string, Provider> = {
  openai: {
    key: "OPENAI_API_KEY",
    model: "gpt-5-mini",
    make: async (model, endpoint) => {
      const { ChatOpenAI } = await import("@langchain/openai");
      return new ChatOpenAI({ model, ...(endpoint && { configuration: { baseURL: endpoint } }) });
    },
  },
  anthropic: {
    key: "ANTHROPIC_API_KEY",
    model: "claude-haiku-4-5",
    make: async (model, endpoint) => {
      const { ChatAnthropic } = await import("@langchain/anthropic");
      return new ChatAnthropic({ model, ...(endpoint && { anthropicApiUrl: endpoint }) });
    },
  },
  google: {
    key: "GOOGLE_API_KEY",
    model: "gemini-2.5-flash",
    make: async (model, endpoint) => {
      const { ChatGoogle } = await import("@langchain/google");
      return new ChatGoogle({ model, ...(endpoint && { endpoint }) });
    },
  },
  ollama: {
    model: "qwen3",
    make: async (model, endpoint) => {
      const { ChatOllama } = await import("@langchain/ollama");
      return new ChatOllama({ model, ...(endpoint && { baseUrl: endpoint }) });
    },
  },
};

/** The model, and what to call it. */
export async function chatModel(choice: Choice): Promise<{ model: BaseChatModel; name: string }> {
  const chosen = choice.provider ?? withKey();
  const provider = PROVIDERS[chosen];
  if (!provider) {
    throw new Error(`there is no provider "${chosen}": take ${Object.keys(PROVIDERS).join(", ")}`);
  }
  if (provider.key && !process.env[provider.key]) throw new Error(`${provider.key} is not set`);
  const name = choice.model ?? provider.model;
  return { model: await provider.make(name, choice.endpoint), name: `${chosen} ${name}` };
}

function withKey(): string {
  const [found] = Object.entries(PROVIDERS).find(([, { key }]) => key && process.env[key]) ?? [];
  if (found) return found;
  const keys = Object.values(PROVIDERS).flatMap(({ key }) => key ?? []);
  throw new Error(`set ${keys.join(" or ")}, or take --provider=ollama`);
}
