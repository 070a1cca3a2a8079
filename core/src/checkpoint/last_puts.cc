#include "checkpoint/last_puts.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "checkpoint/stored_values.h"

namespace keepsake::checkpoint {
namespace {

// A graph with some levels of subgraphs, or some threads at a time.
constexpr std::size_t kKept = 8;
constexpr std::size_t kKeptBytes = 32 * 1024;

}  // namespace

ByteView Relative::ValueOf(std::string_view channel) const {
  for (const StoredChannel& own : channels) {
    if (own.name == channel && own.value.front() != kNoValue) return own.value;
  }
  return {};
}

std::optional<LastPut> LastPuts::Take(const NewCheckpoint& next) {
  const auto found = std::ranges::find_if(puts_, [&](const LastPut& put) {
    return put.key.checkpoint_id == next.parent_checkpoint_id &&
           put.key.thread_id == next.key.thread_id &&
           put.key.checkpoint_ns == next.key.checkpoint_ns;
  });
  if (found == puts_.end()) return std::nullopt;
  std::optional<LastPut> taken = std::move(*found);
  puts_.erase(found);
  return taken;
}

Status LastPuts::Keep(const CheckpointKey& key, NamespaceId ns, Bytes row, Bytes record) {
  puts_.remove_if([&](const LastPut& put) { return put.ns == ns; });
  if (record.size() > kKeptBytes) return {};
  auto parsed = StoredCheckpoint::Parse(std::move(record));
  if (!parsed) return std::move(parsed.error());
  Relative relative = {.is_parent = true, .row = std::move(row), .record = *std::move(parsed)};
  auto channels = relative.record->Channels();
  if (!channels) return std::move(channels.error());
  relative.channels = *std::move(channels);
  puts_.push_front({key, ns, std::move(relative)});
  if (puts_.size() > kKept) puts_.pop_back();
  return {};
}

}  // namespace keepsake::checkpoint
