#include "engine/replica.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/hash.h"
#include "engine/logged_request.h"

namespace keepsake {
namespace {

using sync::Head;
using sync::LogRecord;
using sync::OutboxRow;
using sync::RequestKind;

// With more in SQLite's log, what is confirmed is moved into the file, although something waits.
constexpr std::uint64_t kWorthMoving = std::uint64_t{16} << 20;
// With more, the log is let go, although the file can't go back then.
constexpr std::uint64_t kMostInLog = std::uint64_t{64} << 20;
constexpr std::size_t kMostBytesOfId = 1024;
// As JavaScript has them.
constexpr std::uint64_t kMostNumber = std::uint64_t{1} << 53;

constexpr std::string_view kBeginScrub =
    "INSERT OR REPLACE INTO meta(name, value) VALUES('scrub', '1')";

Status Invalid(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }

// What undoes a request, and says nothing.
Status NothingChanged() { return {StatusCode::kInternal, "the request changes nothing"}; }

}  // namespace

// A closed file has all of the memory, because people copy it without the log beside it. So one
// with something that waits can't go back: if others have written, it takes the memory as a whole.
// Nothing can be told of a failure here: the log stays beside the file then, as after a crash.
Replica::~Replica() {
  if (!is_on_ || !is_held_) return;
  const Result<Head> head = ReadHead();
  if (!head) return;
  const Result<bool> applied = outbox_.HasApplied(*head);
  if (applied && (!*applied || LetLogMove().ok())) database_.HoldLog(false);
}

Status Replica::Start() {
  const Result<std::optional<Head>> head = outbox_.ReadHead();
  if (!head) return head.error();
  is_on_ = head->has_value();
  if (!is_on_) return {};
  is_behind_ = (*head)->is_behind;
  is_held_ = (*head)->is_held;
  state_.SetSyncs(true);
  const Result<bool> applied = outbox_.HasApplied(**head);
  if (!applied) return applied.error();
  has_base_ = is_held_ && *applied;
  return {};
}

Result<Head> Replica::ReadHead() {
  Result<std::optional<Head>> head = outbox_.ReadHead();
  if (!head) return std::unexpected(std::move(head.error()));
  if (*head) return **std::move(head);
  return std::unexpected(Invalid("the memory does not sync: startSync() begins it"));
}

Status Replica::InTransaction(FunctionRef<Status()> body) { return state_.InKeptTransaction(body); }

void Replica::Hold(bool wanted) {
  is_held_ = wanted;
  database_.HoldLog(wanted);
}

void Replica::MakeBase() {
  if (!has_base_ && is_held_) has_base_ = database_.MoveHeldLog().ok();
}

Result<bool> Replica::Settle() {
  Result<Head> head = ReadHead();
  if (!head) return std::unexpected(std::move(head.error()));
  const Result<bool> waits = outbox_.HasWaiting(*head);
  if (!waits || *waits || database_.is_file_exported()) return waits;
  const Result<bool> applied = outbox_.HasApplied(*head);
  if (!applied) return applied;
  if (*applied || !head->is_held) {
    Status status = InTransaction([&]() -> Status {
      head->is_held = true;
      Status written = DeleteUpTo(head->confirmed);
      return written.ok() ? outbox_.WriteHead(*head) : written;
    });
    if (!status.ok()) return std::unexpected(std::move(status));
  }
  has_base_ = false;
  Hold(true);
  MakeBase();
  return waits;
}

// ---- around each request

Status Replica::Prepare(bool needs_rows) {
  if (!is_on_) return {};
  if (!is_behind_) {
    MakeBase();
    return {};
  }
  return needs_rows ? CarryOutWaiting(nullptr) : Status();
}

void Replica::Begin(ByteView frame, const wire::Request& request, bool is_again) {
  request_ = &request;
  is_again_ = is_again;
  has_restarted_ttls_ = false;
  constexpr std::uint64_t kMark = (std::uint64_t{1} << kMarkBits) - 1;
  // Whatever else is in the frame may be left out of the log.
  mark_ = static_cast<std::int64_t>(HashOf(frame.first(request.operations_at)) & kMark);
}

Status Replica::TtlsRestarted(std::span<const ItemRef> items) {
  has_restarted_ttls_ = true;
  if (is_again_ || request_ == nullptr || !is_on_) return {};
  return Log(RestartingGets(request_->header, items), RequestKind::kNote);
}

Status Replica::Forget(const Erasure& erasure) {
  const auto rows = outbox_.ListSetAside();
  if (!rows) return rows.error();
  std::vector<std::uint64_t> gone;
  for (const sync::SetAside& row : *rows) {
    if (requests_.IsAbout(row.request, erasure)) gone.push_back(row.sequence);
  }
  return outbox_.DropSetAside(gone);
}

Result<bool> Replica::HoldsForgotten() { return is_on_ ? outbox_.HasErasure(kMostNumber) : false; }

Status Replica::Log(Bytes request, RequestKind kind) {
  was_logged_ = true;
  if (!has_base_ && is_held_) {
    // The file could not be made what the memory is: going back would lose something.
    Result<Head> head = ReadHead();
    if (!head) return std::move(head.error());
    head->is_held = false;
    lets_go_ = true;
    if (Status status = outbox_.WriteHead(*head); !status.ok()) return status;
  }
  return outbox_.Append({.at_ms = request_->header.now_ms, .kind = kind, .request = request});
}

void Replica::Ended() {
  if (std::exchange(lets_go_, false)) {
    // Unless that was undone.
    const Result<Head> head = ReadHead();
    if (head) Hold(head->is_held);
  }
  if (!std::exchange(was_logged_, false) || !is_held_) return;
  const Result<std::uint64_t> bytes = database_.LogBytes();
  // If it can't be let go, the next request tries again.
  if (bytes && *bytes > kMostInLog) static_cast<void>(LetLogMove());
}

// ---- before something moves SQLite's log

Status Replica::Flush() {
  if (!is_on_ || !is_held_) return database_.Flush();
  const Result<bool> waits = Settle();
  if (!waits) return waits.error();
  if (*waits || database_.is_file_exported()) return database_.Flush();
  // As a file is flushed that does not sync.
  database_.HoldLog(false);
  Status status = database_.Flush();
  database_.HoldLog(true);
  has_base_ = status.ok();
  return status;
}

Status Replica::LetLogMove() {
  if (!is_on_ || !is_held_) return {};
  const Result<bool> waits = Settle();
  if (!waits) return waits.error();
  if (!*waits) return {};
  Result<Head> head = ReadHead();
  if (!head) return std::move(head.error());
  Status status = InTransaction([&]() -> Status {
    head->is_held = false;
    Status written = outbox_.WriteHead(*head);
    return written.ok() ? DeleteUpTo(head->confirmed) : written;
  });
  if (!status.ok()) return status;
  has_base_ = false;
  Hold(false);
  return {};
}

// If it can't, it is done later.
void Replica::MoveLogIfNothingWaits() {
  if (is_on_) static_cast<void>(Settle());
}

// ---- operations

Result<std::optional<sync::State>> Replica::State() {
  const Result<std::optional<Head>> head = outbox_.ReadHead();
  if (!head) return std::unexpected(head.error());
  if (!*head) return std::optional<sync::State>();
  return outbox_.ReadState(**head);
}

Status Replica::StartSync(const wire::StartSync& start) {
  if (start.log_id.empty() || start.log_id.size() > kMostBytesOfId) {
    return Invalid("log_id must have 1 to " + std::to_string(kMostBytesOfId) + " bytes");
  }
  if (start.number >= kMostNumber) return Invalid("number of a record must be less than 2^53");
  if (start.marks_only && !is_on_) {
    marks_only_ = true;
    return {};
  }
  if (database_.InMemory()) {
    return {StatusCode::kUnsupported, "a database in memory can't sync: give it a file"};
  }
  if (is_on_) {
    const Result<Head> head = ReadHead();
    if (!head) return head.error();
    if (head->log_id == start.log_id) return {};
    return {StatusCode::kConflictingOptions,
            "the memory syncs with another log: stopSync() ends that first"};
  }
  const auto import = state_.rows_in().State();
  if (!import) return import.error();
  if (*import) {
    return {StatusCode::kUnsupported, "an import is not finished: finish it, or give it up, first"};
  }
  Status status = InTransaction([&] {
    return outbox_.Begin(
        {.log_id = start.log_id, .number = start.number, .digest = start.digest, .is_held = true});
  });
  if (!status.ok()) return status;
  is_on_ = true;
  is_behind_ = has_base_ = false;
  state_.SetSyncs(true);
  Hold(true);
  MakeBase();
  return {};
}

Status Replica::StopSync() {
  if (!is_on_) return {};
  if (is_behind_) {
    if (Status status = CarryOutWaiting(nullptr); !status.ok()) return status;
  }
  Status status = InTransaction([&] { return outbox_.End(); });
  if (!status.ok()) return status;
  is_on_ = has_base_ = false;
  state_.SetSyncs(false);
  Hold(false);
  return database_.Flush();
}

Result<std::vector<sync::OutboxEntry>> Replica::ReadOutbox(const wire::ReadOutbox& read) {
  const Result<Head> head = ReadHead();
  if (!head) return std::unexpected(head.error());
  return outbox_.ReadWaiting(*head, read.after, read.max_bytes);
}

Status Replica::ConfirmOutbox(const wire::ConfirmOutbox& confirm) {
  Result<Head> head = ReadHead();
  if (!head) return std::move(head.error());
  const bool is_again = confirm.number == head->number && confirm.digest == head->digest &&
                        confirm.up_to <= head->confirmed;
  if (is_again) return {};
  if (confirm.number != head->number + 1) {
    return Invalid("the record to confirm must be the one after " + std::to_string(head->number) +
                   ", which was carried out last: " + std::to_string(confirm.number));
  }
  return Confirm(confirm.number, confirm.digest, confirm.up_to, *head);
}

Status Replica::Confirm(std::uint64_t number, ByteView digest, std::uint64_t up_to, Head& head) {
  const Result<std::uint64_t> last = outbox_.LastSequence();
  if (!last) return last.error();
  if (up_to <= head.confirmed || up_to > *last) {
    return Invalid("what a record confirms must be requests that wait, from " +
                   std::to_string(head.confirmed + 1) + " to " + std::to_string(*last) + ": " +
                   std::to_string(up_to));
  }
  // While the file is exported, it stays what it is, and needs what is confirmed to go back.
  const bool is_empty = up_to == *last && !database_.is_file_exported();
  Status status = InTransaction([&]() -> Status {
    head.number = number;
    head.digest.assign(digest.begin(), digest.end());
    head.confirmed = up_to;
    if (is_empty) head.is_held = true;
    const bool keeps = head.is_held && !is_empty;
    Status written = keeps ? Status() : DeleteUpTo(up_to);
    return written.ok() ? outbox_.WriteHead(head) : written;
  });
  if (!status.ok()) return status;
  if (is_empty) {
    has_base_ = false;
    Hold(true);
    MakeBase();
    return {};
  }
  const Result<std::uint64_t> bytes = is_held_ ? database_.LogBytes() : 0;
  const bool is_long = bytes && *bytes > kWorthMoving && has_base_;
  // What of it can't be done is done by the next request.
  if (is_long && !database_.is_file_exported()) static_cast<void>(BeginAnew(head));
  return {};
}

// SQLite's log is long: it holds what is confirmed and what is not.
Status Replica::BeginAnew(Head& head) {
  Status status = GoBack(head);
  if (status.ok()) status = CarryOutConfirmed(head);
  return status.ok() ? CarryOutWaiting(nullptr) : status;
}

Status Replica::DeleteUpTo(std::uint64_t sequence) {
  const Result<bool> forgot = outbox_.HasErasure(sequence);
  if (!forgot) return forgot.error();
  Status status = outbox_.DeleteUpTo(sequence);
  // What was forgotten may be in the pages of these rows.
  return status.ok() && *forgot ? database_.Run(kBeginScrub) : status;
}

Result<sync::CaughtUp> Replica::CatchUp(const sync::CatchUp& catch_up) {
  Result<Head> head = ReadHead();
  if (!head) return std::unexpected(std::move(head.error()));
  if (database_.is_file_exported()) {
    return Error(StatusCode::kBusy, "an export of the file is being read: catch up when it ends");
  }
  // What was put there, and nobody heard of it.
  for (const LogRecord& record : catch_up.records) {
    if (head->is_behind) break;
    if (record.number != head->number + 1) continue;
    const auto own = OwnIn(record, *head);
    if (!own) return std::unexpected(own.error());
    if (own->empty()) break;
    Status status = Confirm(record.number, record.digest, own->back().sequence, *head);
    if (!status.ok()) return std::unexpected(std::move(status));
    head = ReadHead();
    if (!head) return std::unexpected(std::move(head.error()));
  }
  const Result<std::span<const LogRecord>> records = Following(catch_up, *head);
  if (!records) return std::unexpected(records.error());
  Status status;
  sync::CaughtUp done;
  if (!catch_up.image.empty()) {
    status = GoBackTo(catch_up, *head);
  } else if (!records->empty() && !head->is_behind) {
    const Result<bool> waits = outbox_.HasWaiting(*head);
    if (!waits) return std::unexpected(waits.error());
    if (*waits && !has_base_) {
      return Error(
          StatusCode::kConflictingOptions,
          "the file can't go back to what is confirmed: give an image of a record, and the "
          "records after it");
    }
    if (*waits) status = GoBack(*head);
  }
  if (status.ok() && head->is_behind) status = CarryOutConfirmed(*head);
  for (const LogRecord& record : *records) {
    if (status.ok()) status = CarryOutRecord(record, *head);
  }
  if (status.ok() && head->is_behind) {
    status = CarryOutWaiting(&done.failed);
  } else if (status.ok()) {
    MakeBase();
  }
  if (!status.ok()) return std::unexpected(std::move(status));
  head = ReadHead();
  if (!head) return std::unexpected(std::move(head.error()));
  done.applied = head->number;
  return done;
}

Result<std::span<const LogRecord>> Replica::Following(const sync::CatchUp& catch_up,
                                                      const Head& head) {
  const bool has_image = !catch_up.image.empty();
  std::uint64_t number = has_image ? catch_up.image_number : head.number;
  std::span<const LogRecord> records(catch_up.records);
  while (!records.empty() && records.front().number <= number) {
    const LogRecord& known = records.front();
    if (!has_image && known.number == head.number && known.digest != head.digest) {
      return std::unexpected(Invalid("record " + std::to_string(known.number) +
                                     " is another one than was carried out here"));
    }
    records = records.subspan(1);
  }
  for (const LogRecord& record : records) {
    if (record.number != ++number || number >= kMostNumber) {
      return std::unexpected(Invalid("records must follow each other: after " +
                                     std::to_string(number - 1) + " comes " +
                                     std::to_string(record.number)));
    }
  }
  if (number >= head.number) return records;
  return std::unexpected(Invalid("an image and what follows it must lead to record " +
                                 std::to_string(head.number) + ", which was carried out here"));
}

Result<std::vector<OutboxRow>> Replica::OwnIn(const LogRecord& record, const Head& head) {
  std::vector<OutboxRow> own;
  Result<std::vector<OutboxRow>> rows = outbox_.ReadAfter(head.confirmed, record.requests.size());
  if (!rows || rows->empty()) return rows;
  const auto is_same = [](const OutboxRow& row, const Bytes& request) {
    return row.request == request;
  };
  return std::ranges::equal(*rows, record.requests, is_same) ? *std::move(rows) : own;
}

Status Replica::GoBack(Head& head) {
  const auto rows = sync::DeviceRows::Of(database_, head);
  if (!rows) return rows.error();
  Status status = database_.GoBack([&](sql::Database& then) { return rows->PutInto(then); });
  const Status after = AfterGoingBack(head);
  return status.ok() ? after : status;
}

Status Replica::GoBackTo(const sync::CatchUp& catch_up, Head& head) {
  const auto rows = sync::DeviceRows::Of(database_, head);
  if (!rows) return rows.error();
  Status status = database_.GoBackTo({.path = catch_up.image, .vfs = ""}, [&](sql::Database& then) {
    return rows->PutIntoImage(then, catch_up.image_number, catch_up.image_digest);
  });
  if (!status.ok()) return status;
  has_base_ = false;
  Hold(true);
  return AfterGoingBack(head);
}

// Also if it failed: then it may have gone back, or not.
Status Replica::AfterGoingBack(Head& head) {
  Result<Head> now = ReadHead();
  if (!now) return std::move(now.error());
  is_behind_ = now->is_behind;
  head = *std::move(now);
  // Whoever reads rows for an export would miss that they are others now.
  Status status = state_.rows_out().End();
  if (status.ok()) status = state_.rows_in().Discard();
  const Status renewed = state_.Renew();
  return status.ok() ? renewed : status;
}

// What is in the log is carried out, whatever comes of it: so it is everywhere.
Status Replica::CarryOutConfirmed(Head& head) {
  if (head.applied >= head.confirmed) return {};
  Result<std::vector<OutboxRow>> rows = outbox_.ReadAfter(head.applied);
  if (!rows) return std::move(rows.error());
  std::erase_if(*rows, [&](const OutboxRow& row) { return row.sequence > head.confirmed; });
  has_base_ = false;
  return InTransaction([&]() -> Status {
    for (const OutboxRow& row : *rows) {
      Result<Outcome> outcome = requests_.CarryOut(row.request);
      if (!outcome) return std::move(outcome.error());
    }
    head.applied = head.confirmed;
    Status status = DeleteUpTo(head.confirmed);
    return status.ok() ? outbox_.WriteHead(head) : status;
  });
}

Status Replica::CarryOutRecord(const LogRecord& record, Head& head) {
  const Result<std::vector<OutboxRow>> own = OwnIn(record, head);
  if (!own) return own.error();
  has_base_ = false;
  return InTransaction([&]() -> Status {
    for (const Bytes& request : record.requests) {
      Result<Outcome> outcome = requests_.CarryOut(request);
      if (outcome) continue;
      return {outcome.error().code(), "record " + std::to_string(record.number) +
                                          " of the log: " + outcome.error().message()};
    }
    head.number = record.number;
    head.digest = record.digest;
    if (!own->empty()) head.confirmed = head.applied = own->back().sequence;
    // The file is further when it is made what the memory is.
    Status status = DeleteUpTo(head.confirmed);
    return status.ok() ? outbox_.WriteHead(head) : status;
  });
}

Status Replica::CarryOutWaiting(std::vector<sync::FailedRequest>* failed) {
  MakeBase();
  Result<Head> head = ReadHead();
  if (!head) return std::move(head.error());
  const Result<std::vector<OutboxRow>> rows = outbox_.ReadAfter(head->applied);
  if (!rows) return rows.error();
  const bool holds = has_base_ && is_held_;
  std::vector<sync::FailedRequest> refused;
  Status status = InTransaction([&]() -> Status {
    refused.clear();
    for (const OutboxRow& row : *rows) {
      Status done;
      if (row.sequence > head->confirmed) {
        done = CarryOutAgain(row, refused);
      } else if (Result<Outcome> outcome = requests_.CarryOut(row.request); !outcome) {
        done = std::move(outcome.error());
      }
      if (!done.ok()) return done;
      head->applied = row.sequence;
    }
    head->is_behind = false;
    const Result<bool> waits = outbox_.HasWaiting(*head);
    if (!waits) return waits.error();
    head->is_held = holds || !*waits;
    return outbox_.WriteHead(*head);
  });
  if (!status.ok()) return status;
  is_behind_ = false;
  if (head->is_held != is_held_) Hold(head->is_held);
  if (failed != nullptr) *failed = std::move(refused);
  // All of it may have been set aside.
  const Result<bool> waits = is_held_ ? Settle() : true;
  return waits ? Status() : waits.error();
}

// What was done once, and is refused now, is set aside. What was no write is left out.
Status Replica::CarryOutAgain(const OutboxRow& row, std::vector<sync::FailedRequest>& failed) {
  Result<Outcome> outcome;
  Status status = database_.InTransaction([&]() -> Status {
    outcome = requests_.CarryOut(row.request);
    if (!outcome) return outcome.error();
    const bool is_done = outcome->changed || (row.kind == RequestKind::kNote && outcome->noted);
    return is_done ? Status() : NothingChanged();
  });
  if (status.ok()) return {};
  if (!outcome || status.code() != NothingChanged().code()) return status;
  state_.audit_log().Reset();
  if (row.kind == RequestKind::kNote || outcome->failure.ok()) return outbox_.Drop(row.sequence);
  failed.push_back({row.sequence, outcome->failure.code(), outcome->failure.message()});
  return outbox_.SetAside(row, outcome->failure);
}

Result<std::vector<sync::SetAside>> Replica::ListSetAside() {
  const Result<Head> head = ReadHead();
  if (!head) return std::unexpected(head.error());
  return outbox_.ListSetAside();
}

Status Replica::DropSetAside(const wire::DropSetAside& drop) {
  const Result<Head> head = ReadHead();
  if (!head) return head.error();
  return InTransaction([&] { return outbox_.DropSetAside(drop.sequences); });
}

}  // namespace keepsake
