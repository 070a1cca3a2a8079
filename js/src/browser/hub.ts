// A page's hub for one database: keeps what the page waits for, and follows the owner.
// One hub is the owner (election.ts), and serves the others (followers.ts). They send it
// their page's jobs, and send them again to the next owner when it dies. Write jobs carry
// their client and sequence, so that the database does each of them once and answers the
// same again.

import { type Key, keyRequired, notEncrypted, wrongKey } from "../engine/keys.js";
import { anySucceeded } from "../wire/codec.js";
import { type Candidate, Election } from "./election.js";
import { Followers, type Leader } from "./followers.js";
import { HubLink } from "./hub-link.js";
import { SharedSecret } from "./key-proof.js";
import { sharedModule } from "./module.js";
import type { Owner } from "./owner.js";
import {
  type Failure,
  failureOf,
  type HubMessage,
  type HubToPage,
  type Job,
  lost,
  newerVersion,
  type OwnerAnswer,
  type OwnerInfo,
  otherStorage,
  ownerHangs,
  type PageToHub,
  PROTOCOL,
  type Result,
  type Settings,
  unknownOutcome,
} from "./protocol.js";

const WATCH_EVERY_MS = 500;
const SHOW_LIFE_EVERY_MS = 1_000;
const ASK_AFTER_MS = 1_000;
// So long the owner has said that it has answered everything.
const LOST_AFTER_MS = 3_000;
const STEAL_AFTER_MS = 10_000;
const LONG_WAIT_MS = 5_000;

/** What a hub speaks to its page through: a worker's global scope, or a port. @internal */
export type PagePort = Pick<MessagePort, "postMessage">;

/** What the page waits for. */
interface Pending {
  readonly job: Job;
  readonly settle: (result: Result) => void;
  /** With which it was sent to the owner that we follow; 0 if it was not. */
  number: number;
}

/** @internal */
export class Hub implements Candidate, Leader {
  readonly #page: PagePort;
  readonly #settings: Settings;
  readonly #link: HubLink;
  readonly #election: Election;
  readonly #followers: Followers;
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
  /** Whether that owner takes our jobs: it does so when we have shown that we have its key. */
  #isAdmitted = false;
  /** Whether that owner has all of the database, and takes it with it. */
  #isVolatile = false;
  #number = 0;
  readonly #sent = new Map<number, Pending>();
  #lastSign = 0;
  #waitingSince = 0;
  #lastShown = 0;
  #lackingSince: number | undefined;
  #isClosing = false;
  #isClosed = false;
  /** The page may speak to the next hub of this thread already. */
  #hasLeft = false;
  /** Why nothing can be done here any more. */
  #fatal: Failure | undefined;
  #lastError: string | undefined;

  constructor(settings: Settings, page: PagePort) {
    this.#settings = settings;
    this.#page = page;
    this.#link = new HubLink(
      settings.name,
      (message, port) => this.#receive(message, port),
      () => this.tell({ type: "broker" }),
    );
    this.#followers = new Followers(this.#link, this);
    this.#election = new Election(settings, this);
    this.#watch = setInterval(() => {
      this.#followers.takeTurn();
      this.#watchOwner();
    }, WATCH_EVERY_MS);
    this.#ask();
    void this.#election.run();
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
        this.#election.wake();
        this.#describe();
        return;
      case "ping":
        this.tell({ type: "alive" });
        return;
      case "broker":
        this.#link.join(message.port);
        // Followers that asked for a port before that got none.
        this.#followers.announce();
        return;
      case "close":
        this.#isClosing = true;
        this.#closeIfIdle();
        return;
    }
  }

  // ---- what the page waits for

  #submit(id: number, job: Job): void {
    const settle = (result: Result) => {
      if (job.kind === "changeKey" && result.ok) this.#noteKey(job.key as Key);
      if (isRefused(result)) this.#forgetConfiguration((known) => known === job);
      this.#answer(id, result);
    };
    const pending: Pending = { job, number: 0, settle };
    if (job.kind === "changeKey") this.#settings.nextKey = job.key as Key;
    if (this.#fatal !== undefined) {
      pending.settle({ ok: false, failure: this.#fatal });
      return;
    }
    this.#waitFromNow();
    this.#pending.add(pending);
    this.#send(pending);
    this.#election.wake();
  }

  #forgetWhatIsTakenBack(job: Job): void {
    if (job.kind !== "takeBack") return;
    this.#forgetConfiguration((known) => known.kind === "lend" && known.name === job.name);
  }

  // Settings that the owner refused must not come first with the next one: they would be those of
  // all, and the others would be refused.
  #forgetConfiguration(isOver: (known: Job) => boolean): void {
    this.#configurations = this.#configurations.filter((known) => !isOver(known));
  }

  #noteKey(key: Key): void {
    this.#settings.key = key;
    this.#settings.nextKey = undefined;
  }

  get #isWaiting(): boolean {
    return this.#pending.size > 0 || this.#describing.length > 0;
  }

  #waitFromNow(): void {
    if (this.#isWaiting) return;
    this.#waitingSince = performance.now();
    this.#lastSign = this.#waitingSince;
  }

  // What the owner failed at concerns who waited through it; a later call may be answered.
  get #hasWaitedLong(): boolean {
    if (!this.#isWaiting || this.#election.isHolding) return false;
    return performance.now() - this.#waitingSince >= LONG_WAIT_MS;
  }

  #send(pending: Pending): void {
    pending.number = 0;
    if (this.#isOwner) {
      void this.#runOwn(pending);
      return;
    }
    if (this.#ownerInfo === undefined || !this.#isAdmitted) return;
    if (pending.job.kind === "changeKey") void this.#sendKey(pending, this.#ownerInfo);
    else this.#sendJob(pending, pending.job, this.#ownerInfo);
  }

  #sendJob(pending: Pending, job: Job, { epoch }: OwnerInfo): void {
    pending.number = ++this.#number;
    this.#sent.set(pending.number, pending);
    this.#link.send({ type: "job", epoch, number: pending.number, job });
  }

  // Every tab of the site hears what goes over the channel.
  async #sendKey(pending: Pending, owner: OwnerInfo): Promise<void> {
    const { key } = pending.job as { key: Key };
    const sealed = await (await this.#secretFor(owner))?.seal(key);
    const isStillOwner = owner.epoch === this.#ownerInfo?.epoch && !this.#isOwner;
    if (sealed === undefined || !isStillOwner || !this.#pending.has(pending)) return;
    this.#sendJob(pending, { kind: "changeKey", key: sealed }, owner);
  }

  async #secretFor({ lock }: OwnerInfo): Promise<SharedSecret | undefined> {
    const { key } = this.#settings;
    return key === undefined || lock === undefined ? undefined : SharedSecret.from(key, lock);
  }

  async #unlock(owner: OwnerInfo): Promise<void> {
    const secret = await this.#secretFor(owner);
    const proof = (await secret?.proof(owner.hub, owner.epoch)) ?? "";
    if (owner.epoch !== this.#ownerInfo?.epoch || this.#isOwner) return;
    this.#link.say({ type: "unlock", epoch: owner.epoch, proof });
  }

  #hearUnlocked({ to, epoch, isRight }: HubMessage & { type: "unlocked" }): void {
    if (to !== this.#link.hub || epoch !== this.#ownerInfo?.epoch || this.#isAdmitted) return;
    this.#lastSign = performance.now();
    if (!isRight) {
      this.giveUp(failureOf(wrongKey(`"${this.#settings.name}"`)));
      return;
    }
    this.#isAdmitted = true;
    this.#sendAll();
    this.#describe();
  }

  async #runOwn(pending: Pending): Promise<void> {
    const result = await this.#followers.run(pending.job, (name, bytes) =>
      this.tell({ type: "read", name, bytes }),
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
    this.tell({ type: "done", id, result }, response ? [response.buffer as ArrayBuffer] : []);
  }

  #describe(): void {
    if (this.#fatal !== undefined) {
      this.#failDescribing(this.#fatal);
      return;
    }
    const owner = this.#ownerInfo;
    const isOwner = this.#isOwner;
    if (owner === undefined || !(isOwner || this.#isAdmitted)) return;
    const transport = isOwner ? "direct" : this.#link.kind;
    for (const id of this.#describing.splice(0)) {
      const info = { owner, isOwner, transport, lastError: this.#lastError } as const;
      this.tell({ type: "described", id, info });
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

  #receive(message: HubMessage, port: MessagePort | undefined): void {
    if (this.#isClosed) return;
    if (message.protocol > PROTOCOL) this.giveUp(newerVersion());
    // An older owner hears of us and steps down.
    else if (message.protocol < PROTOCOL) this.#ask();
    else this.#handle(message, port);
  }

  #handle(message: HubMessage, port: MessagePort | undefined): void {
    switch (message.type) {
      case "who":
        this.#link.wantBroker();
        this.#introduceSelf(message.from, message.epoch);
        return;
      case "alive":
        this.#lastSign = performance.now();
        return;
      case "owner":
        this.#hearOwner(message);
        return;
      case "job":
        void this.#followers.serve(message, port);
        return;
      case "unlock":
        void this.#followers.unlock(message);
        return;
      case "unlocked":
        this.#hearUnlocked(message);
        return;
      case "done":
        if (message.to === this.#link.hub) this.#hearAnswer(message);
        return;
      case "read":
        if (message.to !== this.#link.hub) return;
        this.#lastSign = performance.now();
        this.tell({ type: "read", name: message.name, bytes: message.bytes });
        return;
      case "changed":
        this.tell({ type: "changed", changes: message.changes });
        return;
      case "failed":
        if (this.#hasWaitedLong) this.#failAll(message.failure);
        return;
      case "damaged":
        this.giveUp(message.failure);
        return;
      case "hello":
        return;
    }
  }

  #ask(): void {
    this.#link.say({ type: "who", epoch: this.#epoch });
  }

  #introduceSelf(to: string, epoch: number): void {
    const { owner } = this.#followers;
    if (owner === undefined) {
      if (this.#election.mayBeOpening) this.#link.say({ type: "alive" });
      return;
    }
    // The clock was set back, and whoever heard of an owner before us takes us for an older one.
    if (epoch > this.#epoch) this.own(owner, epoch + 1);
    else this.#followers.answer(to);
  }

  #hearOwner({ owner, answer }: HubMessage & { type: "owner" }): void {
    // While we hold the lock nobody else does. Who does afterwards is asked then.
    if (this.#isOwner || owner.epoch < this.#epoch) return;
    this.#lastSign = performance.now();
    if (owner.epoch > this.#epoch || owner.hub !== this.#ownerInfo?.hub) {
      this.#follow(owner);
      return;
    }
    // Another tab may have changed the key.
    this.#ownerInfo = owner;
    if (!this.#isAdmitted) void this.#unlock(owner);
    this.#link.connect();
    if (answer?.to === this.#link.hub && this.#lacks(answer)) this.#follow(owner);
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
    this.#link.meet(owner.hub);
    this.#isAdmitted = owner.lock === undefined;
    if (!this.#isAdmitted) void this.#unlock(owner);
    this.#sendAll();
    this.#describe();
  }

  /** False if nothing can be done with this owner. */
  #learn(owner: OwnerInfo, isSame: boolean): boolean {
    const { name, storage } = this.#settings;
    if (storage !== "auto" && storage !== owner.storage) {
      this.giveUp(otherStorage(name, owner.storage, storage));
      return false;
    }
    const { key } = this.#settings;
    if ((key === undefined) !== (owner.lock === undefined)) {
      this.giveUp(failureOf((key === undefined ? keyRequired : notEncrypted)(`"${name}"`)));
      return false;
    }
    const isFirst = this.#epoch === 0;
    if (!isFirst && !isSame) {
      if (this.#isVolatile) {
        this.giveUp(lost());
        return false;
      }
      // The owner before may have died before it told what it did last.
      this.tell({ type: "changed", changes: { namespaces: [], threads: [], everything: true } });
    }
    this.#ownerInfo = owner;
    this.#epoch = owner.epoch;
    this.#isVolatile = owner.storage === "memory";
    if (this.#isVolatile && owner.hub === this.#link.hub) this.tell({ type: "holdsAll" });
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
    this.#link.answered(number);
    if (pending !== undefined) this.#settle(pending, result);
  }

  // An owner that is silent while we wait is asked, and in the end loses the lock to us.
  #watchOwner(): void {
    if (!this.#isWaiting || this.#election.isHolding) return;
    const silence = performance.now() - this.#lastSign;
    if (silence >= ASK_AFTER_MS) this.#ask();
    if (silence < STEAL_AFTER_MS || this.#election.steal()) return;
    this.#failAll(ownerHangs(this.#settings.name));
  }

  // ---- owning

  get #isOwner(): boolean {
    return this.#followers.owner !== undefined;
  }

  // Later than every epoch that we know: each began at a time, under the lock.
  own(owner: Owner, epoch = Math.max(this.#epoch + 1, Date.now())): void {
    const { kind: storage, fallbackReason } = owner.storage;
    const isSame = this.#followers.owner === owner;
    const info = { hub: this.#link.hub, epoch, storage, fallbackReason, lock: owner.lock };
    if (!this.#learn(info, isSame)) return;
    this.#followers.begin(owner, info);
    if (!isSame) {
      void this.#shareModule();
      this.#sendAll();
    }
    this.#describe();
  }

  async #shareModule(): Promise<void> {
    const shared = await sharedModule(this.#settings.wasm);
    this.tell({ type: "compiled", shared });
  }

  disown(): void {
    if (!this.#isOwner) return;
    this.#followers.end();
    this.#ownerInfo = undefined;
    // Whoever stole the lock may have said so already.
    if (!this.#isClosed) this.#ask();
  }

  get wantsDatabase(): boolean {
    return this.#isWaiting || this.#isClosing;
  }

  // Another one that has no lock either may be followed already.
  standAlone(): void {
    this.#link.close();
    this.#ownerInfo = undefined;
    this.#epoch = 0;
    this.#isVolatile = false;
  }

  showLife(): void {
    const now = performance.now();
    if (now - this.#lastShown < SHOW_LIFE_EVERY_MS) return;
    this.#lastShown = now;
    this.#link.say({ type: "alive" });
    this.tell({ type: "alive" });
  }

  failToOpen(error: unknown): void {
    const failure = failureOf(error);
    if (failure.code === "busy") this.#link.say({ type: "failed", failure });
    this.#failAll(failure);
  }

  reportDamage(failure: Failure): void {
    this.#link.say({ type: "damaged", failure });
    this.giveUp(failure);
  }

  noteError(message: string): void {
    this.#lastError = message;
  }

  // ---- the end

  giveUp(failure: Failure): void {
    this.#fatal = failure;
    this.#failAll(failure);
    this.#election.end();
  }

  #closeIfIdle(): void {
    if (this.#isClosing && !this.#isClosed && this.#pending.size === 0) void this.#close();
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watch);
    this.#election.withdraw();
    await this.#followers.owner?.finish();
    const isFree = !this.#election.isOpening;
    this.disown();
    this.#election.end();
    this.#link.close();
    this.tell({ type: "closed", isFree });
    this.#hasLeft = true;
  }

  tell(message: HubToPage, transfer: Transferable[] = []): void {
    if (!this.#hasLeft) this.#page.postMessage(message, transfer);
  }
}

function isRefused(result: Result): boolean {
  if (!result.ok) return true;
  return result.response !== undefined && !anySucceeded(result.response);
}
