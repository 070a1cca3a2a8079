// How a page reaches the owner of a database: every request goes to the page's hub, and
// from there to the owner. The page keeps the requests that have no answer, to make them
// again when its worker was ended or the browser brings it back from its cache.

import { startBroker } from "#assets";
import type { ChangeListener } from "../engine/changes.js";
import type { EngineStatus, ForeignDatabase } from "../engine/engine.js";
import type { Key } from "../engine/keys.js";
import type { RemoteRequest, Transport } from "../engine/transport.js";
import { KeepsakeError } from "../errors.js";
import { anySucceeded } from "../wire/codec.js";
import { rowOf } from "../wire/operations.js";
import { type HubOptions, type HubPort, openHub } from "./hub-port.js";
import { cannotLoad } from "./load.js";
import { adoptModule } from "./module.js";
import {
  channelName,
  type Failure,
  type HubInfo,
  type HubToPage,
  type Job,
  lost,
  type PageToHub,
  type Result,
  unknownOutcome,
} from "./protocol.js";
import { databaseAside, findElsewhere } from "./storage.js";
import { isRefusal } from "./storage-error.js";

// A script that is not ours says nothing; neither does a response that never comes.
const WORKER_STARTS_WITHIN_MS = 60_000;
// A worker that ends so often without an answer ends at what it is asked.
const MOST_DEATHS = 3;

/** What a hub answers by a number. */
interface Call {
  message: PageToHub & { id: number };
  resolve(answer: Uint8Array | HubInfo | undefined): void;
  reject(error: unknown): void;
}

/** @internal */
export class HubTransport implements Transport {
  readonly #name: string;
  readonly #options: HubOptions;
  readonly #onClosed: () => void;
  readonly #calls = new Map<number, Call>();
  readonly #configurations = new Map<string, Job>();
  readonly #onRead = new Map<string, (bytes: number) => void>();
  #listener: ChangeListener = () => {};
  #nextId = 0;
  #hub: HubPort | undefined;
  #starting: ReturnType<typeof setTimeout> | undefined;
  #isSuspended = false;
  /** Whether what is stored is in the hub's memory alone. */
  #hubHoldsAll = false;
  /** Of hubs, since the last answer. */
  #deaths = 0;
  #isClosed = false;
  readonly #stopped = settler();
  #failure: KeepsakeError | undefined;
  #hasAskedToPersist = false;

  constructor(options: HubOptions, onClosed: () => void) {
    this.#name = options.settings.name;
    this.#options = options;
    this.#onClosed = onClosed;
  }

  async send(request: RemoteRequest): Promise<Uint8Array> {
    const job = this.#jobOf(request);
    return (await this.#ask((id) => ({ type: "job", id, job }))) as Uint8Array;
  }

  async configure(request: RemoteRequest): Promise<Uint8Array> {
    const job = this.#jobOf(request);
    return (await this.#configure(JSON.stringify(request.operations), job)) as Uint8Array;
  }

  async lending<T>(
    name: string,
    database: ForeignDatabase,
    body: () => Promise<T>,
    onRead: (bytes: number) => void = () => {},
  ): Promise<T> {
    const file = database instanceof Blob ? database : new Blob([bytesOf(database)]);
    this.#onRead.set(name, onRead);
    try {
      await this.#configure(`lend ${name}`, { kind: "lend", name, file });
      return await body();
    } finally {
      this.#onRead.delete(name);
      this.#configurations.delete(`lend ${name}`);
      await this.#ask((id) => ({ type: "job", id, job: { kind: "takeBack", name } }));
    }
  }

  /** Alone among all tabs. Where locks are refused, no other tab shares the memory. */
  async exclusively<T>(body: () => Promise<T>): Promise<T> {
    let isGranted = false;
    const granted = () => {
      isGranted = true;
      return body();
    };
    try {
      return (await navigator.locks.request(`${channelName(this.#name)}:transfer`, granted)) as T;
    } catch (error) {
      if (isGranted || !isRefusal(error)) throw error;
      return body();
    }
  }

  async status(): Promise<EngineStatus> {
    const info = (await this.#ask((id) => ({ type: "describe", id }))) as HubInfo;
    const { owner, isOwner, transport, lastError } = info;
    return {
      persistence: owner.storage,
      details: {
        fallbackReason: owner.fallbackReason,
        isOwner,
        transport,
        owner: owner.hub,
        epoch: owner.epoch,
        lastError,
        userAgent: navigator.userAgent,
      },
      findElsewhere: () => findElsewhere(owner.storage, this.#name),
    };
  }

  async changeKey(key: Key): Promise<void> {
    const { settings } = this.#options;
    // Until it is known that it was changed, either may open the database.
    settings.nextKey = key;
    await this.#ask((id) => ({ type: "job", id, job: { kind: "changeKey", key } }));
    settings.key = key;
    settings.nextKey = undefined;
  }

  hearChanges(listener: ChangeListener): void {
    this.#start();
    this.#listener = listener;
  }

  /** Calls that were made are answered first; then the files are closed. */
  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#onClosed();
      this.#hub?.postMessage({ type: "close" });
      // Those that wait are answered when the page comes back.
      if (this.#hub === undefined && this.#calls.size === 0) this.#stop();
    }
    return this.#stopped.promise;
  }

  // ---- jobs

  #jobOf(request: RemoteRequest): Job {
    this.#refuseIfClosed();
    if (request.changes !== undefined) this.#askToPersist();
    return jobOf(request);
  }

  /** Does the job now, and first of all in every hub and for every owner to come. */
  async #configure(key: string, job: Job): Promise<unknown> {
    const asked = this.#ask((id) => ({ type: "configure", id, job }));
    this.#configurations.set(key, job);
    let isKept = false;
    try {
      const answer = await asked;
      isKept = !(answer instanceof Uint8Array) || anySucceeded(answer);
      return answer;
    } finally {
      // Else a hub to come would ask for it first of all.
      if (!isKept && this.#configurations.get(key) === job) this.#configurations.delete(key);
    }
  }

  #ask(message: (id: number) => Call["message"]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#refuseIfClosed();
      this.#start();
      const id = ++this.#nextId;
      const call: Call = { message: message(id), resolve, reject };
      this.#calls.set(id, call);
      this.#hub?.postMessage(call.message);
    });
  }

  #refuseIfClosed(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#isClosed) throw new KeepsakeError("closed", `${this.#name} is closed`);
  }

  // ---- the hub

  #start(): void {
    if (this.#hub !== undefined || this.#isSuspended) return;
    this.#listenToPage(true);
    const hub = openHub(this.#options, {
      receive: (message) => this.#receive(message),
      fail: (error) => this.#failAll(error),
      onGone: () => this.#restart(hub),
      isWaiting: () => this.#calls.size > 0 || this.#isClosed,
    });
    this.#hub = hub;
    const why = `it did not start within ${WORKER_STARTS_WITHIN_MS / 1000} s`;
    this.#starting = setTimeout(
      () => this.#failAll(cannotLoad("worker.js", why)),
      WORKER_STARTS_WITHIN_MS,
    );
    for (const job of this.#configurations.values()) {
      hub.postMessage({ type: "configure", id: 0, job });
    }
  }

  #receive(message: HubToPage): void {
    switch (message.type) {
      case "started":
        clearTimeout(this.#starting);
        return;
      case "alive":
        return;
      case "compiled":
        adoptModule(this.#options.settings.wasm, message.shared);
        return;
      case "holdsAll":
        this.#hubHoldsAll = true;
        return;
      case "done":
        if (this.#calls.has(message.id)) this.#deaths = 0;
        this.#settle(message.id, message.result);
        return;
      case "described":
        this.#take(message.id)?.resolve(message.info);
        return;
      case "changed":
        this.#listener(message.changes);
        return;
      case "read":
        this.#onRead.get(message.name)?.(message.bytes);
        return;
      case "broker":
        this.#bringBroker();
        return;
      case "closed":
        if (message.isFree) this.#release();
        this.#stop();
        return;
    }
  }

  #settle(id: number, result: Result): void {
    const call = this.#take(id);
    if (result.ok) call?.resolve(result.response);
    else call?.reject(this.#errorOf(result.failure));
  }

  #take(id: number): Call | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    return call;
  }

  #errorOf({ code, message, aside }: Failure): KeepsakeError {
    if (aside === undefined) return new KeepsakeError(code, message);
    const { kind, name } = aside;
    const damaged = databaseAside(kind, name);
    // Until it is closed and opened again, so that nobody goes on with an empty one unawares.
    this.#failure = new KeepsakeError(code, message, { damaged });
    return this.#failure;
  }

  // A worker may be ended by the browser, by others who have its handle, or because it hangs.
  #restart(hub: HubPort): void {
    if (hub !== this.#hub) return;
    this.#deaths++;
    if (this.#deaths < MOST_DEATHS) {
      this.#suspend();
      this.#resume();
      return;
    }
    this.#failAll(new KeepsakeError("internal", `the worker ended or hung ${MOST_DEATHS} times`));
    this.#deaths = 0;
  }

  #failAll(error: unknown): void {
    // Until it is closed and opened again, as above.
    if (this.#hubHoldsAll) this.#failure = this.#errorOf(lost());
    this.#hubHoldsAll = false;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    this.#stop();
    for (const call of calls) call.reject(error);
  }

  // Only a window can start one; without, hubs speak over their channel.
  #bringBroker(): void {
    const broker = startBroker();
    if (broker === undefined) return;
    this.#hub?.postMessage({ type: "broker", port: broker.port }, [broker.port]);
  }

  #release(): void {
    this.#hub?.release();
    this.#hub = undefined;
  }

  #stop(): void {
    clearTimeout(this.#starting);
    this.#listenToPage(false);
    this.#hub?.terminate();
    this.#hub = undefined;
    if (this.#isClosed) this.#stopped.resolve();
  }

  // ---- the page's life

  #listenToPage(listens: boolean): void {
    if (typeof document === "undefined") return;
    const change = listens ? addEventListener : removeEventListener;
    change("pagehide", this.#suspend);
    change("pageshow", this.#resume);
  }

  // A page in the back/forward cache must not hold the database; nothing is to be saved.
  readonly #suspend = (): void => {
    clearTimeout(this.#starting);
    this.#hub?.terminate();
    this.#hub = undefined;
    this.#isSuspended = true;
  };

  readonly #resume = (): void => {
    if (!this.#isSuspended) return;
    this.#isSuspended = false;
    if (this.#hubHoldsAll) {
      this.#failAll(this.#errorOf(lost()));
      return;
    }
    if (this.#isClosed && this.#calls.size === 0) {
      this.#stop();
      return;
    }
    try {
      this.#start();
    } catch (error) {
      this.#failAll(error);
      return;
    }
    // What was told meanwhile, nobody heard.
    this.#listener({ namespaces: [], threads: [], everything: true });
    for (const { message } of [...this.#calls.values()]) this.#askAgain(message);
    if (this.#isClosed) this.#hub?.postMessage({ type: "close" });
  };

  #askAgain(message: Call["message"]): void {
    const isOnce = message.type === "job" && message.job.kind === "execute" && message.job.isOnce;
    if (isOnce) this.#settle(message.id, { ok: false, failure: unknownOutcome() });
    else this.#hub?.postMessage(message);
  }

  #askToPersist(): void {
    // Asking on its way out would keep a page out of the back/forward cache.
    if (this.#hasAskedToPersist || this.#isSuspended) return;
    this.#hasAskedToPersist = true;
    // Only a window may ask. stats() reports the answer.
    void navigator.storage?.persist?.().catch(() => false);
  }
}

function settler(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function jobOf({ operations, frame, changes }: RemoteRequest): Job {
  return {
    kind: "execute",
    request: frame,
    changes,
    makesRoom:
      changes !== undefined && operations.every((one) => rowOf(one).makesRoom?.(one) ?? false),
    exports: operations[0] && rowOf(operations[0]).exports,
    isOnce: operations.some((one) => rowOf(one).isOnce ?? false),
  };
}

function bytesOf(database: ForeignDatabase): Uint8Array<ArrayBuffer> {
  if (database instanceof Uint8Array) return database as Uint8Array<ArrayBuffer>;
  throw new KeepsakeError("unsupported", "in browsers a database is lent as bytes or a Blob");
}
