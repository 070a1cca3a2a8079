// The candidates of bench/edge-search.mjs and bench/cold.mjs, each in a Durable Object of its own. What a question
// takes is measured outside, because clocks stand still in a Worker that computes.
import { DurableObject } from "cloudflare:workers";
import { durableMemory } from "keepsake/cloudflare";
import { BEST_TEN, matchOf, putTexts, schemaOf, setOf } from "../search-texts.mjs";
import { counting } from "./counting.mjs";

const CANDIDATES = {
  Keepsake(storage) {
    const { store } = durableMemory(storage);
    return {
      put: (texts, from, spaces) => putTexts(store, texts, from, spaces),
      ask: (query) => store.search(["n"], { query }),
    };
  },
  "FTS5 by hand"(storage, tokenize) {
    storage.sql.exec(schemaOf(tokenize));
    return {
      put(texts, from) {
        storage.transactionSync(() => {
          for (const [i, text] of texts.entries()) {
            storage.sql.exec("INSERT INTO t(rowid, text) VALUES(?, ?)", from + i + 1, text);
          }
        });
      },
      ask(question) {
        const match = matchOf(question, tokenize);
        return match === "" ? [] : storage.sql.exec(BEST_TEN, match).toArray();
      },
    };
  },
};

export class Candidate extends DurableObject {
  open(name, kind, size, spaces) {
    this.set = setOf(kind, size);
    this.spaces = spaces;
    this.storage = counting(this.ctx.storage);
    this.candidate = CANDIDATES[name](this.storage, this.set.tokenize);
  }

  async fill() {
    await this.candidate.put(this.set.texts, 0, this.spaces);
  }

  async ask(i) {
    return (await this.candidate.ask(this.set.questions[i])).length;
  }

  /** Rows read by a question. */
  async rowsOfQuestion(i) {
    this.storage.take();
    await this.ask(i);
    return this.storage.take().read;
  }

  /** Rows written for some more texts until they are found. */
  async rowsOfTexts(count) {
    await this.storage.take();
    await this.candidate.put(this.set.more.slice(0, count), this.set.texts.length);
    await this.ask(0);
    return this.storage.take().written;
  }

  /** The object is made anew for the next call. */
  evict() {
    this.ctx.abort("evicted");
  }

  bytes() {
    return this.ctx.storage.sql.databaseSize;
  }
}

export default {
  async fetch(request, env) {
    const { name, method, args } = await request.json();
    const object = env.CANDIDATE.getByName(name);
    // Of an object that was evicted, the call fails.
    const answer = await object[method](...args).catch((error) => {
      if (method !== "evict") throw error;
    });
    return Response.json(answer ?? null);
  },
};
