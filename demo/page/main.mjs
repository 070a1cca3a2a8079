// Starts the page: opens the memory, and lets the views follow what changes in it.
import { installInterruptShim } from "keepsake";
import { App } from "./app.mjs";
import { byId, h, saveAs } from "./dom.mjs";
import { keepPage, showWhetherOffline } from "./offline.mjs";
import { ChatView } from "./views/chat-view.mjs";
import { DevicesView } from "./views/devices-view.mjs";
import { InsideView } from "./views/inside-view.mjs";
import { MemoryView } from "./views/memory-view.mjs";
import { showMoreBelow } from "./views/more-below.mjs";
import { PastView } from "./views/past-view.mjs";
import { SettingsView } from "./views/settings-view.mjs";
import { StartView } from "./views/start-view.mjs";
import { StorageView } from "./views/storage-view.mjs";
import { ThreadsView } from "./views/threads-view.mjs";
import { WelcomeView } from "./views/welcome-view.mjs";
import { explained } from "./words.mjs";

// interrupt() has no AsyncLocalStorage here.
installInterruptShim();

const app = new App();
app.notices.hearUncaught();
const chatView = new ChatView(app);
const welcomeView = new WelcomeView(app, chatView.send);
const threadsView = new ThreadsView(app);
const memoryView = new MemoryView(app);
const storageView = new StorageView(app);
const devicesView = new DevicesView(app);
new StartView(app);
new SettingsView(app);
new PastView(app);
new InsideView(app);

async function open() {
  byId("failure").hidden = true;
  byId("opening").hidden = false;
  try {
    await app.database.open();
    await showThreadInAddress();
    storageView.watch();
  } catch (error) {
    showFailure(error);
  } finally {
    byId("opening").hidden = true;
  }
}

async function showThreadInAddress() {
  const id = app.threadInAddress();
  if (id === undefined) {
    app.showThread();
    return;
  }
  if (!areDevicesInAddress()) showPart("chat");
  await app.chat.open(id);
  await showThreads();
  byId("second-tab").href = location.hash;
}

// Of a change that was made here or in another tab, by whom and however.
async function follow({ namespaces, threads, everything }) {
  const isThreadChanged = everything || threads.includes(app.chat.threadId);
  await Promise.all([
    (everything || namespaces.some(([root]) => root === "threads")) && showThreads(),
    (everything || namespaces.length > 0) && memoryView.update(),
    isThreadChanged && app.chat.threadId !== undefined && app.chat.refresh(),
    storageView.update(),
  ]);
}

async function showThreads() {
  await threadsView.update();
  byId("chat-title").textContent = app.currentThread()?.title ?? "New thread";
  chatView.update();
  welcomeView.update();
}

// ---- a small window shows one part at a time

function showParts() {
  for (const button of document.querySelectorAll("[data-show]")) {
    button.addEventListener("click", () => showPart(button.dataset.show));
  }
}

// The devices are in the address, so that a reload comes back to them.
const DEVICES = "devices";

function areDevicesInAddress() {
  return new URLSearchParams(location.search).has(DEVICES);
}

function showPart(part) {
  document.body.dataset.part = part;
  const address = new URL(location.href);
  address.search = part === DEVICES ? DEVICES : "";
  if (address.href !== location.href) history.replaceState(history.state, "", address);
  devicesView.show(part === DEVICES);
  for (const button of document.querySelectorAll("[data-show]")) {
    if (button.dataset.show === part) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

// Not by its address, which would name another thread.
function skipToMessage(event) {
  event.preventDefault();
  showPart("chat");
  byId("message").focus();
}

// ---- the memory does not open

function showFailure(error) {
  console.warn(error);
  const failure = byId("failure");
  failure.hidden = false;
  failure.replaceChildren(
    h("h3", {}, "The memory did not open"),
    h("p", {}, explained(error)),
    h(
      "div",
      { class: "actions" },
      h("button", { type: "button", class: "primary", click: open }, "Try again"),
      error.damaged &&
        h(
          "button",
          {
            type: "button",
            click: app.notices.guarded(async () =>
              saveAs(`${error.damaged.name}.db`, await error.damaged.export()),
            ),
          },
          "Save the damaged file",
        ),
    ),
  );
}

showWhetherOffline(app.settings);
showParts();
for (const scroll of document.querySelectorAll(".scroll, #thread-list, .storage"))
  showMoreBelow(scroll);
byId("skip").addEventListener("click", skipToMessage);
app.database.addEventListener(
  "change",
  app.notices.guarded(({ detail }) => follow(detail)),
);
addEventListener("hashchange", app.notices.guarded(showThreadInAddress));
const opening = open();
if (areDevicesInAddress()) showPart(DEVICES);
await Promise.all([opening, app.notices.guarded(keepPage)()]);
