#include "sql/migrations.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>

namespace keepsake::sql {
namespace {

using enum TableGroup;

// Persistent: a statement of a version that was released is never edited.
constexpr SchemaStatement kVersion1[] = {
    {kMeta, "CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID"},
    {kMeta, "INSERT INTO meta(name, value) VALUES('format', 'keepsake')"},

    // The responses that clients have not acknowledged.
    {kAnswers,
     "CREATE TABLE answers("
     "  client_id INTEGER NOT NULL,"
     "  place TEXT NOT NULL,"
     "  sequence INTEGER NOT NULL,"
     "  answered_at_ms INTEGER NOT NULL,"
     "  response BLOB NOT NULL,"
     "  PRIMARY KEY(place, client_id, sequence)"
     ") STRICT, WITHOUT ROWID"},

    {kItems,
     "CREATE TABLE store_kv("
     "  item_id INTEGER PRIMARY KEY,"
     "  ns TEXT NOT NULL,"
     "  key TEXT NOT NULL,"
     "  value TEXT NOT NULL,"
     "  created_at INTEGER NOT NULL,"
     "  updated_at INTEGER NOT NULL,"
     "  ttl INTEGER NOT NULL,"
     "  expires_at INTEGER,"
     "  valid_from INTEGER,"
     "  valid_until INTEGER,"
     "  superseded_by INTEGER,"
     "  origin INTEGER,"
     "  source TEXT"
     ") STRICT"},
    {kItems, "CREATE UNIQUE INDEX store_kv_key ON store_kv(ns, key)"},
    {kItems, "CREATE INDEX store_kv_expiry ON store_kv(expires_at) WHERE expires_at IS NOT NULL"},

    // A vector's id lasts: it is its slot in codes. A rowid that is not the primary key
    // may change when SQLite rebuilds the file.
    {kVectors,
     "CREATE TABLE store_vectors("
     "  vector_id INTEGER PRIMARY KEY,"
     "  item_id INTEGER NOT NULL,"
     "  path TEXT NOT NULL,"
     "  vector BLOB NOT NULL"
     ") STRICT"},
    {kVectors, "CREATE UNIQUE INDEX store_vectors_item ON store_vectors(item_id, path)"},
    {kVectors,
     "CREATE TABLE vector_chunks("
     "  first_id INTEGER PRIMARY KEY,"
     "  checksum INTEGER NOT NULL,"
     "  codes BLOB NOT NULL"
     ") STRICT"},
    {kVectors,
     "CREATE TABLE vector_pending("
     "  item_id INTEGER NOT NULL,"
     "  path TEXT NOT NULL,"
     "  PRIMARY KEY(item_id, path)"
     ") STRICT, WITHOUT ROWID"},
    // Snapshots of the graph over vectors (store/sqlite/graph_snapshot.h).
    {kVectors,
     "CREATE TABLE graph_chunks("
     "  chunk_id INTEGER PRIMARY KEY,"
     "  checksum INTEGER NOT NULL,"
     "  bytes BLOB NOT NULL"
     ") STRICT"},

    // The index of texts, and which items it does not have as they are
    // (store/sqlite/sqlite_text_index.h); empty until the first search by text.
    {kTexts,
     "CREATE TABLE text_pages("
     "  page_id INTEGER PRIMARY KEY,"
     "  bytes BLOB NOT NULL"
     ") STRICT"},
    {kTexts, "CREATE TABLE text_changes(item_id INTEGER PRIMARY KEY) STRICT"},

    // Columns of fields that filters ask about, and which items they do not have as they are
    // (store/sqlite/sqlite_field_columns.h); empty until a second filter names a field.
    {kFields,
     "CREATE TABLE field_columns("
     "  chunk_id INTEGER PRIMARY KEY,"
     "  covered INTEGER NOT NULL,"
     "  bytes BLOB NOT NULL"
     ") STRICT"},
    {kFields, "CREATE TABLE field_changes(item_id INTEGER PRIMARY KEY) STRICT"},

    // Checkpoints by reference to shared content (core/src/checkpoint/README.md).
    {kCheckpoints,
     "CREATE TABLE thread_namespaces("
     "  ns_id INTEGER PRIMARY KEY,"
     "  thread_id TEXT NOT NULL,"
     "  checkpoint_ns TEXT NOT NULL,"
     "  newest TEXT NOT NULL DEFAULT '',"
     "  listed INTEGER NOT NULL DEFAULT 0"
     ") STRICT"},
    {kCheckpoints,
     "CREATE UNIQUE INDEX thread_namespaces_key ON thread_namespaces(thread_id, checkpoint_ns)"},
    // `listed` is of checkpoint/thread_list.h.
    {kCheckpoints,
     "CREATE INDEX thread_namespaces_newest ON thread_namespaces(newest DESC, thread_id) "
     "WHERE listed = 1"},
    {kCheckpoints,
     "CREATE INDEX thread_namespaces_changed ON thread_namespaces(thread_id) WHERE listed = 0"},
    {kCheckpoints,
     "CREATE TABLE checkpoints("
     "  ns_id INTEGER NOT NULL,"
     "  checkpoint_id TEXT NOT NULL,"
     "  checkpoint BLOB NOT NULL,"
     "  PRIMARY KEY(ns_id, checkpoint_id)"
     ") STRICT, WITHOUT ROWID"},
    {kCheckpoints,
     "CREATE TABLE writes("
     "  ns_id INTEGER NOT NULL,"
     "  checkpoint_id TEXT NOT NULL,"
     "  task_id TEXT NOT NULL,"
     "  count INTEGER NOT NULL,"
     "  writes BLOB NOT NULL,"
     "  PRIMARY KEY(ns_id, checkpoint_id, task_id)"
     ") STRICT, WITHOUT ROWID"},
    {kCheckpoints,
     "CREATE TABLE content("
     "  chunk INTEGER PRIMARY KEY,"
     "  checksum INTEGER NOT NULL,"
     "  bytes BLOB NOT NULL"
     ") STRICT"},
    {kCheckpoints,
     "CREATE TABLE log_users("
     "  log INTEGER NOT NULL,"
     "  ns_id INTEGER NOT NULL,"
     "  PRIMARY KEY(log, ns_id)"
     ") STRICT, WITHOUT ROWID"},
    {kCheckpoints, "CREATE INDEX log_users_ns ON log_users(ns_id)"},

    // What was forgotten, as numbers, and what must not be.
    {kGovernance,
     "CREATE TABLE erasures("
     "  erasure_id TEXT PRIMARY KEY,"
     "  digest TEXT NOT NULL,"
     "  at_ms INTEGER NOT NULL,"
     "  items INTEGER NOT NULL,"
     "  vectors INTEGER NOT NULL,"
     "  versions INTEGER NOT NULL,"
     "  threads INTEGER NOT NULL,"
     "  checkpoints INTEGER NOT NULL,"
     "  bytes INTEGER NOT NULL,"
     "  restored INTEGER NOT NULL"
     ") STRICT, WITHOUT ROWID"},
    {kGovernance,
     "CREATE TABLE holds("
     "  ns TEXT PRIMARY KEY,"
     "  reason TEXT NOT NULL,"
     "  since_ms INTEGER NOT NULL"
     ") STRICT, WITHOUT ROWID"},

    // What items were (store/history.h).
    {kHistory,
     "CREATE TABLE history_rules("
     "  ns TEXT PRIMARY KEY,"
     "  max_versions INTEGER NOT NULL,"
     "  max_age INTEGER,"
     "  since_ms INTEGER NOT NULL"
     ") STRICT, WITHOUT ROWID"},
    {kHistory,
     "CREATE TABLE store_versions("
     "  version_id INTEGER PRIMARY KEY,"
     "  operation_id INTEGER NOT NULL,"
     "  change INTEGER NOT NULL,"
     "  actor TEXT NOT NULL,"
     "  is_last INTEGER NOT NULL,"
     "  ns TEXT NOT NULL,"
     "  key TEXT NOT NULL,"
     "  number INTEGER NOT NULL,"
     "  from_ms INTEGER NOT NULL,"
     "  at_ms INTEGER NOT NULL,"
     "  value TEXT,"
     "  created_at INTEGER,"
     "  updated_at INTEGER,"
     "  ttl INTEGER,"
     "  expires_at INTEGER,"
     "  valid_from INTEGER,"
     "  valid_until INTEGER,"
     "  superseded_by INTEGER,"
     "  origin INTEGER,"
     "  source TEXT"
     ") STRICT"},
    {kHistory, "CREATE UNIQUE INDEX store_versions_item ON store_versions(ns, key, number)"},
    {kHistory,
     "CREATE TABLE version_vectors("
     "  version_id INTEGER NOT NULL,"
     "  path TEXT NOT NULL,"
     "  vector BLOB NOT NULL,"
     "  PRIMARY KEY(version_id, path)"
     ") STRICT, WITHOUT ROWID"},

    // Who wrote where, and what was refused (keepsake/audit.h).
    {kAudit,
     "CREATE TABLE audit_log("
     "  entry_id INTEGER PRIMARY KEY,"
     "  at_ms INTEGER NOT NULL,"
     "  operation INTEGER NOT NULL,"
     "  place TEXT NOT NULL,"
     "  ns TEXT,"
     "  thread_id TEXT,"
     "  actor TEXT NOT NULL,"
     "  node_id TEXT NOT NULL,"
     "  code INTEGER NOT NULL,"
     "  count INTEGER NOT NULL"
     ") STRICT"},
    {kAudit, "CREATE INDEX audit_refusals ON audit_log(place) WHERE code <> 0"},

#ifndef KEEPSAKE_HOST_SQL
    // Of a memory that syncs (sync/README.md): how far it is, the requests that are not in the log
    // yet, and those that were refused.
    {kSync,
     "CREATE TABLE sync_state("
     "  log_id TEXT PRIMARY KEY,"
     "  number INTEGER NOT NULL,"
     "  digest BLOB NOT NULL,"
     "  confirmed INTEGER NOT NULL,"
     "  applied INTEGER NOT NULL,"
     "  is_behind INTEGER NOT NULL"
     ") STRICT, WITHOUT ROWID"},
    {kSync,
     "CREATE TABLE sync_outbox("
     "  sequence INTEGER PRIMARY KEY,"
     "  at_ms INTEGER NOT NULL,"
     "  kind INTEGER NOT NULL,"
     "  request BLOB NOT NULL"
     ") STRICT"},
    {kSync,
     "CREATE TABLE sync_set_aside("
     "  sequence INTEGER PRIMARY KEY,"
     "  at_ms INTEGER NOT NULL,"
     "  code INTEGER NOT NULL,"
     "  message TEXT NOT NULL,"
     "  request BLOB NOT NULL"
     ") STRICT"},
#endif
};

constexpr SchemaVersion kVersions[] = {kVersion1};

// The name of the table that the statement makes; "" if it makes none.
std::string_view TableMadeBy(std::string_view sql) {
  constexpr std::string_view kBeginnings[] = {"CREATE TABLE ", "CREATE VIRTUAL TABLE "};
  for (const std::string_view beginning : kBeginnings) {
    if (!sql.starts_with(beginning)) continue;
    sql.remove_prefix(beginning.size());
    return sql.substr(0, sql.find_first_of("( "));
  }
  return {};
}

// Those of which a table is there.
Result<std::set<TableGroup>> GroupsMade(Database& database, Schema schema) {
  std::set<TableGroup> groups;
  Status status =
      database.Run("SELECT name FROM sqlite_master WHERE type = 'table'", {}, [&](const Row& row) {
        const auto group = GroupOfTable(row.Text(0), schema);
        if (group) groups.insert(*group);
      });
  if (!status.ok()) return std::unexpected(std::move(status));
  return groups;
}

Status RunOf(Database& database, SchemaVersion version, const std::set<TableGroup>& groups) {
  for (const SchemaStatement& statement : version) {
    if (!groups.contains(statement.group)) continue;
    if (Status status = database.Run(statement.sql); !status.ok()) return status;
  }
  return Status();
}

Status ForeignFile(std::string_view path) {
  std::string message = "file was not made by keepsake; read it with importFrom: \"";
  return Status(StatusCode::kForeignFile, message.append(path).append("\""));
}

Result<bool> HasTables(Database& database) {
  bool found = false;
  // Names that begin so are SQLite's own, or those of Durable Objects.
  Status status = database.Run(
      "SELECT 1 FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
      " AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' LIMIT 1",
      {}, [&](const Row&) {
        found = true;
        return false;
      });
  if (!status.ok()) return std::unexpected(std::move(status));
  return found;
}

struct MetaRows {
  std::optional<std::string> format;
  std::optional<std::string> version;
};

// kInternal if there is no table `meta` of our shape.
Result<MetaRows> ReadMeta(Database& database) {
  MetaRows rows;
  Status status =
      database.Run("SELECT name, value FROM meta WHERE name IN ('format', 'schema_version')", {},
                   [&](const Row& row) {
                     (row.Text(0) == "format" ? rows.format : rows.version) = row.Text(1);
                   });
  if (!status.ok()) return std::unexpected(std::move(status));
  return rows;
}

std::optional<std::int64_t> ParseVersion(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  std::int64_t version = 0;
  const char* end = text->data() + text->size();
  const auto [parsed_to, error] = std::from_chars(text->data(), end, version);
  if (error != std::errc() || parsed_to != end || version < 1) return std::nullopt;
  return version;
}

// A file without a `meta` table of our shape fails the query itself.
bool LacksMeta(const Status& status) { return status.code() == StatusCode::kInternal; }

}  // namespace

const Schema kSchema = kVersions;

Result<std::int64_t> ReadSchemaVersion(Database& database, std::string_view path, Schema schema) {
  const Result<bool> has_tables = HasTables(database);
  if (!has_tables) return std::unexpected(has_tables.error());
  return *has_tables ? ReadVersionInMeta(database, path, schema) : 0;
}

Result<std::int64_t> ReadVersionInMeta(Database& database, std::string_view path, Schema schema) {
  const Result<MetaRows> meta = ReadMeta(database);
  if (!meta && !LacksMeta(meta.error())) return std::unexpected(meta.error());
  if (!meta || meta->format != "keepsake") return std::unexpected(ForeignFile(path));
  const std::optional<std::int64_t> version = ParseVersion(meta->version);
  if (!version) {
    return Error(StatusCode::kCorrupt, "meta row schema_version must be a positive number: \"" +
                                           std::string(path) + "\"");
  }
  if (*version > NewestVersion(schema)) {
    return Error(StatusCode::kNewerSchema, "file has schema version " + std::to_string(*version) +
                                               ", newer than this keepsake's " +
                                               std::to_string(NewestVersion(schema)) + ": \"" +
                                               std::string(path) + "\"");
  }
  return *version;
}

Status Migrate(Database& database, std::int64_t version, Schema schema, NewTables made) {
  const std::int64_t newest = NewestVersion(schema);
  if (version == newest) return Status();
  return database.InTransaction([&]() -> Status {
    Result<std::set<TableGroup>> groups = std::set<TableGroup>{kMeta};
    if (version > 0) {
      groups = GroupsMade(database, schema);
    } else if (made == NewTables::kAll) {
      groups = std::set<TableGroup>{kMeta,        kAnswers,    kItems,  kVectors, kTexts,
                                    kCheckpoints, kGovernance, kFields, kHistory, kAudit};
    }
    if (!groups) return groups.error();
    for (const SchemaVersion& step : schema.subspan(static_cast<std::size_t>(version))) {
      if (Status status = RunOf(database, step, *groups); !status.ok()) return status;
    }
    const std::string reached = std::to_string(newest);
    return database.Run("INSERT OR REPLACE INTO meta(name, value) VALUES('schema_version', ?)",
                        {Param(std::string_view(reached))});
  });
}

std::optional<TableGroup> GroupOfTable(std::string_view name, Schema schema) {
  for (const SchemaVersion& version : schema) {
    for (const SchemaStatement& statement : version) {
      if (TableMadeBy(statement.sql) == name) return statement.group;
    }
  }
  return std::nullopt;
}

Result<bool> HasTables(Database& database, TableGroup group, Schema schema) {
  Result<std::set<TableGroup>> groups = GroupsMade(database, schema);
  if (!groups) return std::unexpected(std::move(groups.error()));
  return groups->contains(group);
}

Status DropTables(Database& database, TableGroup group, Schema schema) {
  for (const SchemaVersion& version : schema) {
    for (const SchemaStatement& statement : version) {
      const std::string_view table = TableMadeBy(statement.sql);
      if (statement.group != group || table.empty()) continue;
      Status status = database.Run("DROP TABLE IF EXISTS " + std::string(table));
      if (!status.ok()) return status;
    }
  }
  return Status();
}

Status MakeTables(Database& database, TableGroup group, Schema schema) {
  return database.InTransaction([&]() -> Status {
    for (const SchemaVersion& version : schema) {
      if (Status status = RunOf(database, version, {group}); !status.ok()) return status;
    }
    return Status();
  });
}

}  // namespace keepsake::sql
