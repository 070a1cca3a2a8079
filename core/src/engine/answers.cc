#include "engine/answers.h"

#include <string>
#include <string_view>
#include <vector>

#include "sql/prefix_range.h"

namespace keepsake {
namespace {

constexpr std::int64_t kDayMs = 24 * 60 * 60 * 1000;

constexpr std::string_view kFind =
    "SELECT response FROM answers WHERE client_id = ? AND place = ? AND sequence = ?";
constexpr std::string_view kInsert =
    "INSERT INTO answers(client_id, place, sequence, answered_at_ms, response)"
    " VALUES(?, ?, ?, ?, ?)";
constexpr std::string_view kDeleteAcknowledged =
    "DELETE FROM answers WHERE client_id = ? AND place = ? AND sequence <= ?";
// Reads the whole table, which holds a few rows of each client.
constexpr std::string_view kDeleteOld = "DELETE FROM answers WHERE answered_at_ms < ?";
constexpr std::string_view kBelow =
    "SELECT client_id, place, sequence, length(response) FROM answers"
    " WHERE place >= ? AND place < ?"
    " ORDER BY answered_at_ms DESC, sequence DESC";
constexpr std::string_view kDeleteOne =
    "DELETE FROM answers WHERE client_id = ? AND place = ? AND sequence = ?";
constexpr std::string_view kDeleteAll = "DELETE FROM answers";
constexpr std::string_view kDeleteBelow =
    "DELETE FROM answers WHERE place <> '' AND instr(place, ?) = 1";
// The answer to a put, a delete or a count is shorter than any that has a value.
constexpr std::int64_t kShort = 40;
constexpr std::string_view kLongOnes =
    "SELECT client_id, sequence, place FROM answers WHERE length(response) > ?";
constexpr std::string_view kReplace =
    "UPDATE answers SET response = ? WHERE client_id = ? AND place = ? AND sequence = ?";

// A scope is looked through once for so many answers.
constexpr std::size_t kKeptBetweenLooks = 256;

Bytes Failed(std::uint64_t sequence, std::string_view why) {
  Bytes response;
  const std::string message = "it was done, but its answer " + std::string(why);
  wire::WriteFailure(response, sequence, Status(StatusCode::kNotFound, message));
  return response;
}

// At most wire::kMaxRemembered.
std::int64_t Number(std::uint64_t id) { return static_cast<std::int64_t>(id); }

}  // namespace

Result<bool> Answers::Find(const wire::Request& request, const Caller& caller, Bytes& response) {
  bool found = false;
  Status status = database_.Run(
      kFind, {Number(request.header.client_id), caller.place, Number(request.header.sequence)},
      [&](const sql::Row& row) {
        const ByteView kept = row.Blob(0);
        response.assign(kept.begin(), kept.end());
        found = true;
        return false;
      });
  if (!status.ok()) return std::unexpected(std::move(status));
  return found;
}

Status Answers::Keep(const wire::Request& request, const Caller& caller, ByteView response) {
  const wire::RequestHeader& header = request.header;
  if (Status status = DeleteOld(header.now_ms); !status.ok()) return status;
  Status status = database_.Run(
      kDeleteAcknowledged, {Number(header.client_id), caller.place, Number(*request.acknowledged)});
  const bool is_scoped = !caller.place.empty();
  if (status.ok() && is_scoped && kept_++ % kKeptBetweenLooks == 0) {
    status = DeleteSurplus(std::string_view(caller.place).substr(0, caller.around));
  }
  if (!status.ok()) return status;
  Bytes instead;
  if (response.size() > (is_scoped ? kMostBytesInScope : kMostBytes)) {
    instead = Failed(header.sequence, "was too long to be kept: ask again for what it read");
    response = instead;
  }
  return database_.Run(kInsert, {Number(header.client_id), caller.place, Number(header.sequence),
                                 header.now_ms, response});
}

Status Answers::DeleteAll() { return database_.Run(kDeleteAll); }

Status Answers::ForgetValues(std::span<const Namespace> forgotten) {
  struct Key {
    std::int64_t client_id;
    std::int64_t sequence;
    std::string place;
  };
  std::vector<Key> keys;
  Status status;
  for (const Namespace& ns : forgotten) {
    const std::string encoded = EncodeNamespace(ns);
    if (status.ok()) status = database_.Run(kDeleteBelow, {encoded});
  }
  if (!status.ok()) return status;
  status = database_.Run(kLongOnes, {kShort}, [&](const sql::Row& row) {
    keys.push_back({row.Int(0), row.Int(1), std::string(row.Text(2))});
    return true;
  });
  for (const auto& [client_id, sequence, place] : keys) {
    if (!status.ok()) return status;
    const Bytes response =
        Failed(static_cast<std::uint64_t>(sequence), "was forgotten with what it held");
    status = database_.Run(kReplace, {ByteView(response), client_id, place, sequence});
  }
  return status;
}

Status Answers::DeleteSurplus(std::string_view around) {
  struct Key {
    std::int64_t client_id;
    std::string place;
    std::int64_t sequence;
  };
  std::vector<Key> surplus;
  std::size_t answers = 0, bytes = 0;
  const sql::PrefixRange range{std::string(around)};
  Status status = database_.Run(kBelow, {range.first(), range.end()}, [&](const sql::Row& row) {
    bytes += static_cast<std::size_t>(row.Int(3));
    if (++answers > kMostOfScope || bytes > kMostBytesOfScope) {
      surplus.push_back({row.Int(0), std::string(row.Text(1)), row.Int(2)});
    }
    return true;
  });
  for (const auto& [client_id, place, sequence] : surplus) {
    if (status.ok()) status = database_.Run(kDeleteOne, {client_id, place, sequence});
  }
  return status;
}

Status Answers::DeleteOld(std::int64_t now_ms) {
  if (now_ms < delete_old_at_ms_) return Status();
  delete_old_at_ms_ = now_ms + kDayMs;
  return database_.Run(kDeleteOld, {now_ms - kDayMs});
}

}  // namespace keepsake
