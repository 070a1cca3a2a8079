#include "wire/listed_tuples.h"

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/common_prefix.h"

namespace keepsake::wire {
namespace {

// Of a shorter value, to tell what it shares is not worth it.
constexpr std::size_t kWorthSharing = 1024;

// The last value of each channel that travels whole.
class Wholes {
 public:
  ListedValue Share(const CheckpointKey& key, ChannelValue value) {
    auto& [type, bytes] = value.value;
    ListedValue listed = {std::move(value.channel), std::move(value.version), std::move(type)};
    if (bytes.size() < kWorthSharing) {
      ++count_;
      listed.rest = std::move(bytes);
      return listed;
    }
    Whole& last = last_[{key.thread_id, key.checkpoint_ns, listed.channel}];
    const std::size_t shared = CommonPrefix(last.bytes, bytes);
    if (shared > bytes.size() / 2) {
      listed.shared = static_cast<std::uint32_t>(shared);
      listed.whole = last.number;
      listed.rest.assign(bytes.begin() + static_cast<std::ptrdiff_t>(shared), bytes.end());
    } else {
      listed.rest = std::move(bytes);
      last = {count_++, listed.rest};
    }
    return listed;
  }

 private:
  struct Whole {
    std::uint32_t number = 0;
    ByteView bytes;
  };

  std::map<std::tuple<std::string, std::string, std::string>, Whole> last_;
  std::uint32_t count_ = 0;
};

}  // namespace

std::vector<ListedTuple> Listed(std::vector<CheckpointTuple> tuples) {
  Wholes wholes;
  std::vector<ListedTuple> listed;
  listed.reserve(tuples.size());
  for (CheckpointTuple& tuple : tuples) {
    auto& [key, parent, checkpoint, metadata, values, writes] = tuple;
    std::vector<ListedValue> shared;
    shared.reserve(values.size());
    for (ChannelValue& value : values) shared.push_back(wholes.Share(key, std::move(value)));
    listed.push_back({std::move(key), std::move(parent), std::move(checkpoint), std::move(metadata),
                      std::move(shared), std::move(writes)});
  }
  return listed;
}

}  // namespace keepsake::wire
