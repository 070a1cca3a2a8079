// A page's hub for one database. Hubs elect an owner with a Web Lock; the others send
// it their page's jobs, and send them again to the next owner when it dies. Write jobs
// carry their client and sequence, so that the database does each of them once and
// answers the same again.

import { type Changes, merge } from "../engine/changes.js";
import { KeepsakeError } from "../errors.js";
import { anySucceeded } from "../wire/codec.js";
import { DamagedError, Owner } from "./owner.js";
import {
  channelName,
  type Failure,
  failureOf,
  type HubMessage,
  type HubMessageBody,
  type HubToPage,
  type Job,
  lost,
  type OwnerAnswer,
  type OwnerInfo,
  type PageToHub,
  PROTOCOL,
  type Result,
  type Settings,
  unknownOutcome,
} from "./protocol.js";
import { Transport } from "./transport.js";

// A new request makes the browser evict a holder that sits in its back/forward cache;
// one that waits does not.
const REQUEST_LOCK_AGAIN_MS = 2_000;
const WATCH_EVERY_MS = 500;
const ASK_AFTER_MS = 1_000;
// So long the owner has said that it has answered everything.
const LOST_AFTER_MS = 3_000;
const STEAL_AFTER_MS = 10_000;
const STEAL_AT_MOST_EVERY_MS = 60_000;
// A database that takes longer to open is taken for one that hangs.
const OPENING_MAY_TAKE_MS = 60_000;
const SIGN_OF_LIFE_EVERY_MS = 1_000;
// Whoever waits for an owner that was silent for longer may have been told that it is busy.
const SILENT_TOO_LONG_MS = 3_000;
const JOBS_MEANWHILE_MS = 100;
// What is told together; a page that draws what changed draws no more often.
const GATHER_CHANGES_MS = 16;

/** What one hub and its page speak through: a worker's global scope, or a port. */
type PagePort = Pick<MessagePort, "postMessage" | "onmessage">;

/** Makes a hub when the page says so. @internal */
export function serveHub(page: PagePort): void {
  let hub: Hub | undefined;
  page.onmessage = ({ data }) => {
    const message = data as PageToHub;
    if (message.type === "start") {
      hub = new Hub(message.settings, page);
      void showLife(message.life, page);
    } else hub?.hearPage(message);
  };
}

// The browser gives the lock to the page when this worker is gone, whatever ended it.
async function showLife(life: string | undefined, page: PagePort): Promise<void> {
  const started = (isAlive: boolean) =>
    page.postMessage({ type: "started", isAlive } satisfies HubToPage);
  if (life === undefined || navigator.locks === undefined) return started(false);
  const forever = () => {
    started(true);
    return new Promise(() => {});
  };
  // Where locks are refused, whoever asks for something is told so.
  await navigator.locks.request(life, forever).catch(() => started(false));
}

/** What the page waits for. */
interface Pending {
  readonly job: Job;
  readonly settle: (result: Result) => void;
  /** With which it was sent to the owner that we follow; 0 if it was not. */
  number: number;
}

/** One time of waiting for the lock, and of holding it. */
class Term {
  /** Since when we hold it. */
  heldSince: number | undefined;
  isOver = false;
  readonly ended: Promise<void>;
  #resolve: () => void = () => {};

  constructor() {
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  end(): void {
    this.isOver = true;
    this.#resolve();
  }
}

class Hub {
  readonly #page: PagePort;
  readonly #settings: Settings;
  readonly #transport: Transport;
  readonly #watch: ReturnType<typeof setInterval>;
  // In the order in which the page made them.
  readonly #pending = new Set<Pending>();
  // What every owner to come must do first.
  #configurations: Job[] = [];
  readonly #describing: number[] = [];

  /** Who owns the database, as far as we know. */
  #ownerInfo: OwnerInfo | undefined;
  /** The last ownership that we heard of, also if it is over. */
  #epoch = 0;
  /** Whether that owner has all of the database, and takes it with it. */
  #isVolatile = false;
  #number = 0;
  readonly #sent = new Map<number, Pending>();
  #lastSign = 0;
  #lackingSince: number | undefined;
  #lastSteal = Number.NEGATIVE_INFINITY;
  #mustSteal = false;

  #term: Term | undefined;
  #owner: Owner | undefined;
  // The number of the last job of each hub in this epoch.
  readonly #received = new Map<string, number>();
  readonly #running = new Map<string, number>();
  #changes: Changes | undefined;
  #lastSignOfLife = 0;
  #lastTurn = performance.now();

  #requestAgain: () => void = () => {};
  #tryAgain: (() => void) | undefined;
  #hasFailedToOpen = false;
  #isClosing = false;
  #isClosed = false;
  /** Why nothing can be done here any more. */
  #fatal: Failure | undefined;
  #lastError: string | undefined;

  constructor(settings: Settings, page: PagePort) {
    this.#settings = settings;
    this.#page = page;
    this.#transport = new Transport(
      settings.name,
      (message, port) => this.#hear(message, port),
      () => this.#tell({ type: "broker" }),
    );
    this.#watch = setInterval(() => {
      this.#takeTurn();
      this.#watchOwner();
    }, WATCH_EVERY_MS);
    this.#ask();
    void this.#elect();
  }

  hearPage(message: PageToHub): void {
    switch (message.type) {
      case "start":
        return;
      case "configure":
        this.#configurations.push(message.job);
        this.#submit(message.id, message.job);
        return;
      case "job":
        this.#forgetWhatIsTakenBack(message.job);
        this.#submit(message.id, message.job);
        return;
      case "describe":
        this.#waitFromNow();
        this.#describing.push(message.id);
        this.#tryAgain?.();
        this.#describe();
        return;
      case "broker":
        this.#transport.join(message.port);
        // Followers that asked for a port before that got none.
        if (this.#owner !== undefined) this.#announce();
        return;
      case "close":
        this.#isClosing = true;
        this.#closeIfIdle();
        return;
    }
  }

  // ---- what the page waits for

  #submit(id: number, job: Job): void {
    const pending: Pending = { job, number: 0, settle: (result) => this.#answer(id, result) };
    if (this.#fatal !== undefined) {
      pending.settle({ ok: false, failure: this.#fatal });
      return;
    }
    this.#waitFromNow();
    this.#pending.add(pending);
    this.#send(pending);
    this.#tryAgain?.();
  }

  #forgetWhatIsTakenBack(job: Job): void {
    if (job.kind !== "takeBack") return;
    this.#configurations = this.#configurations.filter(
      (known) => known.kind !== "lend" || known.name !== job.name,
    );
  }

  get #isWaiting(): boolean {
    return this.#pending.size > 0 || this.#describing.length > 0;
  }

  #waitFromNow(): void {
    if (!this.#isWaiting) this.#lastSign = performance.now();
  }

  #send(pending: Pending): void {
    pending.number = 0;
    if (this.#owner !== undefined) {
      void this.#runOwn(this.#owner, pending);
      return;
    }
    if (this.#ownerInfo === undefined) return;
    pending.number = ++this.#number;
    this.#sent.set(pending.number, pending);
    const { epoch } = this.#ownerInfo;
    this.#transport.send({ type: "job", epoch, number: pending.number, job: pending.job });
  }

  async #runOwn(owner: Owner, pending: Pending): Promise<void> {
    const result = await this.#run(owner, pending.job, (name, bytes) =>
      this.#tell({ type: "read", name, bytes }),
    );
    if (result !== undefined) this.#settle(pending, result);
  }

  #settle(pending: Pending, result: Result): void {
    // A job that was sent twice may be answered twice.
    if (!this.#pending.delete(pending)) return;
    pending.settle(result);
    this.#closeIfIdle();
  }

  #answer(id: number, result: Result): void {
    const response = result.ok ? result.response : undefined;
    this.#tell({ type: "done", id, result }, response ? [response.buffer as ArrayBuffer] : []);
  }

  #describe(): void {
    if (this.#fatal !== undefined) {
      this.#failDescribing(this.#fatal);
      return;
    }
    const owner = this.#ownerInfo;
    if (owner === undefined) return;
    const isOwner = this.#owner !== undefined;
    const transport = isOwner ? "direct" : this.#transport.kind;
    for (const id of this.#describing.splice(0)) {
      const info = { owner, isOwner, transport, lastError: this.#lastError } as const;
      this.#tell({ type: "described", id, info });
    }
  }

  #failDescribing(failure: Failure): void {
    for (const id of this.#describing.splice(0)) this.#answer(id, { ok: false, failure });
  }

  #failAll(failure: Failure): void {
    this.#lastError = failure.message;
    this.#failDescribing(failure);
    for (const pending of [...this.#pending]) this.#settle(pending, { ok: false, failure });
  }

  // ---- other hubs

  #hear(message: HubMessage, port: MessagePort | undefined): void {
    if (this.#isClosed) return;
    if (message.protocol > PROTOCOL) {
      this.#giveUp(newerVersion());
      return;
    }
    // An older owner hears of us and steps down.
    if (message.protocol < PROTOCOL) {
      this.#ask();
      return;
    }
    switch (message.type) {
      case "who":
        this.#transport.wantBroker();
        this.#introduceSelf(message.from, message.epoch);
        return;
      case "alive":
        this.#lastSign = performance.now();
        return;
      case "owner":
        this.#hearOwner(message);
        return;
      case "job":
        void this.#serve(message, port);
        return;
      case "done":
        if (message.to === this.#transport.hub) this.#hearAnswer(message);
        return;
      case "read":
        if (message.to !== this.#transport.hub) return;
        this.#lastSign = performance.now();
        this.#tell({ type: "read", name: message.name, bytes: message.bytes });
        return;
      case "changed":
        this.#tell({ type: "changed", changes: message.changes });
        return;
      case "damaged":
        this.#giveUp(message.failure);
        return;
      case "hello":
        return;
    }
  }

  #ask(): void {
    this.#transport.say({ type: "who", epoch: this.#epoch });
  }

  #introduceSelf(to: string, epoch: number): void {
    if (this.#owner === undefined) {
      if (this.#isOpening) this.#transport.say({ type: "alive" });
      return;
    }
    // The clock was set back, and whoever heard of an owner before us takes us for an older one.
    if (epoch > this.#epoch) this.#begin(this.#owner, epoch + 1);
    else this.#announce({ to, running: this.#running.get(to) ?? 0 });
  }

  #announce(answer?: OwnerAnswer): void {
    this.#transport.say({ type: "owner", owner: this.#ownerInfo as OwnerInfo, answer });
  }

  #hearOwner({ owner, answer }: HubMessage & { type: "owner" }): void {
    // While we hold the lock nobody else does. Who does afterwards is asked then.
    if (this.#owner !== undefined || owner.epoch < this.#epoch) return;
    this.#lastSign = performance.now();
    if (owner.epoch > this.#epoch || owner.hub !== this.#ownerInfo?.hub) {
      this.#follow(owner);
      return;
    }
    this.#transport.connect();
    if (answer?.to === this.#transport.hub && this.#lacks(answer)) this.#follow(owner);
  }

  // What it has answered is on its way at first, and lost in the end.
  #lacks({ running }: OwnerAnswer): boolean {
    if (running > 0 || this.#pending.size === 0) {
      this.#lackingSince = undefined;
      return false;
    }
    const now = performance.now();
    this.#lackingSince ??= now;
    return now - this.#lackingSince >= LOST_AFTER_MS;
  }

  #follow(owner: OwnerInfo): void {
    const isSame = owner.hub === this.#ownerInfo?.hub;
    if (!this.#learn(owner, isSame)) return;
    this.#transport.meet(owner.hub);
    this.#sendAll();
    this.#describe();
  }

  /** False if nothing can be done with this owner. */
  #learn(owner: OwnerInfo, isSame: boolean): boolean {
    const { name, storage } = this.#settings;
    if (storage !== "auto" && storage !== owner.storage) {
      this.#giveUp(otherStorage(name, owner.storage, storage));
      return false;
    }
    const isFirst = this.#epoch === 0;
    if (!isFirst && !isSame) {
      if (this.#isVolatile) {
        this.#giveUp(lost());
        return false;
      }
      // The owner before may have died before it told what it did last.
      this.#tell({ type: "changed", changes: { namespaces: [], threads: [], everything: true } });
    }
    this.#ownerInfo = owner;
    this.#epoch = owner.epoch;
    this.#isVolatile = owner.storage === "memory";
    if (this.#isVolatile && owner.hub === this.#transport.hub) this.#tell({ type: "holdsAll" });
    return true;
  }

  // Everything that has no answer, and before it what every owner must know.
  #sendAll(): void {
    this.#sent.clear();
    this.#lackingSince = undefined;
    for (const job of this.#configurations) this.#send({ job, number: 0, settle: () => {} });
    for (const pending of [...this.#pending]) this.#sendAgain(pending);
  }

  #sendAgain(pending: Pending): void {
    const { job, number } = pending;
    const wasBegun = number > 0 && job.kind === "execute" && job.isOnce;
    if (wasBegun) this.#settle(pending, { ok: false, failure: unknownOutcome() });
    else this.#send(pending);
  }

  #hearAnswer({ epoch, number, result }: HubMessage & { type: "done" }): void {
    if (epoch !== this.#ownerInfo?.epoch) return;
    this.#lastSign = performance.now();
    this.#lackingSince = undefined;
    const pending = this.#sent.get(number);
    this.#sent.delete(number);
    this.#transport.answered(number);
    if (pending !== undefined) this.#settle(pending, result);
  }

  // An owner that is silent while we wait is asked, and in the end robbed.
  #watchOwner(): void {
    if (!this.#isWaiting || this.#term?.heldSince !== undefined) return;
    const silence = performance.now() - this.#lastSign;
    if (silence < ASK_AFTER_MS) return;
    this.#ask();
    const sinceSteal = performance.now() - this.#lastSteal;
    if (silence < STEAL_AFTER_MS || sinceSteal < STEAL_AT_MOST_EVERY_MS) return;
    this.#lastSteal = performance.now();
    this.#mustSteal = true;
    this.#requestAgain();
  }

  // ---- owning

  async #elect(): Promise<void> {
    while (!this.#isClosed && this.#fatal === undefined) {
      const term = new Term();
      this.#term = term;
      try {
        await this.#requestLock(term);
      } catch (error) {
        // Not granted in time, or stolen.
        if ((error as Error).name !== "AbortError") this.#failToOpen(error);
      }
      term.end();
      this.#stopOwning();
      // Others may have the lock, until there is something to do for us.
      if (this.#hasFailedToOpen) await this.#nextJob();
    }
  }

  async #requestLock(term: Term): Promise<void> {
    if (navigator.locks === undefined) throw noLocks();
    const aborter = new AbortController();
    this.#requestAgain = () => aborter.abort();
    const timer = setTimeout(this.#requestAgain, REQUEST_LOCK_AGAIN_MS);
    const options: LockOptions = this.#mustSteal ? { steal: true } : { signal: aborter.signal };
    try {
      await navigator.locks.request(channelName(this.#settings.name), options, async () => {
        clearTimeout(timer);
        this.#mustSteal = false;
        this.#requestAgain = () => {};
        await this.#own(term);
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async #own(term: Term): Promise<void> {
    this.#hasFailedToOpen = false;
    while (!term.isOver) {
      term.heldSince = performance.now();
      const owner = await this.#open(term);
      if (owner === undefined) return;
      this.#begin(owner);
      await Promise.race([term.ended, owner.failed]);
      owner.close();
      if (term.isOver) return;
      if (owner.storage.kind === "memory") this.#giveUp(lost());
    }
  }

  get #isOpening(): boolean {
    const since = this.#term?.heldSince;
    return since !== undefined && performance.now() - since < OPENING_MAY_TAKE_MS;
  }

  async #open(term: Term): Promise<Owner | undefined> {
    try {
      const owner = await Owner.open(this.#settings);
      if (!term.isOver) return owner;
      owner.close();
    } catch (error) {
      if (term.isOver) return undefined;
      if (error instanceof DamagedError) {
        this.#transport.say({ type: "damaged", failure: error.failure });
        this.#giveUp(error.failure);
      } else {
        this.#failToOpen(error);
      }
    }
    return undefined;
  }

  #failToOpen(error: unknown): void {
    this.#hasFailedToOpen = true;
    this.#failAll(failureOf(error));
  }

  // Later than every epoch that we know: each began at a time, under the lock.
  #begin(owner: Owner, epoch = Math.max(this.#epoch + 1, Date.now())): void {
    const { kind: storage, fallbackReason } = owner.storage;
    const isSame = this.#owner === owner;
    const info = { hub: this.#transport.hub, epoch, storage, fallbackReason };
    if (!this.#learn(info, isSame)) return;
    this.#owner = owner;
    this.#lastTurn = performance.now();
    this.#received.clear();
    this.#running.clear();
    this.#transport.meet(undefined);
    this.#announce();
    if (!isSame) this.#sendAll();
    this.#describe();
  }

  get #wasSilent(): boolean {
    return performance.now() - this.#lastTurn >= SILENT_TOO_LONG_MS;
  }

  // What came while nothing could be heard here is looked at first.
  #takeTurn(): void {
    const take = () => {
      this.#lastTurn = performance.now();
    };
    if (this.#wasSilent) setTimeout(take, JOBS_MEANWHILE_MS);
    else take();
  }

  #stopOwning(): void {
    if (this.#owner === undefined) return;
    this.#owner.close();
    this.#owner = undefined;
    this.#ownerInfo = undefined;
    // Whoever stole the lock may have said so already.
    if (!this.#isClosed) this.#ask();
  }

  async #serve(
    message: HubMessage & { type: "job" },
    port: MessagePort | undefined,
  ): Promise<void> {
    const { epoch, from, number, job } = message;
    const owner = this.#owner;
    if (owner === undefined || epoch !== this.#ownerInfo?.epoch) return;
    // Some of its senders have given up. In a new epoch those who wait send their jobs again.
    if (this.#wasSilent) {
      this.#begin(owner);
      return;
    }
    if (number <= (this.#received.get(from) ?? 0)) return;
    this.#received.set(from, number);
    this.#count(from, 1);
    const result = await this.#run(owner, job, (name, bytes) =>
      this.#transport.reply(port, { type: "read", to: from, name, bytes }),
    );
    if (epoch === this.#epoch) this.#count(from, -1);
    // Unanswered, it is sent again to the next owner.
    if (result === undefined) return;
    const response = result.ok ? result.response : undefined;
    const done: HubMessageBody = { type: "done", to: from, epoch, number, result };
    this.#transport.reply(port, done, response ? [response.buffer as ArrayBuffer] : []);
  }

  #count(hub: string, change: number): void {
    this.#running.set(hub, (this.#running.get(hub) ?? 0) + change);
  }

  async #run(
    owner: Owner,
    job: Job,
    onRead: (name: string, bytes: number) => void,
  ): Promise<Result | undefined> {
    const running = owner.run(job, (name, bytes) => {
      this.#giveSignOfLife();
      onRead(name, bytes);
    });
    // Nobody could send it again.
    if (job.kind === "execute" && job.isOnce) this.#lastTurn = performance.now();
    const result = await running;
    if (result?.ok === false) this.#lastError = result.failure.message;
    else if (job.kind === "execute" && job.changes && result?.response) {
      if (anySucceeded(result.response)) this.#noteChanges(job.changes);
    }
    return result;
  }

  // A long import hears nobody ask.
  #giveSignOfLife(): void {
    const now = performance.now();
    if (now - this.#lastSignOfLife < SIGN_OF_LIFE_EVERY_MS) return;
    this.#lastSignOfLife = now;
    this.#transport.say({ type: "alive" });
  }

  // Those of a burst are told together.
  #noteChanges(changes: Changes): void {
    if (this.#changes !== undefined) {
      merge(this.#changes, changes);
      return;
    }
    this.#changes = changes;
    setTimeout(() => {
      const gathered = this.#changes as Changes;
      this.#changes = undefined;
      if (!this.#isClosed) this.#transport.say({ type: "changed", changes: gathered });
      this.#tell({ type: "changed", changes: gathered });
    }, GATHER_CHANGES_MS);
  }

  // ---- the end

  #giveUp(failure: Failure): void {
    this.#fatal = failure;
    this.#failAll(failure);
    this.#term?.end();
    this.#requestAgain();
  }

  #nextJob(): Promise<void> {
    if (this.#isWaiting || this.#isClosing) return Promise.resolve();
    return new Promise((resolve) => {
      this.#tryAgain = () => {
        this.#tryAgain = undefined;
        resolve();
      };
    });
  }

  #closeIfIdle(): void {
    if (this.#isClosing && !this.#isClosed && this.#pending.size === 0) void this.#close();
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watch);
    await this.#owner?.finish();
    this.#stopOwning();
    this.#term?.end();
    this.#requestAgain();
    this.#tryAgain?.();
    this.#transport.close();
    this.#tell({ type: "closed" });
  }

  #tell(message: HubToPage, transfer: Transferable[] = []): void {
    this.#page.postMessage(message, transfer);
  }
}

function otherStorage(name: string, existing: string, wanted: string): Failure {
  return {
    code: "conflicting_options",
    message: `another tab has "${name}" open with storage "${existing}", not "${wanted}"`,
  };
}

function newerVersion(): Failure {
  return {
    code: "newer_version",
    message: "another tab runs a newer version of keepsake; reload this page",
  };
}

function noLocks(): KeepsakeError {
  return new KeepsakeError(
    "unsupported",
    "Web Locks are not available here: a page needs https, or http://localhost",
  );
}
