#include "sql/migrations.h"

#include <charconv>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>

namespace keepsake::sql {
namespace {

Status RunAll(Database& database, std::initializer_list<std::string_view> statements) {
  for (std::string_view sql : statements) {
    if (Status status = database.Run(sql); !status.ok()) return status;
  }
  return Status();
}

Status CreateFirstSchema(Database& database) {
  return RunAll(
      database,
      {"CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
       "INSERT INTO meta(name, value) VALUES('format', 'keepsake')",

       "CREATE TABLE store_kv("
       "  item_id INTEGER PRIMARY KEY,"
       "  ns TEXT NOT NULL,"
       "  key TEXT NOT NULL,"
       "  value TEXT NOT NULL,"
       "  created_at INTEGER NOT NULL,"
       "  updated_at INTEGER NOT NULL,"
       "  ttl INTEGER NOT NULL,"
       "  expires_at INTEGER"
       ") STRICT",
       "CREATE UNIQUE INDEX store_kv_key ON store_kv(ns, key)",
       "CREATE INDEX store_kv_expiry ON store_kv(expires_at) WHERE expires_at IS NOT NULL",

       "CREATE TABLE store_vectors("
       "  item_id INTEGER NOT NULL,"
       "  path TEXT NOT NULL,"
       "  vector BLOB NOT NULL,"
       "  PRIMARY KEY(item_id, path)"
       ") STRICT",

       "CREATE TABLE checkpoints("
       "  thread_id TEXT NOT NULL,"
       "  checkpoint_ns TEXT NOT NULL,"
       "  checkpoint_id TEXT NOT NULL,"
       "  parent_checkpoint_id TEXT NOT NULL,"
       "  type TEXT NOT NULL,"
       "  checkpoint BLOB NOT NULL,"
       "  metadata_type TEXT NOT NULL,"
       "  metadata BLOB NOT NULL,"
       "  channels BLOB NOT NULL,"
       "  PRIMARY KEY(thread_id, checkpoint_ns, checkpoint_id)"
       ") STRICT",

       "CREATE TABLE checkpoint_blobs("
       "  blob_id INTEGER PRIMARY KEY,"
       "  thread_id TEXT NOT NULL,"
       "  checkpoint_ns TEXT NOT NULL,"
       "  channel TEXT NOT NULL,"
       "  version TEXT NOT NULL,"
       "  type TEXT NOT NULL,"
       "  value BLOB NOT NULL"
       ") STRICT",
       "CREATE INDEX checkpoint_blobs_version"
       " ON checkpoint_blobs(thread_id, checkpoint_ns, channel, version)",

       "CREATE TABLE writes("
       "  thread_id TEXT NOT NULL,"
       "  checkpoint_ns TEXT NOT NULL,"
       "  checkpoint_id TEXT NOT NULL,"
       "  task_id TEXT NOT NULL,"
       "  idx INTEGER NOT NULL,"
       "  channel TEXT NOT NULL,"
       "  type TEXT NOT NULL,"
       "  value BLOB NOT NULL,"
       "  task_path TEXT NOT NULL,"
       "  PRIMARY KEY(thread_id, checkpoint_ns, checkpoint_id, task_id, idx)"
       ") STRICT"});
}

// The responses that clients have not acknowledged.
Status CreateAnswers(Database& database) {
  return database.Run(
      "CREATE TABLE answers("
      "  client_id INTEGER NOT NULL,"
      "  sequence INTEGER NOT NULL,"
      "  answered_at_ms INTEGER NOT NULL,"
      "  response BLOB NOT NULL,"
      "  PRIMARY KEY(client_id, sequence)"
      ") STRICT, WITHOUT ROWID");
}

// What a search by text needs (store/sqlite_text_index.h); empty until the first one.
Status CreateTextTables(Database& database) {
  return RunAll(database,
                {"CREATE TABLE store_text("
                 "  item_id INTEGER PRIMARY KEY,"
                 "  ns TEXT NOT NULL,"
                 "  group_key TEXT,"
                 "  position REAL NOT NULL,"
                 "  length INTEGER NOT NULL,"
                 "  record BLOB NOT NULL"
                 ") STRICT",
                 "CREATE INDEX store_text_group ON store_text(ns, group_key)"
                 " WHERE group_key IS NOT NULL",
                 "CREATE VIRTUAL TABLE store_text_index USING fts5("
                 "  tokens, content = '', contentless_delete = 1, tokenize = 'ascii',"
                 "  detail = 'none')",
                 "CREATE VIRTUAL TABLE store_text_tokens USING fts5vocab(store_text_index, row)",
                 "CREATE TABLE text_scope("
                 "  ns TEXT PRIMARY KEY,"
                 "  items INTEGER NOT NULL,"
                 "  length INTEGER NOT NULL"
                 ") STRICT",
                 "CREATE TABLE text_pending(item_id INTEGER PRIMARY KEY) STRICT"});
}

// A vector gets an id that lasts, which is its slot in codes: a rowid of its own, since
// that of a table without one may change when SQLite rebuilds the file.
Status GiveVectorsIds(Database& database) {
  return RunAll(database, {"ALTER TABLE store_vectors RENAME TO store_vectors_without_id",
                           "CREATE TABLE store_vectors("
                           "  vector_id INTEGER PRIMARY KEY,"
                           "  item_id INTEGER NOT NULL,"
                           "  path TEXT NOT NULL,"
                           "  vector BLOB NOT NULL"
                           ") STRICT",
                           "INSERT INTO store_vectors(item_id, path, vector)"
                           " SELECT item_id, path, vector FROM store_vectors_without_id",
                           "DROP TABLE store_vectors_without_id",
                           "CREATE UNIQUE INDEX store_vectors_item ON store_vectors(item_id, path)",

                           "CREATE TABLE vector_chunks("
                           "  first_id INTEGER PRIMARY KEY,"
                           "  checksum INTEGER NOT NULL,"
                           "  codes BLOB NOT NULL"
                           ") STRICT",

                           "CREATE TABLE vector_pending("
                           "  item_id INTEGER NOT NULL,"
                           "  path TEXT NOT NULL,"
                           "  PRIMARY KEY(item_id, path)"
                           ") STRICT, WITHOUT ROWID"});
}

Result<bool> HasRows(Database& database, std::string_view sql) {
  bool found = false;
  Status status = database.Run(sql, {}, [&](const Row& row) {
    found = row.Int(0) != 0;
    return false;
  });
  if (!status.ok()) return std::unexpected(std::move(status));
  return found;
}

// Checkpoints by reference to shared content (core/src/checkpoint/README.md). What
// the old tables hold waits under other names for the saver, which knows the layouts.
Status ShareCheckpointContent(Database& database) {
  const auto in_use = HasRows(database,
                              "SELECT EXISTS (SELECT 1 FROM checkpoints)"
                              " OR EXISTS (SELECT 1 FROM writes)");
  if (!in_use) return in_use.error();
  Status moved =
      *in_use ? RunAll(database, {"DROP INDEX checkpoint_blobs_version",
                                  "ALTER TABLE checkpoints RENAME TO old_checkpoints",
                                  "ALTER TABLE checkpoint_blobs RENAME TO old_checkpoint_blobs",
                                  "ALTER TABLE writes RENAME TO old_writes"})
              : RunAll(database, {"DROP TABLE checkpoints", "DROP TABLE checkpoint_blobs",
                                  "DROP TABLE writes"});
  if (!moved.ok()) return moved;
  return RunAll(database, {"CREATE TABLE spaces("
                           "  space INTEGER PRIMARY KEY,"
                           "  thread_id TEXT NOT NULL,"
                           "  checkpoint_ns TEXT NOT NULL"
                           ") STRICT",
                           "CREATE UNIQUE INDEX spaces_key ON spaces(thread_id, checkpoint_ns)",

                           "CREATE TABLE checkpoints("
                           "  space INTEGER NOT NULL,"
                           "  checkpoint_id TEXT NOT NULL,"
                           "  record BLOB NOT NULL,"
                           "  PRIMARY KEY(space, checkpoint_id)"
                           ") STRICT, WITHOUT ROWID",

                           "CREATE TABLE writes("
                           "  space INTEGER NOT NULL,"
                           "  checkpoint_id TEXT NOT NULL,"
                           "  task_id TEXT NOT NULL,"
                           "  count INTEGER NOT NULL,"
                           "  writes BLOB NOT NULL,"
                           "  PRIMARY KEY(space, checkpoint_id, task_id)"
                           ") STRICT, WITHOUT ROWID",

                           "CREATE TABLE content("
                           "  chunk INTEGER PRIMARY KEY,"
                           "  checksum INTEGER NOT NULL,"
                           "  bytes BLOB NOT NULL"
                           ") STRICT",

                           "CREATE TABLE log_users("
                           "  log INTEGER NOT NULL,"
                           "  space INTEGER NOT NULL,"
                           "  PRIMARY KEY(log, space)"
                           ") STRICT, WITHOUT ROWID",
                           "CREATE INDEX log_users_space ON log_users(space)"});
}

// Snapshots of the graph over vectors (store/graph_snapshot.h).
Status CreateGraphChunks(Database& database) {
  return database.Run(
      "CREATE TABLE graph_chunks("
      "  chunk_id INTEGER PRIMARY KEY,"
      "  checksum INTEGER NOT NULL,"
      "  bytes BLOB NOT NULL"
      ") STRICT");
}

using Migration = Status (*)(Database& database);

// The n-th step (from 1) leads from version n-1 to version n. Persistent: append
// only; a step that was released is never edited.
constexpr Migration kMigrations[] = {CreateFirstSchema, CreateAnswers,          CreateTextTables,
                                     GiveVectorsIds,    ShareCheckpointContent, CreateGraphChunks};
static_assert(std::size(kMigrations) == schema::kGraphs);

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

// The value of a row of `meta`; kInternal if there is no such table.
Result<std::optional<std::string>> ReadMeta(Database& database, std::string_view name) {
  std::optional<std::string> value;
  Status status =
      database.Run("SELECT value FROM meta WHERE name = ?", {Param(name)}, [&](const Row& row) {
        value = row.Text(0);
        return false;
      });
  if (!status.ok()) return std::unexpected(std::move(status));
  return value;
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

const std::int64_t kSchemaVersion = std::size(kMigrations);

Result<std::int64_t> ReadSchemaVersion(Database& database, std::string_view path) {
  const Result<bool> has_tables = HasTables(database);
  if (!has_tables) return std::unexpected(has_tables.error());
  if (!*has_tables) return 0;

  const auto format = ReadMeta(database, "format");
  if (!format && !LacksMeta(format.error())) return std::unexpected(format.error());
  if (!format || *format != "keepsake") return std::unexpected(ForeignFile(path));

  const auto version_text = ReadMeta(database, "schema_version");
  if (!version_text) return std::unexpected(version_text.error());
  const std::optional<std::int64_t> version = ParseVersion(*version_text);
  if (!version) {
    return Error(StatusCode::kCorrupt, "meta row schema_version must be a positive number: \"" +
                                           std::string(path) + "\"");
  }
  if (*version > kSchemaVersion) {
    return Error(StatusCode::kNewerSchema, "file has schema version " + std::to_string(*version) +
                                               ", newer than this keepsake's " +
                                               std::to_string(kSchemaVersion) + ": \"" +
                                               std::string(path) + "\"");
  }
  return *version;
}

Status Migrate(Database& database, std::int64_t version, std::int64_t target) {
  if (version == target) return Status();
  return database.InTransaction([&]() -> Status {
    for (std::int64_t step = version; step < target; ++step) {
      if (Status status = kMigrations[step](database); !status.ok()) return status;
    }
    const std::string reached = std::to_string(target);
    return database.Run("INSERT OR REPLACE INTO meta(name, value) VALUES('schema_version', ?)",
                        {Param(std::string_view(reached))});
  });
}

}  // namespace keepsake::sql
