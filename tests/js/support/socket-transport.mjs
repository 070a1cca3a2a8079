// A client's side of the Model Context Protocol over a socket, in the lines that stdio has.

import { once } from "node:events";
import { connect } from "node:net";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";

export class SocketTransport {
  #path;
  #socket;
  #received = new ReadBuffer();

  constructor(path) {
    this.#path = path;
  }

  async start() {
    this.#socket = connect(this.#path);
    this.#socket.on("data", (bytes) => {
      this.#received.append(bytes);
      for (;;) {
        const message = this.#received.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      }
    });
    this.#socket.on("error", (error) => this.onerror?.(error));
    this.#socket.on("close", () => this.onclose?.());
    await once(this.#socket, "connect");
  }

  async send(message) {
    this.#socket.write(serializeMessage(message));
  }

  async close() {
    if (this.#socket.destroyed) return;
    this.#socket.end();
    await once(this.#socket, "close");
  }
}
