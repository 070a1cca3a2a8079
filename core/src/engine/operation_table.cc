#include "engine/operation_table.h"

#include <algorithm>
#include <concepts>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#ifndef KEEPSAKE_HOST_SQL
#include "engine/replica.h"
#endif
#include "store/sqlite/vector_budget.h"
#include "wire/reader.h"

namespace keepsake {
namespace {

using wire::Nothing;
using wire::PayloadOf;
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
template <Tag kTag, typename Handle>
constexpr OperationRow On(int traits, Handle) {
  return {kTag, static_cast<std::uint8_t>(traits),
          [](EngineState& engine, ByteView bytes, ResponseWriter& response) {
            auto payload = wire::Decode<PayloadOf<kTag>>(bytes);
            if (!payload) return response.Fail(payload.error());
            const auto handle = [&] { return Handle()(engine, *payload); };
            Respond(engine.Leave(engine.Atomically(handle)), response);
          }};
}

template <Tag kTag>
constexpr OperationRow InBatch(Trait trait) {
  return {kTag, trait, nullptr, [](ByteView payload) -> Result<Operation> {
            auto operation = wire::Decode<PayloadOf<kTag>>(payload);
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

#ifdef KEEPSAKE_HOST_SQL
// A host moves its own log.
Status Flush(EngineState& engine) {
  return engine.database() ? engine.database()->Flush() : Status();
}
Status LetLogMove(EngineState&) { return Status(); }
void MoveLogIfNothingWaits(EngineState&) {}
Result<bool> HoldsForgotten(EngineState&) { return false; }
#else
Status Flush(EngineState& engine) {
  return engine.replica() ? engine.replica()->Flush() : Status();
}
Status LetLogMove(EngineState& engine) {
  return engine.replica() ? engine.replica()->LetLogMove() : Status();
}
void MoveLogIfNothingWaits(EngineState& engine) {
  if (engine.replica()) engine.replica()->MoveLogIfNothingWaits();
}
Result<bool> HoldsForgotten(EngineState& engine) {
  return engine.replica() ? engine.replica()->HoldsForgotten() : false;
}
#endif

Result<Scrubbed> Scrub(EngineState& engine, std::uint32_t pages) {
  const Result<Scrubbed> scrubbed = engine.erasures().Scrubbing();
  if (!scrubbed || *scrubbed != Scrubbed::kPending) return scrubbed;
  if (Status status = LetLogMove(engine); !status.ok()) return std::unexpected(std::move(status));
  return engine.erasures().Scrub(pages);
}

Result<std::optional<ErasureRecord>> FindErasure(EngineState& engine, const std::string& id) {
  auto record = engine.erasures().Find(id);
  if (!record || !*record || (*record)->scrubbed != Scrubbed::kPages) return record;
  const Result<bool> holds = HoldsForgotten(engine);
  if (!holds) return std::unexpected(holds.error());
  if (*holds) (*record)->scrubbed = Scrubbed::kPending;
  return record;
}

Result<sql::PageCheck> CheckPages(EngineState& engine, const wire::CheckPages& op) {
  if (Status status = LetLogMove(engine); !status.ok()) return std::unexpected(std::move(status));
  return engine.database()->CheckPages(op.first, op.count, op.accepts);
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
template <Tag kTag, int kTraits, auto kMethod>
constexpr OperationRow OnStore() {
  return On<kTag>(kTraits, [](EngineState& engine, PayloadOf<kTag>& op) {
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
template <Tag kTag, int kTraits, auto kMethod>
constexpr OperationRow OnSaver() {
  return On<kTag>(kTraits, [](EngineState& engine, PayloadOf<kTag>& op) {
    const auto call = [&](auto&... arguments) { return (engine.saver().*kMethod)(arguments...); };
    return std::apply(call, ArgumentsOf<kMethod, Checkpointer>(op));
  });
}

constexpr int kMoves = kBeyondRows | kNeedsFile | kWhole;
constexpr int kOfFile = kBeyondRows | kWhole;

constexpr OperationRow kOperations[] = {
    InBatch<Tag::kGet>(kReads).At(Place::kNamespace),
    InBatch<Tag::kPut>(kWrites).As(Audited::kStore, Place::kNamespace),
    InBatch<Tag::kSearch>(kReads).At(Place::kNamespace),
    InBatch<Tag::kListNamespaces>(kReads),
    OnStore<Tag::kListKeys, kReads, &Store::List>().At(Place::kNamespace),
    OnStore<Tag::kClearNamespace, kWrites, &Store::ClearNamespace>().As(
        Audited::kClear, Place::kNamespace, Changed::kFirst),
    OnStore<Tag::kSweepExpired, kWrites | kWhole, &Store::SweepExpired>().As(
        Audited::kDelete, Place::kNowhere, Changed::kFirst),
    OnStore<Tag::kConfigureStore, kOfFile, &Store::Configure>(),
    OnStore<Tag::kStoreStats, kReads | kWhole, &Store::Stats>(),
    OnStore<Tag::kExplainAbsence, kReads, &Store::ExplainAbsence>().At(Place::kNamespace),
    OnStore<Tag::kImproveIndex, kReads | kWhole, &Store::ImproveIndex>(),
    OnStore<Tag::kReadPending, kReads | kWhole, &Store::ReadPending>(),
    OnStore<Tag::kEmbedPending, kWrites | kWhole, &Store::EmbedPending>(),
    OnStore<Tag::kKeepHistory, kWrites | kWhole, &Store::KeepHistory>().As(Audited::kConfigure,
                                                                           Place::kNamespace),
    OnStore<Tag::kDropHistory, kWrites | kWhole, &Store::DropHistory>().As(Audited::kConfigure,
                                                                           Place::kNamespace),
    OnStore<Tag::kHistoryRules, kReads | kWhole, &Store::ListHistoryRules>(),
    OnStore<Tag::kHistory, kReads, &Store::History>().At(Place::kNamespace),
    OnStore<Tag::kGetAsOf, kReads, &Store::GetAsOf>().At(Place::kNamespace),
    OnStore<Tag::kSearchAsOf, kReads, &Store::SearchAsOf>().At(Place::kNamespace),
    OnStore<Tag::kListNamespacesAsOf, kReads, &Store::ListNamespacesAsOf>(),
    On<Tag::kUndo>(kWrites,
                   [](auto& engine, auto& op) {
                     ScopedStore* scoped = engine.scoped_store();
                     return scoped ? scoped->UndoOperation(op) : engine.store().UndoOperation(op);
                   })
        .As(Audited::kUndo, Place::kNowhere, Changed::kSecond),
    On<Tag::kJudgeItems>(kReads, [](auto& engine, auto& op) { return engine.Judge(op); })
        .At(Place::kNamespace),
    On<Tag::kEvictItems>(kWrites, [](auto& engine, auto& op) { return engine.Evict(op); })
        .As(Audited::kDelete, Place::kNamespace, Changed::kFirst),

    OnSaver<Tag::kPutCheckpoint, kWrites | kRepeatable, &Checkpointer::Put>().As(Audited::kStore,
                                                                                 Place::kThread),
    OnSaver<Tag::kPutWrites, kWrites | kRepeatable, &Checkpointer::PutWrites>().As(Audited::kStore,
                                                                                   Place::kThread),
    OnSaver<Tag::kGetTuple, kReads, &Checkpointer::GetTuple>(),
    On<Tag::kListCheckpoints>(kReads,
                              [](auto& engine, auto& op) { return ListTuples(engine, op); }),
    OnSaver<Tag::kListWrites, kReads, &Checkpointer::Writes>(),
    OnSaver<Tag::kDeltaChannelHistory, kReads, &Checkpointer::GetDeltaChannelHistory>(),
    OnSaver<Tag::kDeleteThread, kWrites, &Checkpointer::DeleteThread>().As(Audited::kDelete,
                                                                           Place::kThread),
    OnSaver<Tag::kCopyThread, kWrites, &Checkpointer::CopyThread>().As(Audited::kStore,
                                                                       Place::kSecondText),
    OnSaver<Tag::kRenameThread, kWrites, &Checkpointer::RenameThread>().As(Audited::kStore,
                                                                           Place::kSecondText),
    OnSaver<Tag::kForkThread, kWrites, &Checkpointer::ForkThread>().As(Audited::kStore,
                                                                       Place::kThirdText),
    On<Tag::kDeleteForRuns>(
        kWrites, [](auto& engine, auto& op) { return engine.saver().DeleteForRuns(op.run_ids); })
        .As(Audited::kDelete, Place::kNowhere, Changed::kFirst),
    OnSaver<Tag::kPrune, kWrites, &Checkpointer::Prune>().As(Audited::kDelete, Place::kNowhere,
                                                             Changed::kFirst),
    OnSaver<Tag::kListThreads, kReads, &Checkpointer::Threads>(),
    OnSaver<Tag::kCheckpointerStats, kReads, &Checkpointer::Stats>(),

    On<Tag::kFlush>(kBeyondRows | kAlone, [](auto& engine, auto&) { return Flush(engine); }),
    On<Tag::kSize>(kReads | kWhole,
                   [](auto& engine, auto&) {
                     return engine.database() ? engine.database()->SizeBytes()
                                              : Result<std::uint64_t>(0);
                   }),
    On<Tag::kBeginExport>(kMoves | kAlone,
                          [](auto& engine, auto&) {
                            MoveLogIfNothingWaits(engine);
                            return engine.BeginExport();
                          }),
    On<Tag::kReadExport>(kMoves, [](auto& engine, auto& op) { return engine.ReadExport(op); }),
    On<Tag::kEndExport>(kOfFile,
                        [](auto& engine, auto&) {
                          if (engine.database()) engine.database()->EndExport();
                          MoveLogIfNothingWaits(engine);
                          return Status();
                        }),
    On<Tag::kImportFrom>(kMoves | kAlone,
                         [](auto& engine, auto& op) { return engine.ImportFrom(op); })
        .As(Audited::kImport, Place::kNowhere),
    On<Tag::kReadRows>(kMoves,
                       [](auto& engine, auto& op) {
                         return engine.rows_out().Read(op.export_id, op.number, op.cursor,
                                                       engine.clock().NowMs());
                       }),
    On<Tag::kEndRows>(kMoves,
                      [](auto& engine, auto& op) { return engine.rows_out().End(op.export_id); }),
    On<Tag::kPutRows>(kMoves, [](auto& engine, auto& op) { return engine.PutRows(op); }),
    On<Tag::kFinishImport>(kMoves | kAlone,
                           [](auto& engine, auto& op) { return engine.FinishImport(op); })
        .As(Audited::kImport, Place::kNowhere),
    On<Tag::kImportState>(kMoves, [](auto& engine, auto&) { return engine.rows_in().State(); }),
    On<Tag::kLimitVectors>(kOfFile, [](auto&, auto& op) { return LimitVectors(op.bytes); }),
    On<Tag::kForget>(kBeyondRows | kAlone, [](auto& engine, auto& op) { return engine.Forget(op); })
        .As(Audited::kForget, Place::kNowhere),
    On<Tag::kFindErasure>(kReads,
                          [](auto& engine, auto& op) { return FindErasure(engine, op.id); }),
    On<Tag::kHold>(kWrites | kWhole,
                   [](auto& engine, auto& op) {
                     op.since_ms = engine.clock().NowMs();
                     return engine.erasures().Put(op);
                   })
        .As(Audited::kHold, Place::kNamespace),
    On<Tag::kRelease>(kWrites | kWhole,
                      [](auto& engine, auto& op) { return engine.erasures().Release(op.ns); })
        .As(Audited::kRelease, Place::kNamespace),
    On<Tag::kListHolds>(kReads | kWhole,
                        [](auto& engine, auto&) { return engine.erasures().Holds(); }),
    On<Tag::kCheckPages>(kMoves | kAlone,
                         [](auto& engine, auto& op) { return CheckPages(engine, op); }),
    On<Tag::kSalvage>(kMoves | kAlone, [](auto& engine, auto& op) { return engine.Salvage(op); })
        .As(Audited::kImport, Place::kNowhere),
#ifndef KEEPSAKE_HOST_SQL  // without files there is nothing to encrypt
    On<Tag::kChangeKey>(kMoves | kAlone,
                        [](auto& engine, auto& op) { return engine.ChangeKey(op); })
        .As(Audited::kConfigure, Place::kNowhere),
#endif
    On<Tag::kKeepAudit>(kWrites | kWhole,
                        [](auto& engine, auto& op) {
                          return engine.audit_log().Keep(op.rule, engine.clock().NowMs());
                        })
        .As(Audited::kConfigure, Place::kNowhere),
    On<Tag::kAuditRule>(kReads | kWhole,
                        [](auto& engine, auto&) { return engine.audit_log().Rule(); }),
    On<Tag::kAuditLog>(kReads, [](auto& engine, auto& op) { return engine.ReadAuditLog(op); }),
    On<Tag::kScrub>(kBeyondRows | kAlone,
                    [](auto& engine, auto& op) { return Scrub(engine, op.pages); }),

#ifndef KEEPSAKE_HOST_SQL  // without files there is none to go back to
    On<Tag::kSyncState>(kMoves, [](auto& engine, auto&) { return engine.replica()->State(); }),
    On<Tag::kStartSync>(kMoves | kAlone,
                        [](auto& engine, auto& op) { return engine.replica()->StartSync(op); }),
    On<Tag::kStopSync>(kMoves | kAlone,
                       [](auto& engine, auto&) { return engine.replica()->StopSync(); }),
    On<Tag::kReadOutbox>(kMoves,
                         [](auto& engine, auto& op) { return engine.replica()->ReadOutbox(op); }),
    On<Tag::kConfirmOutbox>(
        kMoves | kAlone,
        [](auto& engine, auto& op) { return engine.replica()->ConfirmOutbox(op); }),
    On<Tag::kCatchUp>(kMoves | kAlone,
                      [](auto& engine, auto& op) { return engine.replica()->CatchUp(op); }),
    On<Tag::kListSetAside>(kMoves,
                           [](auto& engine, auto&) { return engine.replica()->ListSetAside(); }),
    On<Tag::kDropSetAside>(
        kMoves | kAlone, [](auto& engine, auto& op) { return engine.replica()->DropSetAside(op); }),
#endif

    On<Tag::kForeignOpen>(kOfFile, [](auto& engine, auto& op) { return engine.OpenForeign(op); }),
    On<Tag::kForeignItems>(kOfFile,
                           [](auto& engine, auto& op) -> Page<import::ForeignItem> {
                             const auto file = engine.foreign_file();
                             if (!file) return std::unexpected(file.error());
                             return (*file)->Items(op.table, op.cursor, op.limit);
                           }),
    On<Tag::kForeignCheckpoints>(kOfFile,
                                 [](auto& engine, auto& op) -> Page<import::ForeignCheckpoint> {
                                   const auto file = engine.foreign_file();
                                   if (!file) return std::unexpected(file.error());
                                   return (*file)->Checkpoints(op.cursor, op.limit);
                                 }),
    On<Tag::kForeignWrites>(kOfFile,
                            [](auto& engine, auto& op) -> Page<import::ForeignWrite> {
                              const auto file = engine.foreign_file();
                              if (!file) return std::unexpected(file.error());
                              return (*file)->Writes(op.cursor, op.limit);
                            }),
    On<Tag::kForeignClose>(kOfFile,
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
