// The engine of a Durable Object as a Worker has it: a call is a frame, sent by RPC.

import {
  type ChangeListener,
  ChangeListeners,
  type Changes,
  changesOf,
} from "../engine/changes.js";
import { type Answers, type Engine, type EngineStatus, throwIfFailed } from "../engine/engine.js";
import { KeepsakeError, messageOf } from "../errors.js";
import { decodeResponse, encodeRequest } from "../wire/codec.js";
import type { Operation } from "../wire/operations.js";
import type { Request, Response } from "./rpc.js";

/** @internal */
export class RemoteEngine implements Engine {
  readonly name: string;
  readonly durability = "strict";
  readonly #send: (request: Request) => PromiseLike<Response>;
  readonly #clientId = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
  readonly #configurations = new Map<string, Operation>();
  readonly #listeners = new ChangeListeners();
  #sequence = 0;
  #isClosed = false;
  #exclusive: Promise<unknown> = Promise.resolve();

  constructor(name: string, send: (request: Request) => PromiseLike<Response>) {
    this.name = name;
    this.#send = send;
  }

  retain(): void {}
  release(): void {}

  async call<const Operations extends readonly Operation[]>(
    operations: Operations,
    now: number,
  ): Promise<Answers<Operations>> {
    if (this.#isClosed) throw new KeepsakeError("closed", `${this.name} is closed`);
    const changes = changesOf(operations);
    const header = { clientId: this.#clientId, sequence: ++this.#sequence, now };
    // The encoder's buffer is used again by the next call.
    const frame = encodeRequest(header, operations).slice();
    const response = await this.#ask({ frame, changes, configurations: this.#settings() });
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
    throw new KeepsakeError("unsupported", "a Durable Object opens no files of other programs");
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

  async #reach(request: Request): Promise<Response> {
    try {
      return await this.#send(request);
    } catch (error) {
      const outcome = writes(request.changes) ? "; whether it was stored is not known" : "";
      throw new KeepsakeError(
        "io_error",
        `the object ${this.name} did not answer: ${messageOf(error)}${outcome}`,
        { cause: error },
      );
    }
  }
}

function writes(changes: Changes | undefined): boolean {
  return changes !== undefined;
}
