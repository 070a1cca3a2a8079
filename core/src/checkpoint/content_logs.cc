#include "checkpoint/content_logs.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/hash.h"
#include "base/varint.h"

namespace keepsake::checkpoint {
namespace {

using sql::Row;

constexpr std::int64_t kMaxChunks = std::int64_t{1} << kChunkBits;
constexpr std::int64_t kMaxLogs = std::int64_t{1} << kLogBits;
constexpr std::size_t kKeptTails = 8;

std::int64_t FirstChunk(LogId log) { return log << kChunkBits; }
std::int64_t LastChunk(LogId log) { return FirstChunk(log) + kMaxChunks - 1; }
std::int64_t ChunkAt(LogId log, std::uint64_t offset) {
  return FirstChunk(log) + static_cast<std::int64_t>(offset / kChunkBytes);
}

Status Damaged() { return {StatusCode::kCorrupt, "content of a checkpoint is missing or damaged"}; }

// Where in the log the last chunk ends.
std::uint64_t EndOf(LogId log, std::int64_t chunk, ByteView bytes) {
  return static_cast<std::uint64_t>(chunk - FirstChunk(log)) * kChunkBytes + bytes.size();
}

LogId NextLog(LogId log) { return MainLog(OwnerOf(log)) + (log + 1) % kMaxLogs; }

}  // namespace

LogRange ReadRange(ByteReader& reader) {
  const LogId log = reader.Id();
  const std::uint64_t offset = reader.Varint();
  return {log, offset, reader.Varint()};
}

LogId MainLog(NamespaceId ns) { return ns << kLogBits; }

LogId ChannelLog(NamespaceId ns, std::string_view channel) {
  const auto n = HashOf(BytesOf(channel)) % static_cast<std::uint64_t>(kMaxLogs - 1);
  return MainLog(ns) + 1 + static_cast<std::int64_t>(n);
}

NamespaceId OwnerOf(LogId log) { return log >> kLogBits; }

// In the wrong place the right bytes are wrong, too.
std::int64_t ChecksumOf(std::int64_t chunk, ByteView bytes) {
  const std::uint64_t hash = HashOf(bytes, static_cast<std::uint64_t>(chunk));
  return static_cast<std::int64_t>(hash >> (64 - kNumberBits));
}

void Stretches::Add(Stretch stretch) {
  auto [first, last] = stretch;
  auto next = last_of_.upper_bound(first);
  if (next != last_of_.begin() && std::prev(next)->second >= first - 1) {
    --next;
    if (next->second >= last) return;
    first = next->first;
  }
  while (next != last_of_.end() && next->first <= last + 1) {
    last = std::max(last, next->second);
    next = last_of_.erase(next);
  }
  last_of_.emplace(first, last);
}

std::vector<Stretches::Stretch> Stretches::Gaps(Stretch whole) const {
  std::vector<Stretch> gaps;
  auto [from, last] = whole;
  auto marked = last_of_.upper_bound(from);
  if (marked != last_of_.begin()) --marked;
  for (; marked != last_of_.end() && marked->first <= last; ++marked) {
    if (marked->second < from) continue;
    if (marked->first > from) gaps.emplace_back(from, marked->first - 1);
    from = marked->second + 1;
  }
  if (from <= last) gaps.emplace_back(from, last);
  return gaps;
}

void Marks::Mark(NamespaceId ns, const LogRange& range) {
  if (range.length == 0 || !logs_.contains(range.log)) return;
  users_.emplace(range.log, ns);
  const std::uint64_t last = range.offset + range.length - 1;
  chunks_.Add({ChunkAt(range.log, range.offset), ChunkAt(range.log, last)});
  if (!by_byte_) return;
  bytes_[range.log].Add({static_cast<std::int64_t>(range.offset), static_cast<std::int64_t>(last)});
}

const Stretches& Marks::BytesOf(LogId log) const {
  static const Stretches kNone;
  const auto bytes = bytes_.find(log);
  return bytes == bytes_.end() ? kNone : bytes->second;
}

Result<LogRange> ContentLogs::Append(LogId log, ByteView bytes) {
  LogRange range;
  if (TryAppend(log, bytes, range)) return range;
  const LogId first = log;
  do {
    auto tail = ReadTail(log);
    if (!tail) return std::unexpected(std::move(tail.error()));
    range = {log, EndOf(log, tail->chunk, tail->bytes), bytes.size()};
    if (range.length <= kLogBytes - range.offset) {
      Status s = Extend(*tail, bytes);
      if (s.ok() && log != first) s = AddUser(log, OwnerOf(log));
      if (!s.ok()) return std::unexpected(std::move(s));
      Keep(log, *std::move(tail));
      return range;
    }
    log = NextLog(log);
  } while (log != first && bytes.size() <= kLogBytes);
  return Error(StatusCode::kTooLarge, "a value or the namespace of a thread has no more room");
}

// What does not fit into the chunk is as well read as known.
bool ContentLogs::TryAppend(LogId log, ByteView bytes, LogRange& range) {
  const auto kept = tails_.find(log);
  if (kept == tails_.end()) return false;
  Tail tail = std::move(kept->second);
  tails_.erase(kept);
  if (bytes.size() > kChunkBytes - tail.bytes.size()) return false;
  range = {log, EndOf(log, tail.chunk, tail.bytes), bytes.size()};
  keepsake::Append(bytes, tail.bytes);
  const std::int64_t earlier = std::exchange(tail.checksum, ChecksumOf(tail.chunk, tail.bytes));
  // A chunk that is another by now gets no checksum; one that is gone would have to be made
  // of a number, which is no blob: either way the statement fails.
  const Status s = database_.Run(
      "INSERT INTO content(chunk, checksum, bytes) VALUES (?, 0, 0) ON CONFLICT(chunk) DO UPDATE "
      "SET checksum = CASE checksum WHEN ? THEN ? END, bytes = ?",
      {tail.chunk, earlier, tail.checksum, tail.bytes});
  if (!s.ok()) return false;
  Keep(log, std::move(tail));
  return true;
}

void ContentLogs::Keep(LogId log, Tail tail) {
  if (tails_.size() >= kKeptTails) tails_.clear();
  tails_.insert_or_assign(log, std::move(tail));
}

Result<ContentLogs::Tail> ContentLogs::ReadTail(LogId log) {
  Tail tail = {FirstChunk(log), {}, 0};
  bool damaged = false;
  Status s = database_.Run(
      "SELECT chunk, checksum, bytes FROM content WHERE chunk BETWEEN ? AND ? "
      "ORDER BY chunk DESC LIMIT 1",
      {FirstChunk(log), LastChunk(log)}, [&](const Row& row) {
        const ByteView last = row.Blob(2);
        tail.chunk = row.Int(0);
        tail.bytes.reserve(kChunkBytes);
        tail.bytes.assign(last.begin(), last.end());
        damaged = ChecksumOf(tail.chunk, last) != row.Int(1) || last.size() > kChunkBytes;
      });
  if (s.ok() && damaged) s = Damaged();
  if (!s.ok()) return std::unexpected(std::move(s));
  return tail;
}

// REQUIRES: there is room.
Status ContentLogs::Extend(Tail& tail, ByteView bytes) {
  while (!bytes.empty()) {
    if (tail.bytes.size() == kChunkBytes) tail = {tail.chunk + 1, {}, 0};
    const ByteView part = bytes.first(std::min(bytes.size(), kChunkBytes - tail.bytes.size()));
    keepsake::Append(part, tail.bytes);
    bytes = bytes.subspan(part.size());
    tail.checksum = ChecksumOf(tail.chunk, tail.bytes);
    Status s =
        database_.Run("INSERT OR REPLACE INTO content(chunk, checksum, bytes) VALUES (?, ?, ?)",
                      {tail.chunk, tail.checksum, tail.bytes});
    if (!s.ok()) return s;
  }
  return {};
}

Status ContentLogs::Read(const LogRange& range, Bytes& out) {
  if (range.length == 0) return {};
  std::uint64_t at = range.offset;
  const std::uint64_t end = range.offset + range.length;
  if (range.log <= 0 || OwnerOf(range.log) > kMaxNamespace || end < at || end > kLogBytes) {
    return Damaged();
  }
  Status s = database_.Run(
      "SELECT chunk, checksum, bytes FROM content WHERE chunk BETWEEN ? AND ? ORDER BY chunk",
      {ChunkAt(range.log, at), ChunkAt(range.log, end - 1)}, [&](const Row& row) -> Status {
        const ByteView chunk = row.Blob(2);
        const std::uint64_t begin = at % kChunkBytes;
        const std::uint64_t wanted = std::min<std::uint64_t>(end - at, kChunkBytes - begin);
        const bool is_sound = row.Int(0) == ChunkAt(range.log, at) &&
                              ChecksumOf(row.Int(0), chunk) == row.Int(1) &&
                              begin + wanted <= chunk.size();
        if (!is_sound) return Damaged();
        keepsake::Append(chunk.subspan(begin, wanted), out);
        at += wanted;
        return {};
      });
  return !s.ok() || at == end ? s : Damaged();
}

Status ContentLogs::AddUser(LogId log, NamespaceId ns) {
  return database_.Run("INSERT OR IGNORE INTO log_users(log, ns_id) VALUES (?, ?)", {log, ns});
}

Status ContentLogs::AddUserOfAll(NamespaceId of, NamespaceId ns) {
  return database_.Run(
      "INSERT OR IGNORE INTO log_users(log, ns_id) SELECT log, ? FROM log_users WHERE ns_id = ?",
      {ns, of});
}

Status ContentLogs::RemoveUser(NamespaceId ns) {
  return database_.Run("DELETE FROM log_users WHERE ns_id = ?", {ns});
}

Result<std::set<LogId>> ContentLogs::LogsOf(NamespaceId ns) {
  std::set<LogId> logs;
  Status s = database_.Run("SELECT log FROM log_users WHERE ns_id = ?", {ns},
                           [&](const Row& row) { logs.insert(row.Int(0)); });
  if (!s.ok()) return std::unexpected(std::move(s));
  return logs;
}

Result<std::set<NamespaceId>> ContentLogs::UsersOf(const std::set<LogId>& logs) {
  std::set<NamespaceId> users;
  for (const LogId log : logs) {
    Status s = database_.Run("SELECT ns_id FROM log_users WHERE log = ?", {log},
                             [&](const Row& row) { users.insert(row.Int(0)); });
    if (!s.ok()) return std::unexpected(std::move(s));
  }
  return users;
}

Result<std::uint64_t> ContentLogs::Sweep(const Marks& marks) {
  std::uint64_t freed = 0;
  for (const LogId log : marks.logs()) {
    const auto users = UsersOf({log});
    if (!users) return std::unexpected(users.error());
    for (const NamespaceId user : *users) {
      if (user == OwnerOf(log) || marks.IsUsedBy(user, log)) continue;
      Status s = database_.Run("DELETE FROM log_users WHERE log = ? AND ns_id = ?", {log, user});
      if (!s.ok()) return std::unexpected(std::move(s));
    }
    for (const auto& [first, last] : marks.chunks().Gaps({FirstChunk(log), LastChunk(log)})) {
      const auto bytes = Free(first, last);
      if (!bytes) return bytes;
      freed += *bytes;
    }
    if (!marks.by_byte()) continue;
    if (Status s = Blank(log, marks.BytesOf(log)); !s.ok()) return std::unexpected(std::move(s));
  }
  return freed;
}

Status ContentLogs::Blank(LogId log, const Stretches& marked) {
  struct Blanked {
    std::int64_t chunk;
    Bytes bytes;
  };
  std::vector<Blanked> blanked;
  Status s = database_.Run(
      "SELECT chunk, bytes FROM content WHERE chunk BETWEEN ? AND ?",
      {FirstChunk(log), LastChunk(log)}, [&](const Row& row) {
        const ByteView stored = row.Blob(1);
        if (stored.empty()) return true;
        const auto begin = static_cast<std::int64_t>(EndOf(log, row.Int(0), {}));
        const auto last = begin + static_cast<std::int64_t>(stored.size()) - 1;
        const auto gaps = marked.Gaps({begin, last});
        if (gaps.empty()) return true;
        Bytes bytes(stored.begin(), stored.end());
        for (const auto& [from, to] : gaps) {
          std::fill(bytes.begin() + (from - begin), bytes.begin() + (to - begin + 1), 0);
        }
        blanked.push_back({row.Int(0), std::move(bytes)});
        return true;
      });
  for (const auto& [chunk, bytes] : blanked) {
    if (!s.ok()) return s;
    s = database_.Run("UPDATE content SET checksum = ?, bytes = ? WHERE chunk = ?",
                      {ChecksumOf(chunk, bytes), bytes, chunk});
  }
  tails_.clear();
  return s;
}

Result<std::uint64_t> ContentLogs::Free(std::int64_t first_chunk, std::int64_t last_chunk) {
  const auto freed =
      Number("SELECT COALESCE(SUM(LENGTH(bytes)), 0) FROM content WHERE chunk BETWEEN ? AND ?",
             {first_chunk, last_chunk});
  if (!freed || *freed == 0) return freed;
  Status s =
      database_.Run("DELETE FROM content WHERE chunk BETWEEN ? AND ?", {first_chunk, last_chunk});
  if (!s.ok()) return std::unexpected(std::move(s));
  return freed;
}

Result<std::uint64_t> ContentLogs::BytesOfLog(LogId log) {
  return Number("SELECT COALESCE(SUM(LENGTH(bytes)), 0) FROM content WHERE chunk BETWEEN ? AND ?",
                {FirstChunk(log), LastChunk(log)});
}

Result<std::uint64_t> ContentLogs::BytesOfRows(NamespaceId ns) {
  return Number(
      "SELECT (SELECT COALESCE(SUM(LENGTH(checkpoint)), 0) FROM checkpoints WHERE ns_id = ?) + "
      "(SELECT COALESCE(SUM(LENGTH(writes)), 0) FROM writes WHERE ns_id = ?)",
      {ns, ns});
}

Result<std::uint64_t> ContentLogs::Number(std::string_view sql,
                                          std::initializer_list<sql::Param> params) {
  std::uint64_t number = 0;
  Status s = database_.Run(
      sql, params, [&](const Row& row) { number = static_cast<std::uint64_t>(row.Int(0)); });
  if (!s.ok()) return std::unexpected(std::move(s));
  return number;
}

}  // namespace keepsake::checkpoint
