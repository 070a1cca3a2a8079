// How a Worker reaches the engine of a Durable Object: by RPC.

import type { EngineStatus } from "../engine/engine.js";
import type { RemoteRequest, Transport } from "../engine/transport.js";
import { KeepsakeError, messageOf } from "../errors.js";
import type { StoreConfiguration } from "../wire/layout.js";
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
export class ObjectTransport implements Transport {
  readonly #name: string;
  readonly #connect: () => ObjectStub;
  #settings: StoreConfiguration | undefined;
  readonly #caller: unknown;
  #stub: ObjectStub | undefined;

  constructor(name: string, connect: () => ObjectStub, caller?: unknown) {
    this.#name = name;
    this.#connect = connect;
    this.#caller = caller;
  }

  async send({ frame, changes }: RemoteRequest): Promise<Uint8Array> {
    const request = { frame, settings: this.#settings, caller: this.#caller };
    const response = await this.#reach(request, changes !== undefined);
    if (response instanceof Uint8Array) return response;
    throw new KeepsakeError(response.code, response.message);
  }

  /** The object may have been restarted before any call: it is told each time. */
  async configure({ operations }: RemoteRequest): Promise<undefined> {
    const { index, text } = operations[0] as StoreConfiguration;
    this.#settings = { index, text };
  }

  async lending(): Promise<never> {
    throw new KeepsakeError(
      "unsupported",
      "a Durable Object takes an export of format portable only",
    );
  }

  async status(): Promise<EngineStatus> {
    return { persistence: "durable-object", details: { object: this.#name } };
  }

  async close(): Promise<void> {}

  // A write that is sent again is applied once: the object keeps its answer.
  async #reach(request: Request, isWrite: boolean): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      this.#stub ??= this.#connect();
      const stub = this.#stub;
      try {
        return await stub.keepsakeExecute(request);
      } catch (error) {
        // One that has failed answers nothing any more.
        if (this.#stub === stub) this.#stub = undefined;
        if (attempt === ATTEMPTS || !isPassing(error)) throw this.#unanswered(error, isWrite);
      }
      const pause = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random());
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  #unanswered(error: unknown, isWrite: boolean): KeepsakeError {
    const outcome = isWrite ? "; whether it was stored is not known" : "";
    const isBusy = (Object(error) as StubError).overloaded === true;
    return new KeepsakeError(
      isBusy ? "busy" : "io_error",
      `the object ${this.#name} did not answer: ${messageOf(error)}${outcome}`,
      { cause: error },
    );
  }
}

// One that is overloaded must not be asked again at once.
function isPassing(error: unknown): boolean {
  const { retryable, overloaded, durableObjectReset } = Object(error) as StubError;
  return overloaded !== true && (retryable === true || durableObjectReset === true);
}
