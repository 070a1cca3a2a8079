// The engine of a Durable Object as a Worker has it: a call is a frame, sent by RPC.

import { type ChangeListener, ChangeListeners, changesOf } from "../engine/changes.js";
import { type Answers, type Engine, type EngineStatus, throwIfFailed } from "../engine/engine.js";
import { KeepsakeError, messageOf } from "../errors.js";
import { decodeResponse, encodeRequest } from "../wire/codec.js";
import type { Operation } from "../wire/operations.js";
import type { Request, Response } from "./rpc.js";

// As Cloudflare recommends it: a few times, later each time, and not at once by all.
const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 100;

/** A stub of the object, good until a call of it fails. @internal */
export interface ObjectStub {
  keepsakeExecute(request: Request): PromiseLike<Response>;
}

// What Cloudflare says of an exception of a stub.
interface StubError {
  retryable?: unknown;
  overloaded?: unknown;
  durableObjectReset?: unknown;
}

/** @internal */
export class RemoteEngine implements Engine {
  readonly name: string;
  readonly durability = "strict";
  readonly #connect: () => ObjectStub;
  #stub: ObjectStub | undefined;
  // Writes without an answer yet.
  readonly #pending = new Set<number>();
  readonly #clientId = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
  readonly #configurations = new Map<string, Operation>();
  readonly #listeners = new ChangeListeners();
  #sequence = 0;
  #isClosed = false;
  #exclusive: Promise<unknown> = Promise.resolve();

  constructor(name: string, connect: () => ObjectStub) {
    this.name = name;
    this.#connect = connect;
  }

  retain(): void {}
  release(): void {}

  async call<const Operations extends readonly Operation[]>(
    operations: Operations,
    now: number,
  ): Promise<Answers<Operations>> {
    if (this.#isClosed) throw new KeepsakeError("closed", `${this.name} is closed`);
    const changes = changesOf(operations);
    const sequence = ++this.#sequence;
    const header = { clientId: this.#clientId, sequence, now };
    const isWrite = changes !== undefined;
    const acknowledged = isWrite ? { acknowledged: this.#acknowledged() } : {};
    // The encoder's buffer is used again by the next call.
    const frame = encodeRequest({ ...header, ...acknowledged }, operations).slice();
    if (isWrite) this.#pending.add(sequence);
    let response: Uint8Array;
    try {
      response = await this.#ask({ frame, changes, configurations: this.#settings() });
    } finally {
      this.#pending.delete(sequence);
    }
    const answers = decodeResponse(response, operations);
    for (const answer of answers) throwIfFailed(answer);
    if (changes !== undefined) this.#listeners.tell(changes);
    return answers as Answers<Operations>;
  }

  /** The object may have been restarted before any call: it is told each time. */
  async configure(operation: Operation, now: number): Promise<void> {
    await this.call([operation], now);
    this.#configurations.set(JSON.stringify(operation), operation);
  }

  async lending<T>(): Promise<T> {
    throw new KeepsakeError(
      "unsupported",
      "a Durable Object takes an export of format portable only",
    );
  }

  exclusively<T>(body: () => Promise<T>): Promise<T> {
    const result = this.#exclusive.then(body);
    this.#exclusive = result.catch(() => undefined);
    return result;
  }

  async status(): Promise<EngineStatus> {
    return { persistence: "durable-object", details: { object: this.name } };
  }

  /** Hears what is written through this stub. */
  onChange(listener: ChangeListener): () => void {
    return this.#listeners.add(listener);
  }

  close(): void {
    this.#isClosed = true;
  }

  #settings(): Operation[] {
    return [...this.#configurations.values()];
  }

  async #ask(request: Request): Promise<Uint8Array> {
    const response = await this.#reach(request);
    if (response instanceof Uint8Array) return response;
    throw new KeepsakeError(response.code, response.message);
  }

  // All writes up to this one have their answers, or were given up.
  #acknowledged(): number {
    const [first = this.#sequence] = this.#pending;
    return first - 1;
  }

  // A write that is sent again is applied once: the object keeps its answer.
  async #reach(request: Request): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      this.#stub ??= this.#connect();
      const stub = this.#stub;
      try {
        return await stub.keepsakeExecute(request);
      } catch (error) {
        // One that has failed answers nothing any more.
        if (this.#stub === stub) this.#stub = undefined;
        if (attempt === ATTEMPTS || !isPassing(error)) throw this.#unanswered(error, request);
      }
      const pause = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random());
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  #unanswered(error: unknown, { changes }: Request): KeepsakeError {
    const outcome = changes === undefined ? "" : "; whether it was stored is not known";
    const isBusy = (Object(error) as StubError).overloaded === true;
    return new KeepsakeError(
      isBusy ? "busy" : "io_error",
      `the object ${this.name} did not answer: ${messageOf(error)}${outcome}`,
      { cause: error },
    );
  }
}

// One that is overloaded must not be asked again at once.
function isPassing(error: unknown): boolean {
  const { retryable, overloaded, durableObjectReset } = Object(error) as StubError;
  return overloaded !== true && (retryable === true || durableObjectReset === true);
}
