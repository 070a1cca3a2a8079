// What a memory that syncs has beside what it holds: requests that wait for the log, and those
// that were set aside. README.md has the rules.
#ifndef KEEPSAKE_SYNC_RECORDS_H_
#define KEEPSAKE_SYNC_RECORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/status.h"

namespace keepsake::sync {

struct State {
  std::string log_id;
  std::uint64_t number = 0;  // of the last record that was carried out
  Bytes digest;              // of that record; the caller knows what it means
  std::uint64_t waiting = 0;
  std::uint64_t waiting_bytes = 0;
  std::optional<std::int64_t> waiting_since_ms{};
  std::uint64_t set_aside = 0;
  bool needs_image = false;
};

// A request frame that changed something, and is not known to be in the log.
struct OutboxEntry {
  std::uint64_t sequence = 0;
  Bytes request;
};

struct LogRecord {
  std::uint64_t number = 0;
  Bytes digest;
  std::vector<Bytes> requests;
};

struct CatchUp {
  std::vector<LogRecord> records;
  std::string image;  // the path of a plain keepsake file, "" for none
  std::uint64_t image_number = 0;
  Bytes image_digest;
};

struct FailedRequest {
  std::uint64_t sequence = 0;
  StatusCode code = StatusCode::kOk;
  std::string message;
};

struct CaughtUp {
  std::uint64_t applied = 0;
  std::vector<FailedRequest> failed;
};

struct SetAside {
  std::uint64_t sequence = 0;
  Bytes request;
  std::int64_t at_ms = 0;
  StatusCode code = StatusCode::kOk;
  std::string message;
};

}  // namespace keepsake::sync

#endif  // KEEPSAKE_SYNC_RECORDS_H_
