// One device: what it has, what waits, what came, and the switch that takes it off the network.
import { asideOf, isBucketLost, standingOf } from "../devices/standing.mjs";
import { h, KeyedList } from "../dom.mjs";
import { confirmed } from "./confirm.mjs";

const EXAMPLES = { laptop: ["tea", "green"], phone: ["Leila", "in Porto"] };

export class DeviceView {
  #app;
  #device;
  #offline;
  #held;
  #stands = h("p", { class: "stands" });
  #news = h("p", { class: "news" });
  #aside = h("p");
  #asideCard;
  #lost;
  #about;
  #text;
  #facts = h("ul", { class: "facts" });
  #list = new KeyedList(this.#facts, (fact) => this.#row(fact));
  #empty = h("p", { class: "empty" }, "No facts yet.");
  #forget;

  /** `beginAnew` leaves a bucket that is not what it was. */
  constructor(app, device, beginAnew) {
    this.#app = app;
    this.#device = device;
    this.#offline = this.#switch("Offline", (isOn) => device.setOffline(isOn));
    this.#held = this.#switch("On hold", (isOn) => device.setHeld(isOn));
    this.#forget = this.#button("Forget everything", "danger", () => this.#forgetEverything());
    this.#lost = this.#button("Begin anew", "primary", beginAnew);
    this.#asideCard = h(
      "div",
      { class: "card warning" },
      this.#aside,
      this.#button("Understood", "", () => device.dropSetAside()),
    );
    this.root = this.#build();
    device.addEventListener("change", () => this.#show());
    this.#show();
  }

  #build() {
    const { name, title } = this.#device;
    const titleId = `${name}-title`;
    return h(
      "section",
      { class: `device ${name}`, "aria-labelledby": titleId },
      h("header", {}, h("h3", { id: titleId }, title), this.#offline.label),
      h("div", { class: "standing", role: "status" }, this.#stands, this.#news),
      this.#lost,
      this.#asideCard,
      this.#form(),
      this.#empty,
      this.#facts,
      h("footer", {}, this.#held.label, this.#forget),
    );
  }

  #form() {
    const [about, text] = EXAMPLES[this.#device.name];
    this.#about = h("input", { placeholder: about, required: true, autocomplete: "off" });
    this.#text = h("input", { placeholder: text, required: true, autocomplete: "off" });
    const form = h(
      "form",
      {},
      h("label", {}, "About", this.#about),
      h("label", {}, "Fact", this.#text),
      h("button", { type: "submit", class: "primary" }, "Keep"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#app.notices.guarded(() => this.#keep())();
    });
    return form;
  }

  async #keep() {
    const [about, text] = [this.#about.value.trim(), this.#text.value.trim()];
    if (about === "" || text === "") return;
    this.#about.value = "";
    this.#text.value = "";
    this.#about.focus();
    await this.#device.keep(about, text);
  }

  async #forgetEverything() {
    const agreed = await confirmed({
      title: "Forget everything?",
      text: "All facts go for good: here at once, from the bucket, and from the other device when it syncs.",
      yes: "Forget",
    });
    if (agreed) await this.#device.forgetEverything();
  }

  #show() {
    const { status, facts, news, isOffline, isHeld } = this.#device;
    this.root.classList.toggle("offline", isOffline);
    this.#offline.input.checked = isOffline;
    this.#held.input.checked = isHeld;
    this.#forget.disabled = isHeld;
    say(this.#stands, standingOf(this.#device));
    say(this.#news, news);
    const aside = asideOf(status);
    this.#asideCard.hidden = aside === undefined;
    say(this.#aside, aside ?? "");
    this.#lost.hidden = !isBucketLost(status);
    this.#empty.hidden = facts.length > 0;
    this.#list.show(facts);
  }

  // Its click brings the fact into the fields, where it can be said anew.
  #row(fact) {
    const about = h("b", {}, fact.about);
    const text = h("span");
    const from = h("small");
    const edit = h("button", { type: "button" }, about, text, from);
    const root = h("li", {}, edit);
    let shown;
    const update = (now) => {
      const isOwn = now.by === this.#device.name;
      if (shown !== undefined && shown !== now.text) root.classList.add("fresh");
      shown = now.text;
      about.textContent = now.about;
      text.textContent = now.text;
      from.textContent = isOwn ? "" : `from the ${now.by}`;
    };
    root.classList.add("fresh");
    root.addEventListener("animationend", () => root.classList.remove("fresh"));
    edit.addEventListener("click", () => this.#edit(about.textContent, shown));
    update(fact);
    return { root, update };
  }

  #edit(about, text) {
    this.#about.value = about;
    this.#text.value = text;
    this.#text.focus();
    this.#text.select();
  }

  #button(label, className, work) {
    const click = this.#app.notices.guarded(work);
    return h("button", { type: "button", class: className, click }, label);
  }

  #switch(label, work) {
    const input = h("input", { type: "checkbox", role: "switch" });
    const change = this.#app.notices.guarded(() => work(input.checked));
    input.addEventListener("change", change);
    return { input, label: h("label", { class: "switch" }, input, label) };
  }
}

// Unless it says so already: what is set is read aloud again.
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
