// Which model speaks. Kept in sessionStorage: for this tab, until it is closed.
import { ProviderModel } from "./agent/provider-model.mjs";
import { ScriptedModel } from "./agent/scripted-model.mjs";

const KEY = "keepsake-demo:model";

export const DEFAULTS = { baseUrl: "https://api.openai.com/v1", model: "gpt-4o-mini", key: "" };

/** Tells "change". */
export class Settings extends EventTarget {
  #scripted = new ScriptedModel();
  #provider = stored();

  /** {baseUrl, model, key}, or undefined for the scripted model. */
  get provider() {
    return this.#provider;
  }

  set provider(provider) {
    this.#provider = provider;
    if (provider) sessionStorage.setItem(KEY, JSON.stringify(provider));
    else sessionStorage.removeItem(KEY);
    this.dispatchEvent(new Event("change"));
  }

  get modelName() {
    return this.#provider ? this.#provider.model : this.#scripted.name;
  }

  /** The model for the next answer. */
  model() {
    return this.#provider ? new ProviderModel(this.#provider) : this.#scripted;
  }
}

function stored() {
  return JSON.parse(sessionStorage.getItem(KEY) ?? "null") ?? undefined;
}
