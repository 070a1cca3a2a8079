#include "store/sqlite/sqlite_history.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "sql/prefix_range.h"
#include "store/checked_batch.h"
#include "store/sqlite/id_list.h"
#include "store/sqlite/provenance_columns.h"
#include "store/sqlite/read_int.h"

namespace keepsake {
namespace {

using sql::Param;
using sql::Row;

constexpr std::int64_t kEver = ValidityRange::kEver;

constexpr std::string_view kAnyRule = "SELECT 1 FROM meta WHERE name = 'history'";
constexpr std::string_view kNoteRules =
    "INSERT OR IGNORE INTO meta(name, value) VALUES('history', '1')";
constexpr std::string_view kRules = "SELECT ns, max_versions, max_age, since_ms FROM history_rules";
constexpr std::string_view kPutRule =
    "INSERT OR REPLACE INTO history_rules(ns, max_versions, max_age, since_ms) VALUES(?, ?, ?, ?)";
constexpr std::string_view kDropRule = "DELETE FROM history_rules WHERE ns = ?";

// An id is never given again, so that nobody undoes what took another's place.
constexpr std::string_view kNextId =
    "SELECT 1 + max(COALESCE((SELECT max(version_id) FROM store_versions), 0),"
    " COALESCE((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'history_last'), 0))";
// Where what is too old is looked for next: of a replica, since it must be dropped on all alike.
constexpr std::string_view kReadCursor =
    "SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'history_cursor'";
constexpr std::string_view kWriteCursor =
    "INSERT OR REPLACE INTO meta(name, value) VALUES('history_cursor', CAST(? AS TEXT))";
constexpr std::string_view kIsOperation =
    "SELECT count(*) FROM store_versions WHERE version_id = ? AND operation_id = version_id";
// Nothing if there are several.
constexpr std::string_view kFindByMark =
    "SELECT CASE count(*) WHEN 1 THEN min(version_id) ELSE 0 END FROM store_versions"
    " WHERE version_id = operation_id AND version_id >= ? AND version_id & ? = ?";
constexpr std::string_view kNoteLast =
    "INSERT OR REPLACE INTO meta(name, value) VALUES('history_last', CAST(? AS TEXT))";

// What is there of the item, and since when: the last change of it, or the beginning of its
// history, or of itself if its history was erased. The first version of an operation gives its
// id to it, the others are told both.
constexpr std::string_view kRecord =
    "INSERT INTO store_versions(version_id, operation_id, change, actor, is_last, ns, key, number,"
    "  from_ms, at_ms, value, created_at, updated_at, ttl, expires_at, valid_from, valid_until,"
    "  superseded_by, origin, source)"
    " SELECT p.id, COALESCE(?, p.id), ?, ?, ?, p.ns, p.key, COALESCE(l.number, 0) + 1,"
    "  COALESCE(l.at_ms, max(p.since, COALESCE(i.updated_at, p.since))),"
    "  max(p.at, COALESCE(l.at_ms, p.since)),"
    "  i.value, i.created_at, i.updated_at, i.ttl, i.expires_at, i.valid_from, i.valid_until,"
    "  i.superseded_by, i.origin, i.source"
    " FROM (SELECT COALESCE(?, 1 + max("
    "    COALESCE((SELECT max(version_id) FROM store_versions), 0),"
    "    COALESCE((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'history_last'), 0))) AS "
    "id,"
    "  ? AS ns, ? AS key, ? AS since, ? AS at) p"
    " LEFT JOIN store_kv i ON i.ns = p.ns AND i.key = p.key"
    " LEFT JOIN store_versions l ON l.version_id ="
    "  (SELECT v.version_id FROM store_versions v WHERE v.ns = p.ns AND v.key = p.key"
    "   ORDER BY v.number DESC LIMIT 1)"
    " WHERE true RETURNING version_id, number, value IS NOT NULL";
constexpr std::string_view kKeepVectors =
    "INSERT OR REPLACE INTO version_vectors(version_id, path, vector)"
    " SELECT ?, v.path, v.vector FROM store_kv i JOIN store_vectors v ON v.item_id = i.item_id"
    " WHERE i.ns = ? AND i.key = ?";
// What an item waits for has no vector yet.
constexpr std::string_view kKeepAwaited =
    "INSERT OR REPLACE INTO version_vectors(version_id, path, vector)"
    " SELECT ?, w.path, x'' FROM store_kv i JOIN vector_pending w ON w.item_id = i.item_id"
    " WHERE i.ns = ? AND i.key = ?";
constexpr std::string_view kEndOperation =
    "UPDATE store_versions SET is_last = 1 WHERE version_id = ?";

constexpr std::string_view kAnyVectors = "SELECT 1 FROM version_vectors LIMIT 1";
constexpr std::string_view kDropVectorsUpTo =
    "DELETE FROM version_vectors WHERE version_id IN"
    " (SELECT version_id FROM store_versions WHERE ns = ? AND key = ? AND number <= ?)";
constexpr std::string_view kDropUpTo =
    "DELETE FROM store_versions WHERE ns = ? AND key = ? AND number <= ?";
constexpr std::string_view kLook =
    "SELECT version_id, ns, at_ms FROM store_versions WHERE version_id >= ?"
    " ORDER BY version_id LIMIT ?";
constexpr std::string_view kNamesBelow =
    "SELECT version_id, ns FROM store_versions WHERE ns >= ? AND ns < ?";
constexpr std::string_view kDropVectors =
    "DELETE FROM version_vectors WHERE version_id IN (SELECT value FROM json_each(?))";
constexpr std::string_view kDrop =
    "DELETE FROM store_versions WHERE version_id IN (SELECT value FROM json_each(?))";

constexpr std::string_view kReadVersions =
    "SELECT version_id, operation_id, is_last, change, actor, ns, key, number, from_ms, at_ms,"
    "  value, created_at, updated_at, ttl, expires_at, valid_from, valid_until, superseded_by,"
    "  origin, source"
    " FROM store_versions WHERE ns = ? AND key = ? ORDER BY number DESC";
constexpr std::string_view kReadVersion =
    "SELECT version_id, operation_id, is_last, change, actor, ns, key, number, from_ms, at_ms,"
    "  value, created_at, updated_at, ttl, expires_at, valid_from, valid_until, superseded_by,"
    "  origin, source"
    " FROM store_versions WHERE version_id = ?";
constexpr std::string_view kReadChanges =
    "SELECT version_id, operation_id, is_last, change, actor, ns, key, number, from_ms, at_ms,"
    "  value, created_at, updated_at, ttl, expires_at, valid_from, valid_until, superseded_by,"
    "  origin, source"
    " FROM store_versions WHERE ns >= ? AND ns < ? AND at_ms > ? ORDER BY ns, key, number";
constexpr std::string_view kReadFrom =
    "SELECT version_id, operation_id, is_last, change, actor, ns, key, number, from_ms, at_ms"
    " FROM store_versions WHERE version_id >= ? ORDER BY version_id";
constexpr std::string_view kReadTraces =
    "SELECT version_id, ns, key, value, origin, source FROM store_versions WHERE ns >= ? AND ns < ?"
    " ORDER BY ns, key, number";
constexpr std::string_view kReadVectors =
    "SELECT path, vector FROM version_vectors WHERE version_id = ? ORDER BY path";

// How much of what is too old goes with an operation.
constexpr std::int64_t kDroppedAtOnce = 8;

StoredVersion VersionIn(const Row& row) {
  return {.id = row.Int(0),
          .operation = row.Int(1),
          .is_last = row.Int(2) != 0,
          .change = static_cast<Change>(row.Int(3)),
          .actor = std::string(row.Text(4)),
          .name = {std::string(row.Text(5)), std::string(row.Text(6))},
          .number = row.Int(7),
          .from_ms = row.Int(8),
          .at_ms = row.Int(9)};
}

StoredVersion VersionAndStateIn(const Row& row) {
  StoredVersion version = VersionIn(row);
  if (row.IsNull(10)) return version;
  ItemState state{.value = std::string(row.Text(10)),
                  .created_at_ms = row.Int(11),
                  .updated_at_ms = row.Int(12),
                  .ttl_ms = row.Int(13),
                  .expires_at_ms = row.IsNull(14) ? kNeverExpires : row.Int(14),
                  .successor = row.Int(17),
                  .provenance = ProvenanceIn(row, 18)};
  if (!row.IsNull(15) && row.Int(15) != -kEver) state.validity.from_ms = row.Int(15);
  if (!row.IsNull(16) && row.Int(16) != kEver) state.validity.until_ms = row.Int(16);
  version.before = std::move(state);
  return version;
}

}  // namespace

Result<const HistoryRules*> SqliteHistory::Rules() {
  if (rules_) return &*rules_;
  const Result<std::int64_t> any = ReadInt(database_, kAnyRule);
  if (!any) return std::unexpected(any.error());
  std::vector<HistoryRules::Row> rows;
  Status status;
  if (*any != 0) {
    status = database_.Run(kRules, {}, [&](const Row& row) -> Status {
      Result<Namespace> ns = DecodeNamespace(row.Text(0));
      if (!ns) return ns.error();
      HistoryRule rule{.ns = *std::move(ns),
                       .max_versions = static_cast<std::uint32_t>(row.Int(1)),
                       .since_ms = row.Int(3)};
      if (!row.IsNull(2)) rule.max_age_ms = row.Int(2);
      rows.push_back({std::string(row.Text(0)), std::move(rule)});
      return {};
    });
  }
  if (!status.ok()) return std::unexpected(std::move(status));
  return &rules_.emplace(std::move(rows));
}

Status SqliteHistory::PutRule(const HistoryRule& rule) {
  rules_.reset();
  const std::string encoded = EncodeNamespace(rule.ns);
  const Param max_age = rule.max_age_ms ? Param(*rule.max_age_ms) : Param(std::monostate());
  return database_.InTransaction([&]() -> Status {
    Status status = database_.Run(
        kPutRule,
        {std::string_view(encoded), std::int64_t{rule.max_versions}, max_age, rule.since_ms});
    return status.ok() ? database_.Run(kNoteRules) : status;
  });
}

Status SqliteHistory::DropRule(std::string_view encoded_ns) {
  const Result<const HistoryRules*> rules = Rules();
  if (!rules) return rules.error();
  if ((*rules)->empty()) return {};
  const sql::PrefixRange range{std::string(encoded_ns)};
  return database_.InTransaction([&]() -> Status {
    Status status = database_.Run(kDropRule, {encoded_ns});
    rules_.reset();
    const Result<const HistoryRules*> left = Rules();
    if (status.ok() && !left) status = left.error();
    std::vector<std::int64_t> ids;
    if (status.ok()) {
      status = database_.Run(kNamesBelow, {range.first(), range.end()}, [&](const Row& row) {
        if ((*left)->Find(row.Text(1)) == nullptr) ids.push_back(row.Int(0));
      });
    }
    if (status.ok()) status = Erase(ids);
    rules_.reset();
    return status;
  });
}

void SqliteHistory::Begin(std::string_view actor, bool is_single) {
  actor_ = actor;
  is_single_ = is_single;
  operation_ = 0;
}

Result<std::int64_t> SqliteHistory::NextId() { return ReadInt(database_, kNextId); }

Result<std::int64_t> SqliteHistory::CurrentId(std::int64_t operation) {
  constexpr std::int64_t kFirst = std::int64_t{1} << Replicated::kMarkBits;
  if (!is_replicated() || operation < kFirst) return operation;
  const Result<std::int64_t> is_there = ReadInt(database_, kIsOperation, {operation});
  if (!is_there || *is_there != 0) return is_there ? operation : is_there;
  const Result<std::int64_t> moved =
      ReadInt(database_, kFindByMark, {kFirst, kFirst - 1, operation & (kFirst - 1)});
  return moved && *moved == 0 ? operation : moved;
}

Status SqliteHistory::Record(const HistoryRule& rule, Change change, std::string_view encoded_ns,
                             std::string_view key, std::int64_t at_ms) {
  const bool is_first = operation_ == 0;
  const Param operation = is_first ? Param(std::monostate()) : Param(operation_);
  Param id = is_first ? Param(std::monostate()) : Param(last_id_ + 1);
  if (is_first && is_replicated()) {
    const Result<std::int64_t> next = NextId();
    if (!next) return next.error();
    id = (((*next >> Replicated::kMarkBits) + 1) << Replicated::kMarkBits) | replicated_->mark();
  }
  std::int64_t number = 0;
  bool was_there = false;
  Status status =
      database_.Run(kRecord,
                    {operation, std::int64_t{std::to_underlying(change)}, std::string_view(actor_),
                     std::int64_t{is_single_}, id, encoded_ns, key, rule.since_ms, at_ms},
                    [&](const Row& row) {
                      last_id_ = row.Int(0);
                      number = row.Int(1);
                      was_there = row.Int(2) != 0;
                    });
  if (is_first && status.ok()) operation_ = last_id_;
  if (status.ok() && was_there) status = KeepVectors(last_id_, encoded_ns, key);
  const std::int64_t dropped = number - std::int64_t{rule.max_versions};
  return status.ok() && dropped > 0 ? DropUpTo(encoded_ns, key, dropped) : status;
}

Status SqliteHistory::KeepVectors(std::int64_t id, std::string_view encoded_ns,
                                  std::string_view key) {
  const Result<bool> has_none = vectors_.IsEmpty();
  if (!has_none || *has_none) return has_none ? Status() : has_none.error();
  const Result<bool> has_index = vectors_.HasIndex();
  if (!has_index) return has_index.error();
  has_vectors_ = true;
  Status status;
  if (*has_index) status = database_.Run(kKeepVectors, {id, encoded_ns, key});
  return status.ok() ? database_.Run(kKeepAwaited, {id, encoded_ns, key}) : status;
}

// Looked for once, as SqliteVectors::IsEmpty() does, and not where others may write.
Result<bool> SqliteHistory::HasVectors() {
  if (!has_vectors_ && !database_.is_guarded()) {
    const Result<std::int64_t> any = ReadInt(database_, kAnyVectors);
    if (!any) return std::unexpected(any.error());
    has_vectors_ = *any != 0;
  }
  return has_vectors_.value_or(true);
}

Status SqliteHistory::DropUpTo(std::string_view encoded_ns, std::string_view key,
                               std::int64_t number) {
  const Result<bool> has_vectors = HasVectors();
  if (!has_vectors) return has_vectors.error();
  Status status;
  if (*has_vectors) status = database_.Run(kDropVectorsUpTo, {encoded_ns, key, number});
  return status.ok() ? database_.Run(kDropUpTo, {encoded_ns, key, number}) : status;
}

Result<std::int64_t> SqliteHistory::End(std::int64_t now_ms) {
  if (operation_ == 0) return 0;
  Status status = is_single_ ? Status() : database_.Run(kEndOperation, {last_id_});
  if (status.ok() && is_replicated()) {
    const Result<std::int64_t> cursor = ReadInt(database_, kReadCursor);
    if (!cursor) return cursor;
    next_to_look_at_ = *cursor;
    status = DropSomeOld(now_ms, kDroppedAtOnce, next_to_look_at_);
    const bool moved = next_to_look_at_ != *cursor;
    if (status.ok() && moved) status = database_.Run(kWriteCursor, {next_to_look_at_});
  } else if (status.ok()) {
    status = DropSomeOld(now_ms, kDroppedAtOnce, next_to_look_at_);
  }
  if (!status.ok()) return std::unexpected(std::move(status));
  return operation_;
}

Status SqliteHistory::DropSomeOld(std::int64_t now_ms, std::int64_t most, std::int64_t& cursor) {
  const Result<const HistoryRules*> rules = Rules();
  if (!rules) return rules.error();
  const bool any_ages = std::ranges::any_of((*rules)->rows(), [](const HistoryRules::Row& row) {
    return row.rule.max_age_ms.has_value();
  });
  if (!any_ages) return {};
  std::vector<std::int64_t> old;
  std::int64_t seen = 0;
  Status status = database_.Run(kLook, {cursor, most}, [&](const Row& row) {
    ++seen;
    cursor = row.Int(0) + 1;
    const HistoryRule* rule = (*rules)->Find(row.Text(1));
    if (rule == nullptr || row.Int(2) <= HorizonOf(*rule, now_ms)) old.push_back(row.Int(0));
  });
  if (seen < most) cursor = 0;
  return status.ok() ? Erase(old) : status;
}

Status SqliteHistory::DropOld(std::int64_t now_ms) {
  constexpr std::int64_t kAtOnce = 1000;
  const Result<const HistoryRules*> rules = Rules();
  if (!rules) return rules.error();
  if ((*rules)->empty()) return {};
  return database_.InTransaction([&] {
    Status status;
    std::int64_t cursor = 0;
    do {
      status = DropSomeOld(now_ms, kAtOnce, cursor);
    } while (status.ok() && cursor != 0);
    return status;
  });
}

Status SqliteHistory::Erase(std::span<const std::int64_t> ids) {
  if (ids.empty()) return {};
  const Result<std::int64_t> next = NextId();
  if (!next) return next.error();
  const std::string list = IdList(ids);
  Status status = database_.Run(kNoteLast, {*next - 1});
  if (status.ok()) status = database_.Run(kDropVectors, {std::string_view(list)});
  return status.ok() ? database_.Run(kDrop, {std::string_view(list)}) : status;
}

Status SqliteHistory::ReadVectors(StoredVersion& version) {
  if (!version.before) return {};
  return database_.Run(kReadVectors, {version.id}, [&](const Row& row) {
    const ByteView bytes = row.Blob(1);
    if (bytes.empty()) {
      version.before->awaited.emplace_back(row.Text(0));
      return;
    }
    FieldVector vector{std::string(row.Text(0)), std::vector<float>(bytes.size() / sizeof(float))};
    std::memcpy(vector.values.data(), bytes.data(), vector.values.size() * sizeof(float));
    version.before->vectors.push_back(std::move(vector));
  });
}

Result<bool> SqliteHistory::Offer(const Row& row, Visitor<const StoredVersion&> offer) {
  StoredVersion version = VersionAndStateIn(row);
  if (Status status = ReadVectors(version); !status.ok()) return std::unexpected(std::move(status));
  return offer(version);
}

Status SqliteHistory::ReadVersions(const ItemName& name, Visitor<const StoredVersion&> offer) {
  return database_.Run(kReadVersions,
                       {std::string_view(name.encoded_ns), std::string_view(name.key)},
                       [&](const Row& row) { return Offer(row, offer); });
}

Status SqliteHistory::ReadFrom(std::int64_t id, Visitor<const StoredVersion&> offer) {
  return database_.Run(kReadFrom, {id}, [&](const Row& row) { return offer(VersionIn(row)); });
}

Result<std::optional<StoredVersion>> SqliteHistory::ReadVersion(std::int64_t id) {
  std::optional<StoredVersion> version;
  Status status = database_.Run(kReadVersion, {id}, [&](const Row& row) {
    version = VersionAndStateIn(row);
    return false;
  });
  if (status.ok() && version) status = ReadVectors(*version);
  if (!status.ok()) return std::unexpected(std::move(status));
  return version;
}

Status SqliteHistory::ReadChangesAfter(std::string_view encoded_prefix, std::int64_t at_ms,
                                       Visitor<const StoredVersion&> offer) {
  const sql::PrefixRange range{std::string(encoded_prefix)};
  return database_.Run(kReadChanges, {range.first(), range.end(), at_ms},
                       [&](const Row& row) { return Offer(row, offer); });
}

Status SqliteHistory::ReadTraces(std::string_view encoded_prefix,
                                 Visitor<const VersionTrace&> offer) {
  const Result<const HistoryRules*> rules = Rules();
  if (!rules) return rules.error();
  if ((*rules)->empty()) return {};
  const sql::PrefixRange range{std::string(encoded_prefix)};
  return database_.Run(kReadTraces, {range.first(), range.end()}, [&](const Row& row) {
    VersionTrace trace{.id = row.Int(0), .encoded_ns = row.Text(1), .key = row.Text(2)};
    if (!row.IsNull(3)) trace.value = row.Text(3);
    trace.provenance = ProvenanceIn(row, 4);
    return offer(trace);
  });
}

}  // namespace keepsake
