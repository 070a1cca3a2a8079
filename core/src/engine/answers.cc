#include "engine/answers.h"

#include <string_view>
#include <vector>

namespace keepsake {
namespace {

constexpr std::int64_t kDayMs = 24 * 60 * 60 * 1000;

constexpr std::string_view kFind =
    "SELECT response FROM answers WHERE client_id = ? AND sequence = ?";
constexpr std::string_view kInsert =
    "INSERT INTO answers(client_id, sequence, answered_at_ms, response) VALUES(?, ?, ?, ?)";
constexpr std::string_view kDeleteAcknowledged =
    "DELETE FROM answers WHERE client_id = ? AND sequence <= ?";
// Reads the whole table, which holds a few rows of each client.
constexpr std::string_view kDeleteOld = "DELETE FROM answers WHERE answered_at_ms < ?";
constexpr std::string_view kDeleteAll = "DELETE FROM answers";
// The answer to a put, a delete or a count is shorter than any that has a value.
constexpr std::int64_t kShort = 40;
constexpr std::string_view kLongOnes =
    "SELECT client_id, sequence FROM answers WHERE length(response) > ?";
constexpr std::string_view kReplace =
    "UPDATE answers SET response = ? WHERE client_id = ? AND sequence = ?";

// At most wire::kMaxRemembered.
std::int64_t Number(std::uint64_t id) { return static_cast<std::int64_t>(id); }

}  // namespace

Result<bool> Answers::Find(const wire::Request& request, Bytes& response) {
  bool found = false;
  Status status =
      database_.Run(kFind, {Number(request.header.client_id), Number(request.header.sequence)},
                    [&](const sql::Row& row) {
                      const ByteView kept = row.Blob(0);
                      response.assign(kept.begin(), kept.end());
                      found = true;
                      return false;
                    });
  if (!status.ok()) return std::unexpected(std::move(status));
  return found;
}

Status Answers::Keep(const wire::Request& request, ByteView response) {
  const wire::RequestHeader& header = request.header;
  if (Status status = DeleteOld(header.now_ms); !status.ok()) return status;
  Status status =
      database_.Run(kDeleteAcknowledged, {Number(header.client_id), Number(*request.acknowledged)});
  if (!status.ok()) return status;
  return database_.Run(
      kInsert, {Number(header.client_id), Number(header.sequence), header.now_ms, response});
}

Status Answers::DeleteAll() { return database_.Run(kDeleteAll); }

Status Answers::ForgetValues() {
  struct Key {
    std::int64_t client_id;
    std::int64_t sequence;
  };
  std::vector<Key> keys;
  Status status = database_.Run(kLongOnes, {kShort}, [&](const sql::Row& row) {
    keys.push_back({row.Int(0), row.Int(1)});
    return true;
  });
  const Status forgotten(StatusCode::kNotFound,
                         "it was done, but its answer was forgotten with what it held");
  for (const auto& [client_id, sequence] : keys) {
    if (!status.ok()) return status;
    Bytes response;
    wire::WriteFailure(response, static_cast<std::uint64_t>(sequence), forgotten);
    status = database_.Run(kReplace, {ByteView(response), client_id, sequence});
  }
  return status;
}

Status Answers::DeleteOld(std::int64_t now_ms) {
  if (now_ms < delete_old_at_ms_) return Status();
  delete_old_at_ms_ = now_ms + kDayMs;
  return database_.Run(kDeleteOld, {now_ms - kDayMs});
}

}  // namespace keepsake
