#include "checkpoint/stored_values.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/answer_room.h"
#include "base/hash.h"
#include "base/varint.h"
#include "checkpoint/diff.h"
#include "checkpoint/validation.h"

namespace keepsake::checkpoint {
namespace {

enum Form : std::uint8_t { kShort = 1, kPieces = 2, kTable = 3 };  // persistent

// A piece of up to so many bytes is told by itself: a range takes hardly less.
constexpr std::size_t kShortPiece = 24;
constexpr std::size_t kLongLiteral = 4 * kShortPiece;
// A value of more pieces is stored anew: each costs a few bytes in every version.
constexpr std::size_t kMaxPieces = 400;
// Pieces that take more are told by a range.
constexpr std::size_t kMaxTable = 256;
// Among the texts of messages, shorter matches are their common wrapping.
constexpr std::size_t kWindow = 32;
constexpr std::size_t kMinCopy = 256;
// A value of which less than this part was there before stands alone.
constexpr std::size_t kSharedPart = 8;
// In all, and of one value; a reader of the log finds the others.
constexpr std::size_t kKeptBytes = 8 * 1024 * 1024;

Status Corrupt() { return {StatusCode::kCorrupt, "a value of a checkpoint has an unknown layout"}; }

}  // namespace

struct StoredValues::NewPieces {
  std::vector<Piece> pieces;
  std::list<Bytes> owned;  // what `pieces` are views of

  void Add(const LogRange& range) {
    if (range.length == 0) return;
    if (!pieces.empty() && pieces.back().literal.empty()) {
      LogRange& last = pieces.back().range;
      if (last.log == range.log && last.offset + last.length == range.offset) {
        last.length += range.length;
        return;
      }
    }
    pieces.push_back({{}, range});
  }

  bool HasRangeOf(LogId log) const {
    return std::ranges::any_of(pieces, [&](const Piece& piece) {
      return piece.literal.empty() && piece.range.log == log;
    });
  }

  // Neighbours become one.
  void AddLiteral(ByteView bytes) {
    if (bytes.empty()) return;
    if (pieces.empty() || pieces.back().literal.empty()) {
      owned.emplace_back();
      pieces.emplace_back();
    }
    Append(bytes, owned.back());
    pieces.back().literal = owned.back();
  }
};

std::uint64_t StoredValues::Stored::length() const {
  std::uint64_t sum = 0;
  for (const Piece& piece : pieces) sum += piece.length();
  return sum;
}

std::size_t StoredValues::SizeOf(ByteView encoded) {
  ByteReader reader(encoded);
  const std::uint64_t form = reader.Varint();
  if (form > kTable) return 0;
  if (form != kNoValue) reader.Text();
  if (form == kPieces || form == kTable) reader.U64();
  if (form == kShort || form == kPieces) reader.Text();
  if (form == kTable) ReadRange(reader);
  return reader.ok() ? encoded.size() - reader.rest().size() : 0;
}

Result<StoredValues::Stored> StoredValues::Decode(ByteView value) {
  Stored stored;
  ByteReader reader(value);
  stored.form = static_cast<std::uint8_t>(reader.Varint());
  stored.type = reader.Text();
  if (stored.form == kShort) {
    stored.pieces.push_back({BytesOf(reader.Text()), {}});
    if (!reader.ok()) return std::unexpected(Corrupt());
    return stored;
  }
  stored.stamp = reader.U64();
  ByteView table;
  if (stored.form == kPieces) {
    table = BytesOf(reader.Text());
  } else {
    stored.table = ReadRange(reader);
    if (!reader.ok()) return std::unexpected(Corrupt());
    if (Status s = logs_.Read(stored.table, stored.table_bytes); !s.ok()) {
      return std::unexpected(std::move(s));
    }
    table = stored.table_bytes;
  }
  ByteReader pieces(table);
  while (!pieces.done()) {
    const std::uint64_t tag = pieces.Varint();
    if ((tag & 1) != 0) {
      stored.pieces.push_back({pieces.Take(tag >> 1), {}});
    } else {
      const LogId log = pieces.Id();
      stored.pieces.push_back({{}, {log, pieces.Varint(), tag >> 1}});
    }
  }
  if (!reader.ok() || !pieces.ok()) return std::unexpected(Corrupt());
  return stored;
}

Status StoredValues::ReadPieces(const Stored& stored, Bytes& out) {
  for (const Piece& piece : stored.pieces) {
    Append(piece.literal, out);
    if (Status s = logs_.Read(piece.range, out); !s.ok()) return s;
  }
  return {};
}

Result<Blob> StoredValues::Read(ByteView value) {
  const auto stored = Decode(value);
  if (!stored) return std::unexpected(stored.error());
  const auto length = static_cast<std::size_t>(stored->length());
  if (Status s = AnswerRoom::Take(length); !s.ok()) return std::unexpected(std::move(s));
  Blob blob = {std::string(stored->type), {}};
  if (Status s = ReadPieces(*stored, blob.bytes); !s.ok()) return std::unexpected(std::move(s));
  return blob;
}

Status StoredValues::CollectRanges(ByteView value, std::vector<LogRange>& ranges) {
  if (value.empty() || value.front() < kPieces) return {};
  const auto stored = Decode(value);
  if (!stored) return stored.error();
  ranges.push_back(stored->table);
  for (const Piece& piece : stored->pieces) ranges.push_back(piece.range);
  return {};
}

Status StoredValues::Put(NamespaceId ns, const Blob& value, Bytes& out, std::size_t most) {
  return PutAlone(ns, value.type, 0, value.bytes, out, most);
}

Status StoredValues::Put(const ValuePlace& place, const NewValue& value, Bytes& out) {
  return value.delta.base_stamp == 0 ? PutWhole(place, value, out)
                                     : PutDifference(place, value, out);
}

Status StoredValues::PutAlone(NamespaceId ns, std::string_view type, std::uint64_t stamp,
                              ByteView bytes, Bytes& out, std::size_t most) {
  if (bytes.size() <= most) {
    out.push_back(kShort);
    AppendText(type, out);
    AppendText(TextOf(bytes), out);
    return {};
  }
  const auto range = logs_.Append(MainLog(ns), bytes);
  if (!range) return range.error();
  return Encode(ns, type, stamp, std::vector<Piece>{{{}, *range}}, out);
}

Status StoredValues::Encode(NamespaceId ns, std::string_view type, std::uint64_t stamp,
                            std::span<const Piece> pieces, Bytes& out) {
  Bytes table;
  for (const Piece& piece : pieces) {
    AppendVarint(piece.length() * 2 + (piece.literal.empty() ? 0 : 1), table);
    Append(piece.literal, table);
    if (!piece.literal.empty()) continue;
    AppendVarint(static_cast<std::uint64_t>(piece.range.log), table);
    AppendVarint(piece.range.offset, table);
  }
  const bool apart = table.size() > kMaxTable;
  out.push_back(apart ? kTable : kPieces);
  AppendText(type, out);
  AppendU64(stamp, out);
  if (!apart) {
    AppendText(TextOf(table), out);
    return {};
  }
  const auto range = logs_.Append(MainLog(ns), table);
  if (!range) return range.error();
  AppendVarint(static_cast<std::uint64_t>(range->log), out);
  AppendVarint(range->offset, out);
  AppendVarint(range->length, out);
  return {};
}

Status StoredValues::PutWhole(const ValuePlace& place, const NewValue& value, Bytes& out) {
  const ByteView bytes = value.value.bytes;
  const std::uint64_t stamp = value.delta.stamp != 0 ? value.delta.stamp : HashOf(bytes);
  if (bytes.size() <= kShortValue || place.base.empty()) {
    Keep(stamp, bytes);
    return PutAlone(place.ns, value.value.type, stamp, bytes, out);
  }
  const auto base = Decode(place.base);
  if (!base) return base.error();
  Bytes buffer;
  const auto base_bytes = BytesFor(*base, buffer);
  if (!base_bytes) return base_bytes.error();
  const std::vector<Edit> edits = Diff(*base_bytes, bytes, kWindow, kMinCopy);
  std::size_t shared = 0;
  for (const Edit& edit : edits) shared += edit.is_copy ? edit.length : 0;
  if (shared < bytes.size() / kSharedPart || edits.size() > kMaxPieces) {
    Keep(stamp, bytes);
    return PutAlone(place.ns, value.value.type, stamp, bytes, out);
  }
  NewPieces pieces;
  for (const Edit& edit : edits) {
    Status s = edit.is_copy ? AddCopy(*base, edit.offset, edit.length, pieces)
                            : AddNew(place, bytes.subspan(edit.offset, edit.length), pieces);
    if (!s.ok()) return s;
  }
  Keep(stamp, bytes);
  if (Status s = MoveLongLiterals(place, pieces); !s.ok()) return s;
  if (pieces.pieces.size() > kMaxPieces) {
    return PutAlone(place.ns, value.value.type, stamp, bytes, out);
  }
  if (Status s = AddUsers(place, pieces); !s.ok()) return s;
  return Encode(place.ns, value.value.type, stamp, pieces.pieces, out);
}

Status StoredValues::PutDifference(const ValuePlace& place, const NewValue& value, Bytes& out) {
  const ValueDelta& delta = value.delta;
  if (place.base.empty() || place.base_space != place.ns) return OtherBase(value.channel);
  const auto base = Decode(place.base);
  if (!base) return base.error();
  const std::uint64_t length = base->length();
  if (base->stamp != delta.base_stamp || delta.prefix > length ||
      delta.suffix > length - delta.prefix) {
    return OtherBase(value.channel);
  }
  NewPieces pieces;
  Status s = AddCopy(*base, 0, delta.prefix, pieces);
  if (s.ok()) s = AddNew(place, value.value.bytes, pieces);
  if (s.ok()) s = AddCopy(*base, length - delta.suffix, delta.suffix, pieces);
  if (s.ok()) s = MoveLongLiterals(place, pieces);
  if (!s.ok()) return s;
  if (pieces.pieces.size() <= kMaxPieces) {
    return Encode(place.ns, value.value.type, delta.stamp, pieces.pieces, out);
  }
  Stored whole;
  whole.pieces = std::move(pieces.pieces);
  Bytes bytes;
  if (s = ReadPieces(whole, bytes); !s.ok()) return s;
  return PutAlone(place.ns, value.value.type, delta.stamp, bytes, out);
}

Status StoredValues::AddCopy(const Stored& base, std::uint64_t offset, std::uint64_t length,
                             NewPieces& pieces) {
  for (const Piece& piece : base.pieces) {
    if (length == 0) break;
    if (offset >= piece.length()) {
      offset -= piece.length();
      continue;
    }
    const std::uint64_t taken = std::min(length, piece.length() - offset);
    Piece part = {{}, {piece.range.log, piece.range.offset + offset, taken}};
    if (!piece.literal.empty()) part.literal = piece.literal.subspan(offset, taken);
    if (!part.literal.empty() || taken <= kShortPiece) {
      if (Status s = AddShort(part, pieces); !s.ok()) return s;
    } else {
      pieces.Add(part.range);
    }
    offset = 0;
    length -= taken;
  }
  return {};
}

Status StoredValues::AddShort(const Piece& part, NewPieces& pieces) {
  if (!part.literal.empty()) {
    pieces.AddLiteral(part.literal);
    return {};
  }
  Bytes bytes;
  if (Status s = logs_.Read(part.range, bytes); !s.ok()) return s;
  pieces.AddLiteral(bytes);
  return {};
}

Status StoredValues::AddNew(const ValuePlace& place, ByteView bytes, NewPieces& pieces) {
  if (bytes.size() <= kShortPiece) {
    pieces.AddLiteral(bytes);
    return {};
  }
  const LogId log = ChannelLog(place.ns, place.channel);
  const bool known = pieces.HasRangeOf(log);
  const auto range = logs_.Append(log, bytes);
  if (!range) return range.error();
  pieces.Add(*range);
  return known ? Status() : logs_.AddUser(log, place.ns);
}

// Many short additions in a row would make a literal that every version repeats.
Status StoredValues::MoveLongLiterals(const ValuePlace& place, NewPieces& pieces) {
  const std::vector<Piece> all = std::exchange(pieces.pieces, {});
  for (const Piece& piece : all) {
    if (piece.literal.size() <= kLongLiteral) {
      pieces.pieces.push_back(piece);
    } else if (Status s = AddNew(place, piece.literal, pieces); !s.ok()) {
      return s;
    }
  }
  return {};
}

// A base of another namespace may bring logs which were not used here.
Status StoredValues::AddUsers(const ValuePlace& place, const NewPieces& pieces) {
  if (place.base_space == place.ns) return {};
  for (const Piece& piece : pieces.pieces) {
    if (!piece.literal.empty()) continue;
    if (Status s = logs_.AddUser(piece.range.log, place.ns); !s.ok()) return s;
  }
  return {};
}

Result<ByteView> StoredValues::BytesFor(const Stored& stored, Bytes& buffer) {
  for (auto kept = latest_.begin(); kept != latest_.end(); ++kept) {
    if (kept->stamp != stored.stamp || kept->bytes.size() != stored.length()) continue;
    latest_.splice(latest_.begin(), latest_, kept);
    return latest_.front().bytes;
  }
  if (Status s = ReadPieces(stored, buffer); !s.ok()) return std::unexpected(std::move(s));
  return buffer;
}

void StoredValues::Keep(std::uint64_t stamp, ByteView bytes) {
  if (bytes.size() <= kShortValue || bytes.size() > kKeptBytes / 2) return;
  latest_.push_front({stamp, Bytes(bytes.begin(), bytes.end())});
  latest_bytes_ += bytes.size();
  while (latest_bytes_ > kKeptBytes) {
    latest_bytes_ -= latest_.back().bytes.size();
    latest_.pop_back();
  }
}

}  // namespace keepsake::checkpoint
