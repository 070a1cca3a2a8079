#include "checkpoint/channel_refs.h"

#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace keepsake::checkpoint {
namespace {

constexpr std::uint8_t kFormat = 1;
constexpr std::uint64_t kNumberLimit = std::uint64_t{1} << 62;

void AppendVarint(std::uint64_t number, Bytes& out) {
  for (; number >= 0x80; number >>= 7) out.push_back(static_cast<std::uint8_t>(number | 0x80));
  out.push_back(static_cast<std::uint8_t>(number));
}

void AppendText(std::string_view text, Bytes& out) {
  out.insert(out.end(), text.begin(), text.end());
}

// The number that prints as exactly this text.
std::optional<std::uint64_t> CanonicalNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  const bool padded = text.size() > 1 && text.front() == '0';
  if (!whole || padded || number >= kNumberLimit) return std::nullopt;
  return number;
}

void AppendVersion(std::string_view version, Bytes& out) {
  if (const auto number = CanonicalNumber(version)) {
    AppendVarint(*number * 2, out);
    return;
  }
  AppendVarint(version.size() * 2 + 1, out);
  AppendText(version, out);
}

class Reader {
 public:
  explicit Reader(ByteView bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }

  std::optional<std::uint64_t> Varint() {
    std::uint64_t number = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const std::uint8_t byte = rest_.front();
      rest_ = rest_.subspan(1);
      number |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return number;
    }
    return std::nullopt;
  }

  std::optional<std::string> Text(std::uint64_t length) {
    if (length > rest_.size()) return std::nullopt;
    const ByteView text = rest_.first(static_cast<std::size_t>(length));
    rest_ = rest_.subspan(text.size());
    return std::string(text.begin(), text.end());
  }

  std::optional<std::string> Version() {
    const auto tag = Varint();
    if (!tag) return std::nullopt;
    return (*tag & 1) == 0 ? std::to_string(*tag >> 1) : Text(*tag >> 1);
  }

 private:
  ByteView rest_;
};

std::optional<ChannelRef> ReadEntry(Reader& reader) {
  const auto length = reader.Varint();
  if (!length) return std::nullopt;
  auto channel = reader.Text(*length);
  if (!channel) return std::nullopt;
  auto version = reader.Version();
  if (!version) return std::nullopt;
  const auto blob_id = reader.Varint();
  if (!blob_id) return std::nullopt;
  return ChannelRef{*std::move(channel), *std::move(version), static_cast<std::int64_t>(*blob_id)};
}

}  // namespace

Bytes EncodeChannelRefs(std::span<const ChannelRef> refs) {
  std::size_t size = 1;
  for (const ChannelRef& ref : refs) size += ref.channel.size() + ref.version.size() + 8;
  Bytes out;
  out.reserve(size);
  out.push_back(kFormat);
  for (const ChannelRef& ref : refs) {
    AppendVarint(ref.channel.size(), out);
    AppendText(ref.channel, out);
    AppendVersion(ref.version, out);
    AppendVarint(static_cast<std::uint64_t>(ref.blob_id), out);
  }
  return out;
}

Result<std::vector<ChannelRef>> DecodeChannelRefs(ByteView encoded) {
  if (encoded.empty() || encoded.front() != kFormat) {
    return Error(StatusCode::kCorrupt, "channels of a checkpoint have an unknown layout");
  }
  Reader reader(encoded.subspan(1));
  std::vector<ChannelRef> refs;
  while (!reader.done()) {
    auto ref = ReadEntry(reader);
    if (!ref) return Error(StatusCode::kCorrupt, "channels of a checkpoint end in the middle");
    refs.push_back(*std::move(ref));
  }
  return refs;
}

Result<std::vector<ChannelRef>> ResolveChannels(const NewCheckpoint& checkpoint,
                                                std::span<const ChannelRef> parent,
                                                ValueBlobs& blobs) {
  const std::unordered_set<std::string_view> is_new(checkpoint.new_versions.begin(),
                                                    checkpoint.new_versions.end());
  std::unordered_map<std::string_view, const ChannelValue*> new_values;
  for (const ChannelValue& value : checkpoint.values) new_values.emplace(value.channel, &value);
  std::unordered_map<std::string_view, const ChannelRef*> inherited;
  for (const ChannelRef& ref : parent) inherited.emplace(ref.channel, &ref);

  const auto blob_of = [&](const ChannelVersion& version) -> Result<std::int64_t> {
    if (is_new.contains(version.channel)) {
      const auto value = new_values.find(version.channel);
      return value == new_values.end() ? kNoBlob : blobs.Add(*value->second);
    }
    const auto ref = inherited.find(version.channel);
    if (ref != inherited.end() && ref->second->version == version.version) {
      return ref->second->blob_id;
    }
    return blobs.Newest(version);
  };

  std::vector<ChannelRef> refs;
  refs.reserve(checkpoint.channel_versions.size());
  for (const ChannelVersion& version : checkpoint.channel_versions) {
    const auto blob_id = blob_of(version);
    if (!blob_id) return std::unexpected(blob_id.error());
    refs.push_back({version.channel, version.version, *blob_id});
  }
  return refs;
}

}  // namespace keepsake::checkpoint
