// Two devices side by side, which sync by a bucket.
import { Pair } from "../devices/pair.mjs";
import { byId, h } from "../dom.mjs";
import { DeviceView } from "./device-view.mjs";

// What goes up and what fails changes nothing that a memory would tell of.
const LOOK_MS = 1_000;

export class DevicesView {
  #app;
  #pair = new Pair();
  #timer;
  #isShown = false;
  #done = Promise.resolve();

  constructor(app) {
    this.#app = app;
    addEventListener("storage", () => this.#look());
    document.addEventListener("visibilitychange", () => this.#look());
  }

  /** The memories are open while they are seen. */
  show(isShown) {
    if (isShown === this.#isShown) return;
    this.#isShown = isShown;
    this.#then(() => (isShown ? this.#open() : this.#close()));
  }

  // One after the other, however quickly they are asked for.
  #then(work) {
    this.#done = this.#done.then(this.#app.notices.guarded(work));
  }

  async #open() {
    byId("devices").replaceChildren(h("p", { class: "empty opening" }, "Opening two memories…"));
    // Two more memories that open would be in the way of the start that is measured.
    await this.#app.database.use(() => {}).catch(() => {});
    const isServed = await this.#pair.open();
    byId("no-bucket").hidden = isServed;
    if (!isServed) return this.#sayNoBucket();
    const beginAnew = () => this.#then(() => this.#beginAnew());
    const [laptop, phone] = this.#pair.devices.map(
      (device) => new DeviceView(this.#app, device, beginAnew).root,
    );
    const between = h("div", { class: "between", "aria-hidden": "true" }, h("span", {}, "Bucket"));
    byId("devices").replaceChildren(laptop, between, phone);
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  async #close() {
    clearInterval(this.#timer);
    await this.#pair.close();
    byId("devices").replaceChildren();
  }

  async #beginAnew() {
    clearInterval(this.#timer);
    await this.#pair.beginAnew();
    await this.#open();
  }

  #sayNoBucket() {
    byId("devices").replaceChildren();
    byId("no-bucket").replaceChildren(
      h("h3", {}, "This server has no bucket"),
      h(
        "p",
        {},
        "It only hands out files, and two devices need a place to meet. On a machine of yours, npm run demo starts a server that has one. All else on this page works here, too.",
      ),
    );
  }

  #look() {
    if (document.visibilityState !== "visible") return;
    for (const device of this.#pair.devices) this.#app.notices.guarded(() => device.look())();
  }
}
