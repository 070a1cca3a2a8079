// What the hub that owns the database does for the others: runs their jobs, tells them
// who it is, that it is at work, and what has changed.

import { wrongKey } from "../engine/keys.js";
import { type Changes, merge } from "../wire/changes.js";
import { anySucceeded } from "../wire/codec.js";
import type { HubLink } from "./hub-link.js";
import type { Owner } from "./owner.js";
import {
  failureOf,
  type HubMessage,
  type HubMessageBody,
  type HubToPage,
  type Job,
  type OwnerAnswer,
  type OwnerInfo,
  type Result,
} from "./protocol.js";

// Whoever waits for an owner that was silent for longer may have been told that it is busy.
const SILENT_TOO_LONG_MS = 3_000;
const JOBS_MEANWHILE_MS = 100;
// What is told together; a page that draws what changed draws no more often.
const GATHER_CHANGES_MS = 16;

type OnRead = (name: string, bytes: number) => void;

/** The hub that they follow: ours. @internal */
export interface Leader {
  /** Tells its page. */
  tell(message: HubToPage): void;
  /** Tells whoever waits, now and then, that the database is at work. */
  showLife(): void;
  /** A job failed. */
  noteError(message: string): void;
  /** Begins a new epoch with this owner, which it may have already. */
  own(owner: Owner): void;
}

/** @internal */
export class Followers {
  readonly #link: HubLink;
  readonly #leader: Leader;
  #owner: Owner | undefined;
  #info: OwnerInfo | undefined;
  // The number of the last job of each hub in this epoch.
  readonly #received = new Map<string, number>();
  readonly #running = new Map<string, number>();
  // Those that proved in this epoch that they have the key.
  readonly #admitted = new Set<string>();
  #changes: Changes | undefined;
  #lastTurn = performance.now();

  constructor(link: HubLink, leader: Leader) {
    this.#link = link;
    this.#leader = leader;
  }

  /** The database, while it is ours. */
  get owner(): Owner | undefined {
    return this.#owner;
  }

  /** A new epoch begins: whoever waits sends its jobs again. */
  begin(owner: Owner, info: OwnerInfo): void {
    this.#owner = owner;
    this.#info = info;
    this.#lastTurn = performance.now();
    this.#received.clear();
    this.#running.clear();
    this.#admitted.clear();
    this.#link.meet(undefined);
    this.announce();
  }

  /** The database is no longer ours. */
  end(): void {
    this.#owner?.close();
    this.#owner = undefined;
    this.#info = undefined;
  }

  announce(answer?: OwnerAnswer): void {
    if (this.#info !== undefined) this.#link.say({ type: "owner", owner: this.#info, answer });
  }

  /** Answers a hub that asked for the owner. */
  answer(to: string): void {
    this.announce({ to, running: this.#running.get(to) ?? 0 });
  }

  /** What came while nothing could be heard here is looked at first. */
  takeTurn(): void {
    const take = () => {
      this.#lastTurn = performance.now();
    };
    if (this.#wasSilent) setTimeout(take, JOBS_MEANWHILE_MS);
    else take();
  }

  async unlock({ epoch, from, proof }: HubMessage & { type: "unlock" }): Promise<void> {
    const info = this.#info;
    if (epoch !== info?.epoch) return;
    const wanted = await this.#owner?.proof(info.hub, epoch);
    if (epoch !== this.#info?.epoch) return;
    const isRight = this.#admitted.has(from) || proof === wanted;
    if (isRight) this.#admitted.add(from);
    this.#link.say({ type: "unlocked", to: from, epoch, isRight });
  }

  async serve(message: HubMessage & { type: "job" }, port: MessagePort | undefined): Promise<void> {
    const { epoch, from, number, job } = message;
    const owner = this.#owner;
    if (owner === undefined || epoch !== this.#info?.epoch) return;
    // Some of its senders have given up. In a new epoch those who wait send their jobs again.
    if (this.#wasSilent) {
      this.#leader.own(owner);
      return;
    }
    if (number <= (this.#received.get(from) ?? 0)) return;
    this.#received.set(from, number);
    if (this.#info.lock !== undefined && !this.#admitted.has(from)) {
      const result: Result = { ok: false, failure: failureOf(wrongKey("the memory")) };
      this.#link.reply(port, { type: "done", to: from, epoch, number, result });
      return;
    }
    this.#count(from, 1);
    const result = await this.run(job, (name, bytes) =>
      this.#link.reply(port, { type: "read", to: from, name, bytes }),
    );
    if (epoch === this.#info?.epoch) this.#count(from, -1);
    // Unanswered, it is sent again to the next owner.
    if (result === undefined) return;
    const response = result.ok ? result.response : undefined;
    const done: HubMessageBody = { type: "done", to: from, epoch, number, result };
    this.#link.reply(port, done, response ? [response.buffer as ArrayBuffer] : []);
  }

  /** Undefined if the next owner has to run it. */
  async run(job: Job, onRead: OnRead): Promise<Result | undefined> {
    const running = this.#owner?.run(job, (name, bytes) => {
      this.#leader.showLife();
      onRead(name, bytes);
    });
    // Nobody could send it again.
    if (job.kind === "execute" && job.isOnce) this.#lastTurn = performance.now();
    const result = await running;
    if (job.kind === "changeKey" && this.#info !== undefined) {
      this.#info = { ...this.#info, lock: this.#owner?.lock };
      this.announce();
    }
    if (result?.ok === false) this.#leader.noteError(result.failure.message);
    else if (job.kind === "execute" && job.changes && result?.response) {
      if (anySucceeded(result.response)) this.#noteChanges(job.changes);
    }
    return result;
  }

  get #wasSilent(): boolean {
    return performance.now() - this.#lastTurn >= SILENT_TOO_LONG_MS;
  }

  #count(hub: string, change: number): void {
    this.#running.set(hub, (this.#running.get(hub) ?? 0) + change);
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
      this.#link.say({ type: "changed", changes: gathered });
      this.#leader.tell({ type: "changed", changes: gathered });
    }, GATHER_CHANGES_MS);
  }
}
