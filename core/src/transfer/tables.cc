#include "transfer/tables.h"

#include "keepsake/function_ref.h"

namespace keepsake::transfer {
namespace {

constexpr Column Text(std::string_view name) { return {.name = name}; }
constexpr Column Int(std::string_view name) { return {.name = name, .is_integer = true}; }
constexpr Column Blob(std::string_view name) { return {.name = name, .is_blob = true}; }

constexpr Column kMeta[] = {Text("name"), Text("value")};
constexpr Column kItems[] = {
    Int("item_id"),       Text("ns"),    Text("key"),       Text("value"),     Int("created_at"),
    Int("updated_at"),    Int("ttl"),    Int("expires_at"), Int("valid_from"), Int("valid_until"),
    Int("superseded_by"), Int("origin"), Text("source")};
constexpr Column kVectors[] = {Int("vector_id"), Int("item_id"), Text("path"), Blob("vector")};
constexpr Column kPending[] = {Int("item_id"), Text("path")};
// Older rows have a checksum that some hosts can't read: see vector_chunk.h.
constexpr Column kChunks[] = {
    Int("first_id"),
    {.name = "checksum", .is_integer = true, .read_as = "checksum & 9007199254740991"},
    Blob("codes")};
constexpr Column kThreadNamespaces[] = {Int("ns_id"), Text("thread_id"), Text("checkpoint_ns")};
constexpr Column kCheckpoints[] = {Int("ns_id"), Text("checkpoint_id"), Blob("checkpoint")};
constexpr Column kWrites[] = {Int("ns_id"), Text("checkpoint_id"), Text("task_id"), Int("count"),
                              Blob("writes")};
constexpr Column kContent[] = {Int("chunk"), Int("checksum"), Blob("bytes")};
constexpr Column kLogUsers[] = {Int("log"), Int("ns_id")};

constexpr Column kErasures[] = {
    Text("erasure_id"), Text("digest"), Int("at_ms"),       Int("items"), Int("vectors"),
    Int("versions"),    Int("threads"), Int("checkpoints"), Int("bytes"), Int("restored")};
constexpr Column kHolds[] = {Text("ns"), Text("reason"), Int("since_ms")};
constexpr Column kHistoryRules[] = {Text("ns"), Int("max_versions"), Int("max_age"),
                                    Int("since_ms")};
constexpr Column kVersions[] = {
    Int("version_id"), Int("operation_id"), Int("change"),        Text("actor"),  Int("is_last"),
    Text("ns"),        Text("key"),         Int("number"),        Int("from_ms"), Int("at_ms"),
    Text("value"),     Int("created_at"),   Int("updated_at"),    Int("ttl"),     Int("expires_at"),
    Int("valid_from"), Int("valid_until"),  Int("superseded_by"), Int("origin"),  Text("source")};
constexpr Column kVersionVectors[] = {Int("version_id"), Text("path"), Blob("vector")};
constexpr Column kAuditLog[] = {
    Int("entry_id"),   Int("at_ms"),  Int("operation"), Text("place"), Text("ns"),
    Text("thread_id"), Text("actor"), Text("node_id"),  Int("code"),   Int("count")};

constexpr Table kTables[] = {
    {1, "meta", kMeta, 1},
    {2, "store_kv", kItems, 1},
    {3, "store_vectors", kVectors, 1},
    {4, "vector_pending", kPending, 2},
    {5, "vector_chunks", kChunks, 1},
    {6, "thread_namespaces", kThreadNamespaces, 1},
    {7, "checkpoints", kCheckpoints, 2},
    {8, "writes", kWrites, 3},
    {9, "content", kContent, 1},
    {10, "log_users", kLogUsers, 2},
    {11, "erasures", kErasures, 1},
    {12, "holds", kHolds, 1},
    {13, "history_rules", kHistoryRules, 1},
    {14, "store_versions", kVersions, 1},
    {15, "version_vectors", kVersionVectors, 2},
    {16, "audit_log", kAuditLog, 1},
};

std::string Joined(std::span<const Column> columns, std::string_view between,
                   FunctionRef<std::string(const Column&)> text) {
  std::string joined;
  for (const Column& column : columns) {
    if (!joined.empty()) joined += between;
    joined += text(column);
  }
  return joined;
}

std::string Names(std::span<const Column> columns) {
  return Joined(columns, ", ", [](const Column& column) { return std::string(column.name); });
}

std::string Marks(std::span<const Column> columns) {
  return Joined(columns, ", ", [](const Column&) { return std::string("?"); });
}

std::span<const Column> KeyOf(const Table& table) { return table.columns.first(table.key_columns); }

std::string Select(const Table& table) {
  return "SELECT " +
         Joined(table.columns, ", ",
                [](const Column& column) { return std::string(column.read_as); }) +
         " FROM " + std::string(table.name);
}

std::string WhereKey(const Table& table) {
  return " WHERE " + Joined(KeyOf(table), " AND ",
                            [](const Column& column) { return std::string(column.name) + " = ?"; });
}

}  // namespace

std::span<const Table> Tables() { return kTables; }

std::string SelectAll(const Table& table) {
  return Select(table) + " ORDER BY " + Names(KeyOf(table));
}

std::string SelectBehind(const Table& table) {
  return Select(table) + " WHERE (" + Names(KeyOf(table)) + ") > (" + Marks(KeyOf(table)) +
         ") ORDER BY " + Names(KeyOf(table));
}

std::string SelectOne(const Table& table) { return Select(table) + WhereKey(table); }

std::string Put(const Table& table, std::size_t columns) {
  const std::span<const Column> put = table.columns.first(columns);
  return "INSERT OR REPLACE INTO " + std::string(table.name) + "(" + Names(put) + ") VALUES(" +
         Marks(put) + ")";
}

std::string DeleteOne(const Table& table) {
  return "DELETE FROM " + std::string(table.name) + WhereKey(table);
}

std::string DeleteAll(const Table& table) { return "DELETE FROM " + std::string(table.name); }

}  // namespace keepsake::transfer
