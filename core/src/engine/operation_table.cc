#include "engine/operation_table.h"

#include <algorithm>
#include <concepts>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "store/sqlite/vector_budget.h"
#include "wire/reader.h"

namespace keepsake {
namespace {

using wire::Nothing;
using wire::ResponseWriter;
using wire::Tag;

template <typename T>
void Respond(const T& answer, ResponseWriter& response) {
  response.Answer(answer);
}
void Respond(std::monostate, ResponseWriter& response) { response.Answer(Nothing()); }
void Respond(const Status& status, ResponseWriter& response) {
  if (!status.ok()) return response.Fail(status);
  response.Answer(Nothing());
}
template <typename T>
void Respond(const Result<T>& result, ResponseWriter& response) {
  if (!result) return response.Fail(result.error());
  response.Answer(*result);
}

// `Handle` is a lambda without captures: handle(engine, payload).
template <typename Payload, typename Handle>
constexpr OperationRow On(Tag tag, int traits, Handle) {
  return {tag, static_cast<std::uint8_t>(traits),
          [](EngineState& engine, ByteView bytes, ResponseWriter& response) {
            Result<Payload> payload = wire::Decode<Payload>(bytes);
            if (!payload) return response.Fail(payload.error());
            const auto handle = [&] { return Handle()(engine, *payload); };
            Respond(engine.Leave(engine.Atomically(handle)), response);
          }};
}

template <typename Op>
constexpr OperationRow InBatch(Tag tag, Trait trait) {
  return {tag, trait, nullptr, [](ByteView payload) -> Result<Operation> {
            Result<Op> operation = wire::Decode<Op>(payload);
            if (!operation) return std::unexpected(std::move(operation.error()));
            return Operation(std::move(*operation));
          }};
}

// Of a foreign file.
template <typename Row>
using Page = Result<import::ForeignPage<Row>>;

// For all engines of this thread.
Status LimitVectors(std::uint64_t bytes) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::size_t>::max();
  VectorBudget::OfThisThread().SetLimit(static_cast<std::size_t>(std::min(bytes, kMost)));
  return Status();
}

Result<std::vector<wire::ListedTuple>> ListTuples(EngineState& engine, const ListCheckpoints& op) {
  auto tuples = engine.saver().List(op);
  if (!tuples) return std::unexpected(std::move(tuples.error()));
  return wire::Listed(*std::move(tuples));
}

// What a method takes of a payload: all of it, or its fields.
template <auto kMethod, typename Object, typename Payload>
auto ArgumentsOf(Payload& op) {
  if constexpr (std::invocable<decltype(kMethod), Object&, Payload&>)
    return std::tie(op);
  else
    return wire::Fields(op);
}

// A method of the store. In a scope it is called within it, unless it is kWhole.
template <int kTraits, auto kMethod, typename Payload>
constexpr OperationRow OnStore(Tag tag) {
  return On<Payload>(tag, kTraits, [](EngineState& engine, Payload& op) {
    const auto call = [&](auto&... arguments) {
      if constexpr ((kTraits & kWhole) == 0) {
        constexpr auto kEffect = kTraits == kReads ? ScopedStore::kLooks : ScopedStore::kChanges;
        ScopedStore* scoped = engine.scoped_store();
        if (scoped != nullptr) return scoped->Call(kEffect, kMethod, arguments...);
      }
      return (engine.store().*kMethod)(arguments...);
    };
    return std::apply(call, ArgumentsOf<kMethod, Store>(op));
  });
}

// A method of the checkpointer, which knows scopes itself.
template <int kTraits, auto kMethod, typename Payload>
constexpr OperationRow OnSaver(Tag tag) {
  return On<Payload>(tag, kTraits, [](EngineState& engine, Payload& op) {
    const auto call = [&](auto&... arguments) { return (engine.saver().*kMethod)(arguments...); };
    return std::apply(call, ArgumentsOf<kMethod, Checkpointer>(op));
  });
}

constexpr int kMoves = kBeyondRows | kNeedsFile | kWhole;
constexpr int kOfFile = kBeyondRows | kWhole;

constexpr OperationRow kOperations[] = {
    InBatch<GetOp>(Tag::kGet, kReads).At(Place::kNamespace),
    InBatch<PutOp>(Tag::kPut, kWrites).As(Audited::kStore, Place::kNamespace),
    InBatch<SearchOp>(Tag::kSearch, kReads).At(Place::kNamespace),
    InBatch<ListNamespacesOp>(Tag::kListNamespaces, kReads),
    OnStore<kReads, &Store::List, wire::OneNamespace>(Tag::kListKeys).At(Place::kNamespace),
    OnStore<kWrites, &Store::ClearNamespace, wire::OneNamespace>(Tag::kClearNamespace)
        .As(Audited::kClear, Place::kNamespace, Changed::kFirst),
    OnStore<kWrites | kWhole, &Store::SweepExpired, wire::SweepExpired>(Tag::kSweepExpired)
        .As(Audited::kDelete, Place::kNowhere, Changed::kFirst),
    OnStore<kOfFile, &Store::Configure, wire::ConfigureStore>(Tag::kConfigureStore),
    OnStore<kReads | kWhole, &Store::Stats, Nothing>(Tag::kStoreStats),
    OnStore<kReads, &Store::ExplainAbsence, wire::ExplainAbsence>(Tag::kExplainAbsence)
        .At(Place::kNamespace),
    OnStore<kReads | kWhole, &Store::ImproveIndex, IndexStep>(Tag::kImproveIndex),
    OnStore<kReads | kWhole, &Store::ReadPending, wire::ReadPending>(Tag::kReadPending),
    OnStore<kWrites | kWhole, &Store::EmbedPending, wire::EmbedPending>(Tag::kEmbedPending),
    OnStore<kWrites | kWhole, &Store::KeepHistory, HistoryRule>(Tag::kKeepHistory)
        .As(Audited::kConfigure, Place::kNamespace),
    OnStore<kWrites | kWhole, &Store::DropHistory, wire::OneNamespace>(Tag::kDropHistory)
        .As(Audited::kConfigure, Place::kNamespace),
    OnStore<kReads | kWhole, &Store::ListHistoryRules, Nothing>(Tag::kHistoryRules),
    OnStore<kReads, &Store::History, wire::History>(Tag::kHistory).At(Place::kNamespace),
    OnStore<kReads, &Store::GetAsOf, wire::AsOf<GetOp>>(Tag::kGetAsOf).At(Place::kNamespace),
    OnStore<kReads, &Store::SearchAsOf, wire::AsOf<SearchOp>>(Tag::kSearchAsOf)
        .At(Place::kNamespace),
    OnStore<kReads, &Store::ListNamespacesAsOf, wire::AsOf<ListNamespacesOp>>(
        Tag::kListNamespacesAsOf),
    On<Undo>(Tag::kUndo, kWrites,
             [](auto& engine, auto& op) {
               ScopedStore* scoped = engine.scoped_store();
               return scoped ? scoped->UndoOperation(op) : engine.store().UndoOperation(op);
             })
        .As(Audited::kUndo, Place::kNowhere, Changed::kSecond),

    OnSaver<kWrites | kRepeatable, &Checkpointer::Put, NewCheckpoint>(Tag::kPutCheckpoint)
        .As(Audited::kStore, Place::kThread),
    OnSaver<kWrites | kRepeatable, &Checkpointer::PutWrites, wire::PutWrites>(Tag::kPutWrites)
        .As(Audited::kStore, Place::kThread),
    OnSaver<kReads, &Checkpointer::GetTuple, CheckpointKey>(Tag::kGetTuple),
    On<ListCheckpoints>(Tag::kListCheckpoints, kReads,
                        [](auto& engine, auto& op) { return ListTuples(engine, op); }),
    OnSaver<kReads, &Checkpointer::Writes, wire::ListWrites>(Tag::kListWrites),
    OnSaver<kReads, &Checkpointer::GetDeltaChannelHistory, wire::GetDeltaChannelHistory>(
        Tag::kDeltaChannelHistory),
    OnSaver<kWrites, &Checkpointer::DeleteThread, wire::DeleteThread>(Tag::kDeleteThread)
        .As(Audited::kDelete, Place::kThread),
    OnSaver<kWrites, &Checkpointer::CopyThread, wire::CopyThread>(Tag::kCopyThread)
        .As(Audited::kStore, Place::kSecondText),
    OnSaver<kWrites, &Checkpointer::RenameThread, wire::RenameThread>(Tag::kRenameThread)
        .As(Audited::kStore, Place::kSecondText),
    OnSaver<kWrites, &Checkpointer::ForkThread, wire::ForkThread>(Tag::kForkThread)
        .As(Audited::kStore, Place::kThirdText),
    On<wire::DeleteForRuns>(
        Tag::kDeleteForRuns, kWrites,
        [](auto& engine, auto& op) { return engine.saver().DeleteForRuns(op.run_ids); })
        .As(Audited::kDelete, Place::kNowhere, Changed::kFirst),
    OnSaver<kWrites, &Checkpointer::Prune, RetentionRules>(Tag::kPrune)
        .As(Audited::kDelete, Place::kNowhere, Changed::kFirst),
    OnSaver<kReads, &Checkpointer::Threads, ListThreads>(Tag::kListThreads),
    OnSaver<kReads, &Checkpointer::Stats, Nothing>(Tag::kCheckpointerStats),

    On<Nothing>(Tag::kFlush, kBeyondRows | kAlone,
                [](auto& engine, auto&) {
                  return engine.database() ? engine.database()->Flush() : Status();
                }),
    On<Nothing>(Tag::kSize, kReads | kWhole,
                [](auto& engine, auto&) {
                  return engine.database() ? engine.database()->SizeBytes()
                                           : Result<std::uint64_t>(0);
                }),
    On<Nothing>(Tag::kBeginExport, kMoves | kAlone,
                [](auto& engine, auto&) { return engine.BeginExport(); }),
    On<wire::ReadExport>(Tag::kReadExport, kMoves,
                         [](auto& engine, auto& op) { return engine.ReadExport(op); }),
    On<Nothing>(Tag::kEndExport, kOfFile,
                [](auto& engine, auto&) {
                  if (engine.database()) engine.database()->EndExport();
                  return Status();
                }),
    On<sql::OpenOptions>(Tag::kImportFrom, kMoves | kAlone,
                         [](auto& engine, auto& op) { return engine.ImportFrom(op); })
        .As(Audited::kImport, Place::kNowhere),
    On<wire::ReadRows>(Tag::kReadRows, kMoves,
                       [](auto& engine, auto& op) {
                         return engine.rows_out().Read(op.export_id, op.number, op.cursor,
                                                       engine.clock().NowMs());
                       }),
    On<wire::EndRows>(Tag::kEndRows, kMoves,
                      [](auto& engine, auto& op) { return engine.rows_out().End(op.export_id); }),
    On<wire::PutRows>(Tag::kPutRows, kMoves,
                      [](auto& engine, auto& op) { return engine.rows_in().Put(op.piece); }),
    On<wire::FinishImport>(Tag::kFinishImport, kMoves | kAlone,
                           [](auto& engine, auto& op) { return engine.FinishImport(op); })
        .As(Audited::kImport, Place::kNowhere),
    On<Nothing>(Tag::kImportState, kMoves,
                [](auto& engine, auto&) { return engine.rows_in().State(); }),
    On<wire::LimitVectors>(Tag::kLimitVectors, kOfFile,
                           [](auto&, auto& op) { return LimitVectors(op.bytes); }),
    On<Erasure>(Tag::kForget, kBeyondRows | kAlone,
                [](auto& engine, auto& op) { return engine.Forget(op); })
        .As(Audited::kForget, Place::kNowhere),
    On<wire::FindErasure>(Tag::kFindErasure, kReads,
                          [](auto& engine, auto& op) { return engine.erasures().Find(op.id); }),
    On<Hold>(Tag::kHold, kWrites | kWhole,
             [](auto& engine, auto& op) {
               op.since_ms = engine.clock().NowMs();
               return engine.erasures().Put(op);
             })
        .As(Audited::kHold, Place::kNamespace),
    On<wire::OneNamespace>(Tag::kRelease, kWrites | kWhole,
                           [](auto& engine, auto& op) { return engine.erasures().Release(op.ns); })
        .As(Audited::kRelease, Place::kNamespace),
    On<Nothing>(Tag::kListHolds, kReads | kWhole,
                [](auto& engine, auto&) { return engine.erasures().Holds(); }),
    On<wire::CheckPages>(Tag::kCheckPages, kMoves | kAlone,
                         [](auto& engine, auto& op) {
                           return engine.database()->CheckPages(op.first, op.count, op.accepts);
                         }),
    On<sql::OpenOptions>(Tag::kSalvage, kMoves | kAlone,
                         [](auto& engine, auto& op) { return engine.Salvage(op); })
        .As(Audited::kImport, Place::kNowhere),
#ifndef KEEPSAKE_HOST_SQL  // without files there is nothing to encrypt
    On<wire::ChangeKey>(Tag::kChangeKey, kMoves | kAlone,
                        [](auto& engine, auto& op) { return engine.ChangeKey(op); })
        .As(Audited::kConfigure, Place::kNowhere),
#endif
    On<wire::KeepAudit>(Tag::kKeepAudit, kWrites | kWhole,
                        [](auto& engine, auto& op) {
                          return engine.audit_log().Keep(op.rule, engine.clock().NowMs());
                        })
        .As(Audited::kConfigure, Place::kNowhere),
    On<Nothing>(Tag::kAuditRule, kReads | kWhole,
                [](auto& engine, auto&) { return engine.audit_log().Rule(); }),
    On<AuditQuery>(Tag::kAuditLog, kReads,
                   [](auto& engine, auto& op) { return engine.ReadAuditLog(op); }),
    On<wire::Scrub>(Tag::kScrub, kBeyondRows | kAlone,
                    [](auto& engine, auto& op) { return engine.erasures().Scrub(op.pages); }),

    On<sql::OpenOptions>(Tag::kForeignOpen, kOfFile,
                         [](auto& engine, auto& op) { return engine.OpenForeign(op); }),
    On<wire::ForeignItems>(Tag::kForeignItems, kOfFile,
                           [](auto& engine, auto& op) -> Page<import::ForeignItem> {
                             const auto file = engine.foreign_file();
                             if (!file) return std::unexpected(file.error());
                             return (*file)->Items(op.table, op.cursor, op.limit);
                           }),
    On<wire::ForeignRows>(Tag::kForeignCheckpoints, kOfFile,
                          [](auto& engine, auto& op) -> Page<import::ForeignCheckpoint> {
                            const auto file = engine.foreign_file();
                            if (!file) return std::unexpected(file.error());
                            return (*file)->Checkpoints(op.cursor, op.limit);
                          }),
    On<wire::ForeignRows>(Tag::kForeignWrites, kOfFile,
                          [](auto& engine, auto& op) -> Page<import::ForeignWrite> {
                            const auto file = engine.foreign_file();
                            if (!file) return std::unexpected(file.error());
                            return (*file)->Writes(op.cursor, op.limit);
                          }),
    On<Nothing>(Tag::kForeignClose, kOfFile,
                [](auto& engine, auto&) {
                  engine.CloseForeign();
                  return Status();
                }),
};
static_assert(std::ranges::is_sorted(kOperations, std::ranges::less_equal(), &OperationRow::tag));

}  // namespace

std::span<const OperationRow> Operations() { return kOperations; }

const OperationRow* FindOperation(std::uint8_t tag) {
  const auto wanted = static_cast<Tag>(tag);
  const auto* row = std::ranges::lower_bound(kOperations, wanted, {}, &OperationRow::tag);
  return row != std::ranges::end(kOperations) && row->tag == wanted ? row : nullptr;
}

void RespondWith(const OperationResult& result, ResponseWriter& response) {
  std::visit([&](const auto& answer) { Respond(answer, response); }, result);
}

}  // namespace keepsake
