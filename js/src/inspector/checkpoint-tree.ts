// The checkpoints of a thread, the newest first, and the branch that each is on.

import type { KeepsakeSaver } from "../checkpointer/checkpointer.js";

/** A checkpoint, as its row shows it. */
export interface Step {
  id: string;
  namespace: string;
  parent: string | undefined;
  time: string;
  step: number | undefined;
  source: string | undefined;
  channels: string[];
  pending: number;
  /** 0 is the branch of the newest checkpoint. */
  lane: number;
  /** How many checkpoints follow it. */
  children: number;
  /** Lanes of others that pass by. */
  passing: number[];
}

// No more at once: their values come along.
const PORTION = 50;

export class CheckpointTree {
  readonly steps: Step[] = [];
  readonly #saver: KeepsakeSaver;
  readonly #threadId: string;
  // Which checkpoint each lane comes to next; undefined where a lane has ended.
  readonly #lanes: (string | undefined)[] = [];
  #isDone = false;
  #reading: Promise<void> | undefined;

  constructor(saver: KeepsakeSaver, threadId: string) {
    this.#saver = saver;
    this.#threadId = threadId;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  get isReading(): boolean {
    return this.#reading !== undefined;
  }

  /** Reads the next portion; one at a time. */
  more(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    if (this.#isDone) return;
    const config = { configurable: { thread_id: this.#threadId } };
    const before = this.steps.at(-1)?.id;
    let read = 0;
    for await (const tuple of this.#saver.list(config, { before, limit: PORTION })) {
      const { checkpoint, metadata, pendingWrites, parentConfig } = tuple;
      read++;
      this.#add({
        id: checkpoint.id,
        namespace: tuple.config.configurable?.checkpoint_ns ?? "",
        parent: parentConfig?.configurable?.checkpoint_id,
        time: checkpoint.ts,
        step: metadata?.step,
        source: metadata?.source,
        channels: Object.keys(checkpoint.channel_values),
        pending: pendingWrites?.length ?? 0,
      });
    }
    this.#isDone = read < PORTION;
  }

  #add(step: Omit<Step, "lane" | "children" | "passing">): void {
    const own = `${step.namespace}|${step.id}`;
    const coming = [...this.#lanes.keys()].filter((lane) => this.#lanes[lane] === own);
    const lane = coming[0] ?? this.#free();
    for (const ended of coming) this.#lanes[ended] = undefined;
    const passing = [...this.#lanes.keys()].filter((other) => this.#lanes[other] !== undefined);
    this.#lanes[lane] = step.parent === undefined ? undefined : `${step.namespace}|${step.parent}`;
    this.steps.push({ ...step, lane, children: coming.length, passing });
  }

  #free(): number {
    const free = this.#lanes.indexOf(undefined);
    return free >= 0 ? free : this.#lanes.length;
  }
}
