// Starts the hub of a page, in a worker where there are any, and tells when it is gone.

import { startWorker } from "#assets";
import type { DatabaseOptions } from "../engine/options.js";
import type { KeepsakeError } from "../errors.js";
import { workerError } from "./load.js";
import { channelName, type HubToPage, type PageToHub, type Settings } from "./protocol.js";
import { serveHub } from "./serve-hub.js";

/** @internal */
export interface HubOptions {
  settings: Settings;
  worker: DatabaseOptions["worker"];
}

/** What a hub is reached by: a worker, or a port to one in this thread. @internal */
export interface HubPort {
  postMessage(message: PageToHub, transfer?: Transferable[]): void;
  terminate(): void;
}

/** @internal */
export interface HubEvents {
  hear(message: HubToPage): void;
  fail(error: KeepsakeError): void;
  /** It is gone, and nobody here has ended it. */
  die(): void;
}

/** @internal */
export function openHub({ settings, worker }: HubOptions, { hear, fail, die }: HubEvents): HubPort {
  if (typeof Worker === "undefined") return hubInThisThread({ type: "start", settings }, hear);
  const life = `${channelName(settings.name)}:life:${Math.random()}`;
  const ended = new AbortController();
  const started = startWorker({ worker });
  started.onmessage = ({ data }) => {
    const message = data as HubToPage;
    if (message.type === "started" && message.isAlive) {
      // Rejects when it is ended from here, or the page is no longer there.
      navigator.locks.request(life, { signal: ended.signal }, die).catch(() => {});
    }
    hear(message);
  };
  started.onerror = (event) => {
    event.preventDefault();
    fail(workerError(event));
  };
  started.postMessage({ type: "start", settings, life } satisfies PageToHub);
  return {
    postMessage: (message, transfer = []) => started.postMessage(message, transfer),
    terminate() {
      ended.abort();
      started.terminate();
    },
  };
}

// A service worker can start no other; it is asked for no sync access handles either.
function hubInThisThread(start: PageToHub, hear: (message: HubToPage) => void): HubPort {
  const { port1, port2 } = new MessageChannel();
  serveHub(port2);
  port1.onmessage = ({ data }) => hear(data as HubToPage);
  port1.postMessage(start);
  return {
    postMessage: (message, transfer = []) => port1.postMessage(message, transfer),
    terminate() {
      port1.close();
      port2.close();
    },
  };
}
