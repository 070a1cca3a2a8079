// Logs of bytes in the database: what is appended stays where it is, so that a
// value is told by ranges of logs, and a range may be part of many values.
//   content    chunk → checksum, bytes: kChunkBytes of a log, fewer in its last one
//   log_users  (log, namespace): whose values may have ranges of a log
// A chunk is `log << kChunkBits | offset / kChunkBytes`. It fills one page of
// SQLite, so that an append writes the page at the end and no other.
// A log is `namespace << kLogBits | n`: 0 for what stands alone, the others for
// channels whose values grow, so that such a value is in one piece. What has no
// room in a log goes to the next one of the namespace.
// Numbers and checksums are below 2^53: some hosts know no others. Persistent.
#ifndef KEEPSAKE_CHECKPOINT_CONTENT_LOGS_H_
#define KEEPSAKE_CHECKPOINT_CONTENT_LOGS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "base/varint.h"
#include "keepsake/bytes.h"
#include "keepsake/database.h"
#include "keepsake/status.h"

namespace keepsake::checkpoint {

using NamespaceId = std::int64_t;  // of one thread and namespace, from 1
using LogId = std::int64_t;

inline constexpr std::size_t kChunkBytes = 4032;
inline constexpr int kChunkBits = 18;
inline constexpr int kLogBits = 10;
inline constexpr int kNumberBits = 53;
inline constexpr NamespaceId kMaxNamespace =
    (NamespaceId{1} << (kNumberBits - kLogBits - kChunkBits)) - 1;
inline constexpr std::uint64_t kLogBytes = (std::uint64_t{1} << kChunkBits) * kChunkBytes;

struct LogRange {
  LogId log = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  bool operator==(const LogRange&) const = default;
};

/** Reads a range, as rows of checkpoints and values have it. */
LogRange ReadRange(ByteReader& reader);

LogId MainLog(NamespaceId ns);
LogId ChannelLog(NamespaceId ns, std::string_view channel);
NamespaceId OwnerOf(LogId log);
// That of the chunk with this number.
std::int64_t ChecksumOf(std::int64_t chunk, ByteView bytes);

// Numbers, as stretches that are apart from each other.
class Stretches {
 public:
  using Stretch = std::pair<std::int64_t, std::int64_t>;  // first and last

  void Add(Stretch stretch);
  // The stretches of `whole` that are not among them.
  std::vector<Stretch> Gaps(Stretch whole) const;

 private:
  std::map<std::int64_t, std::int64_t> last_of_;  // by the first
};

// What of some logs is referred to: chunk by chunk, and byte by byte if that is asked for.
class Marks {
 public:
  Marks(const std::set<LogId>& logs, bool by_byte) : logs_(logs), by_byte_(by_byte) {}

  void Mark(NamespaceId ns, const LogRange& range);
  bool IsUsedBy(NamespaceId ns, LogId log) const { return users_.contains({log, ns}); }
  const std::set<LogId>& logs() const { return logs_; }
  bool by_byte() const { return by_byte_; }
  const Stretches& chunks() const { return chunks_; }
  // Offsets. REQUIRES: by_byte().
  const Stretches& BytesOf(LogId log) const;

 private:
  const std::set<LogId>& logs_;
  bool by_byte_;
  std::set<std::pair<LogId, NamespaceId>> users_;
  Stretches chunks_;
  std::map<LogId, Stretches> bytes_;
};

class ContentLogs {
 public:
  explicit ContentLogs(sql::Database& database) : database_(database) {}

  // To `log`, or to another one of its namespace if that is full.
  Result<LogRange> Append(LogId log, ByteView bytes);
  // Adds the bytes to `out`. kCorrupt if they are not there, or not as they were.
  Status Read(const LogRange& range, Bytes& out);

  Status AddUser(LogId log, NamespaceId ns);
  // `namespace` is a user of every log that `of` uses.
  Status AddUserOfAll(NamespaceId of, NamespaceId ns);
  Status RemoveUser(NamespaceId ns);  // of every log
  Result<std::set<LogId>> LogsOf(NamespaceId ns);
  Result<std::set<NamespaceId>> UsersOf(const std::set<LogId>& logs);
  Result<std::uint64_t> BytesOfLog(LogId log);
  Result<std::uint64_t> BytesOfRows(NamespaceId ns);
  // Frees what has no mark. A namespace that uses nothing more of another one's log
  // is no user of it any more. → bytes
  // With marks by the byte, what has none in a chunk that stays becomes zeros.
  Result<std::uint64_t> Sweep(const Marks& marks);

 private:
  struct Tail {
    std::int64_t chunk = 0;
    Bytes bytes;
    std::int64_t checksum = 0;  // of the chunk as it is stored
  };

  // To the end of the log as it was left here; false, and nothing was done, if that is
  // not known, or not so any more.
  bool TryAppend(LogId log, ByteView bytes, LogRange& range);
  Result<Tail> ReadTail(LogId log);
  Status Extend(Tail& tail, ByteView bytes);
  void Keep(LogId log, Tail tail);
  Result<std::uint64_t> Free(std::int64_t first_chunk, std::int64_t last_chunk);
  Status Blank(LogId log, const Stretches& marked);
  Result<std::uint64_t> Number(std::string_view sql, std::initializer_list<sql::Param> params);

  sql::Database& database_;
  // Chunks at the end of logs, as they were written here last. What was undone since, or
  // written by others, shows when the next one is: it replaces only what is here.
  std::map<LogId, Tail> tails_;
};

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_CONTENT_LOGS_H_
