// Which model answers: shown in the header, chosen in a dialog.
import { byId } from "../dom.mjs";
import { DEFAULTS } from "../settings.mjs";

export class SettingsView {
  #settings;
  #dialog = byId("settings");
  #form = byId("settings").querySelector("form");

  constructor({ settings }) {
    this.#settings = settings;
    settings.addEventListener("change", () => this.#showName());
    byId("open-settings").addEventListener("click", () => this.#open());
    this.#form.addEventListener("change", () => this.#showFields());
    this.#dialog.addEventListener("close", () => this.#save());
    this.#showName();
  }

  #open() {
    const { provider } = this.#settings;
    const { elements } = this.#form;
    elements.kind.value = provider ? "provider" : "scripted";
    for (const [name, value] of Object.entries(provider ?? DEFAULTS)) elements[name].value = value;
    this.#showFields();
    this.#dialog.returnValue = "cancel";
    this.#dialog.showModal();
  }

  #save() {
    if (this.#dialog.returnValue !== "save") return;
    const { kind, baseUrl, model, key } = Object.fromEntries(new FormData(this.#form));
    this.#settings.provider = kind === "provider" ? { baseUrl, model, key } : undefined;
  }

  #showFields() {
    byId("provider-fields").disabled = this.#form.elements.kind.value !== "provider";
  }

  #showName() {
    byId("model-name").textContent = this.#settings.modelName;
  }
}
