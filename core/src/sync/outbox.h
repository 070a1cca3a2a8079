// The rows of a memory that syncs: how far it has followed the log, the requests that are not in it
// yet, and those that were refused when they were carried out again.
//
// Requests are numbered as they come, and none takes another's number. Up to `confirmed` they are
// in the log: such a row is kept only for going back, until the file itself is further. If the
// memory is behind, it is what it was before the requests after `applied`, which are to be carried
// out. Not thread-safe.
#ifndef KEEPSAKE_SYNC_OUTBOX_H_
#define KEEPSAKE_SYNC_OUTBOX_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/database.h"
#include "keepsake/status.h"
#include "keepsake/visitor.h"
#include "sync/records.h"

namespace keepsake::sync {

// What a request did when it was made. Persistent, never renumber.
enum class RequestKind : std::uint8_t {
  kNote = 0,     // only the audit log or a TTL has to do with it
  kWrite = 1,    // something that is written succeeded
  kErasure = 2,  // it forgot
};

struct Head {
  std::string log_id;
  std::uint64_t number = 0;
  Bytes digest;
  std::uint64_t confirmed = 0;
  std::uint64_t applied = 0;  // of what is behind
  bool is_behind = false;
  // Whether the file is what the memory was when all requests were confirmed: a row of `meta`.
  bool is_held = false;
};

struct OutboxRow {
  std::uint64_t sequence = 0;
  std::int64_t at_ms = 0;
  RequestKind kind = RequestKind::kWrite;
  Bytes request;
};

class Outbox {
 public:
  // Borrowed.
  explicit Outbox(sql::Database& database) : database_(database) {}

  // These belong into a transaction.

  // Makes the tables.
  Status Begin(const Head& head);
  Status End();
  // Nothing if the memory does not sync.
  Result<std::optional<Head>> ReadHead();
  Status WriteHead(const Head& head);
  Status Append(const OutboxRow& row);  // whose sequence is given here
  Status DeleteUpTo(std::uint64_t sequence);
  Status SetAside(const OutboxRow& row, const Status& why);
  Status Drop(std::uint64_t sequence);

  // Whether a request is there that was carried out, confirmed or not.
  Result<bool> HasApplied(const Head& head);
  Result<bool> HasWaiting(const Head& head);
  // Whether one that forgot is there, up to this one.
  Result<bool> HasErasure(std::uint64_t up_to);
  // The last one, 0 if there is none.
  Result<std::uint64_t> LastSequence();
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  Result<std::vector<OutboxRow>> ReadAfter(std::uint64_t sequence, std::size_t most = kAll);

  // What is told of it.
  Result<State> ReadState(const Head& head);
  // As many as have so many bytes together, but one at least.
  Result<std::vector<OutboxEntry>> ReadWaiting(const Head& head, std::uint64_t after,
                                               std::uint64_t max_bytes);
  Result<std::vector<sync::SetAside>> ListSetAside();
  Status DropSetAside(std::span<const std::uint64_t> sequences);

 private:
  sql::Database& database_;
};

// All that is of this device alone, so that it is there again after going back: the outbox, what
// was set aside, and the answers that clients may ask for again.
class DeviceRows {
 public:
  // Reads them.
  static Result<DeviceRows> Of(sql::Database& database, const Head& head);
  // Of another image of the memory, puts these in place of its own. It is behind by the requests
  // that it has not carried out.
  Status PutInto(sql::Database& then) const;
  // The same of one that is not this memory's own, and has none of the requests that wait.
  Status PutIntoImage(sql::Database& image, std::uint64_t number, ByteView digest) const;

 private:
  struct Answer {
    std::int64_t client_id;
    std::string place;
    std::int64_t sequence;
    std::int64_t answered_at_ms;
    Bytes response;
  };

  Status Put(sql::Database& database, const Head& head) const;

  Head head_;
  std::vector<OutboxRow> outbox_;
  std::vector<SetAside> set_aside_;
  std::vector<Answer> answers_;
};

}  // namespace keepsake::sync

#endif  // KEEPSAKE_SYNC_OUTBOX_H_
