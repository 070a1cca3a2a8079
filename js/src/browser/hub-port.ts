// Starts the hub of a page, in a worker where there are any, and tells when it is gone.

import { startWorker } from "#assets";
import type { DatabaseOptions } from "../engine/options.js";
import type { KeepsakeError } from "../errors.js";
import { workerError } from "./load.js";
import { adoptedModule } from "./module.js";
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
  /** Instead of terminate(), when it has said that it is closed, and free. */
  release(): void;
}

/** @internal */
export interface HubEvents {
  receive(message: HubToPage): void;
  fail(error: KeepsakeError): void;
  /** It is gone, or hangs, and nobody here has ended it. */
  onGone(): void;
  /** Whether an answer of the hub is waited for. */
  isWaiting(): boolean;
}

const LOOK_EVERY_MS = 1_000;
// Counted, because a page that sleeps does not look either. With the files of one that was ended
// waited for, a call settles within 20 s.
const MOST_SILENT_LOOKS = 12;
const GRANTED_AT_ONCE_MS = 100;
const SPARE_FOR_MS = 10_000;
const DOUBT_LASTS_MS = 1_000;

// A worker that has closed its database waits a while for the next one of this page: to start
// another takes longer than all the rest of an opening.
let spare: Spare | undefined;

interface Spare {
  readonly worker: Worker;
  /** The option that it was made by. */
  readonly of: DatabaseOptions["worker"];
  /** No longer waits for the lock that tells when it is gone. */
  readonly leave: () => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** @internal */
export function openHub({ settings, worker }: HubOptions, events: HubEvents): HubPort {
  const { receive, fail, onGone } = events;
  if (typeof Worker === "undefined") return hubInThisThread({ type: "start", settings }, receive);
  const life = `${channelName(settings.name)}:life:${Math.random()}`;
  const ended = new AbortController();
  const leave = () => ended.abort();
  const known = takeSpare(worker);
  const started = known ?? startWorker({ worker });
  const watch = watchHub(started, events, known !== undefined);
  const gone = () => (spare?.worker === started ? endSpare() : onGone());
  started.onmessage = ({ data }) => {
    const message = data as HubToPage;
    watch.heard(message);
    if (message.type === "started" && message.isAlive) {
      // Rejects when it is ended from here, or the page is no longer there.
      const signal = ended.signal;
      navigator.locks.request(life, { signal }, granted(gone, watch.doubt)).catch(() => {});
    }
    receive(message);
  };
  started.onerror = (event) => {
    event.preventDefault();
    fail(workerError(event));
  };
  const shared = adoptedModule(settings.wasm);
  started.postMessage({ type: "start", settings, life, shared } satisfies PageToHub);
  return {
    postMessage: (message, transfer = []) => started.postMessage(message, transfer),
    terminate() {
      leave();
      watch.end();
      started.terminate();
    },
    release() {
      watch.end();
      endSpare();
      started.onmessage = null;
      started.onerror = endSpare;
      // As hubs do: browsers may keep a page with a lock out of the back/forward cache.
      addEventListener("pagehide", endSpare);
      spare = { worker: started, of: worker, leave, timer: setTimeout(endSpare, SPARE_FOR_MS) };
    },
  };
}

function takeSpare(of: DatabaseOptions["worker"]): Worker | undefined {
  if (spare === undefined || spare.of !== of) return undefined;
  const { worker, leave, timer } = spare;
  spare = undefined;
  clearTimeout(timer);
  removeEventListener("pagehide", endSpare);
  leave();
  return worker;
}

function endSpare(): void {
  if (spare !== undefined) takeSpare(spare.of)?.terminate();
}

// A worker that hangs, as in Chromium one whose files were deleted, says nothing any more.
function watchHub(worker: Worker, { onGone, isWaiting }: HubEvents, wasSpare: boolean) {
  let silentLooks = Number.NEGATIVE_INFINITY; // until it has started
  let doubted: ReturnType<typeof setTimeout> | undefined;
  const ping = () => worker.postMessage({ type: "ping" } satisfies PageToHub);
  const doubt = () => {
    ping();
    doubted = setTimeout(onGone, DOUBT_LASTS_MS);
  };
  const look = () => {
    silentLooks = isWaiting() ? silentLooks + 1 : Math.min(silentLooks, 0);
    if (silentLooks > MOST_SILENT_LOOKS) onGone();
    else if (silentLooks > 0) ping();
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  // It has nothing to load. Whoever ended it may have done so unnoticed.
  if (wasSpare) doubt();
  return {
    /** It may be gone, and answers at once if it is not. */
    doubt,
    heard({ type }: HubToPage) {
      silentLooks = 0;
      // What else comes may have been said before it went.
      if (type === "alive" || type === "started") clearTimeout(doubted);
    },
    end() {
      clearTimeout(doubted);
      clearInterval(timer);
    },
  };
}

// Once a site's data was cleared, an old page gets a lock that its new worker has. So one that is
// granted at once may be that of a worker which lives, or of one that has ended already.
function granted(onGone: () => void, doubt: () => void): () => void {
  const asked = performance.now();
  return () => (performance.now() - asked > GRANTED_AT_ONCE_MS ? onGone() : doubt());
}

// A service worker can start no other; it is asked for no sync access handles either.
function hubInThisThread(start: PageToHub, receive: (message: HubToPage) => void): HubPort {
  const { port1, port2 } = new MessageChannel();
  serveHub(port2);
  port1.onmessage = ({ data }) => receive(data as HubToPage);
  port1.postMessage(start);
  const close = () => {
    port1.close();
    port2.close();
  };
  return {
    postMessage: (message, transfer = []) => port1.postMessage(message, transfer),
    terminate: close,
    release: close,
  };
}
