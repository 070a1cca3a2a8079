#include "keepsake/engine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/answer_room.h"
#include "base/hash.h"
#include "engine/engine_state.h"
#include "engine/operation_table.h"
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

BatchResult RunBatch(EngineState& engine, const std::vector<Call>& calls) {
  std::vector<Operation> batch;
  batch.reserve(calls.size());
  for (const Call& call : calls) {
    if (!call.IsBatched()) continue;
    Result<Operation> operation = call.row->decode(call.view.payload);
    if (!operation) return std::unexpected(std::move(operation.error()));
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

class Engine::Opened {
 public:
  Opened(std::unique_ptr<sql::Database> database, Bytes& response)
      : state_(std::move(database)), response_(response) {}

  Status Start() { return state_.Start(); }

  void Execute(ByteView frame) {
    if (response_.capacity() > kKeptResponseBytes) response_ = Bytes();
    Result<wire::Request> request = wire::ParseRequest(frame, wire::FrameKind::kExecute);
    if (!request) return wire::WriteFailure(response_, wire::SequenceOf(frame), request.error());
    const AnswerRoom room(MostOf(*request));
    state_.clock().Set(request->header.now_ms);
    Status status = state_.Enter(request->levels);
    state_.store().SetActor(request->actor);
    if (status.ok()) status = Run(*request);
    if (!status.ok()) {
      wire::WriteFailure(response_, request->header.sequence, status);
    }
  }

 private:
  // Fails only if nothing of the request was kept.
  Status Run(const wire::Request& request) {
    if (Status status = state_.EndAbandonedExport(); !status.ok()) return status;
    const std::vector<Call> calls = CallsOf(request);
    const bool writes_rows = AnyHas(calls, kWrites);
    const bool changes_others = AnyHas(calls, kBeyondRows);
    if (state_.scoped_store() == nullptr && (writes_rows || changes_others)) state_.ForgetUsage();
    Status status = trail().Begin(request, state_.scope(), writes_rows, changes_others);
    if (!status.ok()) return status;
    const bool is_remembered =
        state_.answers() != nullptr && request.acknowledged && writes_rows && !changes_others;
    if (is_remembered) return RunOnce(request, calls);
    const bool needs_transaction = HasSeveralUnits(calls) || trail().notes_rows();
    if (state_.database() == nullptr || !needs_transaction) {
      // What is indexed here is kept, whatever the answer is.
      state_.store().LimitTextWork(kTextAtOnce);
      AnswerAll(request, calls);
      state_.store().LimitTextWork(std::nullopt);
      return WriteTrail();
    }
    if (AllHave(calls, kRepeatable) && AnswerWithoutSavepoints(request, calls)) return Status();
    return state_.InKeptTransaction([&] {
      AnswerAll(request, calls);
      return trail().Write();
    });
  }

  AuditTrail& trail() { return state_.audit_trail(); }

  // Of a request that has no transaction: what it was refused, or what it did as a whole.
  Status WriteTrail() {
    if (trail().empty()) return Status();
    if (state_.database() == nullptr) return trail().Write();
    return state_.InKeptTransaction([&] { return trail().Write(); });
  }

  // False, and nothing was done, if not all of it succeeded.
  bool AnswerWithoutSavepoints(const wire::Request& request, const std::vector<Call>& calls) {
    const Status status = state_.database()->InOneTransaction([&] {
      return AnswerAll(request, calls).failures == 0
                 ? trail().Write()
                 : Status(StatusCode::kInternal, "an operation failed");
    });
    return status.ok();
  }

  // A request that was answered gets its answer again.
  Status RunOnce(const wire::Request& request, const std::vector<Call>& calls) {
    const Answers::Caller caller = CallerOf(request);
    return state_.InKeptTransaction([&]() -> Status {
      const Result<bool> found = state_.answers()->Find(request, caller, response_);
      if (!found) return found.error();
      if (*found) return Status();
      const bool changed = AnswerAll(request, calls).changed || !trail().empty();
      if (Status status = trail().Write(); !status.ok() || !changed) return status;
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

  struct Outcome {
    bool changed = false;  // one succeeded that may have changed rows
    std::uint32_t failures = 0;
  };

  Outcome AnswerAll(const wire::Request& request, const std::vector<Call>& calls) {
    Outcome outcome;
    trail().Restart();
    ResponseWriter response(response_, wire::FrameKind::kExecute, request.header.sequence,
                            static_cast<std::uint32_t>(calls.size()));
    std::optional<BatchResult> batch;
    std::size_t next_of_batch = 0;
    for (const Call& call : calls) {
      const std::uint32_t failures = response.failures();
      const std::size_t begin = response.size();
      if (!call.IsBatched()) {
        AnswerOne(call, calls.size() == 1, response);
      } else {
        if (!batch) batch = RunBatch(state_, calls);
        if (*batch)
          RespondWith((**batch)[next_of_batch++], response);
        else
          response.Fail(state_.Leave(batch->error()));
      }
      if (call.Has(kWrites) && response.failures() == failures) outcome.changed = true;
      if (call.row != nullptr) trail().Note(call.view, call.row->audited, response.From(begin));
    }
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

  EngineState state_;
  Bytes& response_;
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
