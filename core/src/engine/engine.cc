#include "keepsake/engine.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/answers.h"
#include "import/foreign_file.h"
#include "keepsake/checkpointer.h"
#include "keepsake/clock.h"
#include "keepsake/function_ref.h"
#include "keepsake/in_memory_store.h"
#include "keepsake/memory_saver.h"
#include "keepsake/sqlite_saver.h"
#include "keepsake/sqlite_store.h"
#include "keepsake/store.h"
#include "store/sqlite/vector_budget.h"
#include "transfer/row_export.h"
#include "transfer/row_import.h"
#include "wire/frame.h"
#include "wire/reader.h"

namespace keepsake {
namespace {

using import::ForeignFile;
using wire::OperationView;
using wire::ResponseWriter;
using wire::Tag;

// After a larger response the buffer is given back.
constexpr std::size_t kKeptResponseBytes = 1024 * 1024;

using BatchResult = Result<std::vector<OperationResult>>;

// These end or replace what a transaction stands on.
bool MustBeAlone(std::uint8_t tag) {
  return tag == std::to_underlying(Tag::kFlush) || tag == std::to_underlying(Tag::kBeginExport) ||
         tag == std::to_underlying(Tag::kImportFrom) ||
         tag == std::to_underlying(Tag::kFinishImport);
}

bool MayChangeRows(std::uint8_t tag) {
  switch (static_cast<Tag>(tag)) {
    case Tag::kPut:
    case Tag::kClearNamespace:
    case Tag::kSweepExpired:
    case Tag::kEmbedPending:
    case Tag::kPutCheckpoint:
    case Tag::kPutWrites:
    case Tag::kDeleteThread:
    case Tag::kCopyThread:
    case Tag::kDeleteForRuns:
    case Tag::kPrune:
    case Tag::kPruneByRules:
    case Tag::kRenameThread:
    case Tag::kPutCheckpointDeltas:
    case Tag::kForkThread:
      return true;
    default:
      return false;
  }
}

// These change the engine, or the file as a whole: the next owner has to do them
// again, whatever was answered.
bool ChangesMoreThanRows(std::uint8_t tag) {
  return tag == std::to_underlying(Tag::kConfigureStore) ||
         (tag >= std::to_underlying(Tag::kFlush) && tag != std::to_underlying(Tag::kSize));
}

bool IsToBeRemembered(const wire::Request& request) {
  const auto tag = &OperationView::tag;
  return request.acknowledged && std::ranges::any_of(request.operations, MayChangeRows, tag) &&
         std::ranges::none_of(request.operations, ChangesMoreThanRows, tag);
}

// All store operations together are one unit, each other operation is one.
bool HasSeveralUnits(std::span<const OperationView> operations) {
  return operations.size() > 1 && !std::ranges::all_of(operations, [](const OperationView& view) {
           return wire::IsStoreOperation(view.tag);
         });
}

const Status& StatusOf(const Status& status) { return status; }
template <typename T>
Status StatusOf(const Result<T>& result) {
  return result ? Status() : result.error();
}

class FrameEngine final : public Engine {
 public:
  FrameEngine(std::unique_ptr<sql::Database> database, Bytes& response)
      : database_(std::move(database)), response_(response) {}

  // REQUIRES: called once, before Execute().
  Status Start() {
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

  ByteView Execute(ByteView frame) override {
    if (response_.capacity() > kKeptResponseBytes) response_ = Bytes();
    Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
    if (!request) {
      wire::WriteFailure(response_, wire::SequenceOf(frame), request.error());
      return response_;
    }
    clock_.Set(request->header.now_ms);
    if (Status status = Run(*request); !status.ok()) {
      wire::WriteFailure(response_, request->header.sequence, status);
    }
    return response_;
  }

 private:
  // The host configures index and TTL by an operation.
  StoreOptions FreshOptions() const {
    StoreOptions options;
    options.clock = &clock_;
    return options;
  }

  Status StartStore(StoreOptions options) {
    Result<std::unique_ptr<Store>> store = MakeSqliteStore(*database_, std::move(options));
    if (!store) return store.error();
    store_ = std::move(*store);
    return Status();
  }

  Status StartSaver() {
    Result<std::unique_ptr<Checkpointer>> saver = MakeSqliteSaver(*database_);
    if (!saver) return saver.error();
    saver_ = std::move(*saver);
    return Status();
  }

  // Fails only if nothing of the request was kept.
  Status Run(const wire::Request& request) {
    if (Status status = EndAbandonedExport(); !status.ok()) return status;
    if (answers_ && IsToBeRemembered(request)) return RunOnce(request);
    in_transaction_ = database_ != nullptr && HasSeveralUnits(request.operations);
    if (!in_transaction_) {
      AnswerAll(request);
      return Status();
    }
    return InKeptTransaction([&] {
      AnswerAll(request);
      return Status();
    });
  }

  // Once for each engine: what an export notes costs every write a row.
  Status EndAbandonedExport() {
    if (!rows_out_ || std::exchange(has_looked_for_exports_, true)) return Status();
    return rows_out_->EndAbandoned(clock_.NowMs());
  }

  // What the store knows of rows that were not kept goes with them.
  Status InKeptTransaction(FunctionRef<Status()> body) {
    Status status = database_->InTransaction(body);
    if (status.ok()) return status;
    Status restarted = StartStore(store_->options());
    return restarted.ok() ? status : restarted;
  }

  // A request that was answered gets its answer again.
  Status RunOnce(const wire::Request& request) {
    in_transaction_ = true;
    return InKeptTransaction([&]() -> Status {
      const Result<bool> found = answers_->Find(request, response_);
      if (!found) return found.error();
      if (*found || !AnswerAll(request)) return Status();
      return answers_->Keep(request, response_);
    });
  }

  // True if one succeeded that may have changed rows.
  bool AnswerAll(const wire::Request& request) {
    bool changed = false;
    const std::span<const OperationView> operations = request.operations;
    ResponseWriter response(response_, wire::FrameKind::kExecute, request.header.sequence,
                            static_cast<std::uint32_t>(operations.size()));
    std::optional<BatchResult> batch;
    std::size_t next_of_batch = 0;
    for (const OperationView& view : operations) {
      const std::uint32_t failures = response.failures();
      if (wire::IsStoreOperation(view.tag)) {
        if (!batch) batch = RunBatch(operations);
        AnswerFromBatch(*batch, next_of_batch++, response);
      } else if (MustBeAlone(view.tag) && operations.size() > 1) {
        response.Fail(
            Status(StatusCode::kInvalidOperation,
                   "flush, begin_export, import_from and finish_import must be alone in a frame"));
      } else {
        AnswerOne(view, response);
      }
      changed = changed || (MayChangeRows(view.tag) && response.failures() == failures);
    }
    return changed;
  }

  BatchResult RunBatch(std::span<const OperationView> operations) {
    std::vector<Operation> batch;
    batch.reserve(operations.size());
    for (const OperationView& view : operations) {
      if (!wire::IsStoreOperation(view.tag)) continue;
      Result<Operation> operation = wire::DecodeStoreOperation(view);
      if (!operation) return std::unexpected(std::move(operation.error()));
      batch.push_back(std::move(*operation));
    }
    return store_->Batch(batch);
  }

  static void AnswerFromBatch(const BatchResult& batch, std::size_t index,
                              ResponseWriter& response) {
    if (!batch) return response.Fail(batch.error());
    std::visit([&](const auto& result) { Respond(result, response); }, (*batch)[index]);
  }

  void AnswerOne(const OperationView& view, ResponseWriter& response) {
    if (view.tag < std::to_underlying(Tag::kPutCheckpoint)) return AnswerStore(view, response);
    if (view.tag < std::to_underlying(Tag::kFlush)) return AnswerCheckpointer(view, response);
    if (view.tag < std::to_underlying(Tag::kForeignOpen)) return AnswerDatabase(view, response);
    if (view.tag <= std::to_underlying(Tag::kForeignClose)) return AnswerForeign(view, response);
    if (view.tag == std::to_underlying(Tag::kLimitVectors)) return LimitVectors(view, response);
    if (view.tag > std::to_underlying(Tag::kLimitVectors)) return FailUnknown(view, response);
    if (database_ != nullptr) return AnswerTransfer(view, response);
    response.Fail(NoDatabase().error());
  }

  void AnswerStore(const OperationView& view, ResponseWriter& response) {
    switch (static_cast<Tag>(view.tag)) {
      case Tag::kListKeys:
        return Answer<wire::OneNamespace>(view, response,
                                          [&](auto& op) { return store_->List(op.ns); });
      case Tag::kClearNamespace:
        return Answer<wire::OneNamespace>(view, response,
                                          [&](auto& op) { return store_->ClearNamespace(op.ns); });
      case Tag::kSweepExpired:
        return Answer<wire::SweepExpired>(
            view, response, [&](auto& op) { return store_->SweepExpired(op.max_items); });
      case Tag::kConfigureStore:
        return Answer<wire::ConfigureStore>(
            view, response, [&](auto& op) { return store_->Configure(op.index, op.ttl, op.text); });
      case Tag::kPrepareEmbedding:
        return AnswerPrepareEmbedding(view, response);
      case Tag::kStoreStats:
        return Answer<wire::Nothing>(view, response, [&](auto&) { return store_->Stats(); });
      case Tag::kExplainAbsence:
        return Answer<wire::ExplainAbsence>(
            view, response, [&](auto& op) { return store_->ExplainAbsence(op.search, op.item); });
      case Tag::kReadPending:
        return Answer<wire::ReadPending>(view, response,
                                         [&](auto& op) { return store_->ReadPending(op.limit); });
      case Tag::kEmbedPending:
        return Answer<wire::EmbedPending>(view, response,
                                          [&](auto& op) { return store_->EmbedPending(op.items); });
      case Tag::kImproveIndex:
        return Answer<IndexStep>(view, response,
                                 [&](auto& op) { return store_->ImproveIndex(op); });
      default:
        return FailUnknown(view, response);
    }
  }

  void AnswerPrepareEmbedding(const OperationView& view, ResponseWriter& response) {
    Result<std::vector<Operation>> operations = wire::DecodeStoreBatch(view.payload);
    if (!operations) return response.Fail(operations.error());
    Result<EmbeddingPlan> plan = store_->PrepareEmbedding(*operations);
    if (!plan) return response.Fail(plan.error());
    response.Answer(wire::ToAnswer(*plan));
  }

  void AnswerCheckpointer(const OperationView& view, ResponseWriter& response) {
    switch (static_cast<Tag>(view.tag)) {
      case Tag::kPutCheckpoint:
        return Answer<NewCheckpoint>(view, response, [&](auto& op) { return saver_->Put(op); });
      case Tag::kPutWrites:
        return Answer<wire::PutWrites>(
            view, response, [&](auto& op) { return saver_->PutWrites(op.key, op.writes); });
      case Tag::kGetTuple:
        return Answer<CheckpointKey>(view, response,
                                     [&](auto& op) { return saver_->GetTuple(op); });
      case Tag::kListCheckpoints:
        return Answer<ListCheckpoints>(view, response, [&](auto& op) { return saver_->List(op); });
      case Tag::kListWrites:
        return Answer<wire::ListWrites>(
            view, response, [&](auto& op) { return saver_->Writes(op.key, op.channel); });
      case Tag::kDeltaChannelHistory:
        return Answer<wire::GetDeltaChannelHistory>(view, response, [&](auto& op) {
          return saver_->GetDeltaChannelHistory(op.key, op.channels);
        });
      case Tag::kDeleteThread:
        return Answer<wire::DeleteThread>(
            view, response, [&](auto& op) { return saver_->DeleteThread(op.thread_id); });
      case Tag::kCopyThread:
        return Answer<wire::CopyThread>(
            view, response, [&](auto& op) { return saver_->CopyThread(op.source, op.target); });
      case Tag::kDeleteForRuns:
        return Answer<wire::DeleteForRuns>(
            view, response, [&](auto& op) { return saver_->DeleteForRuns(op.run_ids); });
      case Tag::kPrune:
        return Answer<wire::Prune>(
            view, response, [&](auto& op) { return saver_->Prune(op.thread_ids, op.strategy); });
      case Tag::kCheckpointerStats:
        return Answer<wire::Nothing>(view, response, [&](auto&) { return saver_->Stats(); });
      case Tag::kPruneByRules:
        return Answer<RetentionRules>(view, response,
                                      [&](auto& op) { return saver_->PruneByRules(op); });
      case Tag::kListThreads:
        return Answer<ListThreads>(view, response, [&](auto& op) { return saver_->Threads(op); });
      case Tag::kRenameThread:
        return Answer<wire::RenameThread>(
            view, response, [&](auto& op) { return saver_->RenameThread(op.source, op.target); });
      case Tag::kPutCheckpointDeltas:
        return Answer<wire::PutCheckpointDeltas>(view, response,
                                                 [&](auto& op) { return PutDeltas(op); });
      case Tag::kForkThread:
        return Answer<wire::ForkThread>(view, response, [&](auto& op) {
          return saver_->ForkThread(op.source, op.checkpoint_id, op.target);
        });
      default:
        return FailUnknown(view, response);
    }
  }

  Status PutDeltas(wire::PutCheckpointDeltas& put) {
    std::vector<NewValue>& values = put.checkpoint.values;
    if (values.size() != put.deltas.size()) {
      return Status(StatusCode::kInvalidArgument, "there must be one delta for each value");
    }
    for (std::size_t i = 0; i < values.size(); ++i) values[i].delta = put.deltas[i];
    return saver_->Put(put.checkpoint);
  }

  void AnswerDatabase(const OperationView& view, ResponseWriter& response) {
    switch (static_cast<Tag>(view.tag)) {
      case Tag::kFlush:
        return Answer<wire::Nothing>(
            view, response, [&](auto&) { return database_ ? database_->Flush() : Status(); });
      case Tag::kSize:
        return Answer<wire::Nothing>(view, response, [&](auto&) {
          return database_ ? database_->SizeBytes() : Result<std::uint64_t>(0);
        });
      case Tag::kBeginExport:
        return Answer<wire::Nothing>(view, response, [&](auto&) { return BeginExport(); });
      case Tag::kReadExport:
        return Answer<wire::ReadExport>(view, response, [&](auto& op) { return ReadExport(op); });
      case Tag::kEndExport:
        return Answer<wire::Nothing>(view, response, [&](auto&) {
          if (database_) database_->EndExport();
          return Status();
        });
      case Tag::kImportFrom:
        return Answer<sql::OpenOptions>(view, response, [&](auto& op) { return ImportFrom(op); });
      default:
        return FailUnknown(view, response);
    }
  }

  void AnswerForeign(const OperationView& view, ResponseWriter& response) {
    switch (static_cast<Tag>(view.tag)) {
      case Tag::kForeignOpen:
        return Answer<sql::OpenOptions>(view, response, [&](auto& op) { return ForeignOpen(op); });
      case Tag::kForeignItems:
        return AnswerForeignPage<wire::ForeignItems>(view, response, [](auto& file, auto& op) {
          return file.Items(op.table, op.cursor, op.limit);
        });
      case Tag::kForeignCheckpoints:
        return AnswerForeignPage<wire::ForeignRows>(view, response, [](auto& file, auto& op) {
          return file.Checkpoints(op.cursor, op.limit);
        });
      case Tag::kForeignWrites:
        return AnswerForeignPage<wire::ForeignRows>(
            view, response, [](auto& file, auto& op) { return file.Writes(op.cursor, op.limit); });
      case Tag::kForeignClose:
        return Answer<wire::Nothing>(view, response, [&](auto&) {
          foreign_file_.reset();
          return Status();
        });
      default:
        return FailUnknown(view, response);
    }
  }

  // For all engines of this thread.
  void LimitVectors(const OperationView& view, ResponseWriter& response) {
    Answer<wire::LimitVectors>(view, response, [](auto& op) {
      constexpr std::uint64_t kMost = std::numeric_limits<std::size_t>::max();
      VectorBudget::OfThisThread().SetLimit(static_cast<std::size_t>(std::min(op.bytes, kMost)));
      return Status();
    });
  }

  // REQUIRES: there is a database.
  void AnswerTransfer(const OperationView& view, ResponseWriter& response) {
    switch (static_cast<Tag>(view.tag)) {
      case Tag::kReadRows:
        return Answer<wire::ReadRows>(view, response, [&](auto& op) {
          return rows_out_->Read(op.export_id, op.number, op.cursor, clock_.NowMs());
        });
      case Tag::kEndRows:
        return Answer<wire::EndRows>(view, response,
                                     [&](auto& op) { return rows_out_->End(op.export_id); });
      case Tag::kPutRows:
        return Answer<wire::PutRows>(view, response,
                                     [&](auto& op) { return rows_in_->Put(op.piece); });
      case Tag::kFinishImport:
        return Answer<wire::FinishImport>(view, response,
                                          [&](auto& op) { return FinishImport(op); });
      case Tag::kImportState:
        return Answer<wire::Nothing>(view, response, [&](auto&) { return rows_in_->State(); });
      default:
        return FailUnknown(view, response);
    }
  }

  template <typename Payload, typename Page>
  void AnswerForeignPage(const OperationView& view, ResponseWriter& response, Page page) {
    if (foreign_file_ == nullptr) {
      return response.Fail(Status(StatusCode::kInvalidArgument, "no foreign file is open"));
    }
    Answer<Payload>(view, response, [&](auto& op) { return page(*foreign_file_, op); });
  }

  // Decodes a Payload, has it handled, and writes the answer.
  template <typename Payload, typename Handle>
  void Answer(const OperationView& view, ResponseWriter& response, Handle handle) {
    Result<Payload> payload = wire::Decode<Payload>(view.payload);
    if (!payload) return response.Fail(payload.error());
    Respond(Atomically([&] { return handle(*payload); }), response);
  }

  // Within the transaction of a frame, a failing operation must undo its own
  // writes and no others.
  template <typename Call>
  auto Atomically(Call call) -> decltype(call()) {
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

  template <typename T>
  static void Respond(const T& answer, ResponseWriter& response) {
    response.Answer(answer);
  }
  static void Respond(std::monostate, ResponseWriter& response) {
    response.Answer(wire::Nothing());
  }
  static void Respond(const Status& status, ResponseWriter& response) {
    if (!status.ok()) return response.Fail(status);
    response.Answer(wire::Nothing());
  }
  template <typename T>
  static void Respond(const Result<T>& result, ResponseWriter& response) {
    if (!result) return response.Fail(result.error());
    response.Answer(*result);
  }

  static void FailUnknown(const OperationView& view, ResponseWriter& response) {
    response.Fail(Status(StatusCode::kInvalidOperation,
                         "no operation has the tag " + std::to_string(view.tag)));
  }

  static std::unexpected<Status> NoDatabase() {
    return Error(StatusCode::kUnsupported, "an engine in memory has no database file");
  }

  Result<Bytes> ReadExport(const wire::ReadExport& piece) {
    if (database_ == nullptr) return NoDatabase();
    if (piece.length > wire::kMaxExportPiece) {
      return Error(StatusCode::kInvalidArgument, "a piece of an export must be at most " +
                                                     std::to_string(wire::kMaxExportPiece) +
                                                     " bytes: " + std::to_string(piece.length));
    }
    return database_->ReadExport(piece.offset, piece.length);
  }

  // What an export of rows notes is no part of a file.
  Result<std::uint64_t> BeginExport() {
    if (database_ == nullptr) return NoDatabase();
    if (Status status = rows_out_->End(); !status.ok()) return std::unexpected(std::move(status));
    return database_->BeginExport();
  }

  Status ImportFrom(const sql::OpenOptions& source) {
    if (database_ == nullptr) return NoDatabase().error();
    if (Status status = database_->ImportFrom(source); !status.ok()) return status;
    // The rows are others, whatever fails from here on.
    Status status = StartAnew();
    for (Status next : {rows_in_->Discard(), answers_->DeleteAll()}) {
      if (status.ok()) status = std::move(next);
    }
    return status;
  }

  Status FinishImport(const wire::FinishImport& import) {
    if (!import.is_wanted) return rows_in_->Discard();
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

  // The store is started anew, because what it knows of its rows is of the past.
  // If the new rows don't fit its index, it ends without one, and says so.
  Status StartAnew() {
    if (Status status = StartSaver(); !status.ok()) return status;
    Status status = StartStore(store_->options());
    if (status.ok()) return status;
    Status restarted = StartStore(FreshOptions());
    return restarted.ok() ? status : restarted;
  }

  Result<std::vector<import::ForeignTableInfo>> ForeignOpen(const sql::OpenOptions& options) {
    Result<std::unique_ptr<ForeignFile>> file = ForeignFile::Open(options);
    if (!file) return std::unexpected(std::move(file.error()));
    foreign_file_ = std::move(*file);
    return foreign_file_->tables();
  }

  ManualClock clock_;
  std::unique_ptr<sql::Database> database_;  // none in memory
  std::optional<Answers> answers_;           // with a database
  std::optional<transfer::RowExport> rows_out_;
  std::optional<transfer::RowImport> rows_in_;
  bool has_looked_for_exports_ = false;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Checkpointer> saver_;
  std::unique_ptr<ForeignFile> foreign_file_;
  bool in_transaction_ = false;
  Bytes& response_;
};

}  // namespace

Result<std::unique_ptr<Engine>> Engine::Open(std::optional<sql::OpenOptions> options,
                                             Bytes& response) {
  std::unique_ptr<sql::Database> database;
  if (options) {
    Result<std::unique_ptr<sql::Database>> opened = sql::OpenDatabase(*options);
    if (!opened) return std::unexpected(std::move(opened.error()));
    database = std::move(*opened);
  }
  auto engine = std::make_unique<FrameEngine>(std::move(database), response);
  if (Status status = engine->Start(); !status.ok()) return std::unexpected(std::move(status));
  return engine;
}

}  // namespace keepsake
