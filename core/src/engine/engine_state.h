// EngineState is what operations work on: a store and a checkpointer, in memory or over
// one database, and what moves that database as a whole.
#ifndef KEEPSAKE_ENGINE_ENGINE_STATE_H_
#define KEEPSAKE_ENGINE_ENGINE_STATE_H_

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/answers.h"
#include "engine/audit_trail.h"
#include "import/foreign_file.h"
#include "keepsake/audit.h"
#include "keepsake/checkpointer.h"
#include "keepsake/clock.h"
#include "keepsake/database.h"
#include "keepsake/erasure.h"
#include "keepsake/function_ref.h"
#include "keepsake/scope.h"
#include "keepsake/status.h"
#include "keepsake/store.h"
#include "transfer/file_salvage.h"
#include "transfer/row_export.h"
#include "transfer/row_import.h"
#include "wire/layout.h"

namespace keepsake {

class Replica;
class Replicated;

inline const Status& StatusOf(const Status& status) { return status; }
template <typename T>
Status StatusOf(const Result<T>& result) {
  return result ? Status() : result.error();
}

class EngineState {
 public:
  // Without a database, in memory.
  explicit EngineState(std::unique_ptr<sql::Database> database)
      : database_(std::move(database)), audit_log_(database_.get()), audit_trail_(audit_log_) {}

  // REQUIRES: called once, before all else. Both are one, borrowed, and null without a file.
  Status Start(Replica* replica = nullptr, Replicated* replicated = nullptr);

  Store& store() { return *store_; }
  // Of the scope that the request is in, or of the whole memory.
  Checkpointer& saver() { return scoped_saver_ ? *scoped_saver_ : *saver_; }
  // Null if the request is in no scope.
  ScopedStore* scoped_store() { return scoped_store_ ? &*scoped_store_ : nullptr; }
  ManualClock& clock() { return clock_; }
  // Null in memory; so are the others of a database.
  sql::Database* database() { return database_.get(); }
  Answers* answers() { return answers_ ? &*answers_ : nullptr; }
  Erasures& erasures() { return *erasures_; }
  AuditLog& audit_log() { return audit_log_; }
  AuditTrail& audit_trail() { return audit_trail_; }
  transfer::RowExport& rows_out() { return *rows_out_; }
  transfer::RowImport& rows_in() { return *rows_in_; }
  Replica* replica() { return replica_; }
  // While the memory syncs, nothing replaces it as a whole.
  void SetSyncs(bool syncs) { syncs_ = syncs; }
  // All rows are others, and known to be of this memory: vectors of another model are given up.
  Status Renew();

  // Where the operations that follow are at home: wire::Request::levels, or everywhere if
  // there are none.
  Status Enter(ByteView levels);
  // Null if that is everywhere.
  const Scope* scope() const { return scoped_store_ ? &*scope_ : nullptr; }
  // An outcome as who is in the scope may hear it: an error names nothing around it.
  Status Leave(Status status) const {
    return status.ok() || !scope() ? status
                                   : Status(status.code(), scope_->Within(status.message()));
  }
  template <typename T>
  Result<T> Leave(Result<T> result) const {
    if (!result) return std::unexpected(Leave(std::move(result.error())));
    return result;
  }
  // What quotas know of rows is void: they were written by others, or not kept.
  void ForgetUsage() { usage_.Clear(); }

  // Runs `body` in a transaction of the database. What the store knows of rows that were
  // not kept goes with them.
  Status InKeptTransaction(FunctionRef<Status()> body);
  // Within one, a call that fails undoes its own writes and no others.
  template <typename Call>
  auto Atomically(Call call) -> decltype(call());

  // What an earlier engine began and nobody ended. Once for each engine: what an export
  // notes costs every write a row.
  Status EndAbandonedExport();

  // Forgets all that the erasure names, and whatever may hold something of it.
  Result<Erased> Forget(const Erasure& erasure);
  // Of what is in the scope of the request, as the two below.
  Result<std::vector<JudgedItem>> Judge(JudgeItems& page);
  Result<EvictedItems> Evict(EvictItems& judged);
  Result<std::vector<AuditEntry>> ReadAuditLog(AuditQuery& query);

  // REQUIRES of these: there is a database.
  Result<std::uint64_t> BeginExport();
  Result<Bytes> ReadExport(const wire::ReadExport& piece);
  Status ImportFrom(const sql::OpenOptions& source);
  Status ChangeKey(const wire::ChangeKey& change);
  Result<std::uint64_t> PutRows(const wire::PutRows& rows);
  Status FinishImport(const wire::FinishImport& import);
  // Fills a new database with what can be read of a damaged file.
  Result<transfer::Salvage> Salvage(const sql::OpenOptions& source);

  Result<import::ForeignTables> OpenForeign(const sql::OpenOptions& options);
  // Fails if none is open.
  Result<import::ForeignFile*> foreign_file();
  void CloseForeign() { foreign_file_.reset(); }

 private:
  Status DropRulesOf(const Erasure& erasure);
  StoreOptions FreshOptions() const;
  Status StartStore(StoreOptions options);
  Status StartSaver();
  Status StartAnew();
  Status StartAnew(StoreOptions options);
  Status RequireNoSync() const;

  ManualClock clock_;
  std::unique_ptr<sql::Database> database_;
  AuditLog audit_log_;
  AuditTrail audit_trail_;
  std::optional<Answers> answers_;
  std::optional<Erasures> erasures_;
  std::optional<transfer::RowExport> rows_out_;
  std::optional<transfer::RowImport> rows_in_;
  bool has_looked_for_exports_ = false;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Checkpointer> saver_;
  Bytes levels_;  // of `scope_`, which most requests share with the one before
  std::optional<Scope> scope_;
  UsageCache usage_;
  std::optional<ScopedStore> scoped_store_;
  std::optional<ScopedCheckpointer> scoped_saver_;
  std::unique_ptr<import::ForeignFile> foreign_file_;
  Replica* replica_ = nullptr;
  Replicated* replicated_ = nullptr;
  bool syncs_ = false;
  bool in_transaction_ = false;
  bool is_stale_ = false;  // what the store and the saver know of rows is of the past
};

template <typename Call>
auto EngineState::Atomically(Call call) -> decltype(call()) {
  if (!in_transaction_) return call();
  std::optional<decltype(call())> outcome;
  Status status = database_->InTransaction([&]() -> Status {
    outcome = call();
    return StatusOf(*outcome);
  });
  if (status.ok() || (outcome && !StatusOf(*outcome).ok())) return std::move(*outcome);
  if constexpr (std::same_as<decltype(call()), Status>)
    return status;
  else
    return std::unexpected(std::move(status));
}

}  // namespace keepsake

#endif  // KEEPSAKE_ENGINE_ENGINE_STATE_H_
