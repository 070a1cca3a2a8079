// Writes of one tick as one request, and so as one transaction: a commit costs more than most of
// what is in it. Each call is answered after the commit, as if it had been alone.

import { type Answer, RequestBody, WireStatus } from "../wire/codec.js";
import { type Operation, type PutOperation, rowOf } from "../wire/operations.js";
import type { Levels } from "../wire/scope.js";
import type { Answers, MaybePromise } from "./answers.js";

// A larger request is not waited with: it would be kept twice.
const MOST_BYTES = 1024 * 1024;

const NONE: readonly string[] = [];

/** Operations of one call, encoded. @internal */
export interface EncodedCall {
  readonly operations: readonly Operation[];
  /** As RequestBody has them: a view that ends with the next call. */
  readonly body: Uint8Array;
  readonly now: number;
  readonly levels: Levels | undefined;
}

interface Waiting {
  readonly operations: readonly Operation[];
  /** Where they are in the body. */
  readonly begin: number;
  readonly end: number;
  readonly now: number;
  readonly resolve: (answers: never) => void;
  readonly reject: (error: unknown) => void;
}

/** What carries the calls out. @internal */
export interface Runner {
  /** The answers; undefined if nothing was done. */
  readonly runAll: (all: EncodedCall) => readonly Answer<Operation>[] | undefined;
  readonly runAlone: (one: EncodedCall) => MaybePromise<readonly unknown[]>;
  /** Told of each call that succeeded with others. */
  readonly onDone: (operations: readonly Operation[], levels: Levels | undefined) => void;
}

/** @internal */
export class TickBatch {
  readonly #runner: Runner;
  readonly #whenTickEnds: (run: () => void) => void;
  readonly #body = new RequestBody();
  // Of the items that are put: the second put of one must see the first. Of the calls before
  // `#keyed`, because most ticks have one call.
  readonly #keys = new Set<string>();
  #keyed = 0;
  #calls: Waiting[] = [];
  #levels: Levels | undefined;
  // What time it is for the items among them.
  #now: number | undefined;

  /** `whenTickEnds` calls it when all is done that can be done without waiting. */
  constructor(runner: Runner, whenTickEnds: (run: () => void) => void) {
    this.#runner = runner;
    this.#whenTickEnds = whenTickEnds;
  }

  /**
   * Whether a call may share a transaction: all of it is done, or none, and it asks nothing that
   * others of the tick decide.
   */
  takes(operations: readonly Operation[]): boolean {
    if (operations.length === 1) return rowOf(operations[0] as Operation).joins ?? false;
    return operations.length > 0 && operations.every(({ kind }) => kind === "put");
  }

  /** Answers after flush(), which comes by itself when the tick ends. */
  add<const Operations extends readonly Operation[]>(
    operations: Operations,
    now: number,
    levels: Levels | undefined,
  ): Promise<Answers<Operations>> {
    if (this.#calls.length > 0 && !this.#fits(operations, now, levels)) this.flush();
    const begin = this.#body.length;
    this.#body.add(operations);
    const end = this.#body.length;
    if (isOfItems(operations)) this.#now = now;
    this.#levels = levels;
    if (this.#calls.length === 0) this.#whenTickEnds(() => this.flush());
    const answered = new Promise<Answers<Operations>>((resolve, reject) => {
      this.#calls.push({ operations, begin, end, now, resolve, reject });
    });
    if (end > MOST_BYTES) this.flush();
    return answered;
  }

  flush(): void {
    const calls = this.#calls;
    if (calls.length === 0) return;
    const [levels, now] = [this.#levels, this.#now];
    this.#calls = [];
    if (this.#keyed > 0) this.#keys.clear();
    this.#keyed = 0;
    this.#now = undefined;
    const body = this.#body.take();
    const isDone = calls.length > 1 && this.#runAll(calls, body, now, levels);
    if (!isDone) for (const call of calls) this.#runAlone(call, body, levels);
  }

  #fits(operations: readonly Operation[], now: number, levels: Levels | undefined): boolean {
    if (levels !== this.#levels) return false;
    if (!isOfItems(operations)) return true;
    if (this.#now !== undefined && this.#now !== now) return false;
    for (; this.#keyed < this.#calls.length; this.#keyed++) {
      const waiting = this.#calls[this.#keyed] as Waiting;
      for (const key of keysOf(waiting.operations)) this.#keys.add(key);
    }
    return !keysOf(operations).some((key) => this.#keys.has(key));
  }

  // False if nothing was done.
  #runAll(
    calls: readonly Waiting[],
    body: Uint8Array,
    now = (calls[0] as Waiting).now,
    levels: Levels | undefined,
  ): boolean {
    const operations = calls.flatMap((call) => call.operations);
    let answers: readonly Answer<Operation>[] | undefined;
    try {
      answers = this.#runner.runAll({ operations, body, now, levels });
    } catch (error) {
      for (const { reject } of calls) reject(error);
      return true;
    }
    if (answers === undefined) return false;
    let at = 0;
    for (const call of calls) {
      const own = answers.slice(at, at + call.operations.length);
      at += call.operations.length;
      // What failed did nothing, and perhaps only because another one failed.
      if (own.some((answer) => answer instanceof WireStatus)) this.#runAlone(call, body, levels);
      else this.#settle(call, own, levels);
    }
    return true;
  }

  #settle(call: Waiting, answers: readonly unknown[], levels: Levels | undefined): void {
    this.#runner.onDone(call.operations, levels);
    call.resolve(answers as never);
  }

  #runAlone(call: Waiting, all: Uint8Array, levels: Levels | undefined): void {
    const { operations, begin, end, now, resolve, reject } = call;
    const body = all.subarray(begin, end);
    try {
      const answers = this.#runner.runAlone({ operations, body, now, levels });
      if (answers instanceof Promise) answers.then(resolve as never, reject);
      else resolve(answers as never);
    } catch (error) {
      reject(error);
    }
  }
}

// Of the items among them. NUL may be in a key, and then two look alike, which costs a commit.
function keysOf(operations: readonly Operation[]): readonly string[] {
  if (!isOfItems(operations)) return NONE;
  return (operations as PutOperation[]).map(
    ({ namespace, key }) => `${namespace.join(".")}\0${key}`,
  );
}

function isOfItems(operations: readonly Operation[]): boolean {
  return operations[0]?.kind === "put";
}
