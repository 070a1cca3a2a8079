// What one writes by hand when there is nothing else: a checkpointer of two tables over
// `ctx.storage.sql`, and items in a third. It passes no official specification: fine for
// what the benchmark does, and that is why its cost is worth knowing.
import { BaseCheckpointSaver, WRITES_IDX_MAP } from "@langchain/langgraph-checkpoint";

export class HandWrittenSaver extends BaseCheckpointSaver {
  #storage;

  constructor(storage) {
    super();
    this.#storage = storage;
    storage.sql.exec(`CREATE TABLE IF NOT EXISTS ckpt(thread TEXT, ns TEXT, id TEXT, parent TEXT,
      type TEXT, checkpoint BLOB, metadata_type TEXT, metadata BLOB, PRIMARY KEY(thread, ns, id))`);
    storage.sql.exec(`CREATE TABLE IF NOT EXISTS ckpt_writes(thread TEXT, ns TEXT, id TEXT, task TEXT,
      idx INTEGER, channel TEXT, type TEXT, value BLOB, PRIMARY KEY(thread, ns, id, task, idx))`);
  }

  async getTuple({ configurable: { thread_id, checkpoint_ns = "", checkpoint_id } }) {
    const [row] = checkpoint_id
      ? this.#all(
          "SELECT * FROM ckpt WHERE thread = ? AND ns = ? AND id = ?",
          thread_id,
          checkpoint_ns,
          checkpoint_id,
        )
      : this.#all(
          "SELECT * FROM ckpt WHERE thread = ? AND ns = ? ORDER BY id DESC LIMIT 1",
          thread_id,
          checkpoint_ns,
        );
    return row && this.#tuple(row);
  }

  async *list({ configurable: { thread_id, checkpoint_ns = "" } }, { limit = 1000 } = {}) {
    const rows = this.#all(
      "SELECT * FROM ckpt WHERE thread = ? AND ns = ? ORDER BY id DESC LIMIT ?",
      thread_id,
      checkpoint_ns,
      limit,
    );
    for (const row of rows) yield this.#tuple(row);
  }

  async put({ configurable }, checkpoint, metadata) {
    const { thread_id, checkpoint_ns = "", checkpoint_id = null } = configurable;
    const [[type, bytes], [metadataType, metadataBytes]] = await Promise.all([
      this.serde.dumpsTyped(checkpoint),
      this.serde.dumpsTyped(metadata),
    ]);
    this.#all(
      "INSERT OR REPLACE INTO ckpt VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
      thread_id,
      checkpoint_ns,
      checkpoint.id,
      checkpoint_id,
      type,
      bytes,
      metadataType,
      metadataBytes,
    );
    return { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } };
  }

  async putWrites({ configurable }, writes, task) {
    const { thread_id, checkpoint_ns = "", checkpoint_id } = configurable;
    const rows = await Promise.all(
      writes.map(async ([channel, value], i) => [
        WRITES_IDX_MAP[channel] ?? i,
        channel,
        ...(await this.serde.dumpsTyped(value)),
      ]),
    );
    this.#storage.transactionSync(() => {
      for (const row of rows) {
        this.#all(
          "INSERT OR REPLACE INTO ckpt_writes VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
          thread_id,
          checkpoint_ns,
          checkpoint_id,
          task,
          ...row,
        );
      }
    });
  }

  async deleteThread(thread) {
    this.#storage.transactionSync(() => {
      this.#all("DELETE FROM ckpt WHERE thread = ?", thread);
      this.#all("DELETE FROM ckpt_writes WHERE thread = ?", thread);
    });
  }

  #all(sql, ...values) {
    return this.#storage.sql.exec(sql, ...values).toArray();
  }

  async #tuple(row) {
    const load = (type, value) => this.serde.loadsTyped(type, new Uint8Array(value));
    const configOf = (checkpoint_id) => ({
      configurable: { thread_id: row.thread, checkpoint_ns: row.ns, checkpoint_id },
    });
    const writes = this.#all(
      "SELECT task, channel, type, value FROM ckpt_writes WHERE thread = ? AND ns = ? AND id = ? ORDER BY task, idx",
      row.thread,
      row.ns,
      row.id,
    );
    return {
      config: configOf(row.id),
      checkpoint: await load(row.type, row.checkpoint),
      metadata: await load(row.metadata_type, row.metadata),
      pendingWrites: await Promise.all(
        writes.map(async ({ task, channel, type, value }) => [
          task,
          channel,
          await load(type, value),
        ]),
      ),
      ...(row.parent && { parentConfig: configOf(row.parent) }),
    };
  }
}

export class HandWrittenStore {
  #sql;

  constructor(storage) {
    this.#sql = storage.sql;
    this.#sql.exec(
      "CREATE TABLE IF NOT EXISTS items(ns TEXT, key TEXT, value TEXT, created INTEGER, updated INTEGER, PRIMARY KEY(ns, key))",
    );
  }

  async put(namespace, key, value) {
    const now = Date.now();
    this.#sql.exec(
      `INSERT INTO items VALUES(?, ?, ?, ?, ?)
       ON CONFLICT(ns, key) DO UPDATE SET value = excluded.value, updated = excluded.updated`,
      namespace.join("."),
      key,
      JSON.stringify(value),
      now,
      now,
    );
  }

  async get(namespace, key) {
    const [row] = this.#sql
      .exec("SELECT * FROM items WHERE ns = ? AND key = ?", namespace.join("."), key)
      .toArray();
    return row && { namespace, key, value: JSON.parse(row.value) };
  }

  async search(namespace, { limit = 10 } = {}) {
    const rows = this.#sql
      .exec(
        "SELECT * FROM items WHERE ns = ? ORDER BY updated DESC LIMIT ?",
        namespace.join("."),
        limit,
      )
      .toArray();
    return rows.map(({ key, value }) => ({ namespace, key, value: JSON.parse(value) }));
  }
}
