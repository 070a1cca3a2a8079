// What the views share: the memory, the agent over it, the threads, and the one that is open.
import { Agent } from "./agent/agent.mjs";
import { Chat } from "./chat.mjs";
import { Database } from "./memory/database.mjs";
import { Recorder } from "./memory/recording.mjs";
import { Threads } from "./memory/threads.mjs";
import { Settings } from "./settings.mjs";
import { Notices } from "./views/notices.mjs";

export class App {
  notices = new Notices();
  settings = new Settings();
  database = new Database();
  threads = new Threads(this.database);
  /** As they were listed last. */
  knownThreads = [];
  #agent;

  constructor() {
    const agent = () => this.#agent;
    const { database, threads } = this;
    this.recorder = new Recorder({ database, threads, agent });
    this.chat = new Chat({ database, threads, agent });
    database.addEventListener("open", () => this.#makeAgent());
  }

  async listThreads() {
    this.knownThreads = await this.threads.list();
    return this.knownThreads;
  }

  /** What the list of threads knows of the one that is open. */
  currentThread() {
    return this.knownThreads.find(({ id }) => id === this.chat.threadId);
  }

  /** Shows this thread, or a new one. The address says which it is: a reload comes back to it. */
  showThread(id = crypto.randomUUID()) {
    location.hash = encodeURIComponent(id);
  }

  /** The thread that the address names. */
  threadInAddress() {
    return decodeURIComponent(location.hash.slice(1)) || undefined;
  }

  #makeAgent() {
    this.#agent = new Agent({
      memory: this.database.memory,
      model: () => this.settings.model(),
    });
  }
}
