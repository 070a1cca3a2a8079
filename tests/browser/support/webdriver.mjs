// Drives Firefox and WebKitGTK with the commands of WebDriver: Firefox takes them on a socket
// of its own (Marionette), WebKitGTK's driver over HTTP. One command at a time, because each is
// for the tab that was switched to last. No library: to drive Firefox, one needs geckodriver, which
// Debian 12 has not and npm's package downloads when it runs, or opens no private window.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryFolder } from "../../js/support/temporary.mjs";
import { freePort } from "./static-server.mjs";

const STARTS_WITHIN_MS = 60_000;
const SCRIPT_MAY_TAKE_MS = 120_000;

const FIREFOX = process.env.FIREFOX ?? "/usr/bin/firefox-esr";
const WEBKIT_DRIVER = "/usr/bin/WebKitWebDriver";
const XVFB = "/usr/bin/Xvfb";

/** Which program is not installed; undefined if the browser can run here. */
export const lacking = {
  firefox: lackingOf(FIREFOX),
  webkit: lackingOf(WEBKIT_DRIVER, XVFB),
};

function lackingOf(...paths) {
  return paths.find((path) => !existsSync(path));
}

const running = new Set();

/** WebKitGTK goes with its display, Firefox with its main process. */
export async function closeDriven() {
  await kill(running);
}

/** With a profile of its own, or with the one given. */
export async function startFirefox(profile = temporaryFolder()) {
  writeFileSync(join(profile, "user.js"), 'user_pref("marionette.port", 0);\n');
  const portFile = join(profile, "MarionetteActivePort");
  // One that was killed leaves it behind.
  rmSync(portFile, { force: true });
  const firefox = start(FIREFOX, ["--headless", "--marionette", "--profile", profile]);
  const port = await waitFor(() => portIn(readFileSync(portFile, "utf8")));
  return Browser.begin(await marionette(port), [firefox], profile);
}

/** On a display of its own. What its pages store is gone when it ends. */
export async function startWebKit() {
  const display = start(XVFB, ["-displayfd", "1", "-nolisten", "tcp"]);
  const [number] = await once(display.stdout, "data");
  const port = await freePort();
  const env = { DISPLAY: `:${String(number).trim()}`, HOME: temporaryFolder() };
  const driver = start(WEBKIT_DRIVER, [`--port=${port}`], env);
  const url = `http://127.0.0.1:${port}`;
  await waitFor(() => fetch(`${url}/status`));
  return Browser.begin(webDriver(`${url}/session`), [driver, display]);
}

class Browser {
  #send;
  #processes;
  #profile;
  // A window that stays, so that the others can be closed.
  #first;

  static async begin(send, processes, profile) {
    const browser = new Browser(send, processes, profile);
    await send("NewSession", { capabilities: {} });
    await send("SetTimeouts", { script: SCRIPT_MAY_TAKE_MS });
    browser.#first = await send("GetWindowHandle");
    return browser;
  }

  constructor(send, processes, profile) {
    this.#send = send;
    this.#processes = processes;
    this.#profile = profile;
  }

  async openTab(url) {
    return this.#open(url, { type: "tab" });
  }

  async openPrivateWindow(url) {
    return this.#open(url, { type: "window", private: true });
  }

  async #open(url, parameters) {
    await this.#send("SwitchToWindow", { handle: this.#first });
    const { handle } = await this.#send("NewWindow", parameters);
    const tab = new Tab(this.#send, handle);
    await tab.go(url);
    return tab;
  }

  /** As a crash ends it; answers the one that has its profile then. */
  async killAndStartAgain() {
    await kill(this.#processes);
    return startFirefox(this.#profile);
  }
}

// Firefox runs scripts in a sandbox beside the page, and the page's eval() in the page.
const SCRIPT = `
const [body, values, done] = arguments;
const run = async () => window.eval("(" + body + ")")(...JSON.parse(values));
run().then(
  (value) => done(JSON.stringify({ value })),
  (error) => done(JSON.stringify({ error: String(error) })),
);`;

class Tab {
  #send;
  #handle;

  constructor(send, handle) {
    this.#send = send;
    this.#handle = handle;
  }

  go(url) {
    return this.#command("Navigate", { url });
  }

  reload() {
    return this.#command("Refresh");
  }

  close() {
    return this.#command("CloseWindow");
  }

  /** What `body`, or its promise, answers in the page; all values go through JSON. */
  async evaluate(body, ...values) {
    const args = [String(body), JSON.stringify(values)];
    const answer = await this.#command("ExecuteAsyncScript", { script: SCRIPT, args });
    const { value, error } = JSON.parse(answer);
    if (error !== undefined) throw new Error(error);
    return value;
  }

  async #command(name, parameters) {
    // To bring a tab to the front takes Firefox 100 ms.
    await this.#send("SwitchToWindow", { handle: this.#handle, focus: false });
    return this.#send(name, parameters);
  }
}

// ---- Marionette

// message := length in bytes ":" JSON
async function marionette(port) {
  const socket = connect(port, "127.0.0.1");
  const messages = messagesOf(socket);
  // It says who it is.
  await messages.next();
  let id = 0;
  return async (command, parameters = {}) => {
    const json = JSON.stringify([0, ++id, `WebDriver:${command}`, parameters]);
    socket.write(`${Buffer.byteLength(json)}:${json}`);
    const { value: message, done } = await messages.next();
    if (done) throw new Error(`${command}: Firefox is gone`);
    const [, , error, result] = message;
    if (error) throw new Error(`${command}: ${error.message}`);
    return result?.value ?? result;
  };
}

async function* messagesOf(socket) {
  let received = Buffer.alloc(0);
  for await (const bytes of socket) {
    received = Buffer.concat([received, bytes]);
    const begin = received.indexOf(":") + 1;
    const end = begin + Number(received.subarray(0, begin - 1));
    if (begin === 0 || received.length < end) continue;
    yield JSON.parse(received.subarray(begin, end));
    received = received.subarray(end);
  }
}

// ---- WebDriver over HTTP

const ROUTES = {
  NewSession: ["POST", ""],
  SetTimeouts: ["POST", "/timeouts"],
  GetWindowHandle: ["GET", "/window"],
  NewWindow: ["POST", "/window/new"],
  SwitchToWindow: ["POST", "/window"],
  CloseWindow: ["DELETE", "/window"],
  Navigate: ["POST", "/url"],
  Refresh: ["POST", "/refresh"],
  ExecuteAsyncScript: ["POST", "/execute/async"],
};

function webDriver(sessions) {
  let session = sessions;
  return async (command, parameters = {}) => {
    const [method, path] = ROUTES[command];
    const body = method === "POST" ? JSON.stringify(parameters) : undefined;
    const response = await fetch(session + path, { method, body });
    const { value } = await response.json();
    if (!response.ok) throw new Error(`${command}: ${value.message}`);
    if (command === "NewSession") session += `/${value.sessionId}`;
    return value;
  };
}

// ---- processes

function start(program, args, env = {}) {
  const stdio = ["ignore", "pipe", "ignore"];
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio });
  child.stdout.resume();
  child.ended = once(child, "exit");
  running.add(child);
  return child;
}

async function kill(processes) {
  for (const child of processes) {
    child.kill("SIGKILL");
    await child.ended;
    running.delete(child);
  }
}

async function waitFor(attempt) {
  const deadline = performance.now() + STARTS_WITHIN_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await sleep(50);
  }
}

function portIn(text) {
  if (text === "") throw new Error("Firefox has not said its port yet");
  return Number(text);
}
