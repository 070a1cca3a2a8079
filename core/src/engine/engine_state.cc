#include "engine/engine_state.h"

#include <algorithm>
#include <span>
#include <string>

#include "keepsake/in_memory_store.h"
#include "keepsake/memory_saver.h"
#include "keepsake/sqlite_saver.h"
#include "keepsake/sqlite_store.h"
#include "store/prefix_set.h"
#include "store/replicated.h"
#include "wire/frame.h"
#include "wire/reader.h"

namespace keepsake {

Status EngineState::Start(Replica* replica, Replicated* replicated) {
  replica_ = replica;
  replicated_ = replicated;
  erasures_.emplace(database_.get());
  if (database_ == nullptr) {
    store_ = MakeInMemoryStore(FreshOptions());
    saver_ = MakeMemorySaver();
    return Status();
  }
  answers_.emplace(*database_);
  rows_out_.emplace(*database_);
  rows_in_.emplace(*database_);
  if (Status status = StartSaver(); !status.ok()) return status;
  return StartStore(FreshOptions());
}

// The host configures index and texts by an operation. TTLs come with each put.
StoreOptions EngineState::FreshOptions() const {
  StoreOptions options;
  options.clock = &clock_;
  options.replicated = replicated_;
  return options;
}

Status EngineState::StartStore(StoreOptions options) {
  Result<std::unique_ptr<Store>> store = MakeSqliteStore(*database_, std::move(options));
  if (!store) return store.error();
  store_ = std::move(*store);
  return Status();
}

Status EngineState::StartSaver() {
  Result<std::unique_ptr<Checkpointer>> saver = MakeSqliteSaver(*database_);
  if (!saver) return saver.error();
  saver_ = std::move(*saver);
  return Status();
}

// The store is started anew, because what it knows of its rows is of the past.
// If the new rows don't fit its index, it ends without one, and says so.
Status EngineState::StartAnew() { return StartAnew(store_->options()); }

Status EngineState::Renew() {
  ForgetUsage();
  StoreOptions options = store_->options();
  if (options.index) options.index->replace_vectors = true;
  return StartAnew(std::move(options));
}

Status EngineState::StartAnew(StoreOptions options) {
  audit_log_.Reset();
  if (Status status = StartSaver(); !status.ok()) return status;
  Status status = StartStore(std::move(options));
  if (status.ok()) return status;
  Status restarted = StartStore(FreshOptions());
  return restarted.ok() ? status : restarted;
}

Status EngineState::Enter(ByteView levels) {
  if (is_stale_) {
    if (Status status = StartAnew(); !status.ok()) return status;
    is_stale_ = false;
  }
  scoped_store_.reset();
  scoped_saver_.reset();
  if (levels.empty()) return {};
  if (!scope_ || !std::ranges::equal(levels, levels_)) {
    scope_.reset();
    auto decoded = wire::Decode<std::vector<ScopeLevel>>(levels);
    if (!decoded) return std::move(decoded.error());
    Result<Scope> scope = Scope::Make(*std::move(decoded));
    if (!scope) return std::move(scope.error());
    scope_ = *std::move(scope);
    levels_.assign(levels.begin(), levels.end());
  }
  scoped_store_.emplace(*store_, *scope_, &usage_, saver_.get());
  scoped_saver_.emplace(*saver_, *scope_, &*scoped_store_);
  return {};
}

Status EngineState::InKeptTransaction(FunctionRef<Status()> body) {
  const bool is_within = std::exchange(in_transaction_, true);
  Status status = database_->InTransaction(body);
  in_transaction_ = is_within;
  if (status.ok()) return status;
  ForgetUsage();
  audit_log_.Reset();
  Status restarted = StartStore(store_->options());
  return restarted.ok() ? status : restarted;
}

Status EngineState::EndAbandonedExport() {
  if (!rows_out_ || std::exchange(has_looked_for_exports_, true)) return Status();
  return rows_out_->EndAbandoned(clock_.NowMs());
}

// A rule names what it is about. In a scope it is the owner's, and stays.
Status EngineState::DropRulesOf(const Erasure& erasure) {
  const bool is_whole = erasure.place.empty() && erasure.filter.empty() && erasure.from.empty();
  if (!is_whole || erasure.dry_run) return {};
  const auto rules = store_->ListHistoryRules();
  if (!rules) return rules.error();
  PrefixSet gone;
  for (const Namespace& ns : erasure.namespaces) gone.Add(EncodeNamespace(ns));
  Status status;
  for (const HistoryRule& rule : *rules) {
    const bool is_gone = !rule.ns.empty() && gone.Covers(EncodeNamespace(rule.ns));
    if (is_gone && status.ok()) status = store_->DropHistory(rule.ns);
  }
  return status;
}

Result<Erased> EngineState::Forget(const Erasure& erasure) {
  Erasure entered = erasure;
  const auto may_put_back = [&](const PutOp& put) {
    return scoped_store_->MayPutBack({&put, 1}).ok();
  };
  if (scoped_store_) {
    entered.may_put_back = may_put_back;
    if (Status status = scoped_store_->Enter(entered); !status.ok()) {
      return std::unexpected(std::move(status));
    }
  }
  // What a filter chooses of a scope leaves its name in use.
  std::span<const Namespace> emptied = entered.namespaces;
  if (!entered.filter.empty() || !entered.from.empty()) emptied = {};
  Result<Erased> erased =
      erasures_->Forget(*store_, *saver_, entered, clock_.NowMs(), [&](const Erased& done) {
        audit_trail_.Note(done);
        Status status = DropRulesOf(entered);
        if (status.ok()) status = audit_trail_.Write();
        if (status.ok()) status = audit_log_.Forget(entered, *store_);
        if (database_ == nullptr) return status;
        if (status.ok()) status = rows_out_->End();
        if (status.ok()) status = rows_in_->Discard();
        if (status.ok() && syncs_) status = replicated_->Forget(entered);
        return status.ok() ? answers_->ForgetValues(emptied) : status;
      });
  ForgetUsage();
  if (database_ == nullptr || entered.dry_run) return erased;
  // Nothing of it stays in linear memory, either. What is erased stays so if that fails: then the
  // next request tries again.
  is_stale_ = !StartAnew().ok();
  return erased;
}

Result<std::vector<JudgedItem>> EngineState::Judge(JudgeItems& page) {
  Status status = scoped_store_ ? scoped_store_->Enter(page) : Status();
  if (!status.ok()) return std::unexpected(std::move(status));
  Result<std::vector<JudgedItem>> items = store_->Judge(page);
  if (!items) return items;
  status = erasures_->MarkHeld(*items);
  if (!status.ok()) return std::unexpected(std::move(status));
  if (scoped_store_) scoped_store_->Leave(*items);
  return items;
}

Result<EvictedItems> EngineState::Evict(EvictItems& judged) {
  const Namespace ns = judged.ns;
  Status status = scoped_store_ ? scoped_store_->Enter(judged) : Status();
  if (!status.ok()) return std::unexpected(std::move(status));
  return erasures_->Evict(*store_, judged, [&](const std::vector<std::string>& keys) -> Status {
    std::vector<Operation> deletions;
    for (const std::string& key : keys) deletions.push_back(PutOp{.ns = ns, .key = key});
    const auto deleted = scoped_store_ ? scoped_store_->Batch(deletions) : store_->Batch(deletions);
    return deleted ? Status() : deleted.error();
  });
}

Result<std::vector<AuditEntry>> EngineState::ReadAuditLog(AuditQuery& query) {
  Status status = scoped_store_ ? scoped_store_->Enter(query) : Status();
  if (!status.ok()) return std::unexpected(std::move(status));
  auto entries = audit_log_.Read(query, clock_.NowMs());
  if (!entries || !scoped_store_) return entries;
  for (AuditEntry& entry : *entries) scoped_store_->Leave(entry);
  return entries;
}

// What an export of rows notes is no part of a file.
Result<std::uint64_t> EngineState::BeginExport() {
  if (Status status = rows_out_->End(); !status.ok()) return std::unexpected(std::move(status));
  return database_->BeginExport();
}

Result<Bytes> EngineState::ReadExport(const wire::ReadExport& piece) {
  if (piece.length > wire::kMaxExportPiece) {
    return Error(StatusCode::kInvalidArgument, "a piece of an export must be at most " +
                                                   std::to_string(wire::kMaxExportPiece) +
                                                   " bytes: " + std::to_string(piece.length));
  }
  return database_->ReadExport(piece.offset, piece.length);
}

Status EngineState::RequireNoSync() const {
  if (!syncs_) return {};
  return {
      StatusCode::kUnsupported,
      "the memory syncs, and nothing may replace it as a whole: import into a memory that has not "
      "synced yet, or put what you need into this one"};
}

Status EngineState::ImportFrom(const sql::OpenOptions& source) {
  if (Status status = RequireNoSync(); !status.ok()) return status;
  if (Status status = database_->ImportFrom(source); !status.ok()) return status;
  // The rows are others, whatever fails from here on.
  Status status = StartAnew();
  for (Status next : {rows_in_->Discard(), answers_->DeleteAll()}) {
    if (status.ok()) status = std::move(next);
  }
  return status;
}

#ifndef KEEPSAKE_HOST_SQL
Status EngineState::ChangeKey(const wire::ChangeKey& change) {
  const Result<std::vector<sql::FileKey>> keys = sql::DecodeKeys(change.key);
  return keys ? sql::ChangeKey(*database_, keys->front()) : keys.error();
}
#endif

Result<std::uint64_t> EngineState::PutRows(const wire::PutRows& rows) {
  if (Status status = RequireNoSync(); !status.ok()) return std::unexpected(std::move(status));
  return rows_in_->Put(rows.piece);
}

Result<transfer::Salvage> EngineState::Salvage(const sql::OpenOptions& source) {
  if (Status status = RequireNoSync(); !status.ok()) return std::unexpected(std::move(status));
  Result<transfer::Salvage> salvage = transfer::SalvageRows(*database_, source, clock_.NowMs());
  if (!salvage) return salvage;
  Status status = StartAnew();
  if (status.ok()) status = transfer::DropUnreadable(*database_, *saver_, *salvage);
  const Status restarted = StartAnew();
  if (status.ok()) status = restarted;
  if (!status.ok()) return std::unexpected(std::move(status));
  return salvage;
}

Status EngineState::FinishImport(const wire::FinishImport& import) {
  if (!import.is_wanted) return rows_in_->Discard();
  if (Status status = RequireNoSync(); !status.ok()) return status;
  bool replaced = false;
  Status status = database_->InTransaction([&]() -> Status {
    if (Status ended = rows_out_->End(); !ended.ok()) return ended;
    const Result<bool> committed = rows_in_->Commit(import.export_id);
    if (!committed) return committed.error();
    replaced = *committed;
    return {};
  });
  return status.ok() && replaced ? StartAnew() : status;
}

Result<import::ForeignTables> EngineState::OpenForeign(const sql::OpenOptions& options) {
  return import::ForeignFile::Open(options, &foreign_file_);
}

Result<import::ForeignFile*> EngineState::foreign_file() {
  if (foreign_file_ != nullptr) return foreign_file_.get();
  return Error(StatusCode::kInvalidArgument, "no foreign file is open");
}

}  // namespace keepsake
