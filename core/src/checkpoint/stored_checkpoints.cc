#include "checkpoint/stored_checkpoints.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "base/varint.h"
#include "checkpoint/diff.h"
#include "checkpoint/stored_values.h"

namespace keepsake::checkpoint {
namespace {

constexpr std::uint64_t kNumberLimit = std::uint64_t{1} << 62;
constexpr std::size_t kWindow = 8;
// A copy takes two or three bytes itself.
constexpr std::size_t kMinCopy = 8;
constexpr std::size_t kShortestCopy = 4;
// Beyond so many times the difference from a fresh base, and some bytes, the base
// is worn out.
constexpr std::size_t kWear = 2;
constexpr std::size_t kWearBytes = 96;
constexpr std::size_t kKeptBases = 64;

Status Corrupt() {
  return {StatusCode::kCorrupt, "the row of a checkpoint is damaged or has an unknown layout"};
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

std::string ReadVersion(ByteReader& reader) {
  const std::uint64_t tag = reader.Varint();
  return (tag & 1) == 0 ? std::to_string(tag >> 1) : std::string(TextOf(reader.Take(tag >> 1)));
}

BlobView ReadBlob(ByteReader& reader) {
  const std::string_view type = reader.Text();
  return {type, BytesOf(reader.Text())};
}

Bytes EncodeEdits(ByteView base, ByteView record) {
  Bytes out;
  for (const Edit& edit : Diff(base, record, kWindow, kMinCopy)) {
    const bool copies = edit.is_copy && edit.length >= kShortestCopy;
    AppendVarint(edit.length * 2 + (copies ? 0 : 1), out);
    if (copies) {
      AppendVarint(edit.offset, out);
    } else {
      Append((edit.is_copy ? base : record).subspan(edit.offset, edit.length), out);
    }
  }
  return out;
}

Bytes EncodeRow(const LogRange& base, std::uint64_t checksum, ByteView edits) {
  Bytes row;
  AppendVarint(static_cast<std::uint64_t>(base.log), row);
  AppendVarint(base.offset, row);
  AppendVarint(base.length, row);
  AppendU64(checksum, row);
  Append(edits, row);
  return row;
}

}  // namespace

Bytes EncodeCheckpoint(const NewCheckpoint& checkpoint) {
  Bytes record;
  record.reserve(checkpoint.checkpoint.bytes.size() + checkpoint.metadata.bytes.size() + 256);
  AppendText(checkpoint.parent_checkpoint_id, record);
  for (const Blob* blob : {&checkpoint.checkpoint, &checkpoint.metadata}) {
    AppendText(blob->type, record);
    AppendText(TextOf(blob->bytes), record);
  }
  return record;
}

void AppendChannel(std::string_view name, std::string_view version, ByteView value, Bytes& record) {
  AppendText(name, record);
  if (const auto number = CanonicalNumber(version)) {
    AppendVarint(*number * 2, record);
  } else {
    AppendVarint(version.size() * 2 + 1, record);
    Append(BytesOf(version), record);
  }
  Append(value, record);
}

Result<StoredCheckpoint> StoredCheckpoint::Parse(Bytes bytes) {
  StoredCheckpoint record;
  record.bytes_ = std::move(bytes);
  ByteReader reader(record.bytes_);
  record.parent_checkpoint_id = reader.Text();
  record.checkpoint = ReadBlob(reader);
  record.metadata = ReadBlob(reader);
  record.channels_ = reader.rest();
  if (!reader.ok()) return std::unexpected(Corrupt());
  return record;
}

Result<std::vector<StoredChannel>> StoredCheckpoint::Channels() const {
  std::vector<StoredChannel> channels;
  ByteReader reader(channels_);
  while (!reader.done()) {
    StoredChannel channel;
    channel.name = reader.Text();
    channel.version = ReadVersion(reader);
    const std::size_t size = StoredValues::SizeOf(reader.rest());
    channel.value = reader.Take(size);
    if (!reader.ok() || size == 0) return std::unexpected(Corrupt());
    channels.push_back(std::move(channel));
  }
  if (!reader.ok()) return std::unexpected(Corrupt());
  return channels;
}

Result<Bytes> StoredCheckpoints::Encode(NamespaceId ns, ByteView record, ByteView relative,
                                        ByteView previous) {
  if (!relative.empty()) {
    const LogRange range = BaseOf(relative);
    const auto base = ReadBase(range);
    if (!base) return std::unexpected(base.error());
    const Bytes edits = EncodeEdits((*base)->bytes, record);
    if (!IsWornOut(**base, edits.size(), previous, record)) {
      return EncodeRow(range, HashOf(record, (*base)->checksum), edits);
    }
  }
  const auto range = logs_.Append(MainLog(ns), record);
  if (!range) return std::unexpected(range.error());
  // Also in the place of one that was undone.
  const std::uint64_t checksum =
      Keep({range->log, range->offset, range->length}, Bytes(record.begin(), record.end()))
          ->checksum;
  return EncodeRow(*range, HashOf(record, checksum), EncodeEdits(record, record));
}

// What a fresh base would save is found out only if the last answer says that it is much.
bool StoredCheckpoints::IsWornOut(Base& base, std::size_t edits, ByteView previous,
                                  ByteView record) {
  if (edits <= kWear * base.fresh + kWearBytes) return false;
  const std::size_t fresh = EncodeEdits(previous, record).size();
  base.fresh = base.fresh == 0 ? fresh : std::min(base.fresh, fresh);
  return edits > kWear * fresh + kWearBytes;
}

Result<StoredCheckpoint> StoredCheckpoints::Decode(ByteView row) {
  auto bytes = Rebuild(row);
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  return StoredCheckpoint::Parse(*std::move(bytes));
}

LogRange StoredCheckpoints::BaseOf(ByteView row) {
  ByteReader reader(row);
  return ReadRange(reader);
}

Result<Bytes> StoredCheckpoints::Rebuild(ByteView row) {
  auto record = TryRebuild(row);
  if (record || bases_.empty()) return record;
  // What was kept in a transaction that was undone is no base any more.
  bases_.clear();
  return TryRebuild(row);
}

Result<Bytes> StoredCheckpoints::TryRebuild(ByteView row) {
  ByteReader reader(row);
  const LogRange range = ReadRange(reader);
  const std::uint64_t checksum = reader.U64();
  if (!reader.ok()) return std::unexpected(Corrupt());
  const auto base = ReadBase(range);
  if (!base) return std::unexpected(base.error());
  const ByteView base_bytes = (*base)->bytes;
  Bytes record;
  record.reserve(base_bytes.size() + row.size());
  while (!reader.done()) {
    const std::uint64_t tag = reader.Varint();
    if ((tag & 1) != 0) {
      Append(reader.Take(tag >> 1), record);
      continue;
    }
    const std::uint64_t offset = reader.Varint();
    if (offset > base_bytes.size() || (tag >> 1) > base_bytes.size() - offset) {
      return std::unexpected(Corrupt());
    }
    Append(base_bytes.subspan(offset, tag >> 1), record);
  }
  if (!reader.ok() || HashOf(record, (*base)->checksum) != checksum) {
    return std::unexpected(Corrupt());
  }
  return record;
}

Result<StoredCheckpoints::Base*> StoredCheckpoints::ReadBase(const LogRange& range) {
  const BaseKey key(range.log, range.offset, range.length);
  if (const auto kept = bases_.find(key); kept != bases_.end()) return &kept->second;
  Bytes bytes;
  if (Status s = logs_.Read(range, bytes); !s.ok()) return std::unexpected(std::move(s));
  return Keep(key, std::move(bytes));
}

StoredCheckpoints::Base* StoredCheckpoints::Keep(const BaseKey& key, Bytes bytes) {
  if (bases_.size() >= kKeptBases) bases_.clear();
  Base base = {.bytes = std::move(bytes)};
  base.checksum = HashOf(base.bytes);
  return &bases_.insert_or_assign(key, std::move(base)).first->second;
}

}  // namespace keepsake::checkpoint
