// Runs in a SharedWorker, and hands the port that one hub made to another: what a
// BroadcastChannel can't. It keeps nothing, and nothing depends on it staying alive.

import type { ToBroker } from "./protocol.js";

/** @internal */
export class Broker {
  readonly #hubs = new Map<string, MessagePort>();

  add(port: MessagePort): void {
    port.onmessage = ({ data, ports }) => this.#handle(port, data as ToBroker, ports);
  }

  #handle(port: MessagePort, message: ToBroker, ports: readonly MessagePort[]): void {
    switch (message.type) {
      case "join":
        this.#hubs.set(message.hub, port);
        return;
      case "leave":
        this.#hubs.delete(message.hub);
        return;
      case "connect":
        this.#hubs.get(message.to)?.postMessage(undefined, [...ports]);
    }
  }
}
