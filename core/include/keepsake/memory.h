// A Memory is a database file with both tiers: a Store of items and a Checkpointer of threads.
#ifndef KEEPSAKE_MEMORY_H_
#define KEEPSAKE_MEMORY_H_

#include <memory>
#include <utility>

#include "keepsake/audit.h"
#include "keepsake/checkpointer.h"
#include "keepsake/database.h"
#include "keepsake/erasure.h"
#include "keepsake/sqlite_saver.h"
#include "keepsake/sqlite_store.h"
#include "keepsake/status.h"
#include "keepsake/store.h"

namespace keepsake {

// Not thread-safe; a Memory belongs to one thread. Closed when it is destroyed.
class Memory {
 public:
  // Opens or creates a file, which this process then owns: another one gets kBusy. What
  // `options` borrows must outlive the memory. On failure the file stays as it was.
  static Result<Memory> Open(const sql::OpenOptions& file, StoreOptions options = {}) {
    Result<std::unique_ptr<sql::Database>> database = sql::OpenDatabase(file);
    if (!database) return std::unexpected(database.error());
    Result<std::unique_ptr<Store>> store = MakeSqliteStore(**database, std::move(options));
    if (!store) return std::unexpected(store.error());
    Result<std::unique_ptr<Checkpointer>> checkpointer = MakeSqliteSaver(**database);
    if (!checkpointer) return std::unexpected(checkpointer.error());
    return Memory(*std::move(database), *std::move(store), *std::move(checkpointer));
  }
  // Not assigned: the old database would go before those who use it.
  Memory(Memory&&) = default;
  Memory& operator=(Memory&&) = delete;

  sql::Database& database() { return *database_; }
  Store& store() { return *store_; }
  Checkpointer& checkpointer() { return *checkpointer_; }
  // Holds, and records of what was forgotten.
  Erasures erasures() { return Erasures(database_.get()); }
  // Who wrote, as far as Record() was told.
  AuditLog audit_log() { return AuditLog(database_.get()); }
  // Forgets for good: no byte of it is left in the file, unless erasures().Find() says that pages
  // are still to be scrubbed.
  Result<Erased> Forget(const Erasure& erasure) {
    constexpr std::uint32_t kPagesAtOnce = 1024;
    const std::int64_t now_ms = store_->options().clock->NowMs();
    Result<Erased> erased =
        erasures().Forget(*store_, *checkpointer_, erasure, now_ms, [&](const Erased& erased) {
          AuditLog log = audit_log();
          const AuditEntry entry{.operation = Audited::kForget,
                                 .count = erased.items + erased.checkpoints};
          Status status = log.Record({&entry, 1}, now_ms);
          return status.ok() ? log.Forget(erasure, *store_) : status;
        });
    while (erased && !erasure.dry_run && erasures().Scrub(kPagesAtOnce) == Scrubbed::kPending) {
    }
    return erased;
  }

 private:
  Memory(std::unique_ptr<sql::Database> database, std::unique_ptr<Store> store,
         std::unique_ptr<Checkpointer> checkpointer)
      : database_(std::move(database)),
        store_(std::move(store)),
        checkpointer_(std::move(checkpointer)) {}

  std::unique_ptr<sql::Database> database_;  // goes last
  std::unique_ptr<Store> store_;
  std::unique_ptr<Checkpointer> checkpointer_;
};

}  // namespace keepsake

#endif  // KEEPSAKE_MEMORY_H_
