#include "checkpoint/upgrade.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/varint.h"

namespace keepsake::checkpoint {
namespace {

using sql::Row;

// The column `channels` of version 1:
//   channels := 0x01 entry*
//   entry    := text(channel) version varint(blob_id)     version as in records.h
constexpr std::uint8_t kFormat = 1;
constexpr std::int64_t kNoBlob = 0;

struct OldChannel {
  ChannelVersion version;
  std::int64_t blob_id = kNoBlob;
};
using OldChannels = std::vector<OldChannel>;

struct OldCheckpoint {
  NewCheckpoint checkpoint;
  OldChannels channels;
};

Result<OldChannels> DecodeChannels(ByteView encoded) {
  OldChannels channels;
  ByteReader reader(encoded);
  bool known = reader.Varint() == kFormat;
  while (known && !reader.done()) {
    OldChannel channel;
    channel.version.channel = reader.Text();
    const std::uint64_t tag = reader.Varint();
    channel.version.version =
        (tag & 1) == 0 ? std::to_string(tag >> 1) : std::string(TextOf(reader.Take(tag >> 1)));
    channel.blob_id = reader.Id();
    known = reader.ok();
    channels.push_back(std::move(channel));
  }
  if (!known) return Error(StatusCode::kCorrupt, "channels of a checkpoint have an unknown layout");
  return channels;
}

Blob BlobAt(const Row& row, int type_column) {
  const ByteView bytes = row.Blob(type_column + 1);
  return {std::string(row.Text(type_column)), Bytes(bytes.begin(), bytes.end())};
}

class Upgrade {
 public:
  Upgrade(sql::Database& database, Checkpointer& saver) : database_(database), saver_(saver) {}

  Status Run() {
    Status status;
    Status s = database_.Run(
        "SELECT thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, "
        "metadata_type, metadata, channels FROM old_checkpoints "
        "ORDER BY thread_id, checkpoint_ns, checkpoint_id",
        {}, [&](const Row& row) {
          status = TakeCheckpoint(row);
          return status.ok();
        });
    if (s.ok()) s = std::move(status);
    return s.ok() ? TakeWrites() : s;
  }

 private:
  Status TakeCheckpoint(const Row& row) {
    NewCheckpoint next;
    next.key = {std::string(row.Text(0)), std::string(row.Text(1)), std::string(row.Text(2))};
    next.parent_checkpoint_id = row.Text(3);
    next.checkpoint = BlobAt(row, 4);
    next.metadata = BlobAt(row, 6);
    auto channels = DecodeChannels(row.Blob(8));
    if (!channels) return channels.error();
    if (next.key.thread_id != thread_id_ || next.key.checkpoint_ns != checkpoint_ns_) {
      taken_.clear();
      thread_id_ = next.key.thread_id;
      checkpoint_ns_ = next.key.checkpoint_ns;
    }
    for (const OldChannel& channel : *channels) {
      next.channel_versions.push_back(channel.version);
      if (Inherits(next.parent_checkpoint_id, channel)) continue;
      next.new_versions.push_back(channel.version.channel);
      if (channel.blob_id == kNoBlob) continue;
      if (Status s = TakeValue(channel, next); !s.ok()) return s;
    }
    taken_.insert_or_assign(next.key.checkpoint_id, *std::move(channels));
    return saver_.Put(next);
  }

  bool Inherits(const std::string& parent_id, const OldChannel& channel) const {
    const auto parent = taken_.find(parent_id);
    if (parent == taken_.end()) return false;
    return std::ranges::any_of(parent->second, [&](const OldChannel& of_parent) {
      return of_parent.version == channel.version && of_parent.blob_id == channel.blob_id;
    });
  }

  Status TakeValue(const OldChannel& channel, NewCheckpoint& next) {
    const std::size_t before = next.values.size();
    Status s = database_.Run(
        "SELECT type, value FROM old_checkpoint_blobs WHERE blob_id = ?", {channel.blob_id},
        [&](const Row& row) {
          next.values.push_back({channel.version.channel, channel.version.version, BlobAt(row, 0)});
          return true;
        });
    if (!s.ok() || next.values.size() > before) return s;
    return {StatusCode::kCorrupt, "a channel value of a checkpoint is missing"};
  }

  Status TakeWrites() {
    Status status;
    Status s = database_.Run(
        "SELECT thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value, "
        "task_path FROM old_writes",
        {}, [&](const Row& row) {
          const std::vector<PendingWrite> writes = {
              {std::string(row.Text(3)), static_cast<std::int32_t>(row.Int(4)),
               std::string(row.Text(5)), BlobAt(row, 6), std::string(row.Text(8))}};
          status = saver_.PutWrites(
              {std::string(row.Text(0)), std::string(row.Text(1)), std::string(row.Text(2))},
              writes);
          return status.ok();
        });
    return s.ok() ? status : s;
  }

  sql::Database& database_;
  Checkpointer& saver_;
  // Of the thread and namespace in hand.
  std::string thread_id_;
  std::string checkpoint_ns_;
  std::map<std::string, OldChannels, std::less<>> taken_;
};

}  // namespace

Status UpgradeCheckpoints(sql::Database& database, Checkpointer& saver) {
  bool is_old = false;
  Status s =
      database.Run("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'old_checkpoints'",
                   {}, [&](const Row&) {
                     is_old = true;
                     return false;
                   });
  if (!s.ok() || !is_old) return s;
  return database.InTransaction([&]() -> Status {
    if (Status taken = Upgrade(database, saver).Run(); !taken.ok()) return taken;
    for (const std::string_view sql :
         {"DROP TABLE old_checkpoints", "DROP TABLE old_checkpoint_blobs",
          "DROP TABLE old_writes"}) {
      if (Status dropped = database.Run(sql); !dropped.ok()) return dropped;
    }
    return {};
  });
}

}  // namespace keepsake::checkpoint
