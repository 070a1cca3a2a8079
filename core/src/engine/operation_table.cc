#include "engine/operation_table.h"

#include <algorithm>
#include <limits>
#include <string>
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
            Respond(engine.Atomically([&] { return Handle()(engine, *payload); }), response);
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

// Calls `call` with the store of the request: that of its scope, or the whole one.
template <typename Call>
auto InScope(EngineState& engine, Call call) {
  ScopedStore* scoped = engine.scoped_store();
  return scoped == nullptr ? call(engine.store()) : call(*scoped);
}

constexpr int kMoves = kBeyondRows | kNeedsFile | kWhole;
constexpr int kOfFile = kBeyondRows | kWhole;

constexpr OperationRow kOperations[] = {
    InBatch<GetOp>(Tag::kGet, kReads).At(Place::kNamespace),
    InBatch<PutOp>(Tag::kPut, kWrites).As(Audited::kStore, Place::kNamespace),
    InBatch<SearchOp>(Tag::kSearch, kReads).At(Place::kNamespace),
    InBatch<ListNamespacesOp>(Tag::kListNamespaces, kReads),
    On<wire::OneNamespace>(Tag::kListKeys, kReads,
                           [](auto& engine, auto& op) {
                             return InScope(engine, [&](auto& store) { return store.List(op.ns); });
                           })
        .At(Place::kNamespace),
    On<wire::OneNamespace>(Tag::kClearNamespace, kWrites,
                           [](auto& engine, auto& op) {
                             return InScope(
                                 engine, [&](auto& store) { return store.ClearNamespace(op.ns); });
                           })
        .As(Audited::kClear, Place::kNamespace, Changed::kFirst),
    On<wire::SweepExpired>(
        Tag::kSweepExpired, kWrites | kWhole,
        [](auto& engine, auto& op) { return engine.store().SweepExpired(op.max_items); })
        .As(Audited::kDelete, Place::kNowhere, Changed::kFirst),
    On<wire::ConfigureStore>(
        Tag::kConfigureStore, kOfFile,
        [](auto& engine, auto& op) { return engine.store().Configure(op.index, op.ttl, op.text); }),
    On<Nothing>(Tag::kStoreStats, kReads | kWhole,
                [](auto& engine, auto&) { return engine.store().Stats(); }),
    On<wire::ExplainAbsence>(Tag::kExplainAbsence, kReads,
                             [](auto& engine, auto& op) {
                               return InScope(engine, [&](auto& store) {
                                 return store.ExplainAbsence(op.search, op.item);
                               });
                             })
        .At(Place::kNamespace),
    On<IndexStep>(Tag::kImproveIndex, kReads | kWhole,
                  [](auto& engine, auto& op) { return engine.store().ImproveIndex(op); }),
    On<wire::ReadPending>(
        Tag::kReadPending, kReads | kWhole,
        [](auto& engine, auto& op) { return engine.store().ReadPending(op.limit); }),
    On<wire::EmbedPending>(
        Tag::kEmbedPending, kWrites | kWhole,
        [](auto& engine, auto& op) { return engine.store().EmbedPending(op.items); }),
    On<HistoryRule>(Tag::kKeepHistory, kWrites | kWhole,
                    [](auto& engine, auto& op) { return engine.store().KeepHistory(op); })
        .As(Audited::kConfigure, Place::kNamespace),
    On<wire::OneNamespace>(Tag::kDropHistory, kWrites | kWhole,
                           [](auto& engine, auto& op) { return engine.store().DropHistory(op.ns); })
        .As(Audited::kConfigure, Place::kNamespace),
    On<Nothing>(Tag::kHistoryRules, kReads | kWhole,
                [](auto& engine, auto&) { return engine.store().ListHistoryRules(); }),
    On<wire::History>(Tag::kHistory, kReads,
                      [](auto& engine, auto& op) {
                        return InScope(
                            engine, [&](auto& store) { return store.History(op.item, op.limit); });
                      })
        .At(Place::kNamespace),
    On<wire::AsOf<GetOp>>(Tag::kGetAsOf, kReads,
                          [](auto& engine, auto& op) {
                            return InScope(engine, [&](auto& store) {
                              return store.GetAsOf(op.op, op.at_ms);
                            });
                          })
        .At(Place::kBehindTime),
    On<wire::AsOf<SearchOp>>(Tag::kSearchAsOf, kReads,
                             [](auto& engine, auto& op) {
                               return InScope(engine, [&](auto& store) {
                                 return store.SearchAsOf(op.op, op.at_ms);
                               });
                             })
        .At(Place::kBehindTime),
    On<wire::AsOf<ListNamespacesOp>>(Tag::kListNamespacesAsOf, kReads,
                                     [](auto& engine, auto& op) {
                                       return InScope(engine, [&](auto& store) {
                                         return store.ListNamespacesAsOf(op.op, op.at_ms);
                                       });
                                     }),
    On<Undo>(Tag::kUndo, kWrites,
             [](auto& engine, auto& op) {
               return InScope(engine, [&](auto& store) { return store.UndoOperation(op); });
             })
        .As(Audited::kUndo, Place::kNowhere, Changed::kSecond),

    On<NewCheckpoint>(Tag::kPutCheckpoint, kWrites | kRepeatable,
                      [](auto& engine, auto& op) { return engine.saver().Put(op); })
        .As(Audited::kStore, Place::kThread),
    On<wire::PutWrites>(
        Tag::kPutWrites, kWrites | kRepeatable,
        [](auto& engine, auto& op) { return engine.saver().PutWrites(op.key, op.writes); })
        .As(Audited::kStore, Place::kThread),
    On<CheckpointKey>(Tag::kGetTuple, kReads,
                      [](auto& engine, auto& op) { return engine.saver().GetTuple(op); }),
    On<ListCheckpoints>(Tag::kListCheckpoints, kReads,
                        [](auto& engine, auto& op) { return engine.saver().List(op); }),
    On<wire::ListWrites>(
        Tag::kListWrites, kReads,
        [](auto& engine, auto& op) { return engine.saver().Writes(op.key, op.channel); }),
    On<wire::GetDeltaChannelHistory>(Tag::kDeltaChannelHistory, kReads,
                                     [](auto& engine, auto& op) {
                                       return engine.saver().GetDeltaChannelHistory(op.key,
                                                                                    op.channels);
                                     }),
    On<wire::DeleteThread>(
        Tag::kDeleteThread, kWrites,
        [](auto& engine, auto& op) { return engine.saver().DeleteThread(op.thread_id); })
        .As(Audited::kDelete, Place::kThread),
    On<wire::CopyThread>(
        Tag::kCopyThread, kWrites,
        [](auto& engine, auto& op) { return engine.saver().CopyThread(op.source, op.target); })
        .As(Audited::kStore, Place::kSecondText),
    On<wire::RenameThread>(
        Tag::kRenameThread, kWrites,
        [](auto& engine, auto& op) { return engine.saver().RenameThread(op.source, op.target); })
        .As(Audited::kStore, Place::kSecondText),
    On<wire::ForkThread>(Tag::kForkThread, kWrites,
                         [](auto& engine, auto& op) {
                           return engine.saver().ForkThread(op.source, op.checkpoint_id, op.target);
                         })
        .As(Audited::kStore, Place::kThirdText),
    On<wire::DeleteForRuns>(
        Tag::kDeleteForRuns, kWrites,
        [](auto& engine, auto& op) { return engine.saver().DeleteForRuns(op.run_ids); })
        .As(Audited::kDelete, Place::kNowhere, Changed::kFirst),
    On<RetentionRules>(Tag::kPrune, kWrites,
                       [](auto& engine, auto& op) { return engine.saver().Prune(op); })
        .As(Audited::kDelete, Place::kNowhere, Changed::kFirst),
    On<ListThreads>(Tag::kListThreads, kReads,
                    [](auto& engine, auto& op) { return engine.saver().Threads(op); }),
    On<Nothing>(Tag::kCheckpointerStats, kReads,
                [](auto& engine, auto&) { return engine.saver().Stats(); }),

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
