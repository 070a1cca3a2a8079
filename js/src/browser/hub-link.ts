// How hubs reach each other: a BroadcastChannel for everything, and for the jobs of a
// follower a port to the owner, once the broker has handed one over. The channel needs
// nobody's help; a port is three times as fast and spares the other tabs.

import {
  channelName,
  type HubMessage,
  type HubMessageBody,
  PROTOCOL,
  type ToBroker,
} from "./protocol.js";
import { isRefusal } from "./storage-error.js";

type JobMessage = HubMessageBody & { type: "job" };

/** `port` is what the message came through; undefined if over the channel. */
type Receive = (message: HubMessage, port: MessagePort | undefined) => void;

/** @internal */
export class HubLink {
  /** Who we are to the others. */
  readonly hub = randomId();
  readonly #channel: BroadcastChannel | undefined;
  readonly #receive: Receive;
  readonly #askForBroker: () => void;
  #broker: MessagePort | undefined;
  #isBrokerAskedFor = false;
  #isClosed = false;
  // As owner, the ports of followers.
  readonly #followers = new Set<MessagePort>();
  // As follower, the port to the owner, and the jobs that went over the channel and wait.
  #ownerHub: string | undefined;
  #port: MessagePort | undefined;
  // The last one that was offered to it: the one that it answers through.
  #offered: MessagePort | undefined;
  readonly #overChannel = new Set<number>();
  // Jobs for the port that may not overtake those.
  #held: JobMessage[] = [];

  /** `askForBroker` is called once, when a port would be of use; join() may follow. */
  constructor(database: string, receive: Receive, askForBroker: () => void) {
    this.#receive = receive;
    this.#askForBroker = askForBroker;
    try {
      this.#channel = new BroadcastChannel(channelName(database));
      this.#channel.onmessage = ({ data }) => receive(data as HubMessage, undefined);
    } catch (error) {
      // Firefox refuses it where it refuses locks, too, which the election says.
      if (!isRefusal(error)) throw error;
    }
  }

  get kind(): "port" | "broadcast" {
    return this.#port === undefined ? "broadcast" : "port";
  }

  /** To every other hub. */
  say(message: HubMessageBody): void {
    if (this.#isClosed) return;
    this.#channel?.postMessage(this.#sealed(message));
  }

  /** To the owner that we have met, in order. */
  send(message: JobMessage): void {
    if (this.#port === undefined) {
      this.#overChannel.add(message.number);
      this.say(message);
    } else if (this.#overChannel.size > 0) {
      this.#held.push(message);
    } else {
      this.#port.postMessage(this.#sealed(message));
    }
  }

  /** The job with this number has its answer. */
  answered(number: number): void {
    if (!this.#overChannel.delete(number) || this.#overChannel.size > 0) return;
    for (const message of this.#held.splice(0)) this.send(message);
  }

  /**
   * Goes the way that the job came: whoever has given up a port since has sent the job
   * again over the channel, and does not listen to the port.
   */
  reply(
    port: MessagePort | undefined,
    message: HubMessageBody,
    transfer: Transferable[] = [],
  ): void {
    if (port === undefined) this.say(message);
    else port.postMessage(this.#sealed(message), transfer);
  }

  /** From now on this hub is the owner: ours, if undefined. Whatever was sent must be sent again. */
  meet(owner: string | undefined): void {
    this.#offered?.close();
    this.#offered = undefined;
    this.#port = undefined;
    for (const port of this.#followers) port.close();
    this.#followers.clear();
    this.#overChannel.clear();
    this.#held = [];
    this.#ownerHub = owner;
    if (owner !== undefined) this.connect();
  }

  /** Another hub is there, so that a broker is of use. */
  wantBroker(): void {
    if (this.#isBrokerAskedFor) return;
    this.#isBrokerAskedFor = true;
    this.#askForBroker();
  }

  join(broker: MessagePort): void {
    this.#broker = broker;
    broker.onmessage = ({ ports }) => this.#accept(ports[0]);
    this.#tellBroker({ type: "join", hub: this.hub });
    this.connect();
  }

  close(): void {
    this.meet(undefined);
    this.#tellBroker({ type: "leave", hub: this.hub });
    this.#broker?.close();
    this.#channel?.close();
    this.#isClosed = true;
  }

  /** Tries to get a port to the owner, unless there is one. */
  connect(): void {
    const to = this.#ownerHub;
    if (to === undefined || this.#port !== undefined) return;
    this.wantBroker();
    if (this.#broker === undefined) return;
    const { port1, port2 } = new MessageChannel();
    // What came before may still bring an answer.
    this.#offered = port1;
    port1.onmessage = ({ data }) => {
      const message = data as HubMessage;
      if (message.type !== "hello") this.#receive(message, port1);
      else if (this.#offered === port1) this.#port = port1;
    };
    this.#tellBroker({ type: "connect", to }, [port2]);
  }

  #accept(port: MessagePort | undefined): void {
    // Whoever takes us for the owner will hear who is.
    if (port === undefined || this.#ownerHub !== undefined) return;
    this.#followers.add(port);
    port.onmessage = ({ data }) => this.#receive(data as HubMessage, port);
    port.postMessage(this.#sealed({ type: "hello" }));
  }

  #tellBroker(message: ToBroker, transfer: Transferable[] = []): void {
    this.#broker?.postMessage(message, transfer);
  }

  #sealed(message: HubMessageBody): HubMessage {
    return { ...message, protocol: PROTOCOL, from: this.hub };
  }
}

// crypto.randomUUID() is for secure contexts only, and the error for others comes later.
function randomId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}
