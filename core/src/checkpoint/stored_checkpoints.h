// What the row of a checkpoint holds. Most of a record is what the record before
// it held: its shell and metadata have the same members, its channels the same
// names. A row is therefore the difference from a base, an earlier record which
// stands in a log; never from another difference, so that reading takes one step.
//
//   row    := base:range checksum:u64 edit*           of the record, with the base's as seed
//   edit   := varint(2 * length + 1) byte*            new bytes
//           | varint(2 * length) varint(offset)       bytes of the base
//   record := parent_checkpoint_id:text checkpoint:blob metadata:blob channel*
//   blob   := text(type) text(bytes)
//   channel := text(name) version value               in the order of channel_versions
//   version := varint(2n)                             the decimal number n < 2^62
//            | varint(2 * length + 1) byte*           any other text
//
// `range` and `value` are those of stored_values.h. Persistent.
#ifndef KEEPSAKE_CHECKPOINT_STORED_CHECKPOINTS_H_
#define KEEPSAKE_CHECKPOINT_STORED_CHECKPOINTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "checkpoint/content_logs.h"
#include "keepsake/bytes.h"
#include "keepsake/checkpointer.h"
#include "keepsake/status.h"

namespace keepsake::checkpoint {

struct BlobView {
  std::string_view type;
  ByteView bytes;

  Blob ToBlob() const { return {std::string(type), Bytes(bytes.begin(), bytes.end())}; }
};

struct StoredChannel {
  std::string_view name;
  std::string version;
  ByteView value;
};

// Owns the bytes of which its members are views.
class StoredCheckpoint {
 public:
  StoredCheckpoint(StoredCheckpoint&&) = default;
  StoredCheckpoint& operator=(StoredCheckpoint&&) = default;

  // kCorrupt if `bytes` are no record.
  static Result<StoredCheckpoint> Parse(Bytes bytes);

  std::string_view parent_checkpoint_id;
  BlobView checkpoint;
  BlobView metadata;

  const Bytes& bytes() const { return bytes_; }
  Result<std::vector<StoredChannel>> Channels() const;

 private:
  StoredCheckpoint() = default;

  Bytes bytes_;
  ByteView channels_;
};

// Without channels, which AppendChannel() adds.
Bytes EncodeCheckpoint(const NewCheckpoint& checkpoint);
void AppendChannel(std::string_view name, std::string_view version, ByteView value, Bytes& record);

class StoredCheckpoints {
 public:
  explicit StoredCheckpoints(ContentLogs& logs) : logs_(logs) {}

  // The row of `record`, as a difference from the base of `relative`, which is
  // another row of the namespace, or empty; `previous` is the record of that row.
  Result<Bytes> Encode(NamespaceId ns, ByteView record, ByteView relative, ByteView previous);
  Result<StoredCheckpoint> Decode(ByteView row);
  // Where its base is.
  static LogRange BaseOf(ByteView row);

 private:
  using BaseKey = std::tuple<LogId, std::uint64_t, std::uint64_t>;
  struct Base {
    Bytes bytes;
    std::uint64_t checksum = 0;
    std::size_t fresh = 0;  // the least difference from a predecessor that was seen
  };

  static bool IsWornOut(Base& base, std::size_t edits, ByteView previous, ByteView record);
  Result<Base*> ReadBase(const LogRange& range);
  Base* Keep(const BaseKey& key, Bytes bytes);
  Result<Bytes> Rebuild(ByteView row);
  Result<Bytes> TryRebuild(ByteView row);

  ContentLogs& logs_;
  std::map<BaseKey, Base> bases_;
};

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_STORED_CHECKPOINTS_H_
