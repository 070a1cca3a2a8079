#include "sync/outbox.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "sql/migrations.h"

namespace keepsake::sync {
namespace {

using sql::Param;
using sql::Row;

constexpr std::string_view kIsThere =
    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'sync_state'";
constexpr std::string_view kReadHead =
    "SELECT log_id, number, digest, confirmed, applied, is_behind,"
    " EXISTS (SELECT 1 FROM meta WHERE name = 'log_held') FROM sync_state";
constexpr std::string_view kWriteHead =
    "INSERT OR REPLACE INTO sync_state(log_id, number, digest, confirmed, applied, is_behind)"
    " VALUES(?, ?, ?, ?, ?, ?)";
constexpr std::string_view kDropHeads = "DELETE FROM sync_state WHERE log_id <> ?";
constexpr std::string_view kHold =
    "INSERT OR IGNORE INTO meta(name, value) VALUES('log_held', '1')";
constexpr std::string_view kLetGo = "DELETE FROM meta WHERE name = 'log_held'";

constexpr std::string_view kAppend =
    "INSERT INTO sync_outbox(sequence, at_ms, kind, request)"
    " SELECT 1 + max(COALESCE((SELECT max(sequence) FROM sync_outbox), 0),"
    "  COALESCE((SELECT max(sequence) FROM sync_set_aside), 0), max(confirmed, applied)), ?, ?, ?"
    " FROM sync_state";
constexpr std::string_view kInsert =
    "INSERT INTO sync_outbox(sequence, at_ms, kind, request) VALUES(?, ?, ?, ?)";
constexpr std::string_view kDeleteUpTo = "DELETE FROM sync_outbox WHERE sequence <= ?";
constexpr std::string_view kDelete = "DELETE FROM sync_outbox WHERE sequence = ?";
constexpr std::string_view kDeleteAll = "DELETE FROM sync_outbox";
constexpr std::string_view kAnyUpTo = "SELECT 1 FROM sync_outbox WHERE sequence <= ? LIMIT 1";
constexpr std::string_view kAnyAfter = "SELECT 1 FROM sync_outbox WHERE sequence > ? LIMIT 1";
constexpr std::string_view kAnyErasure =
    "SELECT 1 FROM sync_outbox WHERE sequence <= ? AND kind = ? LIMIT 1";
constexpr std::string_view kLast = "SELECT COALESCE(max(sequence), 0) FROM sync_outbox";
constexpr std::string_view kReadAfter =
    "SELECT sequence, at_ms, kind, request FROM sync_outbox WHERE sequence > ? ORDER BY sequence";
constexpr std::string_view kMeasure =
    "SELECT count(*), COALESCE(sum(length(request)), 0), min(at_ms) FROM sync_outbox"
    " WHERE sequence > ?";

constexpr std::string_view kSetAside =
    "INSERT INTO sync_set_aside(sequence, at_ms, code, message, request) VALUES(?, ?, ?, ?, ?)";
constexpr std::string_view kCountSetAside = "SELECT count(*) FROM sync_set_aside";
constexpr std::string_view kReadSetAside =
    "SELECT sequence, at_ms, code, message, request FROM sync_set_aside ORDER BY sequence";
constexpr std::string_view kDropSetAside = "DELETE FROM sync_set_aside WHERE sequence = ?";
constexpr std::string_view kDropAllSetAside = "DELETE FROM sync_set_aside";

constexpr std::string_view kReadAnswers =
    "SELECT client_id, place, sequence, answered_at_ms, response FROM answers";
constexpr std::string_view kDropAnswers = "DELETE FROM answers";
constexpr std::string_view kPutAnswer =
    "INSERT INTO answers(client_id, place, sequence, answered_at_ms, response)"
    " VALUES(?, ?, ?, ?, ?)";

// Below 2^53, as JavaScript has them.
std::int64_t Signed(std::uint64_t number) { return static_cast<std::int64_t>(number); }
std::uint64_t Unsigned(std::int64_t number) { return static_cast<std::uint64_t>(number); }

Bytes Copied(ByteView bytes) { return Bytes(bytes.begin(), bytes.end()); }

Result<bool> Any(sql::Database& database, std::string_view sql,
                 std::initializer_list<Param> params = {}) {
  bool found = false;
  Status status = database.Run(sql, params, [&](const Row&) {
    found = true;
    return false;
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return found;
}

}  // namespace

Status Outbox::Begin(const Head& head) {
  Status status = sql::MakeTables(database_, sql::TableGroup::kSync);
  return status.ok() ? WriteHead(head) : status;
}

Status Outbox::End() {
  Status status = sql::DropTables(database_, sql::TableGroup::kSync);
  return status.ok() ? database_.Run(kLetGo) : status;
}

Result<std::optional<Head>> Outbox::ReadHead() {
  std::optional<Head> head;
  const Result<bool> is_there = Any(database_, kIsThere);
  if (!is_there) return std::unexpected(is_there.error());
  if (!*is_there) return head;
  Status status = database_.Run(kReadHead, {}, [&](const Row& row) {
    head = {.log_id = std::string(row.Text(0)),
            .number = Unsigned(row.Int(1)),
            .digest = Copied(row.Blob(2)),
            .confirmed = Unsigned(row.Int(3)),
            .applied = Unsigned(row.Int(4)),
            .is_behind = row.Int(5) != 0,
            .is_held = row.Int(6) != 0};
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return head;
}

Status Outbox::WriteHead(const Head& head) {
  Status status = database_.Run(
      kWriteHead, {std::string_view(head.log_id), Signed(head.number), ByteView(head.digest),
                   Signed(head.confirmed), Signed(head.applied), std::int64_t{head.is_behind}});
  return status.ok() ? database_.Run(head.is_held ? kHold : kLetGo) : status;
}

Status Outbox::Append(const OutboxRow& row) {
  return database_.Run(
      kAppend, {row.at_ms, std::int64_t{std::to_underlying(row.kind)}, ByteView(row.request)});
}

Status Outbox::DeleteUpTo(std::uint64_t sequence) {
  return database_.Run(kDeleteUpTo, {Signed(sequence)});
}

Status Outbox::SetAside(const OutboxRow& row, const Status& why) {
  Status status = database_.Run(
      kSetAside, {Signed(row.sequence), row.at_ms, std::int64_t{std::to_underlying(why.code())},
                  std::string_view(why.message()), ByteView(row.request)});
  return status.ok() ? Drop(row.sequence) : status;
}

Status Outbox::Drop(std::uint64_t sequence) { return database_.Run(kDelete, {Signed(sequence)}); }

Result<bool> Outbox::HasApplied(const Head& head) {
  return head.is_behind ? Any(database_, kAnyUpTo, {Signed(head.applied)})
                        : Any(database_, kAnyAfter, {std::int64_t{0}});
}

Result<bool> Outbox::HasWaiting(const Head& head) {
  return Any(database_, kAnyAfter, {Signed(head.confirmed)});
}

Result<bool> Outbox::HasErasure(std::uint64_t up_to) {
  return Any(database_, kAnyErasure,
             {Signed(up_to), std::int64_t{std::to_underlying(RequestKind::kErasure)}});
}

Result<std::uint64_t> Outbox::LastSequence() {
  std::uint64_t last = 0;
  Status status = database_.Run(kLast, {}, [&](const Row& row) { last = Unsigned(row.Int(0)); });
  if (!status.ok()) return std::unexpected(std::move(status));
  return last;
}

Result<std::vector<OutboxRow>> Outbox::ReadAfter(std::uint64_t sequence, std::size_t most) {
  std::vector<OutboxRow> rows;
  Status status = database_.Run(kReadAfter, {Signed(sequence)}, [&](const Row& row) {
    if (rows.size() == most) return false;
    rows.push_back({.sequence = Unsigned(row.Int(0)),
                    .at_ms = row.Int(1),
                    .kind = static_cast<RequestKind>(row.Int(2)),
                    .request = Copied(row.Blob(3))});
    return true;
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return rows;
}

Result<State> Outbox::ReadState(const Head& head) {
  State state{.log_id = head.log_id,
              .number = head.number,
              .digest = head.digest,
              .needs_image = !head.is_held};
  Status status = database_.Run(kMeasure, {Signed(head.confirmed)}, [&](const Row& row) {
    state.waiting = Unsigned(row.Int(0));
    state.waiting_bytes = Unsigned(row.Int(1));
    if (!row.IsNull(2)) state.waiting_since_ms = row.Int(2);
  });
  if (status.ok()) {
    status = database_.Run(kCountSetAside, {},
                           [&](const Row& row) { state.set_aside = Unsigned(row.Int(0)); });
  }
  if (!status.ok()) return std::unexpected(std::move(status));
  return state;
}

Result<std::vector<OutboxEntry>> Outbox::ReadWaiting(const Head& head, std::uint64_t after,
                                                     std::uint64_t max_bytes) {
  std::vector<OutboxEntry> entries;
  std::uint64_t bytes = 0;
  const std::uint64_t from = std::max(after, head.confirmed);
  Status status = database_.Run(kReadAfter, {Signed(from)}, [&](const Row& row) {
    bytes += row.Blob(3).size();
    if (!entries.empty() && bytes > max_bytes) return false;
    entries.push_back({Unsigned(row.Int(0)), Copied(row.Blob(3))});
    return true;
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return entries;
}

Result<std::vector<sync::SetAside>> Outbox::ListSetAside() {
  std::vector<sync::SetAside> rows;
  Status status = database_.Run(kReadSetAside, {}, [&](const Row& row) {
    rows.push_back({.sequence = Unsigned(row.Int(0)),
                    .request = Copied(row.Blob(4)),
                    .at_ms = row.Int(1),
                    .code = static_cast<StatusCode>(row.Int(2)),
                    .message = std::string(row.Text(3))});
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return rows;
}

Status Outbox::DropSetAside(std::span<const std::uint64_t> sequences) {
  for (const std::uint64_t sequence : sequences) {
    if (Status status = database_.Run(kDropSetAside, {Signed(sequence)}); !status.ok()) {
      return status;
    }
  }
  return {};
}

Result<DeviceRows> DeviceRows::Of(sql::Database& database, const Head& head) {
  DeviceRows rows;
  rows.head_ = head;
  Outbox outbox(database);
  auto waiting = outbox.ReadAfter(0);
  if (!waiting) return std::unexpected(std::move(waiting.error()));
  rows.outbox_ = *std::move(waiting);
  auto set_aside = outbox.ListSetAside();
  if (!set_aside) return std::unexpected(std::move(set_aside.error()));
  rows.set_aside_ = *std::move(set_aside);
  Status status = database.Run(kReadAnswers, {}, [&](const Row& row) {
    rows.answers_.push_back({.client_id = row.Int(0),
                             .place = std::string(row.Text(1)),
                             .sequence = row.Int(2),
                             .answered_at_ms = row.Int(3),
                             .response = Copied(row.Blob(4))});
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return rows;
}

Status DeviceRows::PutInto(sql::Database& then) const {
  Outbox outbox(then);
  const Result<std::optional<Head>> of_then = outbox.ReadHead();
  if (!of_then) return of_then.error();
  if (!*of_then) {
    return {StatusCode::kCorrupt, "the file without its log is of a memory that did not sync yet"};
  }
  const Result<std::uint64_t> last = outbox.LastSequence();
  if (!last) return last.error();
  Head head = head_;
  head.is_behind = true;
  head.is_held = true;
  const Head& before = **of_then;
  head.applied = before.is_behind ? before.applied : std::max(before.confirmed, *last);
  return Put(then, head);
}

Status DeviceRows::PutIntoImage(sql::Database& image, std::uint64_t number, ByteView digest) const {
  Head head = head_;
  head.number = number;
  head.digest = Copied(digest);
  head.applied = head.confirmed;
  head.is_behind = true;
  head.is_held = true;
  Status status = Outbox(image).Begin(head);
  return status.ok() ? Put(image, head) : status;
}

Status DeviceRows::Put(sql::Database& database, const Head& head) const {
  Outbox outbox(database);
  Status status = database.Run(kDropHeads, {std::string_view(head.log_id)});
  if (status.ok()) status = outbox.WriteHead(head);
  for (const std::string_view sql : {kDeleteAll, kDropAllSetAside, kDropAnswers}) {
    if (status.ok()) status = database.Run(sql);
  }
  for (const OutboxRow& row : outbox_) {
    if (!status.ok()) break;
    if (row.sequence <= head.applied) continue;
    status =
        database.Run(kInsert, {Signed(row.sequence), row.at_ms,
                               std::int64_t{std::to_underlying(row.kind)}, ByteView(row.request)});
  }
  for (const sync::SetAside& row : set_aside_) {
    if (!status.ok()) break;
    status = database.Run(
        kSetAside, {Signed(row.sequence), row.at_ms, std::int64_t{std::to_underlying(row.code)},
                    std::string_view(row.message), ByteView(row.request)});
  }
  for (const Answer& answer : answers_) {
    if (!status.ok()) break;
    status =
        database.Run(kPutAnswer, {answer.client_id, std::string_view(answer.place), answer.sequence,
                                  answer.answered_at_ms, ByteView(answer.response)});
  }
  return status;
}

}  // namespace keepsake::sync
