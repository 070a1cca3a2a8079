// The channels of one checkpoint: the version of each, and where its value is.
// A checkpoint's row holds them in this layout, written once per superstep, so
// it spends nothing on what a reader can infer. Persistent.
//   channels := 0x01 entry*                         in the order of channel_versions
//   entry    := text(channel) version varint(blob_id)
//   version  := varint(2n)                          the decimal number n < 2^62
//             | varint(2 * length + 1) byte*        any other text
//   text     := varint(length) byte*
//   varint   := LEB128: seven bits a byte, the lowest first
#ifndef KEEPSAKE_CHECKPOINT_CHANNEL_REFS_H_
#define KEEPSAKE_CHECKPOINT_CHANNEL_REFS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "keepsake/bytes.h"
#include "keepsake/checkpointer.h"
#include "keepsake/status.h"

namespace keepsake::checkpoint {

inline constexpr std::int64_t kNoBlob = 0;

// Values are referred to by blob and not by version: two forks of a checkpoint
// both make a next version of a channel, with different values.
struct ChannelRef {
  std::string channel;
  std::string version;
  std::int64_t blob_id = kNoBlob;

  bool operator==(const ChannelRef&) const = default;
};

Bytes EncodeChannelRefs(std::span<const ChannelRef> refs);
// kCorrupt if `encoded` is not the layout above.
Result<std::vector<ChannelRef>> DecodeChannelRefs(ByteView encoded);

// Where ResolveChannels() puts new values and finds old ones.
class ValueBlobs {
 public:
  virtual ~ValueBlobs() = default;
  virtual Result<std::int64_t> Add(const ChannelValue& value) = 0;
  // The newest of this version in the checkpoint's thread and namespace, or kNoBlob.
  virtual Result<std::int64_t> Newest(const ChannelVersion& version) = 0;
};

// Decides which value each channel of `checkpoint` has. `parent` are the
// parent's channels. REQUIRES: ValidateNewCheckpoint(checkpoint).
Result<std::vector<ChannelRef>> ResolveChannels(const NewCheckpoint& checkpoint,
                                                std::span<const ChannelRef> parent,
                                                ValueBlobs& blobs);

}  // namespace keepsake::checkpoint

#endif  // KEEPSAKE_CHECKPOINT_CHANNEL_REFS_H_
