#include "keepsake/engine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/answer_room.h"
#include "base/hash.h"
#include "engine/engine_state.h"
#include "engine/logged_request.h"
#include "engine/operation_table.h"
#ifndef KEEPSAKE_HOST_SQL
#include "engine/replica.h"
#include "store/prefix_set.h"
#endif
#include "wire/frame.h"
#include "wire/reader.h"

namespace keepsake {
namespace {

using wire::OperationView;
using wire::ResponseWriter;

// After a larger response the buffer is given back.
constexpr std::size_t kKeptResponseBytes = 1024 * 1024;

// A search by words answers kIndexing after so many bytes of text: some 30 ms of work.
constexpr std::size_t kTextAtOnce = 32 * 1024;

// The answer to a request may take so much, also where memory has more: others have to answer, too.
// One state of a thread is read as a whole, however large it is.
#if !defined(KEEPSAKE_MOST_ANSWER_MB)
#define KEEPSAKE_MOST_ANSWER_MB 256
#endif
constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kMostAnswerBytes = KEEPSAKE_MOST_ANSWER_MB * kMegabyte;
constexpr std::size_t kMostTupleBytes = 512 * kMegabyte;

std::size_t MostOf(const wire::Request& request) {
  const bool is_tuple = request.operations.size() == 1 &&
                        request.operations[0].tag == std::to_underlying(wire::Tag::kGetTuple);
  return is_tuple ? kMostTupleBytes : kMostAnswerBytes;
}

using BatchResult = Result<std::vector<OperationResult>>;

// An operation and what is known of it.
struct Call {
  const OperationRow* row = nullptr;  // null: nobody knows the tag
  OperationView view;

  bool Has(int trait) const { return row != nullptr && row->Has(trait); }
  bool IsBatched() const { return row != nullptr && row->IsBatched(); }
};

std::vector<Call> CallsOf(const wire::Request& request) {
  std::vector<Call> calls;
  calls.reserve(request.operations.size());
  for (const OperationView& view : request.operations) {
    calls.push_back({FindOperation(view.tag), view});
  }
  return calls;
}

bool AnyHas(const std::vector<Call>& calls, int trait) {
  return std::ranges::any_of(calls, [&](const Call& call) { return call.Has(trait); });
}

bool AllHave(const std::vector<Call>& calls, int trait) {
  return std::ranges::all_of(calls, [&](const Call& call) { return call.Has(trait); });
}

// All store operations together are one unit, each other operation is one.
bool HasSeveralUnits(const std::vector<Call>& calls) {
  return calls.size() > 1 && !std::ranges::all_of(calls, &Call::IsBatched);
}

// Calls `on_call` with the place of each, in the order in which they run: a batch runs where the
// first of its operations stands.
template <typename OnCall>
void ForEachAsTheyRun(const std::vector<Call>& calls, OnCall on_call) {
  bool has_batch = false;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!calls[i].IsBatched()) {
      on_call(i);
    } else if (!std::exchange(has_batch, true)) {
      for (std::size_t j = i; j < calls.size(); ++j) {
        if (calls[j].IsBatched()) on_call(j);
      }
    }
  }
}

// What a device that knows another index can't have of an item: it awaits vectors then, as one that
// was put without any.
void DropOtherVectors(Operation& operation, const std::optional<IndexConfig>& index) {
  auto* put = std::get_if<PutOp>(&operation);
  if (put == nullptr) return;
  const bool fits = std::ranges::all_of(put->vectors, [&](const FieldVector& vector) {
    return index && vector.values.size() == index->dims;
  });
  if (!fits) put->vectors.clear();
}

// Of one result of a response.
Status StatusIn(ByteView result) {
  StatusCode code{};
  std::memcpy(&code, result.data(), sizeof(code));
  const ByteView body = result.subspan(wire::kResultHeaderBytes);
  if (code == StatusCode::kOk) return {};
  return {code, std::string(body.begin(), body.end())};
}

bool IsForget(const Call& call) { return call.view.tag == std::to_underlying(wire::Tag::kForget); }

#ifndef KEEPSAKE_HOST_SQL
// Whether an operation failed for a reason that others need not have.
bool IsOfDevice(StatusCode code) {
  switch (code) {
    case StatusCode::kInvalidOperation:
    case StatusCode::kMalformedFrame:
    case StatusCode::kBusy:
    case StatusCode::kForeignFile:
    case StatusCode::kNotADatabase:
    case StatusCode::kNewerSchema:
    case StatusCode::kStorageFull:
    case StatusCode::kReadOnly:
    case StatusCode::kCorrupt:
    case StatusCode::kIoError:
    case StatusCode::kChangedOutside:
    case StatusCode::kCannotOpen:
    case StatusCode::kClosed:
    case StatusCode::kLost:
    case StatusCode::kTooLarge:
    case StatusCode::kUnsupported:
    case StatusCode::kInternal:
    case StatusCode::kIndexing:
      return true;
    default:
      return false;
  }
}

// Whether they need not wait for what is to be carried out again: they are how it is configured, or
// about that.
bool NeedRows(const std::vector<OperationView>& operations) {
  using enum wire::Tag;
  constexpr wire::Tag kOthers[] = {kConfigureStore, kLimitVectors, kSyncState,
                                   kStopSync,       kCatchUp,      kListSetAside};
  return !std::ranges::all_of(operations, [&](const OperationView& view) {
    return std::ranges::find(kOthers, static_cast<wire::Tag>(view.tag)) != std::end(kOthers);
  });
}
#endif

BatchResult RunBatch(EngineState& engine, const std::vector<Call>& calls, bool is_again) {
  std::vector<Operation> batch;
  batch.reserve(calls.size());
  for (const Call& call : calls) {
    if (!call.IsBatched()) continue;
    Result<Operation> operation = call.row->decode(call.view.payload);
    if (!operation) return std::unexpected(std::move(operation.error()));
    if (is_again) DropOtherVectors(*operation, engine.store().options().index);
    batch.push_back(std::move(*operation));
  }
  ScopedStore* scoped = engine.scoped_store();
  return scoped == nullptr ? engine.store().Batch(batch) : scoped->Batch(batch);
}

Result<wire::Open> ParseOpen(ByteView config) {
  Result<wire::Request> request = wire::ParseRequest(config, wire::FrameKind::kOpen);
  if (!request) return std::unexpected(std::move(request.error()));
  const bool is_open = request->operations.size() == 1 &&
                       request->operations[0].tag == std::to_underlying(wire::Tag::kOpen);
  if (!is_open) {
    return Error(StatusCode::kMalformedFrame, "an open frame must hold the one operation open");
  }
  return wire::Decode<wire::Open>(request->operations[0].payload);
}

}  // namespace

#ifdef KEEPSAKE_HOST_SQL
// Nothing that syncs: it needs files.
class Engine::Opened {
 public:
  Opened(std::unique_ptr<sql::Database> database, Bytes& response)
      : state_(std::move(database)), response_(response) {}

  Status Start() { return state_.Start(); }
#else
class Engine::Opened final : private Replica::Requests {
 public:
  Opened(std::unique_ptr<sql::Database> database, Bytes& response)
      : state_(std::move(database)), response_(response) {
    if (state_.database() == nullptr) return;
    Requests& requests = *this;
    replica_.emplace(state_, static_cast<sql::SqliteDatabase&>(*state_.database()), requests);
  }

  Status Start() {
    Replica* replica = replica_ ? &*replica_ : nullptr;
    Status status = state_.Start(replica, replica);
    return status.ok() && replica != nullptr ? replica->Start() : status;
  }
#endif

  void Execute(ByteView frame) {
    if (response_.capacity() > kKeptResponseBytes) response_ = Bytes();
    Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
    if (!request) return wire::WriteFailure(response_, wire::SequenceOf(frame), request.error());
    Status status = Prepare(*request);
    const AnswerRoom room(MostOf(*request));
    state_.clock().Set(request->header.now_ms);
    if (status.ok()) status = state_.Enter(request->levels);
    state_.store().SetActor(request->actor);
    if (status.ok()) status = Run(frame, *request);
    if (!status.ok()) {
      wire::WriteFailure(response_, request->header.sequence, status);
    }
    End();
  }

 private:
  struct Outcome {
    bool changed = false;  // one succeeded that may have changed rows
    std::uint32_t failures = 0;
    std::vector<StatusCode> codes;  // of each operation
    Status failure;                 // the first one
  };

  // Fails only if nothing of the request was kept.
  Status Run(ByteView frame, const wire::Request& request) {
    if (Status status = state_.EndAbandonedExport(); !status.ok()) return status;
    const std::vector<Call> calls = CallsOf(request);
    const bool writes_rows = AnyHas(calls, kWrites);
    const bool changes_others = AnyHas(calls, kBeyondRows);
    const bool forgets = calls.size() == 1 && IsForget(calls[0]);
    const bool is_logged = syncs() && (writes_rows || forgets);
    if (is_logged && changes_others && !forgets) {
      return {StatusCode::kInvalidOperation,
              "while a memory syncs, what writes to it must not be in a frame with what is of this "
              "device alone"};
    }
    // Quotas count what has not expired, at a time that is another one when it is done again.
    const bool is_whole = state_.scoped_store() == nullptr;
    if (is_logged || (is_whole && (writes_rows || changes_others))) state_.ForgetUsage();
    Status status = trail().Begin(request, state_.scope(), writes_rows, changes_others);
    if (!status.ok()) return status;
    Begin(frame, request);
    const bool is_remembered =
        state_.answers() != nullptr && request.acknowledged && writes_rows && !changes_others;
    if (is_remembered) return RunOnce(frame, request, calls);
    const bool needs_transaction = HasSeveralUnits(calls) || trail().notes_rows() || is_logged;
    if (state_.database() == nullptr || !needs_transaction) {
      // What is indexed here is kept, whatever the answer is.
      state_.store().LimitTextWork(kTextAtOnce);
      const Outcome outcome = AnswerAll(request, calls, response_);
      state_.store().LimitTextWork(std::nullopt);
      return WriteTrail(frame, request, calls, outcome);
    }
    if (AllHave(calls, kRepeatable) && AnswerWithoutSavepoints(frame, request, calls)) {
      return Status();
    }
    return state_.InKeptTransaction([&] { return AnswerAndFinish(frame, request, calls).status; });
  }

  AuditTrail& trail() { return state_.audit_trail(); }

  struct Finished {
    Status status;
    Outcome outcome;
    bool left_entries = false;
  };

  // Within a transaction.
  Finished AnswerAndFinish(ByteView frame, const wire::Request& request,
                           const std::vector<Call>& calls) {
    const std::uint64_t before = state_.database()->changes();
    Finished done{.status = {}, .outcome = AnswerAll(request, calls, response_)};
    const bool changed_rows = state_.database()->changes() != before;
    done.left_entries = !trail().empty();
    done.status = Log(frame, request, calls, done.outcome, changed_rows);
    if (done.status.ok()) done.status = trail().Write();
    return done;
  }

  // Of a request that has no transaction: what it was refused, or what it did as a whole.
  Status WriteTrail(ByteView frame, const wire::Request& request, const std::vector<Call>& calls,
                    const Outcome& outcome) {
    if (trail().empty()) return Status();
    if (state_.database() == nullptr) return trail().Write();
    // The log of a memory that syncs has nothing of one device alone.
    const bool is_of_device = AnyHas(calls, kBeyondRows) && outcome.failures < calls.size();
    if (syncs() && is_of_device) {
      trail().Restart();
      return Status();
    }
    return state_.InKeptTransaction([&] {
      Status status = Log(frame, request, calls, outcome, false);
      return status.ok() ? trail().Write() : status;
    });
  }

  // False, and nothing was done, if not all of it succeeded.
  bool AnswerWithoutSavepoints(ByteView frame, const wire::Request& request,
                               const std::vector<Call>& calls) {
    const Status status = state_.database()->InOneTransaction([&] {
      const Finished done = AnswerAndFinish(frame, request, calls);
      return done.outcome.failures == 0 ? done.status
                                        : Status(StatusCode::kInternal, "an operation failed");
    });
    return status.ok();
  }

  // A request that was answered gets its answer again.
  Status RunOnce(ByteView frame, const wire::Request& request, const std::vector<Call>& calls) {
    const Answers::Caller caller = CallerOf(request);
    return state_.InKeptTransaction([&]() -> Status {
      const Result<bool> found = state_.answers()->Find(request, caller, response_);
      if (!found) return found.error();
      if (*found) return Status();
      const Finished done = AnswerAndFinish(frame, request, calls);
      const bool changed = done.outcome.changed || done.left_entries;
      if (!done.status.ok() || !changed) return done.status;
      return state_.answers()->Keep(request, caller, response_);
    });
  }

  // Under another policy it may not be answered as it was.
  Answers::Caller CallerOf(const wire::Request& request) const {
    const Scope* scope = state_.scope();
    if (scope == nullptr) return {};
    const std::string policies = std::to_string(HashOf(request.levels));
    return {EncodeNamespace(scope->place()) + policies,
            EncodeNamespace(scope->levels().front().place).size()};
  }

  // Into `response_`, or what nobody hears of what is carried out again.
  Outcome AnswerAll(const wire::Request& request, const std::vector<Call>& calls, Bytes& out) {
    Outcome outcome;
    trail().Restart();
    ResponseWriter response(out, wire::FrameKind::kExecute, request.header.sequence,
                            static_cast<std::uint32_t>(calls.size()));
    std::optional<BatchResult> batch;
    std::size_t next_of_batch = 0;
    std::vector<std::size_t> begins;
    for (const Call& call : calls) {
      const std::size_t begin = response.size();
      if (!call.IsBatched()) {
        AnswerOne(call, calls.size() == 1, response);
      } else {
        if (!batch) batch = RunBatch(state_, calls, &out != &response_);
        if (*batch)
          RespondWith((**batch)[next_of_batch++], response);
        else
          response.Fail(state_.Leave(batch->error()));
      }
      Status status = StatusIn(response.From(begin));
      if (call.Has(kWrites) && status.ok()) outcome.changed = true;
      begins.push_back(begin);
      outcome.codes.push_back(status.code());
      if (outcome.failure.ok()) outcome.failure = std::move(status);
    }
    ForEachAsTheyRun(calls, [&](std::size_t i) {
      const Call& call = calls[i];
      if (call.row == nullptr) return;
      trail().Note(call.view, call.row->audited, response.From(begins[i]));
    });
    outcome.failures = response.failures();
    return outcome;
  }

  void AnswerOne(const Call& call, bool is_alone, ResponseWriter& response) {
    if (call.row == nullptr) {
      return response.Fail(Status(StatusCode::kInvalidOperation,
                                  "no operation has the tag " + std::to_string(call.view.tag)));
    }
    if (call.Has(kWhole) && state_.scoped_store() != nullptr) {
      return response.Fail(Status(StatusCode::kAccessDenied,
                                  "memory access denied: this is of the whole memory: ask it, not "
                                  "a scope"));
    }
    if (call.Has(kAlone) && !is_alone) {
      return response.Fail(
          Status(StatusCode::kInvalidOperation,
                 "flush, begin_export, import_from, finish_import and forget must be alone in a "
                 "frame"));
    }
    if (call.Has(kNeedsFile) && state_.database() == nullptr) {
      return response.Fail(
          Status(StatusCode::kUnsupported, "an engine in memory has no database file"));
    }
    call.row->answer(state_, call.view.payload, response);
  }

#ifdef KEEPSAKE_HOST_SQL
  static constexpr bool syncs() { return false; }
  static Status Prepare(const wire::Request&) { return {}; }
  static void Begin(ByteView, const wire::Request&) {}
  static void End() {}
  static Status Log(ByteView, const wire::Request&, const std::vector<Call>&, const Outcome&,
                    bool) {
    return {};
  }

  EngineState state_;
  Bytes& response_;
#else
  bool syncs() const { return replica_ && replica_->syncs(); }
  Status Prepare(const wire::Request& request) {
    return syncs() ? replica_->Prepare(NeedRows(request.operations)) : Status();
  }
  void Begin(ByteView frame, const wire::Request& request) {
    if (replica_) replica_->Begin(frame, request, false);
  }
  void End() {
    if (!replica_) return;
    replica_->End();
    replica_->Ended();
  }

  // Within the transaction of what the request did.
  Status Log(ByteView frame, const wire::Request& request, const std::vector<Call>& calls,
             const Outcome& outcome, bool changed_rows) {
    if (!syncs()) return {};
    const Result<bool> notes = trail().WillWrite();
    if (!notes) return notes.error();
    if (!changed_rows && !*notes) return {};
    std::vector<OperationView> logged;
    auto kind = sync::RequestKind::kNote;
    ForEachAsTheyRun(calls, [&](std::size_t i) {
      const Call& call = calls[i];
      const bool forgets = IsForget(call);
      const bool is_done = outcome.codes[i] == StatusCode::kOk && !IsDry(call.view) &&
                           (call.Has(kWrites) || forgets);
      if (!is_done && !(*notes && IsRefusal(outcome.codes[i]))) return;
      logged.push_back(call.view);
      if (is_done && changed_rows) {
        kind = forgets ? sync::RequestKind::kErasure : sync::RequestKind::kWrite;
      }
    });
    if (logged.empty()) return {};
    return replica_->Log(WithOperations(frame, request, logged), kind);
  }

  Result<Replica::Outcome> CarryOut(ByteView frame) override {
    Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
    if (!request) return std::unexpected(std::move(request.error()));
    const std::vector<Call> calls = CallsOf(*request);
    for (const Call& call : calls) {
      if (Status status = CheckLogged(call, *request); !status.ok()) {
        return std::unexpected(std::move(status));
      }
    }
    const AnswerRoom room(MostOf(*request));
    const std::int64_t now_ms = state_.clock().NowMs();
    state_.clock().Set(request->header.now_ms);
    Result<Replica::Outcome> outcome = CarryOutCalls(frame, *request, calls);
    trail().Restart();
    replica_->End();
    state_.clock().Set(now_ms);
    Status status = state_.Enter({});
    if (outcome && !status.ok()) return std::unexpected(std::move(status));
    return outcome;
  }

  Result<Replica::Outcome> CarryOutCalls(ByteView frame, const wire::Request& request,
                                         const std::vector<Call>& calls) {
    Status status = state_.Enter(request.levels);
    if (!status.ok()) return std::unexpected(std::move(status));
    state_.store().SetActor(request.actor);
    state_.ForgetUsage();
    status =
        trail().Begin(request, state_.scope(), AnyHas(calls, kWrites), AnyHas(calls, kBeyondRows));
    if (!status.ok()) return std::unexpected(std::move(status));
    replica_->Begin(frame, request, true);
    Outcome done = AnswerAll(request, calls, carried_out_);
    Replica::Outcome outcome{.changed = done.changed || replica_->has_restarted_ttls()};
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (IsOfDevice(done.codes[i])) return std::unexpected(std::move(done.failure));
      if (IsForget(calls[i]) && done.codes[i] == StatusCode::kOk) outcome.changed = true;
    }
    outcome.failure = std::move(done.failure);
    const Result<bool> notes = trail().WillWrite();
    if (!notes) return std::unexpected(notes.error());
    outcome.noted = *notes;
    status = trail().Write();
    if (!status.ok()) return std::unexpected(std::move(status));
    return outcome;
  }

  bool IsAbout(ByteView frame, const Erasure& erasure) const override {
    const Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
    if (!request) return true;
    Namespace place;
    std::string thread_prefix;
    if (!request->levels.empty()) {
      auto levels = wire::Decode<std::vector<ScopeLevel>>(request->levels);
      if (!levels) return true;
      const Result<Scope> scope = Scope::Make(*std::move(levels));
      if (!scope) return true;
      place = scope->place();
      thread_prefix = scope->thread_prefix();
    }
    PrefixSet erased;
    for (const Namespace& ns : erasure.namespaces) erased.Add(EncodeNamespace(ns));
    for (const Call& call : CallsOf(*request)) {
      if (call.row == nullptr) return true;
      const auto [ns, thread] = PlaceIn(call.view, call.row->audited.place);
      if (ns && erased.Covers(EncodeNamespace(place) + EncodeNamespace(*ns))) return true;
      if (!thread) continue;
      const std::string id = thread_prefix + *thread;
      const bool is_below = erasure.thread_prefix && id.starts_with(*erasure.thread_prefix);
      if (is_below || std::ranges::find(erasure.threads, id) != erasure.threads.end()) return true;
    }
    return false;
  }

  // What is not known, or is of one device, is in no log that this core can follow.
  static Status CheckLogged(const Call& call, const wire::Request& request) {
    if (call.row == nullptr) {
      return {StatusCode::kNewerSchema, "it holds an operation of a newer keepsake, of the tag " +
                                            std::to_string(call.view.tag) + ": update this one"};
    }
    const bool is_denied = call.Has(kWhole) && !request.levels.empty();
    if (!call.Has(kBeyondRows) || IsForget(call) || is_denied) return {};
    return {StatusCode::kInvalidOperation,
            "it holds an operation that is of one device alone, of the tag " +
                std::to_string(call.view.tag)};
  }

  EngineState state_;
  Bytes& response_;
  Bytes carried_out_;
  std::optional<Replica> replica_;
#endif
};

Engine::Engine() : response_(own_response_) {}
Engine::Engine(Bytes& response) : response_(response) {}
Engine::~Engine() = default;

ByteView Engine::Open(ByteView config) {
  const auto open = [&]() -> Status {
    if (opened_ != nullptr) {
      return Status(StatusCode::kConflictingOptions, "the engine is open already");
    }
    Result<wire::Open> wanted = ParseOpen(config);
    if (!wanted) return wanted.error();
    std::unique_ptr<sql::Database> database;
    if (wanted->database) {
      Result<std::unique_ptr<sql::Database>> opened = sql::OpenDatabase(*wanted->database);
      if (!opened) return opened.error();
      database = std::move(*opened);
    }
    auto engine = std::make_unique<Opened>(std::move(database), response_);
    if (Status status = engine->Start(); !status.ok()) return status;
    opened_ = std::move(engine);
    return Status();
  };
  const std::uint64_t sequence = wire::SequenceOf(config);
  if (Status status = open(); !status.ok()) {
    wire::WriteFailure(response_, sequence, status);
  } else {
    ResponseWriter(response_, wire::FrameKind::kOpen, sequence, 1).Answer(wire::Nothing());
  }
  return response_;
}

ByteView Engine::Execute(ByteView request) {
  if (opened_ != nullptr) {
    opened_->Execute(request);
  } else {
    wire::WriteFailure(response_, wire::SequenceOf(request),
                       Status(StatusCode::kClosed, "the engine is not open"));
  }
  return response_;
}

void Engine::Close() { opened_.reset(); }

}  // namespace keepsake
