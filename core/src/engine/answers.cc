#include "engine/answers.h"

#include <string>
#include <string_view>
#include <vector>

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
constexpr std::string_view kDeleteAll = "DELETE FROM answers";
constexpr std::string_view kDeleteBelow =
    "DELETE FROM answers WHERE place <> '' AND instr(place, ?) = 1";
// The answer to a put, a delete or a count is shorter than any that has a value.
constexpr std::int64_t kShort = 40;
constexpr std::string_view kLongOnes =
    "SELECT client_id, sequence, place FROM answers WHERE length(response) > ?";
constexpr std::string_view kReplace =
    "UPDATE answers SET response = ? WHERE client_id = ? AND place = ? AND sequence = ?";

// At most wire::kMaxRemembered.
std::int64_t Number(std::uint64_t id) { return static_cast<std::int64_t>(id); }

}  // namespace

Result<bool> Answers::Find(const wire::Request& request, const Namespace& place, Bytes& response) {
  bool found = false;
  const std::string encoded = EncodeNamespace(place);
  Status status = database_.Run(
      kFind, {Number(request.header.client_id), encoded, Number(request.header.sequence)},
      [&](const sql::Row& row) {
        const ByteView kept = row.Blob(0);
        response.assign(kept.begin(), kept.end());
        found = true;
        return false;
      });
  if (!status.ok()) return std::unexpected(std::move(status));
  return found;
}

Status Answers::Keep(const wire::Request& request, const Namespace& place, ByteView response) {
  const wire::RequestHeader& header = request.header;
  const std::string encoded = EncodeNamespace(place);
  if (Status status = DeleteOld(header.now_ms); !status.ok()) return status;
  Status status = database_.Run(kDeleteAcknowledged,
                                {Number(header.client_id), encoded, Number(*request.acknowledged)});
  if (!status.ok()) return status;
  return database_.Run(kInsert, {Number(header.client_id), encoded, Number(header.sequence),
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
  const Status told(StatusCode::kNotFound,
                    "it was done, but its answer was forgotten with what it held");
  for (const auto& [client_id, sequence, place] : keys) {
    if (!status.ok()) return status;
    Bytes response;
    wire::WriteFailure(response, static_cast<std::uint64_t>(sequence), told);
    status = database_.Run(kReplace, {ByteView(response), client_id, place, sequence});
  }
  return status;
}

Status Answers::DeleteOld(std::int64_t now_ms) {
  if (now_ms < delete_old_at_ms_) return Status();
  delete_old_at_ms_ = now_ms + kDayMs;
  return database_.Run(kDeleteOld, {now_ms - kDayMs});
}

}  // namespace keepsake
