// An engine in another thread, tab or machine: a call is a frame, which a transport
// brings there. A write has a number, so that it is done once however often it is sent;
// the answers that are here already need not be kept there.

import { encodeRequest } from "../wire/codec.js";
import type { Operation, OperationOf } from "../wire/operations.js";
import type { Levels } from "../wire/scope.js";
import { type Answers, answersIn } from "./answers.js";
import { type ChangeListener, ChangeListeners, changesOf } from "./changes.js";
import type { Engine, EngineStatus, ForeignDatabase } from "./engine.js";
import { type Key, noKeyHere } from "./keys.js";
import { Mutex } from "./mutex.js";
import type { Transport } from "./transport.js";

/** @internal */
export class RemoteEngine implements Engine {
  readonly #transport: Transport;
  // By the first call: an isolate at the edge has no random numbers before its first request.
  #clientId: number | undefined;
  // Writes without an answer yet, in order.
  readonly #unanswered = new Set<number>();
  readonly #listeners = new ChangeListeners();
  readonly #mutex = new Mutex();
  #sequence = 0;
  #references = 0;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  retain(): void {
    this.#references++;
  }

  release(): Promise<void> | undefined {
    return --this.#references === 0 ? this.close() : undefined;
  }

  call<const Operations extends readonly Operation[]>(
    operations: Operations,
    now: number,
    levels?: Levels,
  ): Promise<Answers<Operations>> {
    return this.#ask("send", operations, now, levels);
  }

  async configure(operation: OperationOf<"configureStore">, now: number): Promise<void> {
    await this.#ask("configure", [operation], now);
  }

  lending<T>(
    name: string,
    database: ForeignDatabase,
    body: () => Promise<T>,
    onRead?: (bytes: number) => void,
  ): Promise<T> {
    return this.#transport.lending(name, database, body, onRead);
  }

  exclusively<T>(body: () => Promise<T>): Promise<T> {
    return this.#mutex.run(() => this.#transport.exclusively?.(body) ?? body());
  }

  status(): Promise<EngineStatus> {
    return this.#transport.status();
  }

  async changeKey(key: Key): Promise<void> {
    if (this.#transport.changeKey === undefined) throw noKeyHere("a host encrypts what it keeps");
    await this.#transport.changeKey(key);
  }

  onChange(listener: ChangeListener): () => void {
    this.#transport.hearChanges?.((changes) => this.#listeners.tell(changes));
    return this.#listeners.add(listener);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async #ask<const Operations extends readonly Operation[]>(
    how: "send" | "configure",
    operations: Operations,
    now: number,
    levels?: Levels,
  ): Promise<Answers<Operations>> {
    const changes = changesOf(operations, levels);
    const isWrite = changes !== undefined;
    const sequence = ++this.#sequence;
    const acknowledged = isWrite && { acknowledged: this.#acknowledged() };
    this.#clientId ??= randomId();
    const header = { clientId: this.#clientId, sequence, now, levels, ...acknowledged };
    // The encoder's buffer is used again by the next call.
    const frame = encodeRequest(header, operations).slice();
    if (isWrite) this.#unanswered.add(sequence);
    let response: Uint8Array | undefined;
    try {
      response = await this.#transport[how]({ operations, frame, changes });
    } finally {
      this.#unanswered.delete(sequence);
    }
    if (response === undefined) return [] as unknown as Answers<Operations>;
    const answers = answersIn(response, operations);
    if (isWrite && this.#transport.hearChanges === undefined) this.#listeners.tell(changes);
    return answers;
  }

  // All writes up to this one have their answers, or were given up.
  #acknowledged(): number {
    const [first = this.#sequence] = this.#unanswered;
    return first - 1;
  }
}

// Nobody gives out numbers, and nobody may guess one: the answers of a client are kept by it.
function randomId(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number];
  return (high % 2 ** 21) * 2 ** 32 + low;
}
