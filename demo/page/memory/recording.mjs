// Lets the agent listen to a recorded conversation, turn by turn. What was heard already is
// not heard again, whatever ended the last time.

const LOCK = "keepsake-demo:listening";

export const recordingThread = (conversation) => `recording/${conversation.id}`;

export class Recorder {
  #database;
  #threads;
  #agent;

  // `agent` answers the one of the memory that is open now.
  constructor({ database, threads, agent }) {
    this.#database = database;
    this.#threads = threads;
    this.#agent = agent;
  }

  /** Calls `onProgress(heard, total)`. → false if another tab is listening already */
  listen(conversation, onProgress) {
    return navigator.locks.request(LOCK, { ifAvailable: true }, async (lock) => {
      if (lock === null) return false;
      await this.#listenOn(conversation, onProgress);
      return true;
    });
  }

  async #listenOn(conversation, onProgress) {
    const { id, turns } = conversation;
    const thread = recordingThread(conversation);
    await this.#note(conversation, false);
    const heard = await this.#heard(thread);
    onProgress(heard, turns.length);
    for (const [i, turn] of turns.entries()) {
      if (i < heard) continue;
      await this.#database.use(() => this.#agent().listen(thread, id, turn));
      onProgress(i + 1, turns.length);
    }
    await this.#note(conversation, true);
  }

  async #note(conversation, isComplete) {
    const { id, title, turns } = conversation;
    const questions = conversation.questions.map(({ question }) => question);
    const recording = { id, turns: turns.length, questions, isComplete };
    await this.#threads.addRecording(recordingThread(conversation), title, recording);
  }

  async #heard(thread) {
    const { messages, isUnfinished } = await this.#database.use(() => this.#agent().state(thread));
    // Of an unfinished run the turn is in the thread, and not in the memory yet. It is heard again.
    return messages.length - (isUnfinished ? 1 : 0);
  }
}
